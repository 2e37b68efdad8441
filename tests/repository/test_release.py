"""The version that Cargo.toml states can be released, and what `make release` writes next to its wheels."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from docs.generators.release import faults, repository_faults, sections, version, write

from tests.conftest import ROOT

CHANGELOG = """\
# Changelog

## Unreleased

## 1.2.3 - 2030-01-02

- It plans.

## 1.2.2 - 2030-01-01

- It is.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose version can be released."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.3"\n')
    (tmp_path / "papers" / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    assert faults(tmp_path) == []
    return tmp_path


def test_the_changelog_has_the_version_that_is_stated() -> None:
    """Between releases, changes may wait under Unreleased; else nothing keeps the version from being released."""
    assert [line for line in faults() if "under Unreleased" not in line] == []
    unreleased, *released = sections((ROOT / "CHANGELOG.md").read_text())
    assert unreleased.version is None
    assert released[0].version == version()
    assert [one.day for one in released] == sorted((one.day or "" for one in released), reverse=True)


def test_entries_of_the_changelog_are_one_line_each() -> None:
    for section in sections((ROOT / "CHANGELOG.md").read_text()):
        for line in filter(None, section.text.splitlines()):
            assert line.startswith(("- ", "### ")), line
            assert len(line) <= 120, line


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("Cargo.toml", "1.2.3", "1.2.4", "papers/pyproject.toml has version 1.2.3, Cargo.toml 1.2.4"),
        ("Cargo.toml", "1.2.3", "1.2.4", "CHANGELOG.md: the newest version is 1.2.3, Cargo.toml has 1.2.4"),
        ("CHANGELOG.md", "## Unreleased\n", "", "CHANGELOG.md has no section `## Unreleased` above all others"),
        (
            "CHANGELOG.md",
            "Unreleased\n",
            "Unreleased\n\n- New.\n",
            "CHANGELOG.md has changes under Unreleased: move them below `## 1.2.3 - YYYY-MM-DD`",
        ),
        (
            "CHANGELOG.md",
            "2030-01-02",
            "soon",
            "CHANGELOG.md: `soon` of version 1.2.3 is no date of the form YYYY-MM-DD",
        ),
    ],
)
def test_what_keeps_a_version_from_being_released_is_said(
    project: Path, file: str, old: str, new: str, said: str
) -> None:
    path = project / file
    path.write_text(path.read_text().replace(old, new))
    assert said in faults(project)


def test_notes_and_checksums_are_written_next_to_the_files(project: Path) -> None:
    dist = project / "dist"
    dist.mkdir()
    with pytest.raises(FileNotFoundError, match=r"^no \.whl of version 1\.2\.3 in "):
        write(dist, project)
    names = ["lightloom-1.2.3-cp311-abi3.whl", "lightloom_papers-1.2.3-py3-none-any.whl", "lightloom-1.2.3.tar.gz"]
    for name in (*names, "lightloom-1.2.2-cp311-abi3.whl"):
        (dist / name).write_text(name)
    said = write(dist, project)
    assert "git tag -a v1.2.3 -F dist/NOTES.md" in said
    assert "twine upload" in said
    assert (dist / "NOTES.md").read_text() == "# Lightloom 1.2.3 (2030-01-02)\n\n- It plans.\n"
    sums = (dist / "SHA256SUMS").read_text().splitlines()
    assert sums == [f"{hashlib.sha256(name.encode()).hexdigest()}  {name}" for name in names]


def _git(folder: Path, *words: str) -> None:
    named = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)  # noqa: S607


@pytest.fixture
def committed(project: Path) -> Path:
    """The project in a git repository, with everything committed."""
    _git(project, "init", "-q")
    _git(project, "add", ".")
    _git(project, "commit", "-q", "-m", "all")
    assert repository_faults(project) == []
    return project


def test_changes_that_are_not_committed_keep_a_version_from_being_released(committed: Path) -> None:
    (committed / "CHANGELOG.md").write_text(CHANGELOG + "\n- More.\n")
    (committed / "new.txt").write_text("new")
    [said] = repository_faults(committed)
    assert said == "changes are not committed: CHANGELOG.md, new.txt; commit or stash them"


def test_a_version_is_tagged_once(committed: Path) -> None:
    _git(committed, "tag", "v1.2.3")
    assert repository_faults(committed) == [], "a forge releases the commit that the tag names"
    (committed / "new.txt").write_text("new")
    _git(committed, "add", ".")
    _git(committed, "commit", "-q", "-m", "more")
    [said] = repository_faults(committed)
    assert said.startswith("version 1.2.3 is tagged already, as v1.2.3 on another commit: raise the version")
    _git(committed, "tag", "-d", "v1.2.3")
    _git(committed, "tag", "v1.2.2")
    assert repository_faults(committed) == []


def test_a_folder_without_a_repository_cannot_be_released(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    [said] = repository_faults(project)
    assert "is not a git repository" in said


def test_make_release_checks_first_and_publishes_nothing() -> None:
    """The recipe of `make release`, as `make` would run it."""
    recipe = (ROOT / "Makefile").read_text().split("\nrelease: ")[1].split("\n\n")[0].splitlines()[1:]
    assert recipe[0].endswith("docs.generators.release check"), "nothing is built before the check"
    assert all("--dry-run" in line for line in recipe if "publish" in line)
    assert not any("upload" in line or "git push" in line for line in recipe)
    assert recipe.index("\t$(VENV)/bin/twine check --strict dist/*.whl dist/*.tar.gz") < len(recipe) - 1
