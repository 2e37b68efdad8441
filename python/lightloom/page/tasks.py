"""What can be asked of the server: one line a task, each with the module that carries it out in another process."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TASKS", "Task", "task"]


class Task(NamedTuple):
    """A task.

    name: as its address has it. module: of the function `work`, which takes what was asked, the limits and a function
    that is told rows and progress. summary: for the interface's description. is_asked: whether it is told anything, by
    POST; else it is got. streams: whether rows and progress come before the answer, for who wants them. is_kept:
    whether the answer is the same the next time.
    """

    name: str
    module: str
    summary: str
    is_asked: bool = True
    streams: bool = False


WORK = "lightloom.page.work"

TASKS = (
    Task("options", f"{WORK}.options", "Verbs with their options, registries, problems worth starting from.", False),
    Task("plan", f"{WORK}.plan", "Plan a collective: algorithm, topology of every step, when to reconfigure."),
)


def task(name: str) -> Task:
    """The task of that name, which is there."""
    return next(one for one in TASKS if one.name == name)
