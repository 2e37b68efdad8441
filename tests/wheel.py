"""Tries a wheel as somebody without a compiler does: installed into an empty environment, from the package index.

`python -m tests.wheel dist` prints the checks and the size of the installation, and ends with 1 where something is
wrong; `make wheel` runs it. Parts of it are used by the tests of the wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from click import echo

ROOT = Path(__file__).resolve().parent.parent
PROBLEM = ["--collective", "all-reduce", "--size", "64MiB", "--gpus", "64", "--format", "json"]
# The papers' distribution: its files, and a figure that is soon made.
PAPERS, FIGURE = "papers/src/lightloom_papers", "bridge-12"
# Most bytes of a default installation: Python's packages with all that they bring, without pip.
MOST_BYTES = 300_000_000
# The sources that no wheel can be made without.
NEEDED = ("Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "crates/python/Cargo.toml", "pyproject.toml", "PKG-INFO")


def left_out(wheel: Path, package: str = "python/lightloom") -> list[str]:
    """Files of the package that git knows and the wheel has not."""
    listed = subprocess.run(
        ["git", "ls-files", package],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    return [name for name in listed.stdout.split() if str(Path(name).relative_to(Path(package).parent)) not in held]


def left_out_of_sources(sources: Path) -> list[str]:
    """Files that a wheel needs and the sources have not."""
    with tarfile.open(sources) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    return [name for name in NEEDED if name not in held]


def installed(wheel: Path, folder: Path) -> Path:
    """The folder of the commands of an empty environment that the wheel was installed into."""
    venv.create(folder, with_pip=True)
    commands = folder / "bin"
    install(wheel, commands)
    return commands


def install(wheel: Path, commands: Path) -> None:
    """Install a wheel, with its dependencies from the package index, into the environment of these commands."""
    subprocess.run(
        [commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True
    )


def plan_of(command: Path, folder: Path) -> object:
    """The output of `lightloom plan` where nothing else is installed, no compiler either."""
    return json.loads(printed(command, folder, "plan", *PROBLEM))


def printed(command: Path, folder: Path, *words: str) -> str:
    """The output of a command in that folder, with nothing of this environment on its paths."""
    ran = subprocess.run(
        [command, *words],
        cwd=folder,
        env={"PATH": str(command.parent), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def size_of(environment: Path) -> int:
    """Bytes of the packages of an environment, without those that it came with."""
    packages = next((environment / "lib").glob("python*/site-packages"))
    total = 0
    for folder, _, names in os.walk(packages):
        if Path(folder).relative_to(packages).parts[:1] not in {("pip",)}:
            total += sum((Path(folder) / name).lstat().st_size for name in names)
    return total


def main(folder: Path) -> int:
    """Try the wheel and the archive of sources of the folder, then the papers' wheel in addition."""
    [wheel], [sources] = folder.glob("lightloom-*.whl"), folder.glob("lightloom-*.tar.gz")
    [papers] = folder.glob("lightloom_papers-*.whl")
    for file in (wheel, sources, papers):
        echo(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    wrong = [f"the wheel has no {name}" for name in left_out(wheel)]
    wrong += [f"the papers' wheel has no {name}" for name in left_out(papers, PAPERS)]
    wrong += [f"the sources have no {name}" for name in left_out_of_sources(sources)]
    with tempfile.TemporaryDirectory() as scratch:
        commands = installed(wheel.resolve(), Path(scratch) / "environment")
        size_bytes = size_of(commands.parent)
        echo(f"installed: {size_bytes / 1e6:.0f} MB of {MOST_BYTES / 1e6:.0f} MB")
        if size_bytes > MOST_BYTES:
            wrong.append("the installation is too large")
        install(papers.resolve(), commands)
        echo(f"with the papers: {size_of(commands.parent) / 1e6:.0f} MB")
        if "holds" not in printed(commands / "lightloom", Path(scratch), "reproduce", FIGURE):
            wrong.append(f"lightloom reproduce {FIGURE} judges nothing")
        here = Path(sys.executable).with_name("lightloom")
        if plan_of(commands / "lightloom", Path(scratch)) != plan_of(here, Path(scratch)):
            wrong.append("lightloom plan prints something else than in the development environment")
    for line in wrong:
        echo(f"error: {line}", err=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
