"""Where results are kept: a file for each finished chunk while a sweep runs, one table when it is done.

A part gets its name once it is whole, and is checked when it is read: whatever stops a run, the next one goes on from
what is whole, and computes again what is not.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from lightloom import _core
from lightloom.errors import refuse
from lightloom.files import MIB, read_bytes, replaced, write_bytes
from lightloom.sweeps.layout import Layout
from lightloom.sweeps.outside_files import file_digests
from lightloom.sweeps.parts import result_schema, rows_of
from lightloom.sweeps.tables import METADATA_KEY, as_table, table_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from lightloom.sweeps.description import SweepDescription

SCHEMA = "lightloom.sweep/1"
PARTS, LABEL, LOCK = "parts", "sweep.json", "lock"
MAX_LABEL_BYTES = 64 * MIB
MAX_PART_BYTES = 1024 * MIB
# Rows of a row group of the final table: what readers take into memory at once.
GROUP_ROWS = 1 << 18


class Store(Protocol):
    """Where finished chunks go."""

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
        tables = (rows_of(self._parts[chunk], schema, len(self._layout.rows(chunk))) for chunk in chunks)
        made = [
            as_table(self._layout, self._layout.rows(chunk), rows) for chunk, rows in zip(chunks, tables, strict=True)
        ]
        return pa.concat_tables(made).unify_dictionaries()

    def discard(self) -> None:
        """See `Store`."""
        self._parts.clear()


class Folder:
    """Parts in a folder, and the table beside it. One process at a time; see `opened`."""

    def __init__(self, description: SweepDescription, folder: Path) -> None:
        self.path = folder / f"{description.name}.parquet"
        self._layout = Layout(description)
        self._parts = folder / PARTS
        self._label = label_of(description)

    def prepare(self, *, restart: bool) -> None:
        """Make the folder ready. Raises `InputError` where it holds results of something else, unless `restart`."""
        if restart:
            self.discard()
        self._parts.mkdir(exist_ok=True)
        label = self._parts / LABEL
        known = self._table_label()
        if known is None and label.exists():
            known = read_bytes("output", label, MAX_LABEL_BYTES).decode("utf-8", "replace")
        if known not in {None, self._label}:
            raise refuse(
                "output",
                f"`{self._parts.parent}` holds results of {_difference(known, self._label)}; "
                "name another folder, or start anew with --restart",
            )
        # What was being written when a run was stopped.
        for torn in [*self._parts.glob(".*"), *self.path.parent.glob(f".{self.path.name[:64]}.*")]:
            torn.unlink(missing_ok=True)
        write_bytes("output", label, self._label.encode())

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
        import pyarrow.parquet as pq

        if self._table_label() != self._label:
            self._write()
        shutil.rmtree(self._parts, ignore_errors=True)
        try:
            return pq.read_table(self.path, page_checksum_verification=True)
        except (OSError, ValueError) as error:
            raise refuse("output", f"`{self.path}` is damaged; start anew with --restart") from error

    def discard(self) -> None:
        """See `Store`."""
        shutil.rmtree(self._parts, ignore_errors=True)
        self.path.unlink(missing_ok=True)

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
            # The parts go next: the table must be on the disk by then.
            stream.flush()
            os.fsync(stream.fileno())

    def _read(self, chunk: int) -> pa.Table | None:
        """The part, or None where it is missing or damaged."""
        try:
            content = read_bytes("output", self._part(chunk), MAX_PART_BYTES)
            return rows_of(content, result_schema(self._layout.description), len(self._layout.rows(chunk)))
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
            metadata = pq.read_schema(self.path).metadata or {}
        except (pa.ArrowException, OSError):
            metadata = {}
        return bytes(metadata.get(METADATA_KEY, b"")).decode("utf-8", "replace")


@contextmanager
def opened(description: SweepDescription, folder: Path, *, restart: bool) -> Iterator[Folder]:
    """The store in a folder, which is made; nobody else may use it meanwhile. Raises `InputError` naming `output`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / f".{LOCK}").open("ab")
    except OSError as error:
        raise refuse("output", f"cannot write to the folder `{folder}`: {error.strerror}") from error
    # The lock goes with the process, however it ends.
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise refuse("output", f"another sweep is writing to `{folder}`") from error
        store = Folder(description, folder)
        store.prepare(restart=restart)
        yield store


def label_of(description: SweepDescription) -> str:
    """What tells results of one description from another's: JSON of all that they depend on."""
    axes = [
        {"key": axis.key, "per_pair": axis.per_pair, "values": list(axis.values), "labels": list(axis.labels)}
        for axis in description.axes
    ]
    return json.dumps(
        {
            "schema": SCHEMA,
            "version": _core.__version__,
            "engine": description.engine,
            "metrics": description.metrics,
            "baseline": [dict(entry.settings) for entry in description.baseline],
            "settings": dict(sorted(description.settings)),
            "numbers": {key: quantity._asdict() for key, quantity in sorted(description.numbers)},
            "axes": axes,
            "files": file_digests(description),
        },
        indent=1,
    )


def digest_of(label: str) -> str:
    """A short name of a label."""
    return hashlib.sha256(label.encode()).hexdigest()[:16]


def _difference(known: str | None, wanted: str) -> str:
    """What two labels differ in, in words."""
    try:
        old, new = json.loads(known or ""), json.loads(wanted)
        keys = [key for key in new if old.get(key) != new[key]]
    except (ValueError, AttributeError):
        return "something else"
    if "version" in keys:
        return f"version {old.get('version')} of Lightloom"
    return f"another description (other {' and '.join(keys)})"
