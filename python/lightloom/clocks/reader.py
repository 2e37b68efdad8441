"""Reader of timelines: JSON of schema `lightloom.timeline/1`."""

from __future__ import annotations

from typing import Any

from lightloom.base.documents import document_of, has_schema, keys_of
from lightloom.base.errors import refuse, shown
from lightloom.base.files import MIB
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.clocks.parts import Configuration, Parts, Transmission

__all__ = ["MAX_FILE_BYTES", "SCHEMA", "is_timeline", "parts_of"]

SCHEMA = "lightloom.timeline/1"
MAX_FILE_BYTES = 256 * MIB
LARGEST = 1e300
MOST_GPUS = WHOLE_RANGES["gpus"][1]


def is_timeline(text: str) -> bool:
    """Whether a text is meant to be a timeline, by its schema."""
    return has_schema(text, SCHEMA)


def parts_of(text: str) -> Parts:
    """The parts of a file's JSON, not judged. Raises `InputError` that names the place of the first fault."""
    of = document_of("timeline", text, SCHEMA, Parts._fields)
    switches = _list("switches", of["switches"])
    sent = _list("transmissions", of["transmissions"])
    if not isinstance(of["plan"], dict):
        raise refuse("plan", f"`{shown(of['plan'])}` is not accepted; it takes a plan")
    return Parts(
        _text("planner", of["planner"]),
        _seconds("total_s", of["total_s"]),
        _seconds("lower_bound_s", of["lower_bound_s"]),
        _text("bound_class", of["bound_class"]),
        tuple(_switch(f"switches[{k}]", one) for k, one in enumerate(switches)),
        tuple(_transmission(f"transmissions[{i}]", one) for i, one in enumerate(sent)),
        of["plan"],
    )


def _switch(where: str, told: Any) -> tuple[Configuration, ...]:
    held = _list(f"{where}.configurations", keys_of(where, told, ("configurations",))["configurations"])
    return tuple(_configuration(f"{where}.configurations[{i}]", one) for i, one in enumerate(held))


def _configuration(where: str, told: Any) -> Configuration:
    of = keys_of(where, told, Configuration._fields)
    circuits = _list(f"{where}.circuits", of["circuits"])
    return Configuration(
        _seconds(f"{where}.ready_s", of["ready_s"]),
        _seconds(f"{where}.end_s", of["end_s"]),
        tuple((u, v) for u, v in (_whole(f"{where}.circuits[{i}]", one, 2) for i, one in enumerate(circuits))),
    )


def _transmission(where: str, told: Any) -> Transmission:
    of = keys_of(where, told, Transmission._fields)
    step = of["step"]
    path = _list(f"{where}.path", of["path"])
    return Transmission(
        _seconds(f"{where}.start_s", of["start_s"]),
        _seconds(f"{where}.duration_s", of["duration_s"]),
        _seconds(f"{where}.size_bytes", of["size_bytes"]),
        None if step is None else whole_number(f"{where}.step", step, 0),
        whole_number(f"{where}.source", of["source"], 0, MOST_GPUS),
        whole_number(f"{where}.destination", of["destination"], 0, MOST_GPUS),
        tuple((k, u, v) for k, u, v in (_whole(f"{where}.path[{i}]", one, 3) for i, one in enumerate(path))),
    )


def _list(where: str, told: Any) -> list[Any]:
    if not isinstance(told, list):
        raise refuse(where, f"`{shown(told)}` is not accepted; it takes a list")
    return told


def _whole(where: str, told: Any, count: int) -> tuple[int, ...]:
    if not isinstance(told, list) or len(told) != count:
        raise refuse(where, f"`{shown(told)}` is not accepted; it takes a list of {count} whole numbers")
    return tuple(whole_number(where, one, 0, MOST_GPUS) for one in told)


def _seconds(where: str, told: Any) -> float:
    if type(told) not in {int, float} or not 0 <= told <= LARGEST:
        raise refuse(where, f"`{shown(told)}` is not accepted; it takes a number of at least 0")
    return float(told)


def _text(where: str, told: Any) -> str:
    if not isinstance(told, str):
        raise refuse(where, f"`{shown(told)}` is not accepted; it takes a text")
    return told
