"""The checks of the page's JavaScript without npm, without network, and with faults to find."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.javascript import main

OFFLINE = "npm error code ENOTFOUND\nnpm error network This is a problem related to network connectivity."
LEFT_OUT = "lint: the page's JavaScript is not checked: "


class Project:
    """A project with a lock file, and a folder of programs that is all that the path has."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        (self.root / "package-lock.json").touch()
        self.programs = folder / "programs"
        self.programs.mkdir()

    def npm(self, *lines: str) -> None:
        path = self.programs / "npm"
        path.write_text("\n".join(["#!/bin/sh", "echo npm >> asked", *lines, ""]))
        path.chmod(0o755)

    def npm_that_installs(self, biome: str) -> None:
        self.npm(
            "/bin/mkdir -p node_modules/.bin",
            f"""echo '#!/bin/sh\necho biome "$@" >> asked\n{biome}' > node_modules/.bin/biome""",
            "/bin/chmod +x node_modules/.bin/biome",
        )

    def asked(self) -> list[str]:
        return (self.root / "asked").read_text().splitlines()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path)
    monkeypatch.setenv("PATH", str(made.programs))
    return made


def test_no_npm_is_said(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main("lint", project.root) == 0
    assert capsys.readouterr().out == f"{LEFT_OUT}there is no npm\n"


def test_a_registry_that_is_not_reached_is_said(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.npm(f"echo '{OFFLINE}' >&2", "exit 1")
    for _ in range(2):
        assert main("lint", project.root) == 0
        assert capsys.readouterr().out == f"{LEFT_OUT}npm's registry cannot be reached\n"
    assert project.asked() == ["npm", "npm"]


def test_another_failure_of_npm_fails(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    project.npm("echo 'npm error code EUSAGE' >&2", "exit 1")
    assert main("lint", project.root) == 1
    assert "EUSAGE" in capfd.readouterr().err


def test_tools_are_installed_once_for_a_lock_and_need_no_network_then(project: Project) -> None:
    project.npm_that_installs("exit 0")
    assert main("lint", project.root) == 0
    project.npm(f"echo '{OFFLINE}' >&2", "exit 1")
    assert main("format", project.root) == 0
    assert project.asked() == ["npm", "biome ci --error-on-warnings", "biome check --write"]
    newer = (project.root / "node_modules" / "installed").stat().st_mtime + 10
    os.utime(project.root / "package-lock.json", (newer, newer))
    assert main("lint", project.root) == 0
    assert project.asked()[3:] == ["npm"]


def test_what_a_tool_finds_fails(project: Project) -> None:
    project.npm_that_installs("exit 2")
    assert main("lint", project.root) == 1
