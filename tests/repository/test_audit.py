"""What is said of dependencies where programs that know of faults are there, and where they are not."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.audit import ROOT

ASKED = {"dependencies": [{"name": "old", "version": "1", "vulns": []}, {"name": "own", "skip_reason": "not on PyPI"}]}
FAULTY = {"dependencies": [{"name": "old", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}


def audited(tmp_path: Path, cargo: str | None, pip_audit: str | None) -> tuple[int, str]:
    """Status and output with programs of these texts, of the shell, on the path."""
    for name, text in (("cargo", cargo), ("cargo-deny", cargo), ("pip-audit", pip_audit)):
        if text is not None:
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "tests.audit"],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tmp_path}:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_programs_that_are_not_there_are_said(tmp_path: Path) -> None:
    status, said = audited(tmp_path, None, None)
    assert status == 0
    assert said.count("not audited: ") == 2


@pytest.mark.parametrize(
    ("cargo", "pip_audit", "status", "part"),
    [
        ("exit 0", f"echo '{json.dumps(ASKED)}'", 0, "1 of 2 packages"),
        ("exit 0", f"echo '{json.dumps(FAULTY)}'; exit 1", 1, "old 1: PYSEC-1"),
        ("exit 0", "echo offline >&2; exit 1", 0, "PyPI's advisories cannot be had"),
        ('test "$2" != fetch', f"echo '{json.dumps(ASKED)}'", 0, "RustSec's advisories cannot be had"),
        ('test "$4" != bans', f"echo '{json.dumps(ASKED)}'", 1, "0 with faults"),
        ('test "$4" != advisories; exit $(($? * 4))', f"echo '{json.dumps(ASKED)}'", 1, "0 with faults"),
    ],
)
def test_faults_fail_and_what_cannot_be_asked_does_not(
    tmp_path: Path, cargo: str, pip_audit: str, status: int, part: str
) -> None:
    found, said = audited(tmp_path, cargo, pip_audit)
    assert found == status
    assert part in said


def test_exceptions_of_the_rules_are_still_in_use() -> None:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    versions = {f"{package['name']}@{package['version']}" for package in locked}
    for skipped in rules["bans"]["skip"]:
        assert any(version.startswith(f"{skipped['crate']}.") for version in versions), skipped
