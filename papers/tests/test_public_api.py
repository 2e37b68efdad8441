"""The papers use only the public API of `lightloom`, and `lightloom` holds nothing of theirs."""

import ast
import importlib
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import lightloom
from lightloom_papers.registry import PAPERS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "papers" / "src" / "lightloom_papers").rglob("*.py"))
PRODUCT = ROOT / "python" / "lightloom"


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The modules of `lightloom` that are imported, with the name that is taken of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            if module.split(".")[0] == "lightloom":
                yield from ((module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "lightloom"]
            assert not names, f"names are taken one by one, not `import {names}`"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.relative_to(ROOT)))
def test_nothing_private_is_imported(source: Path) -> None:
    tree = ast.parse(source.read_text())
    for module, name in _imports(tree):
        assert not any(_is_private(part) for part in module.split(".")), module
        assert name in importlib.import_module(module).__all__, f"`{name}` is not public in `{module}`"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.relative_to(ROOT)))
def test_no_private_attribute_is_used(source: Path) -> None:
    used = {node.attr for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Attribute)}
    own = {
        node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else node.attr
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        or (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    }
    named_tuples = {"_replace", "_asdict", "_fields"}
    assert not {name for name in used if _is_private(name)} - own - named_tuples
    assert "core" not in used, "`.core` is the compiled object"


def test_the_product_knows_no_figure() -> None:
    names = [figure.name for paper in PAPERS for figure in paper.figures]
    assert len(names) > 40
    for file in sorted(PRODUCT.rglob("*.py")):
        text = file.read_text()
        assert "lightloom_papers" not in text, file
        assert not [name for name in names if f'"{name}"' in text], file


@pytest.mark.large
def test_the_distribution_of_the_product_holds_no_figure(tmp_path: Path) -> None:
    """The files that maturin packs: the wheel has the package of the source archive, compiled."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    assert project["python-source"] == "python"
    maturin = Path(sys.executable).parent / "maturin"
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as packed:
        names = [Path(*Path(name).parts[1:]) for name in packed.getnames()]
    packed_modules = {name for name in names if name.suffix == ".py" and "crates" not in name.parts}
    assert packed_modules == {file.relative_to(ROOT) for file in PRODUCT.rglob("*.py")}
    assert not [name for name in names if "papers" in name.parts]


def test_both_distributions_have_one_version() -> None:
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text())["project"]
    assert papers["version"] == lightloom.__version__
