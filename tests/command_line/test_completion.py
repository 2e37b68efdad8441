"""Completions of the shell: verbs, options, names of the registries, choices and files."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lightloom import _core
from lightloom.cli.completion import SHELLS, VARIABLE
from lightloom.cli.registry import VERBS
from lightloom.inputs.fabric import presets
from tests.conftest import RunCli

# What is offered for a line, as the shell's script reads it: kind, comma, value.
Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, cli: RunCli) -> Complete:
    def of(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv(VARIABLE, "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        ran = cli()
        assert ran.err == ""
        return ran.out.split()

    return of


def names(kind: str, start: str = "") -> list[str]:
    return [f"plain,{entry['name']}" for entry in _core.registry()[kind] if entry["name"].startswith(start)]


def test_verbs_and_options(complete: Complete) -> None:
    assert set(complete("lightloom ")) >= {f"plain,{verb.name}" for verb in VERBS}
    assert complete("lightloom plan --hop") == ["plain,--hop-delay"]
    assert complete("lightloom simulate --inj") == ["plain,--injection"]


def test_names_of_the_registries(complete: Complete) -> None:
    assert complete("lightloom plan --collective ") == names("collectives")
    assert complete("lightloom plan --algorithm ") == ["plain,auto", *names("algorithms")]
    assert complete("lightloom compare --planner sh") == names("planners", "sh") != []
    assert complete("lightloom plan --initial ") == ["plain,free", "plain,repeated", *names("topologies")]
    assert complete("lightloom plan --fabric ") == [f"plain,{preset['name']}" for preset in presets()]
    assert complete("lightloom plan --reconfiguration-delay ") == names("technologies")
    assert complete("lightloom simulate --level ") == ["plain,packet", "plain,flow"]
    assert "plain,planners" in complete("lightloom list pl")


def test_the_last_item_of_a_list_is_completed(complete: Complete) -> None:
    assert complete("lightloom plan --topology ring,tor") == [
        name.replace("plain,", "plain,ring,") for name in names("topologies", "tor")
    ]


@pytest.mark.parametrize("option", ["--schedule x", "--matrix m.", "--fabric ./", "--topology ring,a.e", "--output p"])
def test_files(complete: Complete, option: str) -> None:
    assert complete(f"lightloom plan {option}") == [f"file,{option.split()[1]}"]


def test_files_that_are_arguments(complete: Complete) -> None:
    assert complete("lightloom verify pl") == ["file,pl"]
    assert complete("lightloom sweep out/") == ["file,out/"]


def test_nothing_is_offered_where_nothing_is_known(complete: Complete) -> None:
    assert complete("lightloom nonsense --a") == []
    assert complete("lightloom plan --size ") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell(cli: RunCli, shell: str) -> None:
    ran = cli("completion", shell)
    assert ran.status == 0
    assert f"{VARIABLE}={shell}_complete" in ran.out


def test_bash_itself_completes(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    command = tmp_path / "lightloom"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lightloom "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(lightloom completion bash)"; COMP_WORDS=(lightloom plan --planner har); COMP_CWORD=3; '
        '_lightloom_completion lightloom; echo "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(
        [bash, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert (ran.stdout, ran.stderr) == ("harvest\n", "")
