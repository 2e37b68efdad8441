"""PyTorch's own tests of process groups on the backend `lightloom`: of those that Gloo passes, which it passes.

    python -m tests.torch.pytorch_suite [WORDS…]      # cases whose names have one of the words; without, all

The cases are those of `torch.testing`, with four ranks, on tensors of the host. Each is chosen and set up as for Gloo,
and run by Gloo first; what Gloo skips or fails is not held against lightloom. Prints a line for every case that Gloo
passes and lightloom does not, with the reason, and then how many there are of each kind. Exit code 1 where a case fails
that is not known to.
"""

from __future__ import annotations

import os
import sys
import time
import unittest
from collections import Counter
from typing import Any, NamedTuple

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

# Cases that fail, and why they may.
KNOWN: dict[str, str] = {}


class Cases(theirs.TestDistBackend, theirs.DistributedTest._DistTestBase):  # type: ignore[misc]  # noqa: SLF001
    """The cases, whose ranks are forked."""

    def setUp(self) -> None:  # noqa: N802 - unittest's
        super().setUp()
        self._start_processes(torch.multiprocessing.get_context("fork").Process)


class Outcome(NamedTuple):
    """How a case went: `passed`, `failed` or `skipped`, and why."""

    kind: str
    why: str = ""


def outcome_of(name: str, backend: str) -> Outcome:
    """Run a case by a backend."""
    theirs.BACKEND = backend
    result = unittest.TestResult()
    Cases(name).run(result)
    if result.skipped:
        return Outcome("skipped", result.skipped[0][1])
    for _, text in result.failures + result.errors:
        return Outcome("failed", reason(text))
    return Outcome("passed")


def reason(text: str) -> str:
    """The last line of an exception of the first rank that raised one, without PyTorch's frames."""
    lines = [line for line in text.splitlines() if line and not line.startswith((" ", "frame #", "To execute", "C++"))]
    raised = [line for line in lines if line.split(":")[0].endswith(("Error", "Exception"))]
    return (raised or lines or [""])[1 if len(raised) > 1 and "Process" in raised[0] else 0][:300]


def main(words: list[str]) -> int:
    """Run the cases whose names have one of the words."""
    names: list[str] = unittest.TestLoader().getTestCaseNames(Cases)
    counts: Counter[str] = Counter()
    is_well = True
    for name in names:
        if words and not any(word in name for word in words):
            continue
        begun_s = time.monotonic()
        gloos = outcome_of(name, "gloo")
        middle_s = time.monotonic()
        if gloos.kind != "passed":
            counts[f"Gloo {gloos.kind}: {gloos.why}"] += 1
            continue
        ours = outcome_of(name, lightloom.torch.BACKEND)
        counts[f"lightloom {ours.kind}"] += 1
        if ours.kind != "passed":
            is_well = is_well and name in KNOWN
            print(f"{name} {ours.kind}: {ours.why}", flush=True)
        print(f"    {name} {middle_s - begun_s:.1f} {time.monotonic() - middle_s:.1f}", file=sys.stderr, flush=True)
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
