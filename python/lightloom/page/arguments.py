"""Arguments of a request by the names of options, checked: no value is a file or an address of the machine."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown, text_of, unknown_name
from lightloom.base.whole_numbers import whole_number, whole_of_text
from lightloom.inputs.barriers import is_barrier_file
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.graphs import is_topology_file
from lightloom.inputs.options import FABRIC_KEYS, OF_PLAN, Kind, Option, options_of
from lightloom.inputs.pair_rates import is_pair_rates_file
from lightloom.inputs.positions import is_positions_file
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import missing_inputs
from lightloom.page.offer import offered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightloom.page.limits import Limits

__all__ = ["arguments_of", "checked", "fabric_of"]

TEXTS = {Kind.TEXT, Kind.NAME, Kind.CHOICE, Kind.TOPOLOGY, Kind.TOPOLOGIES, Kind.FABRIC, Kind.OPTICS, Kind.POSITIONS}
TEXTS |= {Kind.PAIR_RATES}
TRUTHS = {Kind.FLAG, Kind.YES_OR_NO}
# Kinds whose values are several numbers or texts.
LISTS = {Kind.DELAY, Kind.DIMS}
ITEMS = re.compile("[,;]")


def checked(verb: str, told: Mapping[str, object]) -> dict[str, Any]:
    """The options that are given, in the order of the verb's table. Raises `InputError` that names a wrong one."""
    rows = offered(verb)
    given = {}
    for key, value in told.items():
        name = key.replace("-", "_")
        if name not in rows:
            if any(option.name == name for option in options_of(verb)):
                raise refuse(name, "it is only for the command line: a request cannot name a file or an address")
            raise unknown_name("option", key, rows)
        if name in given:
            raise refuse(name, "it is given twice")
        if value is not None:
            given[name] = _value(rows[name], value)
    return {name: given[name] for name in rows if name in given}


def _value(option: Option, value: Any) -> Any:
    """The value as Python's functions take it. Raises `InputError`."""
    name, kind = option.name, option.kind
    if kind in TEXTS:
        return _text(option, text_of(name, value))
    if kind is Kind.MATRIX:
        return _matrix(name, value)
    if kind is Kind.WHOLE:
        reader = whole_of_text if isinstance(value, str) else whole_number
        return reader(name, value, option.least, option.most)
    if kind in TRUTHS and not isinstance(value, bool):
        raise refuse(name, f"`{shown(value)}` is not accepted; it takes true or false")
    if kind not in TRUTHS and not _is_quantity(kind, value):
        raise refuse(name, f"`{shown(value)}` is not accepted; it takes {kind.words}, as text")
    if kind is Kind.BARRIER and is_barrier_file(value):
        raise refuse(name, f"`{shown(value)}` is not accepted: a request cannot name a file")
    return text_of(name, value) if isinstance(value, str) else value


def _is_quantity(kind: Kind, value: object) -> bool:
    """Whether it is text or a number, or a list of them where the kind takes one: their values are read later."""
    if isinstance(value, list):
        return kind in LISTS and all(map(_is_scalar, value))
    return isinstance(value, str) or (kind is not Kind.DIMS and _is_scalar(value))


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _text(option: Option, text: str) -> str:
    """The text, which the readers of files must not take for the name of one."""
    name, kind = option.name, option.kind
    if kind is Kind.CHOICE and text not in option.choices:
        raise unknown_name(name, text, option.choices)
    if kind in {Kind.FABRIC, Kind.OPTICS} and (text.endswith(".toml") or PurePath(text).name != text):
        raise refuse(name, f"`{shown(text)}` is not accepted: a request cannot name a file")
    if kind in {Kind.TOPOLOGY, Kind.TOPOLOGIES} and any(map(_may_be_file, _items(text))):
        raise refuse(name, f"`{shown(text)}` is not accepted: a request cannot name a file")
    if (kind is Kind.POSITIONS and is_positions_file(text)) or (kind is Kind.PAIR_RATES and is_pair_rates_file(text)):
        raise refuse(name, f"`{shown(text)}` is not accepted: a request cannot name a file")
    return text


def _may_be_file(item: str) -> bool:
    """Whether it could name a file; no name of a topology has a separator of folders."""
    return PurePath(item.strip()).name != item.strip() or is_topology_file(item.strip())


def _items(text: str) -> list[str]:
    return [text, *ITEMS.split(text)]


def _matrix(name: str, value: object) -> object:
    """A generated matrix by its name, or rows of numbers."""
    if isinstance(value, str) and _core.is_workload(text_of(name, value)):
        return value
    if isinstance(value, list) and value and all(isinstance(row, list) and _is_numeric(row) for row in value):
        return value
    names = ", ".join(entry["name"] for entry in _core.registry()["workloads"])
    raise refuse(name, f"`{shown(value)}` is not accepted; it takes rows of numbers, or one of {names}")


def _is_numeric(row: list[object]) -> bool:
    return all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in row)


def fabric_of(given: dict[str, Any]) -> Fabric:
    """The fabric of these options, which are taken out. Raises `InputError`."""
    overrides = {name: given.pop(name) for name in FABRIC_KEYS if name in given}
    return Fabric.preset(given.pop("fabric", "default"), **overrides)


def arguments_of(given: dict[str, Any], limits: Limits) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of all planning tasks, and those of only `plan`. Raises `InputError` if one is missing or too large."""
    given = dict(given)
    of_plan = {option.name: given.pop(option.name) for option in OF_PLAN if option.name in given}
    _check_budget(of_plan, limits)
    fabric = fabric_of(given)
    missing = missing_inputs(given.get("collective"), given.get("size"), fabric, given)
    if missing:
        fields = ", ".join(missing)
        raise InputError(missing[0], f"{fields}: missing")
    _check_gpus(given, fabric, limits)
    return {**given, "fabric": fabric}, of_plan


def _check_budget(of_plan: dict[str, Any], limits: Limits) -> None:
    """A search must end in time."""
    if "budget" in of_plan and seconds_of("budget", of_plan["budget"]) > limits.seconds / 2:
        raise refuse("budget", f"it takes at most {limits.seconds / 2:g} s on this server")


def _check_gpus(given: dict[str, Any], fabric: Fabric, limits: Limits) -> None:
    matrix = given.get("matrix")
    if isinstance(matrix, list):
        limits.check_gpus(len(matrix), "matrix")
    limits.check_gpus(fabric.sized(**({"matrix": len(matrix)} if isinstance(matrix, list) else {})).gpus)
