"""The values of an axis: a list, or a range of numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.base.whole_numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Item = TypeVar("Item")

MAX_VALUES = 100_000
# Floats hold a little more.
MOST = 1e300
SPACINGS = {"count", "factor", "step"}
RANGE_KEYS = ("from", "to", "count", "factor", "step")
ACCEPTS = 'it takes a list, or a range such as { from = "1KiB", to = "1GiB", count = 31 }'


def listed(field: str, given: object, read: Callable[[object], Item]) -> list[Item]:
    """Every value of a list, read. Raises `InputError` if it is no list, empty or has repetitions."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    if not isinstance(given, (list, tuple)):
        raise refuse(field, f"`{shown(given)}` is not accepted; {ACCEPTS}")
    if len(given) > MAX_VALUES:
        raise refuse(field, f"it has {len(given)} values; it takes at most {MAX_VALUES}")
    values = [read(value) for value in given]
    _check_distinct(field, values, given)
    return values


def in_range(
    field: str,
    given: Mapping[str, object],
    read: Callable[[object], float],
    *,
    whole: bool,
    read_step: Callable[[object], float] | None = None,
) -> list[float]:
    """The numbers of a range: `count` of them or one every `factor` in equal ratios, or one every `step`.

    `read_step` reads a step that is no number of the axis, such as 1 GPU. Whole numbers are rounded.
    Raises `InputError` that names what is wrong.
    """
    for key in given:
        if key not in RANGE_KEYS:
            raise unknown_name(field, key, RANGE_KEYS)
    for key in ("from", "to"):
        if key not in given:
            raise refuse(field, f"it has no `{key}`; {ACCEPTS}")
    low, high = read(given["from"]), read(given["to"])
    if not (math.isfinite(low) and math.isfinite(high)):
        ends = f"`{shown(given['from'])}` and `{shown(given['to'])}`"
        raise refuse(field, f"`from` and `to` are {ends}; it takes finite numbers")
    if not low <= high:
        raise refuse(field, f"`from` is above `to`: `{shown(given['from'])}` and `{shown(given['to'])}`")
    kind = _spacing(field, given)
    if kind == "count":
        numbers = _geometric(field, low, high, whole_number(f"{field}.count", given["count"], 1, MAX_VALUES))
    elif kind == "factor":
        numbers = _multiples(field, low, high, given["factor"])
    else:
        step = (read_step or read)(given["step"])
        if not step > 0:
            raise refuse(f"{field}.step", f"`{shown(given['step'])}` is not accepted; it takes more than zero")
        # A little more than the quotient, so that rounding does not drop the last one.
        numbers = [low + step * index for index in _indices(field, (high - low) / step + 1e-9)]
    if whole:
        numbers = [float(round(number)) for number in numbers]
    _check_distinct(field, numbers, numbers)
    return numbers


def _spacing(field: str, given: Mapping[str, object]) -> str:
    """The key that states the distance of the numbers."""
    said = [key for key in ("count", "factor", "step") if key in given]
    if len(said) > 1:
        raise refuse(field, f"it has `{said[0]}` and `{said[1]}`; it takes one of them")
    if not said:
        raise refuse(field, f"it has no `count`, `factor` or `step`; {ACCEPTS}")
    return said[0]


def _geometric(field: str, low: float, high: float, count: int) -> list[float]:
    """Values from one end to the other in equal ratios; both ends as they are given."""
    _check_ratio(field, low, high)
    if count == 1:
        if low != high:
            raise refuse(f"{field}.count", "`1` is not accepted; it takes at least 2, since a range has both its ends")
        return [low]
    between = (low * (high / low) ** (index / (count - 1)) for index in range(1, count - 1))
    return [low, *between, high]


def _multiples(field: str, low: float, high: float, given: object) -> list[float]:
    """Values from the lower end on, each the one before times the factor."""
    _check_ratio(field, low, high)
    factor = _number(f"{field}.factor", given)
    if not factor > 1:
        raise refuse(f"{field}.factor", f"`{shown(given)}` is not accepted; it takes a number above 1")
    return [low * factor**index for index in _indices(field, math.log(high / low) / math.log(factor) + 1e-9)]


def _check_ratio(field: str, low: float, high: float) -> None:
    if low == 0:
        raise refuse(field, "`from` is zero, from which no ratio leads to other values; it takes `step`, or a list")
    if not high / low < MOST:
        raise refuse(
            field, "the ratio of `to` to `from` is too large for a number; it takes ends closer together, or a list"
        )


def _indices(field: str, last: float) -> range:
    """The numbers from 0 up to `last`."""
    if not last < MAX_VALUES:
        raise refuse(field, f"it has more than the allowed {MAX_VALUES} values")
    return range(math.floor(last) + 1)


def _number(field: str, value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < MOST:
        return float(value)
    raise refuse(field, f"`{shown(value)}` is not accepted; it takes a finite number below {MOST:g}")


def _check_distinct(field: str, values: Sequence[object], given: Sequence[object]) -> None:
    if not values:
        raise refuse(field, f"it has no values; {ACCEPTS}")
    seen: set[object] = set()
    for value, written in zip(values, given, strict=True):
        if value in seen:
            raise refuse(
                field, f"`{shown(written)}` is in it twice, since whole numbers are rounded; it takes different values"
            )
        seen.add(value)
