"""`docs/reference/cutoffs.md`, from `cutoffs.rs` of every crate.

`python -m docs.generators.cutoffs_page` writes the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from docs.generators.json_page import table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "cutoffs.md"
HEADER = """\
# Cut-offs

The limits of searches, and the sizes up to which something is tried. Where a search meets one of them, a better plan
than the one found may exist. Each is a constant in the file `cutoffs.rs` of its crate, in the module of the file that
uses it; where several share one line of explanation, it is for all of them. `python -m docs.generators.cutoffs_page`
writes this page. Sizes that are refused are listed in [limits](../limits.md).
"""
MODULE = re.compile(r"^pub\(crate\) mod (\w+) \{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
CONSTANT = re.compile(
    r"(?P<docs>(?:^    ///.*\n)*)^    pub(?:\(crate\))? const (?P<name>\w+): (?P<type>[^=]+) =\s(?P<value>[^;]+);",
    re.MULTILINE,
)
LINK = re.compile(r"\[(`[^`]+`)\](?:\([^)]*\))?")


class Cutoff(NamedTuple):
    """A constant; `meaning` is empty where it shares that of the one before it."""

    module: str
    name: str
    value: str
    meaning: str


def cutoffs(source: str) -> list[Cutoff]:
    """The constants of a `cutoffs.rs`."""
    found = []
    for module, body in MODULE.findall(source):
        for constant in CONSTANT.finditer(body):
            lines = [line.strip().removeprefix("///").strip() for line in constant["docs"].splitlines()]
            meaning = LINK.sub(r"\1", " ".join(lines)).replace("|", r"\|")
            found.append(Cutoff(module, constant["name"], " ".join(constant["value"].split()), meaning))
    return found


def sources() -> dict[str, str]:
    """By crate the text of its `cutoffs.rs`."""
    return {path.parts[-3]: path.read_text() for path in sorted(ROOT.glob("crates/*/src/cutoffs.rs"))}


def page() -> str:
    """The page: a table for each crate."""
    parts = [HEADER]
    for crate, source in sources().items():
        rows = [(f"`{one.module}::{one.name}`", f"`{one.value}`", one.meaning) for one in cutoffs(source)]
        parts += [f"\n## {crate}\n\n", *table(("cut-off", "value", "meaning"), rows)]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
