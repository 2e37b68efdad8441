"""An axis: a key of `plan` with its values, and what its column in the table is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.options import Kind as OptionKind
from lightloom.inputs.quantities import delay_text, rates_text
from lightloom.inputs.ranges import SPACINGS, in_range, listed
from lightloom.sweeps.keys import (
    NUMBERS,
    PER_PAIR_COLUMN,
    Quantity,
    Value,
    key_of,
    option_of,
    plain_value,
    quantity,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.base.axis_kinds import Kind

KINDS: dict[str, Kind] = {
    "size": "size",
    "bandwidth": "rate",
    "startup": "time",
    "hop_delay": "time",
    "reconfiguration_delay": "time",
}


class Axis(NamedTuple):
    """An axis of a sweep: the setting that varies.

    key: of `plan`; column: its name in the table; values: numbers in the column's unit, whole numbers or text.
    per_pair: whether sizes are those of blocks between pairs; labels: texts shown for the values, where these are
    numbers of technologies.
    """

    key: str
    column: str
    values: tuple[float, ...] | tuple[Value, ...]
    per_pair: bool = False
    labels: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether the axis is one of numbers that the core takes in arrays, so that its points share profiles."""
        return self.column in NUMBERS.values() or self.column == PER_PAIR_COLUMN

    @property
    def kind(self) -> Kind:
        """The form of its values on the axis of a picture."""
        if self.labels:
            return "name"
        if self.is_number:
            return KINDS[self.key]
        return "count" if all(type(value) is int for value in self.values) else "name"

    @property
    def shown(self) -> tuple[Value | float, ...]:
        """The values as a picture places them: labels where there are some."""
        return self.labels or self.values


def shape_words(axes: Sequence[Axis]) -> str:
    """`31 sizes × 2 reconfiguration delays`."""
    return " × ".join(_counted(len(axis.values), axis.key.replace("_", " ")) for axis in axes)


def _counted(count: int, key: str) -> str:
    """Some keys are plurals already."""
    return f"{count} {key}" if key.endswith("s") else _core.counted(count, key)


def axis_of(text: str, given: object, known: tuple[str, ...]) -> Axis:
    """The axis that a description writes. Raises `InputError` that names it."""
    field = f"axes.{text}"
    key = key_of("axes", text, known)
    if key in NUMBERS:
        return _number_axis(field, key, given)
    if isinstance(given, Mapping):
        if option_of(key, known).kind is not OptionKind.WHOLE:
            raise refuse(field, f"a range is for numbers; {key} takes a list of names")
        if not given.keys() & SPACINGS:
            given = {**given, "step": 1}
        read = lambda value: float(plain_value(field, key, value, known))  # noqa: E731
        read_step = lambda step: float(whole_number(f"{field}.step", step, 1))  # noqa: E731
        numbers = in_range(field, given, read, whole=True, read_step=read_step)
        return Axis(key, key, tuple(plain_value(field, key, int(number), known) for number in numbers))
    return Axis(key, key, tuple(listed(field, given, lambda value: plain_value(field, key, value, known))))


def _number_axis(field: str, key: str, given: object) -> Axis:
    if isinstance(given, Mapping):
        ends = [quantity(f"{field}.{end}", key, given[end]) for end in ("from", "to") if end in given]
        per_pair = _one_kind(field, ends)
        if any(end.varies for end in ends):
            raise refuse(
                field, "a range takes plain numbers; delays such as 20ns/port and rates by port are given as a list"
            )
        read = lambda value: quantity(field, key, value).number  # noqa: E731
        numbers = tuple(in_range(field, given, read, whole=key == "size"))
        return Axis(key, PER_PAIR_COLUMN if per_pair else NUMBERS[key], numbers, per_pair)
    quantities = listed(field, given, lambda value: quantity(field, key, value))
    if any(item.varies for item in quantities):
        # Such a delay, or the rates of several ports, is no single number, so the column has its text.
        as_written = zip(quantities, cast("Iterable[object]", given), strict=True)
        written = delay_text if key == "reconfiguration_delay" else lambda *given: rates_text(*given)[0]
        return Axis(key, key, tuple(item.text or written(field, value) for item, value in as_written))
    per_pair = _one_kind(field, quantities)
    labels = tuple(item.name for item in quantities)
    if any(labels) and not all(labels):
        raise refuse(field, "it mixes names of technologies with times; give only names or only times")
    column = PER_PAIR_COLUMN if per_pair else NUMBERS[key]
    return Axis(key, column, tuple(item.number for item in quantities), per_pair, labels if all(labels) else ())


def _one_kind(field: str, quantities: list[Quantity]) -> bool:
    """Whether all sizes are those of blocks between pairs."""
    kinds = {item.per_pair for item in quantities}
    if len(kinds) > 1:
        raise refuse(field, "it mixes sizes of whole buffers with sizes per pair; give only one kind")
    return kinds == {True}
