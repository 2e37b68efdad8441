"""Reconfiguration delays of calls that follow one another: read from a file, or drawn by a rule.

A rule is a function and its line in `DRIFTS`.
"""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown, unknown_name
from lightloom.base.files import MIB, read_lines
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.quantities import bytes_of, seconds_of
from lightloom.online.ranges import check_delay

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["CALLS", "DRIFTS", "MOST_CALLS", "Drift", "Trace", "read_delays"]

FIELD = "delays"
CALLS, SEED = 200, 0
MOST_CALLS, MOST_LINE = 100_000, 1000
# No clock tells shorter times, and nobody waits longer.
LEAST_S, MOST_S = 1e-12, 1e6
# Seconds in the unit of a column of plain numbers; a column `delay` has text with a unit.
COLUMNS = {"delay_s": 1.0, "delay_ms": 1e-3, "delay_us": 1e-6, "delay_ns": 1e-9}
SIZE_COLUMNS = ("size_bytes", "size")
FORM = (
    "a CSV file with a column delay_us (or delay_s, delay_ms, delay_ns, delay), where sizes differ another size_bytes "
    "(or size), and a row a call"
)

# The least and the largest of a range, s.
Ends = tuple[float, float]


class Trace(NamedTuple):
    """Delays of calls, s, and bytes of a rank's buffer in each, None where they are not said."""

    delays_s: NDArray[np.float64]
    sizes_bytes: NDArray[np.int64] | None


class Drift(NamedTuple):
    """A rule: the form of its text, in words what it does, and its delays, s, of a number of calls.

    draw: takes the two numbers of the text, the number of calls, the generator of everything random, and the ends of
        the range of delays, s. Delays beyond an end are put there.
    """

    form: str
    summary: str
    draw: Callable[[float, float, int, np.random.Generator, Ends], NDArray[np.float64]]
    is_time: bool = True


def _step(first_s: float, last_s: float, calls: int, _random: np.random.Generator, _ends: Ends) -> NDArray[np.float64]:
    return np.where(np.arange(calls) < calls // 2, first_s, last_s)


def _ramp(first_s: float, last_s: float, calls: int, _random: np.random.Generator, _ends: Ends) -> NDArray[np.float64]:
    made: NDArray[np.float64] = np.geomspace(first_s, last_s, calls)
    return made


def _flicker(
    first_s: float, last_s: float, calls: int, _random: np.random.Generator, _ends: Ends
) -> NDArray[np.float64]:
    return np.where(np.arange(calls) % 2 == 0, first_s, last_s)


def _noise(middle_s: float, spread: float, calls: int, random: np.random.Generator, _ends: Ends) -> NDArray[np.float64]:
    return middle_s * np.exp(spread * random.standard_normal(calls))


def _walk(first_s: float, spread: float, calls: int, random: np.random.Generator, ends: Ends) -> NDArray[np.float64]:
    least, most = map(math.log, ends)
    logarithms = np.full(calls, math.log(first_s))
    for call, step in enumerate((spread * random.standard_normal(calls)).tolist()[1:], start=1):
        logarithms[call] = min(max(logarithms[call - 1] + step, least), most)
    made: NDArray[np.float64] = np.exp(logarithms)
    return made


DRIFTS = {
    "step": Drift("step:TIME:TIME", "the first delay for half of the calls, then the second", _step),
    "ramp": Drift("ramp:TIME:TIME", "from the first delay to the second, by equal factors", _ramp),
    "flicker": Drift("flicker:TIME:TIME", "both delays in turn", _flicker),
    "noise": Drift("noise:TIME:X", "lognormal about a delay, X the deviation of its logarithm", _noise, is_time=False),
    "walk": Drift("walk:TIME:X", "each delay the one before times a lognormal factor", _walk, is_time=False),
}
ACCEPTS = f"it takes {', '.join(drift.form for drift in DRIFTS.values())}, or {FORM}"


def read_delays(
    source: str | os.PathLike[str], calls: int | None = None, seed: int | None = None, within: Ends = (LEAST_S, MOST_S)
) -> Trace:
    """The delay of every call, s, and its size where a file says it.

    source: a rule such as `"step:20us:2ms"`, or a CSV file. calls, seed: of a rule: how many, 200, and of everything
    random, 0, where they are left out. within: the least and the largest delay that are accepted, s; random delays of a
    rule stay there. Raises `InputError` that names `delays`, `calls` or `seed`.
    """
    name, colon, rest = str(source).partition(":")
    if not colon or name not in DRIFTS:
        if str(source).endswith(".csv"):
            for field, value in (("calls", calls), ("seed", seed)):
                if value is not None:
                    raise refuse(field, "it goes with a rule such as step:20us:2ms; a file has a row a call")
            return _of_file(source, within)
        if colon and name.isalpha():
            raise unknown_name(FIELD, name, DRIFTS)
        raise refuse(FIELD, f"`{shown(source)}` is not accepted; {ACCEPTS}")
    drift = DRIFTS[name]
    parts = [part.strip() for part in rest.split(":")]
    if len(parts) != 2 or not all(parts):
        raise refuse(FIELD, f"`{shown(source)}` is not accepted; it takes {drift.form}: {drift.summary}")
    first_s = _delay(parts[0], "the first delay", within)
    second = _delay(parts[1], "the second delay", within) if drift.is_time else _spread(parts[1], drift)
    count = whole_number("calls", CALLS if calls is None else calls, 1, MOST_CALLS)
    random = np.random.default_rng(whole_number("seed", SEED if seed is None else seed, *WHOLE_RANGES["seed"]))
    made = drift.draw(first_s, second, count, random, within)
    return Trace(np.clip(made, *within), None)


def _delay(text: str, where: str, within: Ends) -> float:
    return check_delay(FIELD, seconds_of(FIELD, text), within, f"{where}, `{shown(text)}`,")


def _spread(text: str, drift: Drift) -> float:
    try:
        spread = float(text)
    except ValueError:
        spread = math.nan
    if not 0 <= spread <= 10:
        raise refuse(FIELD, f"`{shown(text)}` is not accepted; {drift.form} takes a number from 0 to 10 there")
    return spread


def _of_file(path: str | os.PathLike[str], within: Ends) -> Trace:
    lines = read_lines(FIELD, path, 64 * MIB, longest=MOST_LINE, most=MOST_CALLS + 1)
    delays_s: list[float] = []
    sizes: list[int] = []
    column, of_size, unit_s, columns = -1, -1, 1.0, 0
    for number, line in lines:
        where = f"line {number} of `{path}`"
        try:
            row = [cell.strip() for cell in next(csv.reader([line], strict=True), [])]
        except csv.Error as error:
            raise refuse(FIELD, f"{where} is not CSV: {error}") from error
        if number == 1:
            column, of_size = _column(row, (*COLUMNS, "delay"), path), _column(row, SIZE_COLUMNS, path, least=0)
            unit_s, columns = COLUMNS.get(row[column], 0.0), len(row)
        elif row:
            if len(row) != columns:
                cells = _core.counted(len(row), "cell")
                raise refuse(FIELD, f"{where} has {cells}, and the header {columns}")
            delay_s = _delay_in(row[column], unit_s, where)
            delays_s.append(check_delay(FIELD, delay_s, within, f"{where}: `{shown(row[column])}`"))
            if of_size >= 0:
                sizes.append(_size_in(row[of_size], where))
    if not delays_s:
        raise refuse(FIELD, f"`{path}` has no delays; it takes {FORM}")
    return Trace(np.array(delays_s), np.array(sizes, dtype=np.int64) if sizes else None)


def _column(names: list[str], known: tuple[str, ...], path: str | os.PathLike[str], *, least: int = 1) -> int:
    """The place of the one column that is known, -1 where there is none and none is needed."""
    found = [place for place, name in enumerate(names) if name in known]
    if not least <= len(found) <= 1:
        raise refuse(FIELD, f"`{path}` has {len(found)} columns of {', '.join(known)} in its header; it takes {FORM}")
    return found[0] if found else -1


def _delay_in(text: str, unit_s: float, where: str) -> float:
    """Seconds of a cell; a unit of 0 stands for text with its own."""
    try:
        return seconds_of(FIELD, f"{float(text) * unit_s!r}s" if unit_s else text)
    except (InputError, ValueError) as error:
        raise refuse(FIELD, f"{where}: `{shown(text)}` is no delay such as {20 if unit_s else '20us'}") from error


def _size_in(text: str, where: str) -> int:
    try:
        return bytes_of(FIELD, text)
    except InputError as error:
        raise refuse(FIELD, f"{where}: `{shown(text)}` is no size such as 65536 or 64KiB") from error
