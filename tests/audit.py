"""Licences, sources, duplicates and known faults of dependencies: `python -m tests.audit`.

cargo-deny holds Cargo.lock to deny.toml and to RustSec's advisories, pip-audit holds requirements-dev.lock to PyPI's. A
program that is not installed and a database that cannot be reached are said and left out; the status is 1 where
something is found.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = "requirements-dev.lock"
SECONDS = 300


def main() -> int:
    """The status: 1 where something is found."""
    return max(_rust(), _python())


def _rust() -> int:
    if shutil.which("cargo-deny") is None:
        return _say("Rust's dependencies are not audited: cargo install --locked cargo-deny")
    status = _run("cargo", "deny", "--locked", "check", "bans", "licenses", "sources").returncode
    if _run("cargo", "deny", "fetch", "db", is_quiet=True).returncode:
        _say("RustSec's advisories cannot be had here: Rust's dependencies are not held to them")
        return min(status, 1)
    return min(max(status, _run("cargo", "deny", "--locked", "check", "advisories").returncode), 1)


def _python() -> int:
    program = shutil.which("pip-audit", path=str(Path(sys.executable).parent)) or shutil.which("pip-audit")
    if program is None:
        return _say("Python's dependencies are not audited: pipx install pip-audit")
    asked = _run(
        program,
        "--format",
        "json",
        "--progress-spinner",
        "off",
        "--no-deps",
        "--disable-pip",
        "-r",
        LOCK,
        is_quiet=True,
    )
    try:
        packages = json.loads(asked.stdout)["dependencies"]
    except ValueError:
        return _say("PyPI's advisories cannot be had here: Python's dependencies are not held to them")
    known = [package for package in packages if "vulns" in package]
    faulty = [package for package in known if package["vulns"]]
    for package in faulty:
        _say(f"{package['name']} {package['version']}: {', '.join(fault['id'] for fault in package['vulns'])}")
    _say(f"{len(known)} of {len(packages)} packages of {LOCK} held to PyPI's advisories, {len(faulty)} with faults")
    return 1 if faulty else 0


def _say(what: str) -> int:
    sys.stdout.write(f"audit: {what}\n")
    sys.stdout.flush()
    return 0


def _run(*command: str, is_quiet: bool = False) -> subprocess.CompletedProcess[str]:
    where = subprocess.PIPE if is_quiet else None
    return subprocess.run(command, cwd=ROOT, stdout=where, stderr=where, text=True, timeout=SECONDS, check=False)


if __name__ == "__main__":
    sys.exit(main())
