"""Bounded reads of the files that a person names, all-or-nothing writes, and what an output may be.

Nothing is waited for: a file that has no more to say for now, as some of the kernel's are, is refused.

An output that is there and regular, or not there, is written under a temporary name in its folder and then renamed.
Links are followed: the link stays, the file that it leads to is replaced. Pipes and character devices are written to,
never replaced. Folders, block devices, sockets, and the file that standard output goes to are refused.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import InputError, OutputError, refuse, shown
from lightloom.base.output_files import check_not_an_output
from lightloom.base.temporary_files import unfinished_file, unfinished_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

__all__ = [
    "MIB",
    "key_given_twice",
    "read_beginning",
    "read_bytes",
    "read_lines",
    "read_text",
    "usable_path",
    "write_bytes",
]

MIB = 1 << 20
# Bytes of a path that Linux takes; others take less and say so themselves.
MAX_PATH = 4096
# Errors of the system that do not mean that the name of an output is wrong.
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE}
STREAMS = {1: "standard output", 2: "standard error"}
# Bytes that are read at once.
READ = 1 << 18


def usable_path(field: str, path: str | os.PathLike[str]) -> Path:
    """The path, of text that can be a file's name. Raises `InputError` that names `field`."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    try:
        length = len(os.fsencode(text)) if isinstance(text, str) and "\0" not in text else 0
    except UnicodeEncodeError:
        length = 0
    if not isinstance(text, str) or not 0 < length <= MAX_PATH:
        raise refuse(field, f"`{shown(path)}` is not a file name, or too long for one")
    return Path(text)


def read_bytes(field: str, path: str | os.PathLike[str], limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    Raises `InputError` that names `field` when there is no such file, it cannot be read or it is larger.
    """
    file = _regular(field, path)
    try:
        with _opened(file) as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise refuse(field, f"cannot read `{path}`: {error.strerror}") from error
    if len(content) > limit:
        raise refuse(field, f"`{path}` is larger than {limit // MIB} MiB")
    return content


def read_beginning(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file; none of anything else, and of a file that cannot be read."""
    try:
        if not path.is_file():
            return b""
        with _opened(path) as stream:
            return stream.read(most)
    except (OSError, ValueError):
        return b""


def read_text(field: str, path: str | os.PathLike[str], limit: int) -> str:
    """The content of a UTF-8 file; errors as for `read_bytes`, and for content that is not text."""
    content = read_bytes(field, path, limit)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start} is 0x{content[error.start]:02x}"
        raise refuse(field, f"`{path}` is not UTF-8 text: {wrong}") from error


def read_lines(
    field: str, path: str | os.PathLike[str], limit: int, *, longest: int, most: int
) -> Iterator[tuple[int, str]]:
    """Every line of a UTF-8 file with its number from 1, one of them in memory at a time.

    limit: bytes of the file; longest: characters of a line; most: lines. Errors as for `read_text`, and for a file of
    more or longer lines.
    """
    file = _regular(field, path)
    number = 0
    try:
        with io.TextIOWrapper(_opened(file), encoding="utf-8-sig") as stream:
            if file.stat().st_size > limit:
                raise refuse(field, f"`{path}` is larger than {limit // MIB} MiB")
            while line := stream.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise refuse(field, f"line {number} of `{path}` is longer than {longest} characters")
                if number > most:
                    raise refuse(field, f"`{path}` has more than {most} lines")
                yield number, line
    except UnicodeDecodeError as error:
        # Text that was decoded before and not yet yielded holds no line end, so only those of `error.object` count.
        ends = error.object[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
        wrong = f"line {number + 1 + ends} has 0x{error.object[error.start]:02x}"
        raise refuse(field, f"`{path}` is not UTF-8 text: {wrong}") from error
    except OSError as error:
        raise refuse(field, f"cannot read `{path}`: {error.strerror}") from error


# A key of many parts: the parser takes time that grows with the square of their number.
DEEP_KEY = re.compile(r"(?<![\w-])(?:[\w-]++\s*+\.\s*+){64}")


def number_of_text(text: str) -> float:
    """The float that a number of a file says. Raises `ValueError` for one that is too small: it is not zero."""
    number = float(text)
    if number == 0 and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        raise ValueError(f"{text[:60]} is too small for a number; write 0")
    return number


def key_given_twice(pairs: Iterable[tuple[str, Any]]) -> str | None:
    """The first key of a JSON object that was there before; None where each is there once."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None


def parse_toml(field: str, text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises `InputError` that names `field`, and `where` it was read."""
    if DEEP_KEY.search(text):
        raise refuse(field, f"{where} has a key of more than 64 parts; it takes keys of at most 64 parts")
    import tomllib

    try:
        return tomllib.loads(text, parse_float=number_of_text)
    except (ValueError, RecursionError) as error:  # also of digits beyond those that Python reads
        raise refuse(field, f"{where} is not TOML: {str(error)[:200]}") from error


class Output(NamedTuple):
    """The file, pipe or device that an output goes to.

    path: the file with all links followed; mode: its permissions, None if it does not exist yet; is_special: whether it
    is a pipe or a device, which is written to and stays.
    """

    path: Path
    mode: int | None = None
    is_special: bool = False


def write_bytes(field: str, path: str | os.PathLike[str], content: bytes) -> None:
    """Write the whole file or nothing; errors as for `replaced`."""
    with replaced(field, path) as stream:
        stream.write(content)


def write_files(contents: Sequence[tuple[str, str | os.PathLike[str], bytes]]) -> None:
    """Write several files, by field, path and content: each whole; no file is written where one of them cannot be.

    Errors as for `replaced`, of the field whose file it is.
    """
    with ExitStack() as all_written:
        for field, path, content in contents:
            stream = all_written.enter_context(replaced(field, path))
            try:
                stream.write(content)
                # A full disk may show only now, and must before the first of them gets its name.
                stream.flush()
            except OSError as error:
                raise _unwritten(field, path, error) from error


def check_folder(field: str, path: str | os.PathLike[str]) -> Path:
    """The folder that is to be made, or that is there and empty, with all links followed.

    Raises `InputError` that names `field` where it has files, is something else, or cannot be made.
    """
    target = Path(os.path.realpath(usable_path(field, path)))
    try:
        if target.is_dir():
            if any(target.iterdir()):
                raise refuse(field, f"`{path}` is not empty; it takes an empty folder, or the name of a new one")
        elif target.exists():
            raise refuse(field, f"`{path}` is not a folder; it takes an empty folder, or the name of a new one")
    except OSError as error:
        raise refuse(field, f"cannot write `{path}`: {error.strerror}") from error
    try:
        # Permission to write is no proof: in folders of the kernel, such as /proc, no folder can be made.
        Path(mkdtemp(prefix=".lightloom-", dir=target.parent)).rmdir()
    except OSError as error:
        raise refuse(field, f"cannot write `{path}`: there is no writable folder `{target.parent}`") from error
    return target


def write_folder(field: str, path: str | os.PathLike[str], contents: Mapping[str, bytes]) -> Path:
    """Write a folder of files by name, with `/` after folders in it, the whole of it or nothing, and return it.

    Errors as for `check_folder` and `replaced`.
    """
    target = check_folder(field, path)
    try:
        with unfinished_folder(target) as temporary:
            for name, content in contents.items():
                (temporary / name).parent.mkdir(parents=True, exist_ok=True)
                (temporary / name).write_bytes(content)
            # An empty folder of that name is replaced; one that was filled meanwhile is not.
            temporary.rename(target)
    except OSError as error:
        raise _unwritten(field, path, error) from error
    return Path(path)


@contextmanager
def replaced(field: str, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose content becomes the whole file, or nothing; a pipe or device gets it as it comes.

    Raises `InputError` that names `field` when it cannot be written to, and `OutputError` when it is full.
    """
    output = check_writable(field, path)
    try:
        if output.is_special:
            with output.path.open("wb") as stream:
                yield stream
            return
        with unfinished_file(output.path, output.mode) as temporary:
            with temporary.stream as stream:
                yield stream
            temporary.path.replace(output.path)
    except OutputError:  # of another output that is written along with this one
        raise
    except OSError as error:
        raise _unwritten(field, path, error) from error


def _unwritten(field: str, path: str | os.PathLike[str], error: OSError) -> InputError | OutputError:
    """The error of a failed write, as the user who named the output should see it."""
    message = f"cannot write `{path}`: {error.strerror or error}"
    return OutputError(error.errno, f"{field}: {message}") if error.errno in FULL else refuse(field, message)


def check_writable(field: str, path: str | os.PathLike[str]) -> Output:
    """The destination of the output, refused where it cannot be written, so that long work does not start in vain.

    Raises `InputError` that names `field`.
    """
    usable_path(field, path)
    text = os.fspath(path)
    try:
        found = _status(text)
    except OSError as error:
        raise refuse(field, f"cannot write `{path}`: {error.strerror}") from error
    if text.endswith(os.sep) or (found is not None and stat.S_ISDIR(found.st_mode)):
        raise refuse(field, f"`{path}` is a folder; it takes a file name")
    if found is not None and not stat.S_ISREG(found.st_mode):
        if not (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)):
            raise refuse(field, f"`{path}` is a device or socket; it takes a file, a pipe or a character device")
        return Output(Path(text), is_special=True)
    target = Path(os.path.realpath(text))
    if found is not None:
        _check_replaceable(field, path, found, target)
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise refuse(field, f"cannot write `{path}`: there is no writable folder `{target.parent}`")
    return Output(target, None if found is None else stat.S_IMODE(found.st_mode))


def check_distinct(
    outputs: dict[str, str | os.PathLike[str]], inputs: dict[str, str | os.PathLike[str]] | None = None
) -> None:
    """Refuse outputs that are the same file, or that are or lie among the inputs, under any name or link.

    Names by field. A new file in a folder that is read is no such fault.

    Raises `InputError` that names the later field.
    """
    read, folders = {}, {}
    for field, path in (inputs or {}).items():
        try:
            found = _status(os.fspath(path))
        except (OSError, ValueError):
            continue  # it is no file, and its reader says so
        if found is not None and stat.S_ISREG(found.st_mode):
            read[field] = found
        elif found is not None and stat.S_ISDIR(found.st_mode):
            folders[field] = Path(os.path.realpath(path))
    seen: dict[Path, str] = {}
    for field, path in outputs.items():
        output = check_writable(field, path)
        place = Path(os.path.realpath(output.path))
        if place in seen:
            raise refuse(field, f"`{path}` is also the output file of {seen[place]}; it takes another file")
        seen[place] = field
        found = _status(os.fspath(path))
        for other, folder in folders.items():
            if found is not None and place.parent == folder:
                raise refuse(field, f"`{path}` is a file of the input folder of {other}; it takes another file")
        for other, status in read.items():
            if found is not None and os.path.samestat(found, status):
                raise refuse(field, f"`{path}` is also the input file of {other}; it takes another file")


def _check_replaceable(field: str, path: str | os.PathLike[str], found: os.stat_result, target: Path) -> None:
    """Refuse a file that has no name any more, whose owner forbids writing, or that a standard stream goes to."""
    named = _status(os.fspath(target))
    if named is None or not os.path.samestat(found, named) or not os.access(target, os.W_OK):
        raise refuse(field, f"cannot write `{path}`: writing to the existing file is not allowed")
    for number, name in STREAMS.items():
        try:
            stream = os.fstat(number)
        except OSError:
            continue
        if os.path.samestat(found, stream):
            raise refuse(field, f"`{path}` is the file to which {name} is redirected; it takes another file")


def _status(path: str) -> os.stat_result | None:
    """The file or folder at the end of all links, None where there is none. `OSError` where the name leads nowhere."""
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None


class _NeverWaiting(io.RawIOBase):
    """A file, whose reading fails where it would wait for something to be written."""

    def __init__(self, file: Path) -> None:
        self._file = open(file, "rb", buffering=0, opener=_without_waiting)  # noqa: SIM115 (Path.open takes no opener)
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self._file.close()
            raise OSError(errno.EINVAL, "it is not a regular file any more")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, "its content does not end, and reading would have to wait")
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _opened(file: Path) -> io.BufferedReader:
    """The content of a regular file. Raises `OSError`, also while it is read."""
    return io.BufferedReader(_NeverWaiting(file), READ)


def _regular(field: str, path: str | os.PathLike[str]) -> Path:
    file = usable_path(field, path)
    try:
        if not file.is_file():
            raise refuse(field, f"`{path}` is not a regular file" if file.exists() else f"no such file: `{path}`")
        check_not_an_output(field, file.stat())
    except OSError as error:
        raise refuse(field, f"cannot read `{path}`: {error.strerror}") from error
    return file
