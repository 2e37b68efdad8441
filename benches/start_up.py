"""Start-up of commands compared with a Python that does nothing: processor time, for docs/how-to/install.md.

    python benches/start_up.py [--rounds 20]

Each command is a process of its own. They take turns, so that other work of the machine meets all alike.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from statistics import median

PROBLEM = ["--collective", "all-reduce", "--size", "64MiB", "--gpus", "64"]
FIRST_PLAN = "import lightloom as ll; ll.plan('all-reduce', '64MiB', fabric=ll.Fabric(gpus=64))"
LIGHTLOOM = ["-m", "lightloom"]
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import lightloom": ["-c", "import lightloom"],
    "lightloom --help": [*LIGHTLOOM, "--help"],
    "lightloom plan --help": [*LIGHTLOOM, "plan", "--help"],
    "lightloom list planners": [*LIGHTLOOM, "list", "planners"],
    "first plan in Python": ["-c", FIRST_PLAN],
    "lightloom plan --format json": [*LIGHTLOOM, "plan", *PROBLEM, "--format", "json"],
    "lightloom plan": [*LIGHTLOOM, "plan", *PROBLEM],
}


def processor_s(arguments: list[str]) -> float:
    """User and system time of a process."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    for arguments in COMMANDS.values():  # files that were never read
        processor_s(arguments)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, arguments in COMMANDS.items():
            times[name].append(processor_s(arguments))
    nothing_s = median(times["python -c pass"])
    print("| command | processor time, median | over `python -c pass` |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| `{name}` | {median(seconds) * 1e3:.0f} ms | {median(seconds) / nothing_s:.1f} |")


if __name__ == "__main__":
    main()
