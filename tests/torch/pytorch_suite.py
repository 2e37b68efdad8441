"""PyTorch's own tests of process groups on the backend `lightloom`: of those that Gloo passes, which it passes.

    python -m tests.torch.pytorch_suite [WORDS…]      # cases whose names have one of the words; without, all

The cases are those of `torch.testing`, with four ranks, on tensors of the host. Each is chosen and set up as for Gloo,
and run by Gloo first; what Gloo skips or fails is not held against lightloom. Prints a line for every case that Gloo
passes and lightloom does not, with the reason, and then how many there are of each kind. Exit code 1 where a case fails
that is not known to.
"""

from __future__ import annotations

import os
import re
import sys
import unittest
from collections import Counter
from typing import NamedTuple

RANKS, SECONDS = 4, 60
# The tests read these when they are imported: who may run a case is decided by the name of the backend.
os.environ |= {
    "BACKEND": "gloo",
    "WORLD_SIZE": str(RANKS),
    "OMP_NUM_THREADS": "1",
    "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": str(SECONDS),
    "LIGHTLOOM_FABRIC": os.environ.get("LIGHTLOOM_FABRIC", "default"),
}

import torch.multiprocessing  # noqa: E402
from torch.testing._internal.distributed import distributed_test as theirs  # noqa: E402

import lightloom.torch  # noqa: E402

RAISED = re.compile(r"[\w.]*(Error|Exception|Failure|Interrupt)\b.*:")
# Cases that fail, and why they may.
WORDS = "a rank that does not come is named in words of our own, not in those of Gloo"
KNOWN: dict[str, str] = {
    "test_monitored_barrier_gloo": WORDS,
    "test_monitored_barrier_gloo_rank_0_timeout": WORDS,
    "test_monitored_barrier_gloo_subgroup": WORDS,
    "test_sparse_all_reduce_sum": "sparse tensors are refused",
}


class Cases(theirs.TestDistBackend, theirs.DistributedTest._DistTestBase):  # type: ignore[misc]
    """The cases, whose ranks are forked."""

    def setUp(self) -> None:
        super().setUp()
        self._start_processes(torch.multiprocessing.get_context("fork").Process)


class AsGloo(str):
    """The name of a backend that is asked for what Gloo is: some cases compare names to choose what they call."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return other in {"gloo", str(self)}

    def __ne__(self, other: object) -> bool:
        return not self == other


class Outcome(NamedTuple):
    """How a case went: `passed`, `failed` or `skipped`, and why."""

    kind: str
    why: str = ""


def outcome_of(name: str, backend: str) -> Outcome:
    """Run a case by a backend."""
    theirs.BACKEND = AsGloo(backend)
    result = unittest.TestResult()
    Cases(name).run(result)
    if result.skipped:
        return Outcome("skipped", result.skipped[0][1])
    for _, text in result.failures + result.errors:
        return Outcome("failed", reason(text))
    return Outcome("passed")


def reason(text: str) -> str:
    """What the first rank that raised something raised in the end, in one line."""
    of_one = text.split("\nProcess ", maxsplit=1)[0]
    raised = [line for line in of_one.splitlines() if RAISED.match(line)]
    return (raised or of_one.strip().splitlines() or [""])[-1][:300]


def main(words: list[str]) -> int:
    """Run the cases whose names have one of the words."""
    names = unittest.TestLoader().getTestCaseNames(Cases)
    counts: Counter[str] = Counter()
    is_well = True
    for name in names:
        if words and not any(word in name for word in words):
            continue
        gloos = outcome_of(name, "gloo")
        if gloos.kind != "passed":
            counts[f"Gloo {gloos.kind}: {gloos.why}"] += 1
            continue
        ours = outcome_of(name, lightloom.torch.BACKEND)
        counts[f"lightloom {ours.kind}"] += 1
        if ours.kind != "passed":
            is_well = is_well and name in KNOWN
            print(f"{name} {ours.kind}: {KNOWN.get(name, ours.why)}", flush=True)  # noqa: T201
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")  # noqa: T201
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
