"""Workflows of a forge and hooks of commits run only commands of the Makefile."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Commands that prepare a forge's machine for the Makefile, and that remove files not meant for the index.
SET_UP = {"cargo install --locked cargo-deny", "pipx install pip-audit", "rm dist/NOTES.md dist/SHA256SUMS"}
ACTION = re.compile(r"(actions|pypa)/[\w-]+@(v\d+|release/v\d+)")
MAKE = re.compile(r"make ([a-z-]+)((?: [A-Z_]+=\S.*)?)")


def targets() -> set[str]:
    """Targets of the Makefile that are no files."""
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    return set(phony[1].replace("\\\n", " ").split())


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of all jobs."""
    return list(chain.from_iterable(job["steps"] for job in workflow["jobs"].values()))


def made(commands: list[str]) -> set[str]:
    """The targets that commands make. Fails where one is of another kind."""
    found = set()
    for command in set(commands) - SET_UP:
        match = MAKE.fullmatch(command)
        assert match, f"`{command}` is no command of the Makefile"
        for variable in re.findall(r"([A-Z_]+)=", match[2]):
            assert re.search(rf"^{variable} \??=", MAKEFILE, re.MULTILINE), f"the Makefile has no {variable}"
        found.add(match[1])
    return found


def test_targets_that_are_no_files_are_the_targets_of_the_makefile() -> None:
    rules = {name for line in re.findall(r"^([a-z][a-z -]*):(?!=)", MAKEFILE, re.MULTILINE) for name in line.split()}
    assert rules == targets()


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_run_targets_of_the_makefile(file: Any) -> None:
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job.get("timeout-minutes", 60 if "environment" in job else None)
    for step in steps(workflow):
        assert "uses" in step or "run" in step
        assert ACTION.fullmatch(step.get("uses", "actions/checkout@v4")), step
    assert made([step["run"] for step in steps(workflow) if "run" in step]) <= targets()


def test_a_pull_request_runs_what_a_change_has_to_pass() -> None:
    """The commands of `.ci/run`, but for what takes long and is run every week: other simulators and PyTorch."""
    read = {file.stem: yaml.safe_load(file.read_text()) for file in WORKFLOWS}
    commands = {name: [step.get("run", "") for step in steps(workflow)] for name, workflow in read.items()}
    asked = set(re.findall(r"^(?:timeout \d+ )?(make [a-z-]+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE))
    assert len(asked) > 3
    weekly = {"make test-peers", "make test-torch"}
    assert asked - set(commands["check"]) == weekly
    assert weekly <= set(commands["weekly"])
    assert "make release" in commands["release"]


def test_hooks_run_targets_of_the_makefile() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    entries = [hook["entry"] for repository in hooks["repos"] for hook in repository["hooks"]]
    assert made(entries) <= targets()
    assert {repository["repo"] for repository in hooks["repos"]} == {"local"}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/how-to/install.md"])
def test_pages_name_targets_of_the_makefile(page: str) -> None:
    named = set(re.findall(r"(?:`|^)make ([a-z][a-z-]*)", (ROOT / page).read_text(), re.MULTILINE))
    assert named
    assert named <= targets()
