"""Network interfaces of this machine: while tests in a browser load pages, none comes and none goes.

A browser gives up its requests when an address of the machine changes; tests run side by side.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def interfaces_stay() -> Iterator[None]:
    """While this lasts, no test adds or removes an interface."""
    with _locked(fcntl.LOCK_SH):
        yield


@contextmanager
def interfaces_change() -> Iterator[None]:
    """While this lasts, no test has a page open in a browser."""
    with _locked(fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(how: int) -> Iterator[None]:
    with (Path(tempfile.gettempdir()) / f"lightloom-tests-interfaces-{os.getuid()}").open("w") as file:
        fcntl.flock(file, how)
        yield
