"""Files that a command will write, which it therefore must not read: also not where a file that it reads names them."""

from __future__ import annotations

import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

__all__ = ["check_not_an_output", "outputs_promised"]

# By device and inode: the option that names the output, and the name.
_promised: dict[tuple[int, int], tuple[str, str]] = {}


@contextmanager
def outputs_promised(outputs: Mapping[str, str]) -> Iterator[None]:
    """Within this, all threads refuse to read the regular files among the outputs, names by field."""
    before = dict(_promised)
    for field, path in outputs.items():
        try:
            status = Path(path).stat()
        except OSError:
            continue  # there is nothing yet that could be read
        if stat.S_ISREG(status.st_mode):
            _promised[status.st_dev, status.st_ino] = field, path
    try:
        yield
    finally:
        _promised.clear()
        _promised.update(before)


def check_not_an_output(field: str, status: os.stat_result) -> None:
    """Refuse to read for `field` what the command will write. Raises `InputError` that names the output's field."""
    if promised := _promised.get((status.st_dev, status.st_ino)):
        output, path = promised
        raise refuse(output, f"`{path}` is also an input file, which is read for {field}; it takes another file")
