"""The table that the verb `verify` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.planning import Check


def checks_table(file: str, subject: str, checks: Sequence[Check]) -> str:
    """A row per check of a file, and the verdict above them."""
    failed = sum(not check.passed for check in checks)
    verdict = f"{failed} of {len(checks)} checks FAILED" if failed else f"all {len(checks)} checks passed"
    made = table("check", "", "detail")
    for check in checks:
        made.add_row(
            check.name, Text("ok", style="green") if check.passed else Text("FAILED", style="bold red"), check.detail
        )
    return render(heading(f"{file} ({subject}): {verdict}"), made)
