"""Open files that the server may have, which connections and processes share."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from lightloom.page.limits import Limits

__all__ = ["connections_at_once"]

# Descriptors of the server itself, and of a process that works or starts.
OWN, OF_PROCESS = 24, 6
LEAST, ROOM = 4, 4


def connections_at_once(limits: Limits) -> int:
    """The most connections: those of the limits, or those that the system has room for.

    Three times as many may arrive before the first of them is let go. The system's limit is raised as far as it may be.
    Raises `InputError` that names `workers` if there is no room for one process.
    """
    # One more process is the reserve, and one may be starting.
    own = OWN + OF_PROCESS * (limits.workers + 2)
    wanted = own + ROOM * limits.connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    room = limits.connections if soft == resource.RLIM_INFINITY else min(limits.connections, (soft - own) // ROOM)
    if room < LEAST:
        least = own + ROOM * LEAST
        raise refuse("workers", f"with {limits.workers} the server needs {least} open files; it may have {soft}")
    return room
