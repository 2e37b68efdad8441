"""`docs/reference/formats.md`, from the registry of formats.

`python -m docs.generators.formats_page` writes the page.
"""

from pathlib import Path

from lightloom.formats import FORMATS, Format

PAGE = Path(__file__).resolve().parent.parent / "reference" / "formats.md"
HEADER = """\
# Formats of other tools

Formats that `lightloom export PLAN --to FORMAT` writes, and that `lightloom verify` and `--schedule` read, by content;
from the registry in `python/lightloom/formats/__init__.py`, and as `lightloom list formats` shows it. `python -m
docs.generators.formats_page` writes this page. Facts of a plan that a format cannot express are in its side file
([how to](../how-to/export-a-plan.md)); what readers of workloads take and ask for is [on a page](workloads.md).

| format | what it is | written | read | what it cannot say | must have one rate for all | definition |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    """The page: a row for every format."""
    return HEADER + "\n".join(map(_row, FORMATS)) + "\n"


def _row(one: Format) -> str:
    alike = " and ".join(one.one_rate)
    cells = (f"`{one.name}`", one.summary, one.written or "no", one.made_of_it, one.cannot_say, alike, one.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page())
