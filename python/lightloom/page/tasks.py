"""The tasks of the server: one line each, with the module that carries it out in another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.page.job import Length
from lightloom.schemas.forms import either, number, or_null, several, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightloom.schemas.forms import Form

__all__ = ["SHOWN", "TASKS", "Task", "subjects", "task"]

# Forms of a result in addition to its JSON: drawn, as rows, and as a command with Python that give it.
SHOWN = ("picture", "table", "code")


class Task(NamedTuple):
    """A task.

    name: as its address has it. module: of the function `work`, which takes the request, the limits and a function
    that is told rows and progress. summary: for the interface's description. is_asked: whether it is told anything, by
    POST; else it is got. streams: whether rows and progress come before the answer, for who wants them. makes_room:
    whether it goes on from its rows after it was paused for others, and so need not be short. subjects: of `SUBJECTS`
    in its module, by name, how each is shown. document: name of the verb's document with which it answers, where it
    has no form of the page's own. needs, takes: forms of arguments in addition to the options of the verb of its name,
    by name; those that must be given, and others.
    """

    name: str
    module: str
    summary: str
    is_asked: bool = True
    streams: bool = False
    makes_room: bool = False
    subjects: Mapping[str, tuple[str, ...]] = {}
    document: str = ""
    needs: Mapping[str, Form] = {}
    takes: Mapping[str, Form] = {}

    @property
    def length(self) -> Length:
        """The longest time of a task, as far as is known before it begins."""
        return Length.LONG if self.makes_room else Length.OPEN if self.streams else Length.SHORT


WORK = "lightloom.page.work"

TASKS = (
    Task("options", f"{WORK}.options", "Verbs with their options, registries, problems worth starting from.", False),
    Task(
        "plan",
        f"{WORK}.plan",
        "Plan a collective: algorithm, topology of every step, when to reconfigure.",
        subjects={"plan": SHOWN},
        document="plan",
    ),
    Task(
        "compare",
        f"{WORK}.compare",
        "The same problem by every planner, with the lower bound.",
        streams=True,
        subjects={"compare": ("table", "code")},
        document="comparison",
    ),
    Task(
        "bound",
        f"{WORK}.bound",
        "Lower bounds on the time that a collective takes, term by term.",
        subjects={"bound": ("table", "code")},
        document="bounds",
    ),
    Task(
        "verify",
        f"{WORK}.verify",
        "Execute a plan symbolically; check its ports, paths and costs.",
        document="checks",
    ),
    Task(
        "simulate",
        f"{WORK}.simulate",
        "Simulate a plan packet by packet, or flow by flow.",
        subjects={"simulate": SHOWN},
        document="simulation",
    ),
    Task(
        "circuits",
        f"{WORK}.circuits",
        "The circuits of a plan or a training iteration on the ports of switches.",
        subjects={"circuits": SHOWN},
        document="circuits",
    ),
    Task("loads", f"{WORK}.loads", "The load of every circuit of a step, and the paths of the data."),
    Task("ports", f"{WORK}.ports", "What switches join in each step of a plan, and which GPU is at each port."),
    Task("journey", f"{WORK}.journey", "Where one chunk of a plan's data goes, step by step."),
    Task("explain", f"{WORK}.explain", "The topologies of a plan or a training iteration, in words."),
    Task(
        "train",
        f"{WORK}.train",
        "Plan a training iteration; its time against the delay.",
        streams=True,
        subjects={"train": SHOWN, "break-even": ("picture", "table")},
    ),
    Task(
        "advise",
        f"{WORK}.advise",
        "Which switch a mix of collectives and models needs.",
        streams=True,
        subjects={"advise": SHOWN},
        document="advice",
        needs={"job": text("a job, TOML as the verb advise reads it, which names no files")},
        takes={
            "switches": or_null(text("switches of /api/options, or all, with commas")),
            "own_switches": or_null(text("more switches, TOML: a table a switch")),
        },
    ),
    Task(
        "robust",
        f"{WORK}.robust",
        "Plan an unequal All-to-All once for many iterations; its regret.",
        streams=True,
        subjects={"robust": SHOWN},
        document="robust",
        needs={
            "matrices": either(
                "matrices of an All-to-All, one for each iteration",
                text("name of a workload of /api/options"),
                several(
                    several(several(number("bytes from source to destination"), "row of a source"), "matrix"),
                    "matrices by iteration, or tokens by rank and expert",
                ),
            )
        },
    ),
    Task(
        "jobs",
        f"{WORK}.jobs",
        "Place jobs that arrive at one fabric: who gets which GPUs and when.",
        streams=True,
        subjects={"jobs": SHOWN},
        document="jobs",
        needs={"jobs": text("jobs, TOML as the verb jobs reads it, which names no files")},
    ),
    Task(
        "map",
        f"{WORK}.map",
        "When it pays: plans over two axes, compared with a baseline.",
        streams=True,
        makes_room=True,
        subjects={"map": SHOWN},
    ),
    Task(
        "export",
        f"{WORK}.export",
        "A plan in the format of another tool, in an archive.",
        subjects={"export": ("code",)},
    ),
    Task("picture", f"{WORK}.picture", "The picture of a result, as SVG, PNG or PDF."),
    Task("table", f"{WORK}.table", "The rows of a result, as CSV."),
    Task("as-code", f"{WORK}.as_code", "The same request as a command line and as Python code."),
    Task("figures", f"{WORK}.figures", "The papers' figures that can be made again.", False),
    Task("reproduce", f"{WORK}.reproduce", "Make a paper's figure again and judge its claims.", streams=True),
)


def task(name: str) -> Task:
    """The task of that name, which must exist."""
    return next(one for one in TASKS if one.name == name)


def subjects(shown: str) -> dict[str, Task]:
    """The results that can be shown in this way, one of `SHOWN`, by name, with their tasks."""
    return {name: one for one in TASKS for name, ways in one.subjects.items() if shown in ways}
