"""Parts of a release other than its wheels: a version that all files agree on, notes, checksums, the steps that follow.

`python -m docs.generators.release check` refuses a version that cannot be released, a working tree with changes, and a
version that is tagged elsewhere; `python -m docs.generators.release write dist` writes `NOTES.md` and `SHA256SUMS` next
to the wheels and sources there. `make release` runs both.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NOTES, SUMS = "NOTES.md", "SHA256SUMS"
# Changed files that are named in a fault.
MOST_NAMED = 5
HEADING = re.compile(r"^## (?:\[?(?P<version>\d+\.\d+\.\d+)\]? - (?P<day>\S+)|Unreleased)$", re.MULTILINE)
STEPS = """\
dist/ holds {version}. Nothing is published yet; a person does the following:

1. Read dist/{notes}, and try the wheel: pip install dist/lightloom-{version}-*.whl
2. Tag the commit and push the tag:     git tag -a v{version} -F dist/{notes} --cleanup=whitespace
                                        git push origin v{version}
3. Upload to the package index:         pipx run twine upload dist/*.whl dist/*.tar.gz
   (with an account there that owns both names, lightloom and lightloom-papers, and its token)
   On a forge that runs .github/workflows/release.yml, the tag does that once its environment `pypi` is approved.
4. Upload the crates to theirs:         cargo publish --workspace --locked
5. Make a release of the tag with dist/{notes} as its text, and the files of dist/.
6. Begin the next version: the number in Cargo.toml (also that of its crates), Cargo.lock and papers/pyproject.toml.
"""


class Section(NamedTuple):
    """A section of the CHANGELOG. version, day: None if it is not released."""

    version: str | None
    day: str | None
    text: str


def sections(changelog: str) -> list[Section]:
    """The sections of a CHANGELOG, the newest first."""
    found = list(HEADING.finditer(changelog))
    ends = [one.start() for one in found[1:]] + [len(changelog)]
    return [
        Section(one["version"], one["day"], changelog[one.end() : end].strip())
        for one, end in zip(found, ends, strict=True)
    ]


def version(root: Path = ROOT) -> str:
    """The version that Cargo.toml states."""
    return str(tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def faults(root: Path = ROOT) -> list[str]:
    """Reasons why the version cannot be released, a line each."""
    stated = version(root)
    papers = tomllib.loads((root / "papers" / "pyproject.toml").read_text())["project"]["version"]
    unreleased, *released = sections((root / "CHANGELOG.md").read_text())
    found = []
    if papers != stated:
        found.append(f"papers/pyproject.toml has version {papers}, Cargo.toml {stated}")
    if unreleased.version is not None:
        return [*found, "CHANGELOG.md has no section `## Unreleased` above all others"]
    if unreleased.text:
        found.append(f"CHANGELOG.md has changes under Unreleased: move them below `## {stated} - YYYY-MM-DD`")
    if not released or released[0].version != stated:
        newest = released[0].version if released else "none"
        found.append(f"CHANGELOG.md: the newest version is {newest}, Cargo.toml has {stated}")
    return found + [line for one in released for line in _wrong_day(one)]


def repository_faults(root: Path = ROOT) -> list[str]:
    """Reasons why the commit at hand cannot be released, a line each: changes, or a tag of the version elsewhere.

    A tag on the commit itself is accepted: a forge builds what a tag names.
    """
    stated = version(root)
    try:
        changed = [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]
        tagged = _git(root, "tag", "--list", f"v{stated}").strip()
        here = _git(root, "tag", "--list", f"v{stated}", "--points-at", "HEAD").strip() if tagged else ""
    except (OSError, subprocess.CalledProcessError) as error:
        return [f"{root} is not a git repository with a commit: {getattr(error, 'stderr', None) or error}".strip()]
    found = []
    if changed:
        more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        found.append(f"changes are not committed: {', '.join(changed[:MOST_NAMED])}{more}; commit or stash them")
    if tagged and not here:
        found.append(
            f"version {stated} is tagged already, as {tagged} on another commit: raise the version in Cargo.toml "
            "and papers/pyproject.toml"
        )
    return found


def _git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words],  # noqa: S607
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def _wrong_day(section: Section) -> list[str]:
    try:
        date.fromisoformat(section.day or "")
    except ValueError:
        return [f"CHANGELOG.md: `{section.day}` of version {section.version} is no date of the form YYYY-MM-DD"]
    return []


def write(folder: Path, root: Path = ROOT) -> str:
    """Write the notes of the version and the checksums of the folder's wheels and sources; a person's next steps.

    The notes are the version's section of the CHANGELOG. Raises `FileNotFoundError` where no wheel or no sources of the
    version are there.
    """
    stated = version(root)
    [section] = [one for one in sections((root / "CHANGELOG.md").read_text()) if one.version == stated]
    files = sorted(folder.glob(f"lightloom*-{stated}*.whl")) + sorted(folder.glob(f"lightloom*-{stated}.tar.gz"))
    for kind in (".whl", ".tar.gz"):
        if not any(file.name.endswith(kind) for file in files):
            raise FileNotFoundError(f"no {kind} of version {stated} in {folder}")
    (folder / NOTES).write_text(f"# Lightloom {stated} ({section.day})\n\n{section.text}\n")
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (folder / SUMS).write_text(sums)
    return STEPS.format(version=stated, notes=NOTES)


def main(command: str, *folders: str) -> int:
    """The status: 1 where the version cannot be released."""
    found = faults() + (repository_faults() if command == "check" else [])
    for line in found:
        sys.stderr.write(f"error: {line}\n")
    if command == "write" and not found:
        sys.stdout.write(write(Path(*folders)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
