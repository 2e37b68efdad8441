"""Axes in natural units: sizes, times, rates and ratios as people write them, on logarithmic axes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.axis_kinds import Kind
from lightloom.base.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axis import Axis
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Kind",
    "drawn_label",
    "natural_label",
    "rate_label",
    "ratio_label",
    "show_natural",
    "show_range",
    "size_label",
    "time_label",
]

# More labels than this on an axis cannot be told apart.
MOST_TICKS = 12
# Along an axis of a range, whose labels may be wide.
MOST_ON_RANGE = 8
# Digits of the round numbers of a logarithmic axis, the finest first.
LADDERS = ((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
# Lengths on an axis: beyond its last tick; between an end's tick and a round number's, in ticks. Ends this close are
# equal.
MARGIN, LEAST_APART, CLOSE = 0.03, 0.7, 1e-9
BINARY = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
DECIMAL = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"))


def size_label(size_bytes: float, like_bytes: float | None = None) -> str:
    """`64 MiB`, `1 MB` or `32 B`: the unit in which the number is shortest, of the units in which `like_bytes` is."""
    if size_bytes < 1000:
        return f"{size_bytes:g} B"
    like_bytes = size_bytes if like_bytes is None else like_bytes
    units = min(BINARY, DECIMAL, key=lambda units: len(_size_in(units, like_bytes)))
    return _size_in(units, size_bytes)


def _size_in(units: Sequence[tuple[int, str]], size_bytes: float) -> str:
    one, unit = next((pair for pair in units if size_bytes >= pair[0]), units[-1])
    return f"{size_bytes / one:.4g} {unit}"


def time_label(time_s: float) -> str:
    """`500 ns`, `3.7 µs`; at most three digits."""
    if time_s == 0:
        return "0"
    one, unit = next((pair for pair in TIMES if abs(time_s) >= pair[0] * (1 - 1e-9)), TIMES[-1])
    number = time_s / one
    return f"{number:.3g} {unit}" if abs(number) < 999.5 else f"{number:.0f} {unit}"


def rate_label(rate_bps: float) -> str:
    """`800 Gbit/s`."""
    one, unit = next((pair for pair in RATES if rate_bps >= pair[0]), RATES[-1])
    return f"{rate_bps / one:.4g} {unit}"


def ratio_label(ratio: float) -> str:
    """`2.5×`."""
    return f"{ratio:.3g}×" if abs(ratio) < 999.5 else f"{ratio:.0f}×"


LABELS: dict[str, Callable[[float], str]] = {
    "size": size_label,
    "time": time_label,
    "rate": rate_label,
    "ratio": ratio_label,
    "percent": lambda percent: f"{percent:.4g} %",
    "count": lambda count: f"{count:g}",
    "number": lambda number: f"{number:.3g}",
}
LOGARITHMIC = ("size", "time", "rate", "ratio")


def plain(name: object) -> str:
    """A name as it is written, on one line: matplotlib takes what stands between dollar signs for TeX."""
    return printable(str(name)).replace("$", r"\$")


def natural_label(kind: Kind, value: object) -> str:
    """A value as an axis of that kind shows it."""
    return str(value) if kind == "name" else LABELS[kind](float(value))  # type: ignore[arg-type]


def drawn_label(kind: Kind, value: object) -> str:
    """The same for a picture."""
    return plain(natural_label(kind, value))


def is_logarithmic(kind: Kind, values: ArrayLike) -> bool:
    """Whether an axis of that kind is logarithmic: it is one of factors and every value is above zero."""
    return kind in LOGARITHMIC and bool(np.all(np.asarray(values, dtype=float) > 0))


def show_natural(axis: Axis, kind: Kind, values: Sequence[float] | NDArray[np.float64], *, log: bool) -> None:
    """Ticks of an axis on which `values` have places: at the values where they are few, else at round numbers.

    The least and the largest value have a tick, so that both can be read.
    """
    label = LABELS[kind]
    if not log:
        from matplotlib.ticker import FuncFormatter

        axis.set_major_formatter(FuncFormatter(lambda value, _place: label(value)))
        return
    show_ticks(axis, kind, place_ticks(kind, values))


def show_range(axis: Any, kind: Kind, low: float, high: float, *, log: bool) -> None:
    """Ticks and limits of an axis that goes from a round number at or below `low` to one at or above `high`."""
    ticks = log_range(kind, low, high) if log else even_range(low, high, whole=kind == "count")
    show_ticks(axis, kind, ticks)
    first, last = ticks[0], ticks[-1]
    # Marks and lines at an end are drawn whole.
    pad = (last / first) ** MARGIN if log else (last - first) * MARGIN
    limits = (first / pad, last * pad) if log else (first if first == 0 else first - pad, last + pad)
    (axis.axes.set_xlim if axis.axis_name == "x" else axis.axes.set_ylim)(*limits)


def show_ticks(axis: Axis, kind: Kind, ticks: Sequence[float]) -> None:
    """These ticks and no others."""
    from matplotlib.ticker import NullLocator

    axis.set_ticks(list(ticks), labels=distinct_labels(kind, ticks))
    axis.set_minor_locator(NullLocator())


def distinct_labels(kind: Kind, values: Sequence[float]) -> list[str]:
    """The values as the axis shows them, with more digits where two would be shown alike or ticks look uneven."""
    shown = [LABELS[kind](value) for value in values]
    precise = [_precise(kind, value) for value in values]
    if len(set(shown)) != len(set(values)) or (kind == "time" and _looks_uneven(shown, precise, values)):
        return precise
    return shown


def _looks_uneven(shown: Sequence[str], precise: Sequence[str], values: Sequence[float]) -> bool:
    """Whether a label is off by more than a tenth of the least distance of two values: 822 ms for 822.5 by 2.5."""
    gap = min((after - before for before, after in pairwise(sorted(values)) if after > before), default=0.0)
    return any(
        abs(float(short.split()[0]) / float(long.split()[0]) - 1) * abs(value) > gap / 10
        for short, long, value in zip(shown, precise, values, strict=True)
        if value and short.split()[1:] == long.split()[1:]
    )


def _precise(kind: Kind, value: float) -> str:
    one, unit = 1.0, {"ratio": "×", "percent": " %"}.get(kind, "")
    for name, units in (("time", TIMES), ("rate", RATES), ("size", BINARY)):
        if kind == name:
            one, word = next((pair for pair in units if abs(value) >= pair[0]), units[-1])
            unit = f" {word}"
    return f"{value / one:.6g}{unit}"


def place_ticks(kind: Kind, values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    """The values themselves where they are few; else the least, the largest and round numbers between them."""
    distinct = sorted({float(value) for value in values if value > 0})
    if len(distinct) <= MOST_TICKS and (kind != "ratio" or len(distinct) <= 4):
        return distinct
    low, high = distinct[0], distinct[-1]
    if kind == "size" and (even := _every_so_many(distinct)):
        return even
    apart = (high / low) ** (LEAST_APART / MOST_TICKS)
    between = [tick for tick in log_range(kind, low, high, MOST_TICKS) if tick >= low * apart and tick * apart <= high]
    return [low, *between, high]


def _every_so_many(places: list[float]) -> list[float]:
    """The first, the last and every k-th between them of places that a factor is between; empty for other places."""
    steps = [math.log(after / before) for before, after in pairwise(places)]
    if max(steps) > 1.1 * min(steps):
        return []
    last = len(places) - 1
    stride = next(stride for stride in range(1, last + 1) if last % stride == 0 and last // stride < MOST_TICKS)
    return places[::stride] if last // stride >= MOST_TICKS // 3 else []


def log_range(kind: Kind, low: float, high: float, most: int = MOST_ON_RANGE) -> list[float]:
    """At most this many round numbers, the first at or below `low`, the last at or above `high`, by a factor apart."""
    low, high = low * (1 + CLOSE), high * (1 - CLOSE)
    if kind == "size" and _are_binary(round(low), round(high)):
        for step in (1, 2, 4, 5, 10, 20):
            first, last = math.floor(math.log2(low) / step), math.ceil(math.log2(high) / step)
            if last - first < most:
                return [2.0 ** (power * step) for power in range(first, max(last, first + 1) + 1)]
    if high < 2 * low:
        return [tick for tick in even_range(low, high) if tick > 0]
    for digits in LADDERS:
        ticks = _on_ladder(digits, low, high)
        if len(ticks) <= most:
            return ticks
    step = math.ceil(math.log10(high / low) / (most - 2))
    first, last = math.floor(math.log10(low) / step), math.ceil(math.log10(high) / step)
    return [10.0 ** (power * step) for power in range(first, last + 1)]


def _on_ladder(digits: tuple[float, ...], low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    # As people write them: 5e-06 and not 5 times the double next to 1e-06.
    rungs = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in digits]
    below = max((index for index, rung in enumerate(rungs) if rung <= low), default=0)
    above = min((index for index, rung in enumerate(rungs) if rung >= high), default=len(rungs) - 1)
    return rungs[below : max(above, below + 1) + 1]


def even_range(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Round numbers an even step apart, the first at or below `low`, the last at or above `high`."""
    from matplotlib.ticker import MaxNLocator

    if high <= low:
        high = low + (abs(low) or 1.0)
    found = MaxNLocator(MOST_ON_RANGE - 1, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)
    ticks = [float(f"{tick:.12g}") for tick in found]
    slack = CLOSE * (high - low)
    while len(ticks) > 2 and ticks[1] <= low + slack:
        ticks.pop(0)
    while len(ticks) > 2 and ticks[-2] >= high - slack:
        ticks.pop()
    return ticks


def _are_binary(low: float, high: float) -> bool:
    """Whether sizes are in KiB: those in KB may divide by 1024 as well, as 256 MB does."""
    return low < 1000 or (low % 1000 != 0 and (low % 1024 == 0 or high % 1024 == 0))
