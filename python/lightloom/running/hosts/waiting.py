"""Waiting for connections, until a run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import FailedError

if TYPE_CHECKING:
    import selectors
    from threading import Event

__all__ = ["LOOK_S", "PeerError", "RunOverError", "ready"]

# Seconds between two looks at whether the run is over.
LOOK_S = 0.2


class PeerError(FailedError):
    """The end of a connection that another host gave up: that host, or who watches it, knows why."""


class RunOverError(Exception):
    """The run is over before its end: somebody else has said why."""


def ready(
    selector: selectors.BaseSelector, is_over: Event, limit_s: float = LOOK_S
) -> list[tuple[selectors.SelectorKey, int]]:
    """The connections for which something can be done, after a short while at most.

    Raises `RunOverError` where the run is over.
    """
    if is_over.is_set():
        raise RunOverError
    return selector.select(limit_s)
