"""When does it pay? Plans over two axes of the asker's choice, compared with a baseline, sent as they are found."""

from __future__ import annotations

import json
import math
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

import lightloom as ll
from lightloom.base.errors import InputError, refuse, shown, unknown_name
from lightloom.page.arguments import checked
from lightloom.page.offer import offered
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.say import Kind, PausedError
from lightloom.page.work.subject import Subject
from lightloom.page.work.toml_text import toml_text
from lightloom.plans.comparison import UNCHANGING
from lightloom.sweeps.description import BASELINE_KEYS, SweepDescription
from lightloom.sweeps.engines import judge, prepare
from lightloom.sweeps.keys import PLAN_KEYS
from lightloom.sweeps.layout import Layout, Piece
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say
    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.parts import Judged
    from lightloom.sweeps.result import SweepResult

SCHEMA = "lightloom.map/1"
KEYS = ("options", "x", "y", "against")
RANGE = ("from", "to", "points")
DIGEST = "map"
FILE = "map.toml"
# Names of a sweep's description, and those of a map in their place.
NAMES = {"axes.": "", "settings.": "", "baseline[0]": "against"}
# Points that are computed and reported together: in the first picture, and at most; fewer where they would take longer
# than these seconds.
AT_FIRST, AT_ONCE, PIECE_S = 4, 32, 0.5
LARGEST = 1 << 20


def work(asked: dict[str, Any], limits: Limits, say: Say) -> Outcome:
    """All points, each told as soon as it is computed."""
    made, cells = map_of(asked, limits, say)
    x, y = made.axes
    against = made.baseline[0].label if made.baseline else None
    told = {"schema": SCHEMA, "x": _axis(x), "y": _axis(y), "against": against, "cells": cells}
    return Outcome(DONE, json.dumps(told).encode())


def map_of(
    asked: dict[str, Any], limits: Limits, say: Say | None = None
) -> tuple[SweepDescription, list[dict[str, Any]]]:
    """The sweep that the map is, with x before y, and its cells. Raises `InputError`."""
    made = described(asked, limits)
    x, y = made.axes
    # Results of earlier turns, and why there is no plan at a point; rows that exist have their own reasons.
    cells = [] if say is None else list(say.told)
    reasons = [cell["reason"] for cell in cells if cell.get("reason")]
    layout = Layout(made)
    if layout.series_points == made.points:
        # A problem that nothing serves at any point is refused before a first one.
        prepare(made, DIGEST, layout.series_settings(0))
    at_once = AT_FIRST
    while len(cells) < made.points:
        began_s = monotonic()
        piece, indices = _piece(layout, len(cells), at_once)
        judged = judge(made, DIGEST, piece)
        reasons += judged.own.reasons.values()
        for row in range(len(piece.rows)):
            place = {"x_index": int(indices[x.key][row]), "y_index": int(indices[y.key][row])}
            cells.append(_cell(made, judged, row, place))
            if say is not None:
                say(Kind.ROW, cells[-1])
        if say is not None:
            say(Kind.PROGRESS, {"done": len(cells), "of": made.points})
            if say.is_to_pause and len(cells) < made.points:
                raise PausedError
        fitting = int(len(piece.rows) * PIECE_S / max(monotonic() - began_s, 1e-6))
        at_once = min(max(fitting, 1), AT_ONCE)
    if reasons and all(cell["total_s"] is None for cell in cells):
        reason = reasons[0]
        raise InputError(reason.partition(":")[0], f"{reason} (every point fails, for this or another reason)")
    cells.sort(key=lambda cell: (cell["y_index"], cell["x_index"]))
    return made, cells


def swept(asked: dict[str, Any], limits: Limits) -> SweepResult:
    """The same points as `lightloom sweep` gives them: a table, in memory. Raises `InputError`."""
    return ll.sweep(described(asked, limits))


def described(asked: dict[str, Any], limits: Limits) -> SweepDescription:
    """The sweep that the map is. Raises `InputError` by the names that the map has for things."""
    told = sweep_of(asked, limits)
    try:
        made = SweepDescription.of(told)
    except InputError as error:
        for before, after in NAMES.items():
            if error.field.startswith(before):
                raise InputError(after + error.field[len(before) :], after + str(error)[len(before) :]) from error
        raise
    _check_gpus(made, limits)
    return made


def _check_gpus(made: SweepDescription, limits: Limits) -> None:
    """Refuse more GPUs than a request may have, wherever their number is stated. Raises `InputError`."""
    said: dict[str, tuple[Any, ...]] = {key: (value,) for key, value in made.settings}
    said.update((axis.key, axis.values) for axis in made.axes)
    for key in ("gpus", "ports"):
        limits.check_gpus(max(map(int, said.get(key, (0,)))), key)
    for dims in said.get("dims", ()):
        limits.check_gpus(math.prod(ll.Fabric(dims=dims).dimensions), "dims")
    if "gpus" not in said:
        for name in said.get("fabric", ()):
            limits.check_gpus(ll.Fabric.preset(str(name)).gpus, "fabric")


def sweep_of(asked: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """The description of a sweep, as `lightloom sweep` takes it. Raises `InputError`."""
    for name in asked:
        if name not in KEYS:
            raise unknown_name("option", name, KEYS)
    options = asked.get("options", {})
    if not isinstance(options, dict):
        raise refuse("options", f"`{shown(options)}` is not accepted; it takes options by name")
    settings = checked("plan", options)
    axes = dict(_axis_of(name, asked.get(name)) for name in ("x", "y"))
    if len(axes) < 2:
        raise refuse("y", "it takes an option other than that of x")
    for key in axes:
        settings.pop(key, None)
    if isinstance(settings.get("matrix"), list):
        raise refuse("matrix", "a map takes a generated matrix, by its name")
    if isinstance(settings.get("dims"), list):
        settings["dims"] = "x".join(map(str, settings["dims"]))
    for key in (*settings, *axes):
        if key not in PLAN_KEYS:
            raise unknown_name("option", key, PLAN_KEYS)
    limits.check_points("points", math.prod(_points(axis) for axis in axes.values()))
    against = asked.get("against", UNCHANGING)
    metrics: dict[str, Any] = {"metrics": ["time", "gap", "reconfigurations"]}
    if against is not None:
        metrics = {"metrics": ["time", "ratio", "gap", "reconfigurations"], "baseline": [_against(against)]}
    return {**metrics, "settings": settings, "axes": axes}


def _axis_of(name: str, told: object) -> tuple[str, Any]:
    """The axis as a sweep has it, its option before it. Raises `InputError`."""
    if not isinstance(told, dict):
        accepts = 'an axis such as {"option": "size", "from": "1KiB", "to": "1GiB", "points": 30}'
        raise refuse(name, f"`{shown(told)}` is not accepted; it takes {accepts}")
    told = dict(told)
    option = told.pop("option", None)
    key = option.replace("-", "_") if isinstance(option, str) else ""
    if key not in offered("plan"):
        raise unknown_name(f"{name}.option", option, offered("plan"))
    if "values" in told:
        if len(told) > 1 or not isinstance(told["values"], list):
            raise refuse(f"{name}.values", "it takes a list, and no other key with it")
        return key, [checked("plan", {key: value}).get(key) for value in told["values"]]
    for given in told:
        if given not in RANGE:
            raise unknown_name(name, given, ("option", "values", *RANGE))
    if set(told) != set(RANGE):
        raise refuse(name, "it takes values, or from, to and points")
    ends = {end: checked("plan", {key: told[end]}).get(key) for end in ("from", "to")}
    points = told["points"]
    if not isinstance(points, int) or isinstance(points, bool) or not 2 <= points <= LARGEST:
        raise refuse(f"{name}.points", f"`{shown(points)}` is not accepted; it takes a whole number from 2")
    return key, {**ends, "count": points}


def _points(axis: Any) -> int:
    return len(axis) if isinstance(axis, list) else int(axis["count"])


def _against(told: object) -> Any:
    """A planner, or options of one. Raises `InputError`."""
    given = {"planner": told} if isinstance(told, str) else told
    if not isinstance(given, dict) or not given:
        raise refuse("against", f"`{shown(told)}` is not accepted; it takes a planner, or options by name")
    found = checked("plan", given)
    for key in found:
        if key not in BASELINE_KEYS:
            raise unknown_name("against", key, BASELINE_KEYS)
    return found


def _piece(layout: Layout, done: int, at_once: int) -> tuple[Piece, dict[str, NDArray[np.intp]]]:
    """The next points, this many or the rest of their series, with their places in the axes, coarse maps first."""
    points = layout.series_points
    series, first = divmod(done, points)
    indices = layout.indices(range(series * points, (series + 1) * points))
    chosen = _coarse_first(list(indices.values()))[first : first + at_once]
    places = {key: index[chosen] for key, index in indices.items()}
    numbers = {axis.key: np.asarray(axis.values, dtype=np.float64)[places[axis.key]] for axis in layout.numeric}
    return Piece(range(done, done + len(chosen)), layout.series_settings(series), numbers), places


def _coarse_first(indices: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    """The points of few places in all axes, then of every second in between, and so on: so a map is seen early.

    The first are those whose places are multiples of the largest power of two that more than one place of an axis is.
    """
    step = 1 << (max(int(index.max()) for index in indices) | 1).bit_length() - 1
    # The largest power of two that divides the place, on all axes; 0 is a multiple of all.
    of_all = np.bitwise_or.reduce([*indices, np.full_like(indices[0], step)])
    return np.argsort(-(of_all & -of_all), kind="stable")


def _cell(made: SweepDescription, judged: Judged, row: int, place: dict[str, int]) -> dict[str, Any]:
    """A point: its place, and its result; None if nothing serves it."""
    x, y = made.axes
    own = judged.own
    total_s = _number(own.total_s[row])
    against_s = None if judged.baseline_s is None else _number(judged.baseline_s[row])
    bound_s = None if own.lower_bound_s is None else _number(own.lower_bound_s[row])
    named = own.named(row) if total_s is not None else None
    other = None if against_s is None else judged.named_baseline(row)
    return {
        **place,
        "x": x.values[place["x_index"]],
        "y": y.values[place["y_index"]],
        "total_s": total_s,
        "against_s": against_s,
        "speedup": against_s / total_s if total_s and against_s is not None else None,
        "reconfigurations": int(own.reconfigurations[row]) if total_s is not None else None,
        "planner": named and named.planner,
        "algorithm": named and named.algorithm,
        "topologies": named and named.topologies,
        "against_algorithm": other and other.algorithm,
        "against_topologies": other and other.topologies,
        "lower_bound_s": bound_s,
        "gap": total_s / bound_s if total_s is not None and bound_s else None,
        **({} if total_s is not None else {"reason": own.reasons.get(row, "")}),
    }


def _number(value: np.float64) -> float | None:
    return float(value) if np.isfinite(value) else None


def _axis(axis: Axis) -> dict[str, Any]:
    return {"option": axis.key, "kind": axis.kind, "per_pair": axis.per_pair, "values": list(axis.shown)}


def _drawn(asked: dict[str, Any], limits: Limits) -> Figure:
    """The heat map that `lightloom sweep` draws of it."""
    from lightloom.views.pictures.sweep import sweep_figures

    figures = dict(sweep_figures(swept(asked, limits)))
    name = next((name for name in figures if name.endswith("ratio")), next(iter(figures)))
    return figures[name]


def _code(options: dict[str, Any], code: Code, limits: Limits) -> None:
    described = sweep_of(options, limits)
    code.files[FILE] = toml_text(described)
    code.commands.append(f"lightloom sweep {FILE}")
    code.lines += [f"result = ll.sweep({FILE!r})", "print(result.to_columns())"]


SUBJECTS = {"map": Subject(_drawn, lambda asked, limits: as_csv(swept(asked, limits).to_columns()), _code)}
