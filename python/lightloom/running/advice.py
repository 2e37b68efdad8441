"""Advice where the ranks of a run did not keep up."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.threads import cores
from lightloom.running.controller import RunFailedError
from lightloom.running.pace import slower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.running.pace import Pace

__all__ = ["advised"]

# Error messages about processes that did not keep up.
LATE = re.compile(r" did not (?:arrive|get more than .*) within ")


@contextmanager
def advised(ranks: int, pace: Pace) -> Iterator[None]:
    """Adds advice to a `RunFailedError` that says that ranks did not keep up."""
    try:
        yield
    except RunFailedError as error:
        if not LATE.search(str(error)):
            raise
        shared = f"{_core.counted(ranks, 'rank')} share {_core.counted(cores(), 'core')}"
        more = f"--dilation {slower(pace.dilation):g} gives them more time"
        raise RunFailedError(f"{error}; {shared}, which may be busy with other work: {more}") from error
