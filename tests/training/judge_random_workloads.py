"""Random iterations planned by every policy, and judged: `python -m tests.training.judge_random_workloads`.

`ll.train` hands nothing out that `verify` refuses, so that to plan is to be judged. It ends at the first that is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.training.result import Training
from tests.training import random_workloads

# Policies that one may choose and that do not serve every workload.
MAY_NOT_SERVE = ("static", "one-shot")
CHOOSABLE = ("carry", "alone", "pccl", *MAY_NOT_SERVE)


def planned(told: dict[str, Any], fabric: ll.Fabric, policy: str = "carry") -> Training:
    """The iteration of a workload as a document."""
    return ll.train(ll.Workload.from_json(json.dumps(told)), fabric=fabric, policy=policy)


def drawn(seed: int, serial: bool | None = None) -> tuple[ll.Fabric, dict[str, Any]]:
    """A fabric and a workload."""
    rng = random.Random(seed)  # noqa: S311 (a test's draws, not a secret)
    return random_workloads.fabric(rng), random_workloads.workload(rng, serial=serial)


def judge_all(seeds: range, policies: tuple[str, ...] = CHOOSABLE) -> None:
    """Plan by `carry`, which must be the fastest that one may choose, and by each of the policies."""
    for seed in seeds:
        fabric, told = drawn(seed)
        carry = planned(told, fabric)
        for policy in CHOOSABLE:
            seconds = carry.policies[policy]
            if seconds is None and policy in policies:
                assert policy in MAY_NOT_SERVE, seed
                with pytest.raises(InputError, match="does not serve the workload"):
                    planned(told, fabric, policy)
            if seconds is None:
                continue
            assert carry.total_s <= seconds * (1 + 1e-9), (seed, policy)
            if policy in policies:
                assert planned(told, fabric, policy).total_s == pytest.approx(seconds, rel=1e-12), (seed, policy)


def main() -> None:
    """Judge this many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=int, default=220)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    options = parser.parse_args()
    for seed in range(options.first, options.first + options.workloads):
        judge_all(range(seed, seed + 1))
    what = f"{options.workloads} iterations by {len(CHOOSABLE)} policies"
    print(f"{what}: the verifier accepts all, and carry is the fastest of each")  # noqa: T201


if __name__ == "__main__":
    main()
