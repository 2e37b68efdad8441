"""A short run of the fuzz of the command line; see docs/robustness.md for the long one."""

from pathlib import Path

import pytest

from tests.fuzz_command_line.counts import Counts
from tests.fuzz_command_line.judge import Entry, Ran, faults
from tests.fuzz_command_line.pool import Pool

pytestmark = pytest.mark.slow

SEED, RUNS, SECONDS_PER_RUN = 2, 1500, 60.0


@pytest.mark.large
def test_nothing_but_answers_and_refusals(tmp_path: Path) -> None:
    counts = Counts(SEED)
    for answer in Pool(SEED, tmp_path / "workers", 2, SECONDS_PER_RUN, tmp_path / "replays").run(range(RUNS)):
        counts.add(answer)
    assert counts.runs == RUNS
    assert counts.kinds() == []
    for verb in ("plan", "compare", "bound", "verify", "simulate", "export", "sweep", "calibrate", "list", "reproduce"):
        assert counts.by_verb[verb, "0"] > 0
        assert counts.by_verb[verb, "2"] > 0


def test_the_judge_finds_what_is_wrong() -> None:
    refused = Ran(["plan"], "plan", 2, "", "", "error: size: it is missing\n", "file")
    done = Ran(["plan"], "plan", 0, "", '{"total_s": 1.0}\n', "", "file")
    here = {"kept.txt": Entry(0o100000, b"text")}
    assert faults(refused, here, here, []) == []
    assert faults(done, here, here, []) == []
    assert faults(done._replace(err="planning, 10 s\nplanning, 20 s\n"), here, here, []) == []
    for wrong in (
        refused._replace(exception="KeyError at plan.py:1: 'x'", status=None),
        refused._replace(status=3),
        refused._replace(status=1),
        refused._replace(err=""),
        refused._replace(err="error: a\nerror: b\n"),
        refused._replace(err="warning\nerror: a\n"),
        refused._replace(out="half a table"),
        refused._replace(err="error: thread panicked\n"),
        done._replace(err="RuntimeWarning: overflow\n"),
        done._replace(out='{"total_s": NaN}\n'),
        done._replace(out='{"total_s": 1.0'),
    ):
        assert faults(wrong, here, here, []), wrong
    assert faults(done, here, {}, [])
    assert faults(done, here, {**here, ".plan.json.abc": Entry(0o100000, b"")}, [])
    assert faults(done, here, here, ["tmpabc"])
    assert faults(refused, here, {"kept.txt": Entry(0o100000, b"")}, [])
