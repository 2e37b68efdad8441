"""`crates/README.md` says what Cargo says: which crates there are, what each imports, and on which floor it stands."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "crates" / "README.md"
# Every crate may import it, and the column of imports leaves it out.
FOR_ALL = "interruption"

Imports = dict[str, set[str]]


@cache
def cargo_imports() -> Imports:
    """By crate of the workspace the crates of the workspace that it imports, those of its tests left out."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    packages = {package["name"]: package for package in json.loads(ran.stdout)["packages"]}
    return {
        folder(name): {
            folder(dependency["name"])
            for dependency in package["dependencies"]
            if dependency["kind"] != "dev" and dependency["name"] in packages
        }
        for name, package in packages.items()
    }


def folder(package: str) -> str:
    """The folder of a package, which the code and the table name the crate by."""
    return package.removeprefix("lightloom-").replace("-", "_")


def table(text: str) -> Imports:
    """By crate, in the order of the rows, the imports that the table states."""
    rows = re.findall(r"^\| `(\w+)` \| .* \| ([^|]*) \|$", text, re.MULTILINE)
    return {crate: set(re.findall(r"`(\w+)`", imports)) for crate, imports in rows}


def floors(text: str) -> dict[str, int]:
    """By crate the floor that the picture states."""
    picture = text.partition("```text\nfloor\n")[2].partition("```")[0]
    return {
        crate: int(floor)
        for floor, crates in re.findall(r"^ +(\d+) +(.+)$", picture, re.MULTILINE)
        for crate in crates.split(", ")
    }


def lowest(imports: Imports) -> dict[str, int]:
    """By crate the floor below all that it imports; 0 where it imports none."""

    @cache
    def floor(crate: str) -> int:
        return 1 + max((floor(other) for other in imports[crate]), default=-1)

    return {crate: floor(crate) for crate in imports}


def reached(imports: Imports, crate: str) -> set[str]:
    """All that a crate imports, directly or by way of others."""
    found: set[str] = set()
    left = [crate]
    while left:
        new = imports[left.pop()] - found
        found |= new
        left += new
    return found


def test_the_table_has_every_crate_with_its_imports() -> None:
    stated = table(README.read_text(encoding="utf-8"))
    assert stated == {crate: imports - {FOR_ALL} for crate, imports in cargo_imports().items()}


def test_a_crate_imports_only_from_rows_above() -> None:
    stated = table(README.read_text(encoding="utf-8"))
    rows = list(stated)
    assert [crate for crate, imports in stated.items() if not imports <= set(rows[: rows.index(crate)])] == []


def test_the_picture_has_every_crate_on_its_floor() -> None:
    assert floors(README.read_text(encoding="utf-8")) == lowest(cargo_imports())


def test_judge_and_simulation_see_the_model_alone() -> None:
    imports = cargo_imports()
    for crate in ("verify", "simulate"):
        assert reached(imports, crate) == {"model", FOR_ALL}, crate


def test_an_import_that_is_not_stated_is_found() -> None:
    text = README.read_text(encoding="utf-8")
    assert table(text.replace("| `verify` |", "| `judge` |", 1)) != table(text)
    wrong = cargo_imports() | {"verify": {"model", FOR_ALL, "planners"}}
    assert floors(text) != lowest(wrong)
    assert "compositions" in reached(wrong, "verify")
