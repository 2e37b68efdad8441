"""A request that processes carry out in shared memory, and end with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lightloom.running.advice import advised
from lightloom.running.controller import Controller, RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.running.pace import Pace
    from lightloom.running.workspaces import Workspaces

__all__ = ["run_alone"]

STEP = re.compile(r"at step (\d+)")


def run_alone(
    request: bytes,
    workspaces: Workspaces,
    *,
    ranks: int,
    pace: Pace,
    named: Callable[[int], str],
    progress: Callable[[int], None] | None,
) -> bytes:
    """The controller's report of a request.

    named: words for the step of an index, from 0, which stand in faults in place of its number. progress: told how many
    runs are measured. Raises `RunFailedError`, with advice where ranks did not keep up.
    """
    controller = Controller()
    try:
        with advised(ranks, pace):
            return controller.run(request, workspaces.descriptor, progress=progress)
    except RunFailedError as error:
        raise RunFailedError(STEP.sub(lambda found: named(int(found[1]) - 1), str(error))) from error
    finally:
        controller.close()
