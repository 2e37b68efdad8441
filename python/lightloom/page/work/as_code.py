"""A request as a command and as Python code: either gives the answer that the page shows."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse, shown, text_of, unknown_name
from lightloom.inputs.options import FABRIC_KEYS, SIMULATION, Kind, Option
from lightloom.page.arguments import checked
from lightloom.page.offer import offered
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.map import sweep_of
from lightloom.page.work.toml_text import toml_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

KEYS = ("verb", "options")
MATRIX, WORKLOAD, MODEL, MAP = "matrix.csv", "workload.json", "model.toml", "map.toml"
JOB, SWITCHES = "job.toml", "switches.toml"
# Written after a plain number, by kind.
UNITS = {Kind.SIZE: "B", Kind.TIME: "s", Kind.RATE: "bps", Kind.DELAY: "s", Kind.BARRIER: "s", Kind.WINDOW: "s"}
IMPORT = "import lightloom as ll\n"
# Comparisons that the page shows with a plan are only for display.
FOR_THE_EYE = {"baselines"}


class Code:
    """A command and Python in the making, and the files that both take, by name."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.commands: list[str] = []
        self.lines: list[str] = [IMPORT]


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """`options` of `verb` as a command line and as Python, with the files to be saved next to them."""
    for name in asked:
        if name not in KEYS:
            raise unknown_name("option", name, KEYS)
    verb, options = asked.get("verb", "plan"), asked.get("options", {})
    if not isinstance(options, dict):
        raise refuse("options", f"`{shown(options)}` is not accepted; it takes options by name")
    if verb not in list(WRITERS):
        raise unknown_name("verb", verb, WRITERS)
    code = Code()
    WRITERS[verb](options, code, limits)
    told = {"command": "\n".join(code.commands), "python": "\n".join(code.lines) + "\n", "files": code.files}
    return Outcome(DONE, json.dumps(told, ensure_ascii=False).encode())


def _problem(verb: str, options: dict[str, Any], code: Code) -> tuple[str, str]:
    """The flags and the arguments of planning; the fabric is a line of its own."""
    given = {name: value for name, value in checked(verb, options).items() if name not in FOR_THE_EYE}
    if isinstance(given.get("matrix"), list):
        code.files[MATRIX] = "".join(",".join(repr(float(entry)) for entry in row) + "\n" for row in given["matrix"])
        given["matrix"] = MATRIX
    flags = _flags(verb, given)
    code.lines.append(_fabric(given))
    return flags, _arguments({**given, "fabric": Bare("fabric")}, ("collective", "size"))


class Bare(str):
    """A name in Python, not a text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _fabric(given: dict[str, Any]) -> str:
    """The line that makes the fabric; its options are taken out."""
    own = {name: given.pop(name) for name in FABRIC_KEYS if name in given}
    name = given.pop("fabric", None)
    if name is None:
        return f"fabric = ll.Fabric({_arguments(own)})"
    return f"fabric = ll.Fabric.preset({', '.join(part for part in (repr(name), _arguments(own)) if part)})"


def _arguments(given: dict[str, Any], placed: tuple[str, ...] = ()) -> str:
    """Arguments of a call, those of `placed` that lead without their names."""
    parts: list[str] = []
    for place, name in enumerate(placed):
        if name not in given or place > len(parts):
            break
        parts.append(repr(given[name]))
    rest = {name: value for name, value in given.items() if name not in placed[: len(parts)]}
    return ", ".join([*parts, *(f"{name}={value!r}" for name, value in rest.items())])


def _flags(verb: str, given: dict[str, Any]) -> str:
    rows = offered(verb)
    return "".join(
        f" {_flag(rows[name], value)}" for name, value in given.items() if value is not False or _no(rows[name])
    )


def _no(option: Option) -> bool:
    """Whether there is a flag for no."""
    return option.kind is Kind.YES_OR_NO


def _flag(option: Option, value: Any) -> str:
    """The option as the command line takes it."""
    if isinstance(value, bool):
        return option.flag if value else f"--no-{option.flag.removeprefix('--')}"
    if option.kind is Kind.DIMS and isinstance(value, list):
        text = "x".join(map(str, value))
    elif isinstance(value, list):
        text = ",".join(_text(option, item) for item in value)
    else:
        text = _text(option, value)
    return f"{option.flag} {quote(text)}"


def _text(option: Option, value: Any) -> str:
    return value if isinstance(value, str) else f"{value!r}{UNITS.get(option.kind, '')}"


def _plan(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    flags, arguments = _problem("plan", options, code)
    code.commands.append(f"lightloom plan{flags}")
    code.lines += [f"plan = ll.plan({arguments})", "print(plan.to_json())"]


def _compare(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    flags, arguments = _problem("compare", options, code)
    code.commands.append(f"lightloom compare{flags}")
    code.lines += [
        f"comparison = ll.compare({arguments})",
        "for row in comparison.rows:",
        "    print(row)",
        "print(comparison.lower_bound_s, comparison.bound_class)",
    ]


def _bound(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    flags, arguments = _problem("bound", options, code)
    code.commands.append(f"lightloom bound{flags}")
    code.lines += [f"bounds = ll.bound({arguments})", "print(bounds.lower_bound_s, bounds.bound_class)"]


def _planned_first(options: dict[str, Any], own: set[str], code: Code) -> dict[str, Any]:
    """The lines that make the plan; what of the options is not for it."""
    if "plan" in options:
        raise InputError("plan", "plan: it is not accepted; code is written for the options of a plan")
    rest = {key: value for key, value in options.items() if key.replace("-", "_") in own}
    flags, arguments = _problem("plan", {key: value for key, value in options.items() if key not in rest}, code)
    code.commands.append(f"lightloom plan{flags} --no-baselines --output plan.json")
    code.lines.append(f"plan = ll.plan({arguments})")
    return rest


def _simulate(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    names = {option.name for option in SIMULATION} | {"links", "explain"}
    given = checked("simulate", _planned_first(options, names, code))
    code.commands.append(f"lightloom simulate plan.json{_flags('simulate', given)}")
    more: dict[str, Any] = {name: given.pop(name) for name in ("links", "explain") if name in given}
    arguments = ", ".join(part for part in ("plan", _arguments(given)) if part)
    code.lines += [f"simulation = ll.simulate({arguments})", f"print(simulation.to_json({_arguments(more)}))"]


def _circuits(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    _planned_first(options, set(), code)
    code.commands.append("lightloom circuits plan.json")
    code.lines += ["circuits = ll.circuits(plan)", "print(circuits.to_json())"]


def _export(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    given = checked("export", _planned_first(options, {"to"}, code))
    if "to" not in given:
        raise refuse("to", "it is missing; it takes one of `lightloom list formats`")
    code.commands.append(f"lightloom export plan.json --to {given['to']} --output exported")
    code.lines.append(f"ll.export(plan, {given['to']!r}, 'exported')")


def _train(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    options = dict(options)
    for name in ("break_even", "delays", "timeline"):
        options.pop(name, None)
    name = options.pop("model", None)
    for key, file in (("workload", WORKLOAD), ("description", MODEL)):
        if options.get(key) is not None:
            told = options.pop(key)
            code.files[file] = told if isinstance(told, str) else json.dumps(told, indent=1)
            name = file
    if not isinstance(name, str):
        raise refuse("model", "it takes one of three: model, a name; description, a model's TOML text; workload, JSON")
    given = checked("train", options)
    code.commands.append(f"lightloom train {quote(name)}{_flags('train', given)}")
    code.lines.append(_fabric(given))
    arguments = _arguments({"workload": name, "fabric": Bare("fabric"), **given}, ("workload",))
    code.lines += [f"training = ll.train({arguments})", "print(training.to_json())"]


def _advise(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    options = dict(options)
    code.files[JOB] = text_of("job", options.pop("job", None))
    names, own = options.pop("switches", None), options.pop("own_switches", None)
    switches = "all" if names is None else text_of("switches", names)
    if own is not None:
        code.files[SWITCHES] = text_of("own_switches", own)
        switches += f",{SWITCHES}"
    given = checked("advise", options)
    flags = _flags("advise", given)
    code.commands.append(f"lightloom advise {JOB} --switches {quote(switches)}{flags}")
    arguments = _arguments({"job": JOB, "switches": switches, **given}, ("job",))
    code.lines += [f"advice = ll.advise({arguments})", "print(advice.to_json())"]


def _map(options: dict[str, Any], code: Code, limits: Limits) -> None:
    described = sweep_of(options, limits)
    code.files[MAP] = toml_text(described)
    code.commands.append(f"lightloom sweep {MAP}")
    code.lines += [f"result = ll.sweep({MAP!r})", "print(result.to_columns())"]


WRITERS: dict[str, Callable[[dict[str, Any], Code, Limits], None]] = {
    "plan": _plan,
    "compare": _compare,
    "bound": _bound,
    "simulate": _simulate,
    "circuits": _circuits,
    "export": _export,
    "train": _train,
    "advise": _advise,
    "map": _map,
}
