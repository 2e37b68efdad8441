"""Reader of plan tables: JSON of schema `lightloom.plan-table/1`."""

from __future__ import annotations

import json
import math
from typing import Any

from lightloom.base.documents import document_of, has_schema
from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import MIB
from lightloom.online.covering import Box
from lightloom.plans import Plan

__all__ = ["MAX_FILE_BYTES", "MOST_BOXES", "MOST_PLANS", "SCHEMA", "is_plan_table", "parts_of"]

SCHEMA = "lightloom.plan-table/1"
MAX_FILE_BYTES = 256 * MIB
MOST_PLANS, MOST_BOXES = 1000, 20_000
MOST_SIZE, MOST_DELAY_S = 2**53, 1e9
LEAST_TOLERANCE, MOST_TOLERANCE = 1e-4, 1.0
KEYS = ("collective", "gpus", "tolerance", "sizes_bytes", "delays_s", "boxes", "plans")

Parts = tuple[float, tuple[int, int], tuple[float, float], tuple[Box, ...], tuple[Plan, ...]]


def is_plan_table(text: str) -> bool:
    """Whether a text is meant to be a plan table, by its schema."""
    return has_schema(text, SCHEMA)


def parts_of(text: str) -> Parts:
    """Tolerance, ends of sizes and delays, boxes and plans of a table's JSON, none of them judged.

    Raises `InputError` that names the place of the first fault.
    """
    told = document_of("table", text, SCHEMA, KEYS)
    tolerance = _number("tolerance", told["tolerance"], LEAST_TOLERANCE, MOST_TOLERANCE)
    sizes, delays = _sizes("sizes_bytes", told["sizes_bytes"]), _delays("delays_s", told["delays_s"])
    plans = _list("plans", told["plans"], 1, MOST_PLANS)
    boxes = _list("boxes", told["boxes"], 1, MOST_BOXES)
    made = tuple(_plan(f"plans[{index}]", one) for index, one in enumerate(plans))
    read = tuple(_box(f"boxes[{index}]", one, len(made)) for index, one in enumerate(boxes))
    if (told["collective"], told["gpus"]) != (made[0].collective, made[0].gpus):
        what = f"{told['collective']} on {told['gpus']} GPUs"
        raise refuse("plans[0]", f"it is for {made[0].collective} on {made[0].gpus} GPUs, but the table is for {what}")
    return tolerance, sizes, delays, read, made


def _list(field: str, value: Any, least: int, most: int) -> list[Any]:
    if not isinstance(value, list) or not least <= len(value) <= most:
        found = f"a list of {len(value)}" if isinstance(value, list) else f"`{shown(value)}`"
        raise refuse(field, f"{found} is not accepted; it takes a list of {least} to {most}")
    return value


def _number(field: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a number from {least:g} to {most:g}")
    return float(value)


def _sizes(field: str, value: Any) -> tuple[int, int]:
    ends = [_number(f"{field}[{index}]", one, 1, MOST_SIZE) for index, one in enumerate(_list(field, value, 2, 2))]
    if any(end != math.floor(end) for end in ends) or ends[0] > ends[1]:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes two whole numbers, the smaller one first")
    return int(ends[0]), int(ends[1])


def _delays(field: str, value: Any) -> tuple[float, float]:
    first_s, last_s = (
        _number(f"{field}[{index}]", one, 1e-15, MOST_DELAY_S) for index, one in enumerate(_list(field, value, 2, 2))
    )
    if first_s > last_s:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes two numbers, the smaller one first")
    return first_s, last_s


def _box(field: str, value: Any, plans: int) -> Box:
    if not isinstance(value, dict) or set(value) != set(Box._fields):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes the keys {', '.join(Box._fields)}")
    place = value["plan"]
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < plans:
        raise refuse(f"{field}.plan", f"`{shown(place)}` is not accepted; it takes 0 to {plans - 1}")
    listed = _list(f"{field}.best_s", value["best_s"], 4, 4)
    first, second, third, fourth = (
        _number(f"{field}.best_s[{index}]", one, 1e-15, 1e18) for index, one in enumerate(listed)
    )
    return Box(
        _sizes(f"{field}.sizes_bytes", value["sizes_bytes"]),
        _delays(f"{field}.delays_s", value["delays_s"]),
        place,
        (first, second, third, fourth),
    )


def _plan(field: str, value: Any) -> Plan:
    try:
        return Plan.from_json(json.dumps(value))
    except InputError as error:
        raise InputError(f"{field}.{error.field}", f"{field}.{error}") from error
