"""The arguments of each task, from the table of options: the kind, range and meaning of every option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.inputs.options import SIMULATION, Kind, by_name
from lightloom.page.offer import offered
from lightloom.page.tasks import TASKS, subjects
from lightloom.schemas.forms import by_name as keyed
from lightloom.schemas.forms import document, either, number, one_of, or_null, record, several, text, whole, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.inputs.options import Option
    from lightloom.page.tasks import Task
    from lightloom.schemas.forms import Form

__all__ = ["ASKED"]

# The unit of a plain number, by kind.
UNITS = {
    Kind.SIZE: "bytes",
    Kind.TIME: "seconds",
    Kind.RATE: "bit/s",
    Kind.DELAY: "seconds",
    Kind.BARRIER: "seconds",
    Kind.WINDOW: "seconds",
    Kind.NUMBER: "no unit",
}


def _form(option: Option) -> Form:
    """The form of an option's values in requests; null is the same as leaving it out."""
    meaning = option.meaning + (f" Default: {option.shown_default}." if option.shown_default else "")
    return or_null(_compound(option.kind, meaning) or _plain(option, meaning))


def _compound(kind: Kind, meaning: str) -> Form | None:
    """The form of a quantity, or of several; None for other kinds."""
    if kind is Kind.MATRIX:
        rows = several(
            several(number("bytes from source to destination"), "row of a source"),
            "rows of the matrix, one for each source",
        )
        return either(meaning, text("name of a workload of /api/options"), rows)
    if kind is Kind.DIMS:
        return either(
            meaning,
            text("sizes such as 4x4x4"),
            several(whole("size of the dimension", least=1), "sizes of the dimensions"),
        )
    if kind not in UNITS:
        return None
    plain = either(meaning, text("text with a unit"), number(UNITS[kind], least=None))
    by_port = several(either("delay of a port", *plain["anyOf"]), "delays, one for each port")
    return {**plain, "anyOf": [*plain["anyOf"], by_port]} if kind is Kind.DELAY else plain


def _plain(option: Option, meaning: str) -> Form:
    """The form of a truth, a choice, a whole number or a text."""
    match option.kind:
        case Kind.FLAG | Kind.YES_OR_NO:
            return yes_or_no(meaning)
        case Kind.CHOICE:
            return one_of(meaning, *option.choices)
        case Kind.WHOLE:
            bounded = {**whole("number", least=option.least), "maximum": option.most}
            return either(meaning, bounded, {**text("number as text"), "pattern": r"^\s*[+-]?[0-9]+\s*$"})
        case _:
            named = f" One of the {option.names} of /api/options." if option.names else ""
            return text(meaning + named)


def _forms(verb: str, names: Iterable[str] | None = None) -> dict[str, Form]:
    rows = offered(verb)
    return {name: _form(rows[name]) for name in (rows if names is None else names)}


_PLANNED = _forms("plan")
_PROBLEM = {name: form for name, form in _PLANNED.items() if name != "baselines"}
_TRAINED = {
    "model": text("a model by its name; one of this, description and workload"),
    "description": text("a model's TOML description"),
    "workload": {**document("workload"), "description": "a workload"},
    **_forms("train", ["policy"]),
}
_ITERATION = {
    **_TRAINED,
    "break_even": yes_or_no("whether to plan at several reconfiguration delays, too"),
    "timeline": yes_or_no("whether to answer with the rows of the timeline's picture, too"),
    "delays": text("reconfiguration delays for break_even, such as 1us,10us,1ms"),
    **_forms("train"),
}
_SIMULATION = _forms("simulate", [*by_name(SIMULATION), "links", "explain"])
_OF_PLAN = {"plan": {**document("plan"), "description": "a plan, in place of the options that plan one"}}
_SHARED = {"optics": _forms("circuits")["optics"]}
_AXIS = {
    "type": "object",
    "required": ["option"],
    "properties": {
        "option": text("an option of plan"),
        "values": several({}, "values of the option, in place of a range"),
        "from": either("least value of a range", text("text with a unit"), number("number")),
        "to": either("largest value of a range", text("text with a unit"), number("number")),
        "points": whole("number of values, evenly spaced in their logarithms", least=2),
    },
    "additionalProperties": False,
    "description": "an axis",
}
_MAP = {
    "options": record({}, "options of plan that do not vary", optional=_PROBLEM),
    "x": _AXIS,
    "y": _AXIS,
    "against": either(
        "baseline of the comparison: a planner, the options of one, or null for none; static where it is left out",
        or_null(text("a planner")),
        keyed({}, "planner, algorithm, topology, candidates, routing or convention"),
    ),
}
_ANY: dict[str, Form] = {}
for _task in TASKS:
    if _task.needs:
        _ANY |= {**_forms(_task.name), **_task.needs, **_task.takes}
_ANY |= {**_PROBLEM, **_OF_PLAN, **_SIMULATION, **_ITERATION, **_MAP, **_SHARED}

# Of tasks that take other things than the options of the verb of their name.
_OWN: dict[str, Form] = {
    "verify": record({}, optional={**_PROBLEM, **_OF_PLAN}),
    "simulate": record({}, optional={**_PROBLEM, **_OF_PLAN, **_SIMULATION}),
    "circuits": record({}, optional={**_PROBLEM, **_OF_PLAN, **_SHARED, **_TRAINED}),
    "loads": record({"step": whole("the step's index")}, optional={**_PROBLEM, **_OF_PLAN}),
    "ports": record({}, optional={**_PROBLEM, **_OF_PLAN}),
    "journey": record({}, optional={**_PROBLEM, **_OF_PLAN, "chunk": whole("the chunk's number; 0 if left out")}),
    "explain": record({}, optional={**_PROBLEM, **_OF_PLAN, **_TRAINED}),
    "train": record({}, optional=_ITERATION),
    "map": record({"x": _AXIS, "y": _AXIS}, optional=_MAP),
    "export": record({}, optional={**_PROBLEM, **_OF_PLAN, **_forms("export", ["to"])}),
    "picture": record(
        {},
        optional={
            **_ANY,
            "of": one_of("subject of the picture", *subjects("picture")),
            "format": one_of("format of the picture", "svg", "png", "pdf"),
        },
    ),
    "table": record(
        {},
        optional={
            **_ANY,
            "of": one_of("subject whose rows are written", *subjects("table")),
            "format": one_of("format of the table", "csv"),
        },
    ),
    "as-code": record(
        {},
        optional={
            "verb": one_of("task that the code does", *subjects("code")),
            "options": keyed({}, "arguments of the task"),
        },
    ),
    "reproduce": record({"figure": text("the name of a figure of /api/figures")}),
}


def _asked(task: Task) -> Form:
    """The form of a task's arguments."""
    if task.name in _OWN:
        return _OWN[task.name]
    options = {name: form for name, form in _forms(task.name).items() if name not in task.needs}
    return record({**task.needs}, optional={**task.takes, **options})


ASKED: dict[str, Form] = {task.name: _asked(task) for task in TASKS if task.is_asked}
