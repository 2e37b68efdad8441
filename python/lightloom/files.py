"""Bounded reads and all-or-nothing writes of the files that a person names."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

MIB = 1 << 20


def read_bytes(field: str, path: str | os.PathLike[str], limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    Raises `InputError` that names `field` when there is no such file, it cannot be read or it is larger.
    """
    file = _usable_path(field, path)
    try:
        if not file.is_file():
            raise refuse(field, f"`{path}` is {'not a regular file' if file.exists() else 'not there'}")
        with file.open("rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise refuse(field, f"cannot read `{path}`: {error.strerror}") from error
    if len(content) > limit:
        raise refuse(field, f"`{path}` is larger than {limit // MIB} MiB")
    return content


def read_text(field: str, path: str | os.PathLike[str], limit: int) -> str:
    """The content of a UTF-8 file; errors as for `read_bytes`, and for content that is not text."""
    content = read_bytes(field, path, limit)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start} is 0x{content[error.start]:02x}"
        raise refuse(field, f"`{path}` is not UTF-8 text: {wrong}") from error


def write_bytes(field: str, path: str | os.PathLike[str], content: bytes) -> None:
    """Write the whole file or nothing; errors as for `replaced`."""
    with replaced(field, path) as stream:
        stream.write(content)


@contextmanager
def replaced(field: str, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose content becomes the whole file, or nothing: a temporary name in the same folder, then a rename.

    Raises `InputError` that names `field` when the folder cannot be written to.
    """
    target = check_writable(field, path)
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # mkstemp makes files private; the result gets the mode that `open` would have given it.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except OSError as error:
        raise refuse(field, f"cannot write `{path}`: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(field: str, path: str | os.PathLike[str]) -> Path:
    """The path, refused where it cannot be written, so that long work does not start in vain."""
    target = _usable_path(field, path)
    if target.is_dir():
        raise refuse(field, f"`{path}` is a folder; it takes a file name")
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise refuse(field, f"cannot write `{path}`: there is no writable folder `{target.parent}`")
    return target


def _usable_path(field: str, path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if not text or "\0" in text:
        raise refuse(field, f"{text[:60]!r} is not a file name")
    return Path(text)
