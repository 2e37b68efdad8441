"""The tasks of the server: one line each, with the module that carries it out in another process."""

from __future__ import annotations

from typing import NamedTuple

from lightloom.page.job import Length

__all__ = ["TASKS", "Task", "task"]


class Task(NamedTuple):
    """A task.

    name: as its address has it. module: of the function `work`, which takes the request, the limits and a function
    that is told rows and progress. summary: for the interface's description. is_asked: whether it is told anything, by
    POST; else it is got. streams: whether rows and progress come before the answer, for who wants them. makes_room:
    whether it goes on from its rows after it was paused for others, and so need not be short.
    """

    name: str
    module: str
    summary: str
    is_asked: bool = True
    streams: bool = False
    makes_room: bool = False

    @property
    def length(self) -> Length:
        """The longest time of a task, as far as is known before it begins."""
        return Length.LONG if self.makes_room else Length.OPEN if self.streams else Length.SHORT


WORK = "lightloom.page.work"

TASKS = (
    Task("options", f"{WORK}.options", "Verbs with their options, registries, problems worth starting from.", False),
    Task("plan", f"{WORK}.plan", "Plan a collective: algorithm, topology of every step, when to reconfigure."),
    Task("compare", f"{WORK}.compare", "The same problem by every planner, with the lower bound.", streams=True),
    Task("bound", f"{WORK}.bound", "Lower bounds on the time that a collective takes, term by term."),
    Task("verify", f"{WORK}.verify", "Execute a plan symbolically; check its ports, paths and costs."),
    Task("simulate", f"{WORK}.simulate", "Simulate a plan packet by packet, or flow by flow."),
    Task("circuits", f"{WORK}.circuits", "A plan's circuits on the ports of switches."),
    Task("loads", f"{WORK}.loads", "The load of every circuit of a step, and the paths of the data."),
    Task("explain", f"{WORK}.explain", "The topologies of a plan, in words."),
    Task("train", f"{WORK}.train", "Plan a training iteration; its time against the delay.", streams=True),
    Task("advise", f"{WORK}.advise", "Which switch a mix of collectives and models needs.", streams=True),
    Task(
        "map",
        f"{WORK}.map",
        "When it pays: plans over two axes, compared with a baseline.",
        streams=True,
        makes_room=True,
    ),
    Task("export", f"{WORK}.export", "A plan in the format of another tool, in an archive."),
    Task("picture", f"{WORK}.picture", "The picture of a result, as SVG, PNG or PDF."),
    Task("table", f"{WORK}.table", "The rows of a result, as CSV."),
    Task("as-code", f"{WORK}.as_code", "The same request as a command line and as Python code."),
    Task("figures", f"{WORK}.figures", "The papers' figures that can be made again.", False),
    Task("reproduce", f"{WORK}.reproduce", "Make a paper's figure again and judge its claims.", streams=True),
)


def task(name: str) -> Task:
    """The task of that name, which must exist."""
    return next(one for one in TASKS if one.name == name)
