"""Outcomes of many runs: by verb and exit status, and the kinds of fault."""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import Any


class Counts:
    """Counts of the runs of a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.runs = 0
        self.faulty = 0
        self.slow = 0
        self.by_verb: Counter[tuple[str, str]] = Counter()
        self.first: dict[str, dict[str, Any]] = {}
        self.often: Counter[str] = Counter()
        self.began_s = time.monotonic()

    def add(self, answer: dict[str, Any]) -> None:
        """Count one run."""
        self.runs += 1
        is_slow = answer.get("is_slow", False)
        what = "slow" if is_slow else "fault" if answer["faults"] else str(answer["status"])
        self.by_verb[answer["verb"], what] += 1
        if answer["faults"]:
            self.faulty += not is_slow
            self.slow += is_slow
            kind = f"{answer['verb']}: {_plain(answer['faults'][0])}"
            self.often[kind] += 1
            self.first.setdefault(kind, answer)

    def line(self) -> str:
        """Progress."""
        rate = self.runs / (time.monotonic() - self.began_s)
        return f"{self.runs} runs, {self.faulty} faulty, {self.slow} ended as too slow, {rate:.0f} a second"

    def table(self) -> str:
        """Runs by verb and exit status, as Markdown."""
        columns = ("0", "1", "2", "fault", "slow")
        rows = ["| verb | runs | exit 0 | exit 1 | exit 2 | faults | too slow |", "|---|---|---|---|---|---|---|"]
        verbs = sorted({verb for verb, _ in self.by_verb})
        for verb in [*verbs, "all"]:
            cells = [
                sum(self.by_verb[one, column] for one in (verbs if verb == "all" else [verb])) for column in columns
            ]
            rows.append(f"| {verb} | {sum(cells)} | {' | '.join(map(str, cells))} |")
        return "\n".join(rows)

    def kinds(self) -> list[str]:
        """Each kind of fault, and runs that were too slow: how often, the first run with it, and its message."""
        return [
            f"{count}x {kind}\n   --replay {self.seed}:{self.first[kind]['index']}  {self.first[kind]['arguments']}"
            for kind, count in self.often.most_common()
        ]


def _plain(text: str) -> str:
    return re.sub(r"`[^`]*`", "`...`", re.sub(r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", "N", text))[:160]
