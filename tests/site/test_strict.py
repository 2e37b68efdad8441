"""What is wrong with a page fails `make docs`: each fault in a site of two pages, which builds without it."""

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
    "a formula that cannot be read": ("```math\n\\left( \\zzz\n```", "page.md"),
    "a bracket across cells": ("```math\n\\begin{aligned}\n\\bigl( & a \\\\ & b \\bigr)\n\\end{aligned}\n```", "bigl"),
    "a picture that is not there": ("![more](more.png)", "more.png"),
    "a script from elsewhere": ('<script src="https://example.org/more.js"></script>', "https://example.org/more.js"),
    "a picture from elsewhere": ("![more](https://example.org/more.png)", "https://example.org/more.png"),
}


def _built(folder: Path, index: str, page: str) -> subprocess.CompletedProcess[str]:
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
    (folder / "docs" / "page.md").write_text(page)
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


def test_pages_without_faults_are_built(tmp_path: Path) -> None:
    ran = _built(tmp_path, INDEX, PAGE)
    assert (ran.returncode, ran.stderr) == (0, "")
    made = (tmp_path / "out" / "docs" / "page.html").read_text()
    assert "<math" in made
    # The index of words is a script, which pages opened as files may load.
    assert "A heading" in (tmp_path / "out" / "searchindex.js").read_text()


@pytest.mark.parametrize(("fault", "named"), FAULTS.values(), ids=FAULTS)
def test_a_fault_fails(tmp_path: Path, fault: str, named: str) -> None:
    ran = _built(tmp_path, INDEX, f"{PAGE}\n{fault}\n")
    assert ran.returncode != 0
    assert named in ran.stderr


def test_a_page_outside_the_navigation_fails(tmp_path: Path) -> None:
    ran = _built(tmp_path, INDEX.partition("- ")[0] + "See [a page](page.md).\n", PAGE)
    assert ran.returncode != 0
    assert "page.md" in ran.stderr
    assert "toctree" in ran.stderr
