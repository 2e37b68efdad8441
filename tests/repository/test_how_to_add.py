"""`docs/how-to-add.md` names files that are there."""

from __future__ import annotations

import re
import subprocess

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to-add.md").read_text()
# The file of the example; names in capitals stand for others.
EXAMPLE = "crates/planners/src/planners/greedy.rs"
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]{3,}[/.]")
NAMED = re.compile(r"`([\w./-]+(?:\.(?:py|rs|toml|md|js|html)|/))`")


def test_files_that_the_page_names_are_there() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    paths = {f"/{path}" for path in tracked}
    named = {name for name in NAMED.findall(PAGE) if not PLACEHOLDER.search(name)} - {EXAMPLE}
    assert len(named) > 40
    assert [name for name in named if not any(f"/{name}" in path for path in paths)] == []


def test_whatever_can_be_added_has_a_section() -> None:
    sections = " ".join(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
    for kind in ("option", "planner", "delay", "format", "workloads", "view", "fault", "driver", "topology", "figure"):
        assert kind in sections, kind
