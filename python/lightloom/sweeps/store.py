"""The store of results: a file for each finished chunk while a sweep runs, one table when it is done.

A part gets its name once it is whole, and is checked when it is read: after any end of a run, the next one goes on from
the whole parts, and computes the others again. The folder of the parts has a mark, the sweep's label, and every part
says of which sweep it is and which of its parts; nothing else is read, replaced or removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_bytes, replaced, write_bytes
from lightloom.base.temporary_files import is_torn
from lightloom.sweeps.labels import difference_of, digest_of, is_label, label_of
from lightloom.sweeps.layout import Layout
from lightloom.sweeps.parts import Place, read_table, result_schema, rows_of
from lightloom.sweeps.tables import METADATA_KEY, as_table, table_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from lightloom.base.errors import InputError
    from lightloom.sweeps.description import SweepDescription

PARTS, LABEL, LOCK = "parts", "sweep.json", "lock"
PART = re.compile(r"[0-9]{6}\.parquet")
MAX_LABEL_BYTES = 64 * MIB
MAX_PART_BYTES = 1024 * MIB
# Rows of a row group of the final table: as many as readers take into memory at once.
GROUP_ROWS = 1 << 18


class Store(Protocol):
    """The place where finished chunks go. digest: of the sweep's label, by which parts are known."""

    digest: str

    def finished(self) -> set[int]:
        """The chunks that are there and whole."""
        ...

    def put(self, chunk: int, content: bytes) -> None:
        """Keep a part."""
        ...

    def finish(self) -> pa.Table:
        """All rows with their axes, in order; parts are no longer needed."""
        ...

    def discard(self) -> None:
        """Keep nothing: there is no result."""
        ...


class Memory:
    """Parts in memory, for a sweep without files."""

    def __init__(self, description: SweepDescription) -> None:
        self._layout = Layout(description)
        self.digest = digest_of(label_of(description))
        self._parts: dict[int, bytes] = {}

    def finished(self) -> set[int]:
        """See `Store`."""
        return set(self._parts)

    def put(self, chunk: int, content: bytes) -> None:
        """See `Store`."""
        self._parts[chunk] = content

    def finish(self) -> pa.Table:
        """See `Store`."""
        import pyarrow as pa

        schema = result_schema(self._layout.description)
        chunks = range(self._layout.chunks)
        tables = (
            rows_of(self._parts[chunk], schema, len(self._layout.rows(chunk)), Place(self.digest, chunk))
            for chunk in chunks
        )
        made = [
            as_table(self._layout, self._layout.rows(chunk), rows) for chunk, rows in zip(chunks, tables, strict=True)
        ]
        return pa.concat_tables(made).unify_dictionaries()

    def discard(self) -> None:
        """See `Store`."""
        self._parts.clear()


class Folder:
    """Parts in a folder, and the table next to it. One process at a time; see `opened`."""

    def __init__(self, description: SweepDescription, folder: Path) -> None:
        self.path = folder / f"{description.name}.parquet"
        self._layout = Layout(description)
        self._parts = folder / PARTS
        self._label = label_of(description)
        self.digest = digest_of(self._label)
        # Pictures have names of their own, which begin with the sweep's.
        self._picture = re.compile(rf"{re.escape(description.name)}-.+\.(png|svg|pdf)")

    def prepare(self, *, restart: bool) -> None:
        """Make the folder ready. Raises `InputError` if it holds other files, or, unless `restart`, another sweep."""
        known = self._known()
        if known is None:
            for file in self.path.parent.iterdir():
                if self._picture.fullmatch(file.name) and not restart:
                    raise self._foreign(file, "a picture that would be drawn again")
        elif known != self._label and not restart:
            raise refuse(
                "output",
                f"`{self._parts.parent}` holds results of {difference_of(known, self._label)}; "
                "name another folder, or move it away (the verb sweep starts anew with --restart)",
            )
        if restart:
            self.discard()
        try:
            self._parts.mkdir(exist_ok=True)
            # Files that were being written when a run was stopped.
            for file in [*self._parts.iterdir(), *self.path.parent.iterdir()]:
                if is_torn(file.name, None if file.parent == self._parts else self.path) and _is_regular(file):
                    file.unlink(missing_ok=True)
        except OSError as error:
            raise refuse("output", f"cannot write to the folder `{self._parts}`: {error.strerror}") from error
        write_bytes("output", self._parts / LABEL, self._label.encode())

    def _known(self) -> str | None:
        """The label of the sweep whose results are here, None if there are none.

        Raises `InputError` where there is anything that no sweep made.
        """
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_file()):
            raise self._foreign(self.path, "no regular file")
        table = self._table_label()
        if table is not None and not is_label(table):
            raise self._foreign(self.path, "a file that no sweep wrote")
        label = self._parts_label()
        return label if table is None else table

    def _parts_label(self) -> str | None:
        """The label that the folder of parts is marked with, None where there is no folder, or nothing in it."""
        if not os.path.lexists(self._parts):
            return None
        if self._parts.is_symlink() or not self._parts.is_dir():
            raise self._foreign(self._parts, "a link" if self._parts.is_symlink() else "a file")
        names = set()
        for file in self._parts.iterdir():
            is_part = PART.fullmatch(file.name) or file.name == LABEL
            if not _is_regular(file) or not (is_part or is_torn(file.name)):
                raise self._foreign(file, "a file that no sweep writes there")
            if is_part:
                names.add(file.name)
        if not names:
            return None
        mark = self._parts / LABEL
        label = "" if LABEL not in names else read_bytes("output", mark, MAX_LABEL_BYTES).decode("utf-8", "replace")
        if not is_label(label):
            raise self._foreign(self._parts, f"a folder of files without `{LABEL}`, the mark of a sweep's parts")
        return label

    def _foreign(self, place: Path, what: str) -> InputError:
        return refuse(
            "output",
            f"`{place}` is not of this sweep: it is {what}; move it away, or name another folder; nothing was changed",
        )

    def finished(self) -> set[int]:
        """See `Store`; every chunk where the table itself is there."""
        if self._table_label() == self._label:
            return set(range(self._layout.chunks))
        there = (self._number(file) for file in self._parts.glob("*.parquet"))
        return {chunk for chunk in there if chunk is not None and self._read(chunk) is not None}

    def put(self, chunk: int, content: bytes) -> None:
        """See `Store`."""
        write_bytes("output", self._part(chunk), content)

    def finish(self) -> pa.Table:
        """See `Store`."""
        if self._table_label() != self._label:
            self._write()
        self._remove_parts()
        try:
            # Arrow opens no file whose name is not UTF-8.
            with self.path.open("rb") as stream:
                return read_table(stream)
        except (OSError, ValueError) as error:
            raise refuse("output", f"`{self.path}` is damaged; move it away, and run the same sweep again") from error

    def discard(self) -> None:
        """See `Store`."""
        self._remove_parts()
        self.path.unlink(missing_ok=True)

    def _remove_parts(self) -> None:
        """Remove what sweeps write into the folder, the mark last, and the folder where nothing else came into it."""
        if not self._parts.is_dir():
            return
        files = [file for file in self._parts.iterdir() if PART.fullmatch(file.name) or is_torn(file.name)]
        for file in [*files, self._parts / LABEL]:
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self._parts.rmdir()

    def _write(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = table_schema(self._layout).with_metadata({METADATA_KEY: self._label.encode()})
        with replaced("output", self.path) as stream:
            with pq.ParquetWriter(stream, schema, write_page_checksum=True) as writer:
                waiting: list[pa.Table] = []
                for chunk in range(self._layout.chunks):
                    rows = self._read(chunk)
                    if rows is None:
                        raise refuse("output", f"`{self._part(chunk)}` was damaged while the sweep ran; run it again")
                    waiting.append(as_table(self._layout, self._layout.rows(chunk), rows))
                    if sum(table.num_rows for table in waiting) >= GROUP_ROWS or chunk == self._layout.chunks - 1:
                        writer.write_table(pa.concat_tables(waiting).unify_dictionaries(), row_group_size=GROUP_ROWS)
                        waiting = []
            # The parts are deleted next, so the table must be on the disk by then.
            stream.flush()
            os.fsync(stream.fileno())

    def _read(self, chunk: int) -> pa.Table | None:
        """The part, or None where it is missing or damaged."""
        try:
            content = read_bytes("output", self._part(chunk), MAX_PART_BYTES)
            place = Place(self.digest, chunk)
            return rows_of(content, result_schema(self._layout.description), len(self._layout.rows(chunk)), place)
        except ValueError:
            return None

    def _part(self, chunk: int) -> Path:
        return self._parts / f"{chunk:06d}.parquet"

    def _number(self, file: Path) -> int | None:
        number = int(file.stem) if file.stem.isdecimal() else -1
        return number if 0 <= number < self._layout.chunks and file == self._part(number) else None

    def _table_label(self) -> str | None:
        """The label in the final table, or None where there is no such table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self.path.is_file():
            return None
        try:
            with self.path.open("rb") as stream:
                metadata = pq.read_schema(stream).metadata or {}
        except (pa.ArrowException, OSError):
            metadata = {}
        return bytes(metadata.get(METADATA_KEY, b"")).decode("utf-8", "replace")


@contextmanager
def opened(description: SweepDescription, folder: Path, *, restart: bool) -> Iterator[Folder]:
    """The store in a folder, which is made; nobody else may use it meanwhile. Raises `InputError` naming `output`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A link would lead elsewhere, a pipe would wait for somebody.
        handle = os.open(folder / f".{LOCK}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise refuse("output", f"cannot write to the folder `{folder}`: {error.strerror}") from error
    # The lock goes with the process, however it ends.
    with os.fdopen(handle, "rb+", buffering=0) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise refuse("output", f"another sweep is writing to `{folder}`") from error
        store = Folder(description, folder)
        store.prepare(restart=restart)
        yield store


def _is_regular(file: Path) -> bool:
    """Whether it is a file, and no link to one."""
    return stat.S_ISREG(file.lstat().st_mode)
