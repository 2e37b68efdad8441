"""No two files import each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repository.import_graph import mutual_imports, python_imports, rust_imports

ROOT = Path(__file__).parents[2]
CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/Cargo.toml"))


def _shown(imports: dict[Path, set[Path]]) -> list[str]:
    return sorted(f"{one.relative_to(ROOT)} and {other.relative_to(ROOT)}" for one, other in mutual_imports(imports))


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_two_files_of_a_crate_import_each_other(crate: Path) -> None:
    imports = rust_imports(crate)
    assert sum(map(len, imports.values())) >= len(imports) - 2, "imports are not found any more"
    assert _shown(imports) == []


def test_no_two_files_of_the_package_import_each_other() -> None:
    imports = python_imports(ROOT / "python" / "lightloom")
    assert sum(map(len, imports.values())) > len(imports), "imports are not found any more"
    assert _shown(imports) == []


def test_a_pair_of_files_that_import_each_other_is_found(tmp_path: Path) -> None:
    crate, package = tmp_path / "crate" / "src", tmp_path / "package"
    (crate / "b").mkdir(parents=True)
    package.mkdir()
    (crate / "lib.rs").write_text("mod a;\nmod b;\npub use a::{A, Other as Renamed};\npub use b::c::C;\n")
    (crate / "a.rs").write_text("use crate::{C, b};\npub struct A;\npub struct Other;\n")
    (crate / "b.rs").write_text("pub mod c;\n// use crate::A;\nfn f() -> usize { c::SIZE }\n")
    (crate / "b" / "c.rs").write_text("fn f() { crate::Renamed; }\n#[cfg(test)]\nmod tests { use super::super::f; }\n")
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("from package.two import name\n")
    (package / "two.py").write_text("def f():\n    from . import one\n")
    names = [
        {(one.name, other.name) for one, other in mutual_imports(imports)}
        for imports in (rust_imports(crate.parent), python_imports(package))
    ]
    assert names == [{("a.rs", "c.rs")}, {("one.py", "two.py")}]
