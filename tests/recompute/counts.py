"""Counts of recomputed plans, and the table of them in the documentation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.recompute.problems import CATEGORIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "robustness.md"
BEGIN, END = "<!-- recomputed plans: begin -->", "<!-- recomputed plans: end -->"
OUTCOMES = ("recomputed", "refused", "too many packets", "faulty")


@dataclass
class Counts:
    """Outcomes by category, kinds of the recomputed plans, reasons of refusals, and faults."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    planners: Counter[str] = field(default_factory=Counter)
    gpus: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """Add another's."""
        self.outcomes += other.outcomes
        self.planners += other.planners
        self.gpus += other.gpus
        self.reasons += other.reasons
        self.faults += other.faults

    def of(self, outcome: str) -> int:
        """The number of cases with this outcome, over all categories."""
        return sum(count for (_, found), count in self.outcomes.items() if found == outcome)

    def table(self) -> str:
        """Outcomes by category, as Markdown."""
        rows = [f"| category | {' | '.join(OUTCOMES)} |", "|---" * (len(OUTCOMES) + 1) + "|"]
        rows += [
            f"| {category} | {' | '.join(str(self.outcomes[category, found]) for found in OUTCOMES)} |"
            for category in CATEGORIES
        ]
        return "\n".join([*rows, f"| all | {' | '.join(str(self.of(found)) for found in OUTCOMES)} |"])

    def section(self, command: str) -> str:
        """The section on a run in the documentation."""
        planners = ", ".join(f"{name} {count}" for name, count in sorted(self.planners.items()))
        largest = max(self.gpus, default=0)
        return (
            f"{self.table()}\n\nFrom `{command}`; {self.gpus[largest]} of the recomputed plans are of {largest} GPUs. "
            f"By planner: {planners}.\n"
        )


def update_page(section: str) -> None:
    """Put the section where the page has its place for it."""
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n{section}{END}{tail}")
