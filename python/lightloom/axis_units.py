"""Axes in natural units: sizes, times, rates and ratios as people write them, on logarithmic axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from lightloom.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axis import Axis
    from numpy.typing import ArrayLike, NDArray

    Kind: TypeAlias = Literal["size", "time", "rate", "ratio", "percent", "count", "number", "name"]

__all__ = [
    "Kind",
    "drawn_label",
    "natural_label",
    "rate_label",
    "ratio_label",
    "show_natural",
    "size_label",
    "time_label",
]

# More labels than this on an axis cannot be told apart.
MOST_TICKS = 12
BINARY = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
DECIMAL = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
RATES = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"))


def size_label(size_bytes: float) -> str:
    """`64 MiB`, `1 MB` or `32 B`: the unit in which the number is shortest."""
    if size_bytes < 1000:
        return f"{size_bytes:g} B"
    shown = [
        f"{size_bytes / one:.4g} {unit}"
        for units in (BINARY, DECIMAL)
        for one, unit in [next((pair for pair in units if size_bytes >= pair[0]), units[-1])]
    ]
    return min(shown, key=len)


def time_label(time_s: float) -> str:
    """`500 ns`, `3.7 µs`; at most three digits."""
    if time_s == 0:
        return "0"
    one, unit = next((pair for pair in TIMES if abs(time_s) >= pair[0] * (1 - 1e-9)), TIMES[-1])
    return f"{time_s / one:.3g} {unit}"


def rate_label(rate_bps: float) -> str:
    """`800 Gbit/s`."""
    one, unit = next((pair for pair in RATES if rate_bps >= pair[0]), RATES[-1])
    return f"{rate_bps / one:.4g} {unit}"


def ratio_label(ratio: float) -> str:
    """`2.5×`."""
    return f"{ratio:.3g}×"


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
    """Ticks of an axis that shows `values`: at the values where they are few, else at round numbers among them."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    label = LABELS[kind]
    if not log:
        axis.set_major_formatter(FuncFormatter(lambda value, _place: label(value)))
        return
    ticks = log_ticks(kind, values)
    axis.set_ticks(ticks, labels=[label(tick) for tick in ticks])
    axis.set_minor_locator(NullLocator())


def log_ticks(kind: Kind, values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    """The values themselves where they are few; else powers of a step (two for sizes, ten otherwise) that span them."""
    distinct = sorted({float(value) for value in values if value > 0})
    if len(distinct) <= MOST_TICKS and (kind != "ratio" or len(distinct) <= 4):
        return distinct
    low, high = distinct[0], distinct[-1]
    if kind == "ratio":
        return _ratio_ticks(low, high)
    base = 2.0 if kind == "size" and _are_binary(low, high) else 10.0
    first, last = math.ceil(round(math.log(low, base), 9)), math.floor(round(math.log(high, base), 9))
    steps = (1, 2, 4, 5, 10) if base == 2.0 else (1, 2, 3, 5)
    step = next((step for step in steps if (last - first) // step < MOST_TICKS), steps[-1])
    return [base**power for power in range(first, last + 1) if power % step == 0] or [low, high]


def _are_binary(low: float, high: float) -> bool:
    """Whether sizes are in KiB: those in KB may divide by 1024 as well, as 256 MB does."""
    return low < 1000 or (low % 1000 != 0 and (low % 1024 == 0 or high % 1024 == 0))


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Even steps where the ratios span less than a factor of two; else 1, 2, 5, 10, … and between them."""
    from matplotlib.ticker import MaxNLocator

    if high < 2 * low:
        even = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)
        return [float(tick) for tick in even if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    # Over more than a factor of ten, 1.2 and 1.5 would stand on top of each other.
    fine = ((1.0, 1.2, 1.5, 2, 3, 5, 7),) if high < 10 * low else ()
    for digits in (*fine, (1.0, 2, 5), (1.0,)):
        scaled = (digit * 10.0**power for power in range(-6, 7) for digit in digits)
        ticks = [value for value in scaled if low <= value <= high]
        if 2 <= len(ticks) <= MOST_TICKS:
            return ticks
    return [low, high]
