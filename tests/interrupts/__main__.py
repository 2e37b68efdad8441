"""Interrupts long calls at random moments, and says how long each took to end.

python -m tests.interrupts --rounds 3 [--seed 1] [--names plan] [--longest 8]
"""

from __future__ import annotations

import argparse
import json
import random
import select
import signal
import subprocess
import sys
import time
from statistics import median
from typing import Any

# An interrupt that is not heard for so long will not be.
DEAF_S = 60.0


class Caller:
    """A process that makes calls."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.interrupts.caller"]
        # Lines are looked for where they come from, so that no line waits in a buffer here.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self._told = self._process.stdin, self._process.stdout
        self.names: list[str] = self._line(DEAF_S)["names"]

    def _line(self, within_s: float) -> dict[str, Any]:
        """Its next line; empty if it is silent for so long."""
        if not select.select([self._told], [], [], within_s)[0]:
            return {}
        return dict(json.loads(self._told.readline()))

    def interrupt(self, name: str, after_s: float) -> tuple[str, float]:
        """How the call ended, and the seconds from the interrupt, or from its begin where it was done before."""
        self._asked.write(f"{name}\n".encode())
        began_s = self._line(DEAF_S)["began_s"]
        if told := self._line(max(0.0, began_s + after_s - time.monotonic())):
            return told["how"], told["ended_s"] - began_s
        sent_s = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        if not (told := self._line(DEAF_S)):
            return "deaf", DEAF_S
        return told["how"], told["ended_s"] - sent_s

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._asked.close()
        self._told.close()


def main() -> int:
    """Exit status 0 where every call that was interrupted ended and the next one was as ever."""
    parser = argparse.ArgumentParser(prog="python -m tests.interrupts", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="interrupts of each call")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--names", default="", metavar="TEXT", help="only calls whose names hold this")
    parser.add_argument("--longest", type=float, default=8.0, metavar="S", help="the latest interrupt")
    told = parser.parse_args()
    caller, drawn = Caller(), random.Random(told.seed)  # noqa: S311 (nothing here is secret)
    lasts_s = dict.fromkeys([name for name in caller.names if told.names in name], told.longest)
    took_s: dict[str, list[float]] = {}
    faults = 0
    for _ in range(told.rounds):
        for name in list(lasts_s):
            # Most of the moments are early: calls begin by other loops than those that they stay in.
            how, seconds = caller.interrupt(name, lasts_s[name] * drawn.random() ** 2)
            if how == "interrupted":
                took_s.setdefault(name, []).append(seconds)
            elif how == "done":
                lasts_s[name] = min(lasts_s[name], seconds)
            elif how.startswith("refused"):
                # Planners are for some collectives and shapes.
                del lasts_s[name]
            else:
                faults += 1
                sys.stdout.write(f"{name}: {how}\n")
            if how == "deaf":
                caller.end()
                caller = Caller()
    caller.end()
    for name, times in sorted(took_s.items(), key=lambda one: -max(one[1])):
        sys.stdout.write(f"{max(times):8.3f} s at most, {median(times):.3f} s median of {len(times)}: {name}\n")
    every = sorted(seconds for times in took_s.values() for seconds in times)
    if every:
        late = every[int(0.99 * (len(every) - 1))]
        sys.stdout.write(
            f"{len(every)} interrupts of {len(took_s)} calls: median {median(every):.3f} s, 99 % within {late:.3f} s, "
            f"at most {every[-1]:.3f} s\n"
        )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
