"""Every file of a registry's folder is declared and registered next to it, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lightloom import _core

CRATES = Path(__file__).parents[2] / "crates"
FOLDERS = (
    "collectives/src/algorithms",
    "planners/src/planners",
    "runtime/src/barriers",
    "topologies/src/candidates",
    "topologies/src/families",
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_are_registered(folder: str) -> None:
    files = {path.stem for path in (CRATES / folder).glob("*.rs")} - {"mod"}
    text = (CRATES / folder / "mod.rs").read_text(encoding="utf-8")
    registry = text.partition("pub static REGISTRY")[2].partition("];")[0]
    assert len(files) > 2
    assert set(re.findall(r"^(?:pub\(crate\) )?mod (\w+);", text, re.MULTILINE)) == files
    assert set(re.findall(r"&(\w+)::", registry)) == files


def test_no_file_but_the_registry_lists_planners() -> None:
    names = {entry["name"] for entry in _core.registry()["planners"]}
    rust = [path for path in CRATES.glob("*/src/**/*.rs") if "planners/src/planners" not in path.as_posix()]
    python = list((CRATES.parent / "python").rglob("*.py"))
    lists: dict[str, set[str]] = {}
    for path in (*rust, *python):
        text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        found = names & set(re.findall(r'"([a-z-]+)"', text))
        if len(found) > 1:
            lists[path.name] = found
    # Conventions are named after papers, as some planners are; the others are examples in docstrings.
    assert lists.keys() <= {"convention.rs", "sweep.py", "run.py"}, lists
