"""Runs many command lines in worker processes, and reports their outcomes.

python -m tests.fuzz_command_line --runs 200000 --seed 1 [--workers 2] [--seconds-per-run 20] [--replays FOLDER]
python -m tests.fuzz_command_line --replay 1:4711
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path

from tests.fuzz_command_line.counts import Counts
from tests.fuzz_command_line.pool import Pool
from tests.fuzz_command_line.worker import Runner, case, serve


def main() -> int:
    """Exit status 0 where nothing is wrong with any run, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_command_line", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1500, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first run")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--seconds-per-run", type=float, default=20.0, metavar="S")
    parser.add_argument("--replays", type=Path, default=Path("out/fuzz-command-line"), metavar="FOLDER")
    parser.add_argument("--replay", metavar="SEED:INDEX", help="repeat one run in this process and show all of it")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.serve is not None:
        serve(told.seed, told.serve)
        return 0
    if told.replay is not None:
        return replay(*map(int, told.replay.split(":")))
    counts = Counts(told.seed)
    # An interrupt, or being told to end, shows the results until then.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="fuzz-command-line-") as base, contextlib.suppress(KeyboardInterrupt):
        pool = Pool(told.seed, Path(base), told.workers, told.seconds_per_run, told.replays)
        try:
            for answer in pool.run(range(told.first, told.first + told.runs)):
                counts.add(answer)
                if counts.runs % 1000 == 0 or sys.stderr.isatty():
                    sys.stderr.write(f"\r{counts.line()}" + ("\n" if counts.runs % 1000 == 0 else ""))
                    sys.stderr.flush()
        finally:
            pool.stop()
    sys.stdout.write("\n".join([counts.table(), *counts.kinds(), ""]))
    return 0 if not counts.faulty else 1


def replay(seed: int, index: int) -> int:
    """Repeat one run in this process, and show its command line, its files' folder and its faults."""
    base = Path(tempfile.mkdtemp(prefix="fuzz-replay-"))
    files = base / "files"
    files.mkdir()
    line, sink = case(seed, index, files)
    # The run takes standard output and error for itself.
    with os.fdopen(os.dup(1), "w") as shown:
        shown.write(f"cd {files}; lightloom {shlex.join(line.arguments)}   # output: {sink}\n")
        shown.flush()
        answer = Runner(base).run(seed, index)
        shown.writelines(f"{name}: {value}\n" for name, value in answer.items())
    return 1 if answer["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
