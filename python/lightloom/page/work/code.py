"""Commands and Python code in the making: flags, arguments, the fabric, and files that both read."""

from __future__ import annotations

from shlex import quote
from typing import Any

from lightloom.base.errors import InputError
from lightloom.inputs.options import FABRIC_KEYS, Kind, Option
from lightloom.page.arguments import checked
from lightloom.page.offer import offered

__all__ = ["Bare", "Code", "arguments_text", "fabric_line", "flags_text", "planned_first", "problem_code"]

MATRIX = "matrix.csv"
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


def problem_code(verb: str, options: dict[str, Any], code: Code) -> tuple[str, str]:
    """The flags and the arguments of planning; the fabric is a line of its own."""
    given = {name: value for name, value in checked(verb, options).items() if name not in FOR_THE_EYE}
    if isinstance(given.get("matrix"), list):
        code.files[MATRIX] = "".join(",".join(repr(float(entry)) for entry in row) + "\n" for row in given["matrix"])
        given["matrix"] = MATRIX
    flags = flags_text(verb, given)
    code.lines.append(fabric_line(given))
    return flags, arguments_text({**given, "fabric": Bare("fabric")}, ("collective", "size"))


class Bare(str):
    """A name in Python, not a text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def fabric_line(given: dict[str, Any]) -> str:
    """The line that makes the fabric; its options are taken out."""
    own = {name: given.pop(name) for name in FABRIC_KEYS if name in given}
    name = given.pop("fabric", None)
    if name is None:
        return f"fabric = ll.Fabric({arguments_text(own)})"
    return f"fabric = ll.Fabric.preset({', '.join(part for part in (repr(name), arguments_text(own)) if part)})"


def arguments_text(given: dict[str, Any], placed: tuple[str, ...] = ()) -> str:
    """Arguments of a call, those of `placed` that lead without their names."""
    parts: list[str] = []
    for place, name in enumerate(placed):
        if name not in given or place > len(parts):
            break
        parts.append(repr(given[name]))
    rest = {name: value for name, value in given.items() if name not in placed[: len(parts)]}
    return ", ".join([*parts, *(f"{name}={value!r}" for name, value in rest.items())])


def flags_text(verb: str, given: dict[str, Any]) -> str:
    """The options as flags of the verb, each after a space."""
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


def planned_first(options: dict[str, Any], own: set[str], code: Code) -> dict[str, Any]:
    """The lines that make the plan; what of the options is not for it."""
    if "plan" in options:
        raise InputError("plan", "plan: it is not accepted; code is written for the options of a plan")
    rest = {key: value for key, value in options.items() if key.replace("-", "_") in own}
    flags, arguments = problem_code("plan", {key: value for key, value in options.items() if key not in rest}, code)
    code.commands.append(f"lightloom plan{flags} --no-baselines --output plan.json")
    code.lines.append(f"plan = ll.plan({arguments})")
    return rest
