"""Faults of a page fail `make docs`: pages with a fault each, in a site that builds without them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

INDEX = "# Home\n\n**Part**\n\n- [A page](page.md#a-heading)\n"
PAGE = """\
# Page

## A heading

Back [home](README.md), [the rules](../Makefile).

```math
T = \\sum_i \\alpha_r
```
"""
FAULTS = {
    "a page that is not there": ("[more](more.md)", "more.md"),
    "a heading that is not there": ("[more](README.md#zzz)", "zzz"),
    "a folder": ("[all](../docs)", "../docs"),
    "a formula that cannot be read": ("```math\n\\left( \\zzz\n```", ".md"),
    "a bracket across cells": ("```math\n\\begin{aligned}\n\\bigl( & a \\\\ & b \\bigr)\n\\end{aligned}\n```", "bigl"),
    "a picture that is not there": ("![more](more.png)", "more.png"),
    "a script from elsewhere": ('<script src="https://example.org/more.js"></script>', "https://example.org/more.js"),
    "a picture from elsewhere": ("![more](https://example.org/more.png)", "https://example.org/more.png"),
}


def _built(folder: Path, index: str, **pages: str) -> subprocess.CompletedProcess[str]:
    """Run the rule `docs` of the Makefile, with the small site's folder in the place of the repository's."""
    rule = re.search(
        r"^docs: .*(?:\n\t.*)*?\n\t\$\(VENV\)/bin/sphinx-build (.*) -c (\S+) -d \S+ \. \S+$",
        (ROOT / "Makefile").read_text(),
        re.M,
    )
    assert rule
    (folder / "docs").mkdir()
    (folder / "Makefile").write_text("all:\n")
    (folder / "docs" / "README.md").write_text(index)
    for name, page in pages.items():
        (folder / "docs" / f"{name}.md").write_text(page)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        *rule[1].split(),
        "-c",
        str(ROOT / rule[2]),
        str(folder),
        str(folder / "out"),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.large
def test_pages_without_faults_are_built(tmp_path: Path) -> None:
    ran = _built(tmp_path, INDEX, page=PAGE)
    assert (ran.returncode, ran.stderr) == (0, "")
    made = (tmp_path / "out" / "docs" / "page.html").read_text()
    assert "<math" in made
    # The index of words is a script, which pages opened as files may load.
    assert "A heading" in (tmp_path / "out" / "searchindex.js").read_text()


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """One build of a page for each fault, `fault0.md` and so on: the rule goes on after a fault."""
    pages = {f"fault{index}": f"{PAGE}\n{fault}\n" for index, (fault, _) in enumerate(FAULTS.values())}
    index = INDEX + "".join(f"- [Fault]({name}.md)\n" for name in pages)
    return _built(tmp_path_factory.mktemp("faulty"), index, page=PAGE, **pages)


@pytest.mark.large
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_and_is_named(faulty: subprocess.CompletedProcess[str], fault: str) -> None:
    assert faulty.returncode != 0
    _, named = FAULTS[fault]
    page = f"fault{list(FAULTS).index(fault)}"
    said = [line for line in faulty.stderr.splitlines() if page in line or named in line]
    assert any(page in line for line in said), faulty.stderr
    assert any(named in line for line in said), faulty.stderr


@pytest.mark.large
def test_a_page_outside_the_navigation_fails(tmp_path: Path) -> None:
    ran = _built(tmp_path, INDEX.partition("- ")[0] + "See [a page](page.md).\n", page=PAGE)
    assert ran.returncode != 0
    assert "page.md" in ran.stderr
    assert "toctree" in ran.stderr
