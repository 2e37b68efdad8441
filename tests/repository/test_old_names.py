"""Modules that moved are importable under their old names."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.base.old_names import GONE, OLD_NAMES

PACKAGE = Path(ll.__file__).parent


def _file(name: str) -> Path | None:
    path = PACKAGE / name.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_gives_the_module_of_the_new_name(old: str) -> None:
    new = OLD_NAMES[old]
    assert (_file(old), _file(new) is None) == (None, False)
    module = import_module(f"lightloom.{old}")
    assert module is import_module(f"lightloom.{new}")
    assert module.__name__ == f"lightloom.{new}"


def test_folders_of_old_names_have_no_files() -> None:
    assert {old.rpartition(".")[0] for old in OLD_NAMES} >= GONE
    assert [folder for folder in GONE if _file(folder) is not None] == []


def test_old_names_are_imported_in_every_way_before_new_ones_are() -> None:
    code = """
import lightloom.exports.htsim, lightloom.files as files
from lightloom import errors
from lightloom.inputs.schedules import htsim
from lightloom.traces.stated import *
import lightloom as ll
assert errors.InputError is ll.InputError
assert files is ll.files is __import__("lightloom.base.files").base.files
assert ll.exports.htsim is __import__("lightloom.formats.htsim.write").formats.htsim.write
assert htsim is ll.formats.htsim.read
for name in ("lightloom.exports.nothing", "lightloom.nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        assert error.name == name
    else:
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_old_names_are_attributes_that_nothing_imported() -> None:
    names = [old for old in OLD_NAMES if "." not in old]
    code = f"import lightloom as ll; print([name for name in {names} if not getattr(ll, name).__name__])"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == "[]\n"


def test_what_was_pickled_under_an_old_name_is_read() -> None:
    pickled = pickle.dumps(ll.InputError, protocol=0)
    old = pickled.replace(b"lightloom.base.errors", b"lightloom.errors")
    assert old != pickled
    assert pickle.loads(old) is ll.InputError  # noqa: S301
