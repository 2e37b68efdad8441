"""No two files of a crate import each other, no files of the package in a circle; folders import only downwards."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.repository.import_graph import circle, mutual_imports, python_imports, rust_imports

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "lightloom"
CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/Cargo.toml"))


def _shown(imports: dict[Path, set[Path]]) -> list[str]:
    return sorted(f"{one.relative_to(ROOT)} and {other.relative_to(ROOT)}" for one, other in mutual_imports(imports))


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_two_files_of_a_crate_import_each_other(crate: Path) -> None:
    imports = rust_imports(crate)
    assert sum(map(len, imports.values())) >= len(imports) - 2, "imports are not found any more"
    assert _shown(imports) == []


@pytest.mark.large
def test_no_files_of_the_package_import_each_other_in_a_circle() -> None:
    imports = python_imports(PACKAGE)
    assert sum(map(len, imports.values())) > len(imports), "imports are not found any more"
    assert [str(file.relative_to(PACKAGE)) for file in circle(imports)] == []


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """The verdict of the contracts of pyproject.toml on the package in a folder."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    return subprocess.run(
        [*command, "--no-cache", "--no-logo", str(ROOT / "pyproject.toml")],
        env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_folders_of_the_package_import_downwards_alone() -> None:
    ran = lint_imports(PACKAGE.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_page_of_architecture_has_the_folders_in_their_order() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    folders = [folder for layer in contracts[0]["layers"] for folder in layer.split(" | ")]
    section = (ROOT / "docs" / "architecture.md").read_text().partition("## The Python package\n")[2]
    assert re.findall(r"^\| `(\w+)/` \|", section, re.MULTILINE) == folders


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        (
            "plans/steps.py",
            "def f():\n    from lightloom.views import rows\n",
            "lightloom.plans.steps -> lightloom.views",
        ),
        (
            "base/files.py",
            "if TYPE_CHECKING:\n    from lightloom.plans import Plan\n",
            "lightloom.base.files -> lightloom.plans",
        ),
        ("formats/buffers.py", "from lightloom.formats.mscclpp import write\n", "buffers"),
        ("unknown/__init__.py", "", "unknown"),
    ],
)
def test_imports_upwards_or_in_a_circle_and_a_new_folder_are_refused(
    tmp_path: Path, file: str, line: str, said: str
) -> None:
    package = tmp_path / "lightloom"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__", "static"))
    (package / file).parent.mkdir(exist_ok=True)
    with (package / file).open("a") as written:
        written.write(line)
    ran = lint_imports(tmp_path)
    assert (ran.returncode, said in ran.stdout) == (1, True), ran.stdout + ran.stderr


def test_files_that_import_each_other_are_found(tmp_path: Path) -> None:
    crate, package = tmp_path / "crate" / "src", tmp_path / "package"
    (crate / "b").mkdir(parents=True)
    package.mkdir()
    (crate / "lib.rs").write_text("mod a;\nmod b;\npub use a::{A, Other as Renamed};\npub use b::c::C;\n")
    (crate / "a.rs").write_text("use crate::{C, b};\npub struct A;\npub struct Other;\n")
    (crate / "b.rs").write_text("pub mod c;\n// use crate::A;\nfn f() -> usize { c::SIZE }\n")
    (crate / "b" / "c.rs").write_text("fn f() { crate::Renamed; }\n#[cfg(test)]\nmod tests { use super::super::f; }\n")
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from package.two import name\n")
    (package / "two.py").write_text("def f():\n    from . import three\n")
    (package / "three.py").write_text("if TYPE_CHECKING:\n    import package.one\n")
    (package / "four.py").write_text("from package import one\n")
    assert {(one.name, other.name) for one, other in mutual_imports(rust_imports(crate.parent))} == {("a.rs", "c.rs")}
    assert {file.name for file in circle(python_imports(package))} == {"one.py", "two.py", "three.py"}
