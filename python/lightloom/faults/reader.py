"""Reader of files of fallbacks: JSON of schema `lightloom.fallbacks/1`."""

from __future__ import annotations

from typing import Any, NamedTuple

from lightloom.base.documents import document_of, has_schema
from lightloom.base.errors import refuse, shown
from lightloom.base.files import MIB
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.faults.kinds import KINDS, MOST_FAULTS

__all__ = ["MAX_FILE_BYTES", "SCHEMA", "Parts", "is_fallbacks", "parts_of"]

SCHEMA = "lightloom.fallbacks/1"
MAX_FILE_BYTES = 256 * MIB


class Parts(NamedTuple):
    """The content of a file: plans as their documents, none of them judged.

    kinds: of single faults; given: faults that are there in any case. gpus, ports: of the fabric. settings: those of
    planning, as text. complete: whether every fault was planned for. healthy: the plan without a single fault. plans:
    by fault; unserved: why faults have none, by fault.
    """

    kinds: tuple[str, ...]
    given: tuple[str, ...]
    gpus: int
    ports: int
    settings: dict[str, str]
    complete: bool
    healthy: dict[str, Any]
    plans: dict[str, dict[str, Any]]
    unserved: dict[str, str]


def is_fallbacks(text: str) -> bool:
    """Whether a text is meant to be a file of fallbacks, by its schema."""
    return has_schema(text, SCHEMA)


def parts_of(text: str) -> Parts:
    """The parts of a file's JSON. Raises `InputError` that names the place of the first fault."""
    told = document_of("fallbacks", text, SCHEMA, Parts._fields)
    kinds = _texts("kinds", told["kinds"])
    if not kinds or not set(kinds) <= set(KINDS):
        raise refuse("kinds", f"`{shown(told['kinds'])}` is not accepted; it takes some of {', '.join(KINDS)}")
    if not isinstance(told["complete"], bool):
        raise refuse("complete", f"`{shown(told['complete'])}` is not accepted; it takes true or false")
    return Parts(
        kinds=kinds,
        given=_texts("given", told["given"]),
        gpus=whole_number("gpus", told["gpus"], *WHOLE_RANGES["gpus"]),
        ports=whole_number("ports", told["ports"], *WHOLE_RANGES["ports"]),
        settings=_by_name("settings", told["settings"], str),
        complete=told["complete"],
        healthy=_plan("healthy", told["healthy"]),
        plans={name: _plan(f"plans.{name}", one) for name, one in _by_name("plans", told["plans"], dict).items()},
        unserved=_by_name("unserved", told["unserved"], str),
    )


def _texts(field: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a list of texts")
    return tuple(value)


def _by_name(field: str, value: Any, kind: type) -> dict[str, Any]:
    most = MOST_FAULTS * len(KINDS)
    if not isinstance(value, dict) or len(value) > most or not all(isinstance(one, kind) for one in value.values()):
        what = "texts" if kind is str else "plans"
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes an object of at most {most:,} {what}")
    return value


def _plan(field: str, value: Any) -> dict[str, Any]:
    """The object of a plan, checked for what a list of plans shows: its `total_s`."""
    if not isinstance(value, dict) or type(value.get("total_s")) not in {int, float}:
        raise refuse(f"{field}.total_s", "missing or not a number; it takes a plan, which has it")
    return value
