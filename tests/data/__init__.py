"""Files by others that tests read: which there are, where they lie, and the message of a test without them.

They are no part of the repository. `make data` gets those that are public into `data/`; `LIGHTLOOM_DATA` names another
folder, and `../shared/data` is taken where it is there and `data/` is not.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("files.toml")


@dataclass(frozen=True)
class DataFile:
    """A row of `files.toml`.

    name: below the folder of data. url: None where nobody published the file; then `made` says how it was made.
    """

    name: str
    bytes: int
    sha256: str
    licence: str
    url: str | None = None
    made: str | None = None


def data_files(table: Path = TABLE) -> list[DataFile]:
    """The rows of the table."""
    return [DataFile(**row) for row in tomllib.loads(table.read_text(encoding="utf-8"))["file"]]


def _folder() -> Path:
    named = os.environ.get("LIGHTLOOM_DATA")
    if named:
        return Path(named).resolve()
    own, shared = ROOT / "data", ROOT.parent / "shared" / "data"
    return shared if shared.is_dir() and not own.is_dir() else own


FOLDER = _folder()


def needs(*names: str) -> pytest.MarkDecorator:
    """Leaves a test out where one of these files or folders of data is missing."""
    missing = [name for name in names if not (FOLDER / name).exists()]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)} in {FOLDER}: make data")
