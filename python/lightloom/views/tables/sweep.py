"""Output of the verb `sweep`: the best and the worst points, where a baseline is beaten, and the choices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from lightloom._core import show_size
from lightloom.sweeps.axes import shape_words
from lightloom.sweeps.engines import NEVER_CHANGE
from lightloom.sweeps.traffic import has_pair_sizes, traffic_of, traffic_range
from lightloom.views.axis_units import natural_label, size_label
from lightloom.views.ratios import factor
from lightloom.views.tables.page import bar, heading, render, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from rich.console import RenderableType

    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.result import SweepResult
    from lightloom.views.axis_units import Kind

KINDS: dict[str, Kind] = {
    "total_s": "time",
    "simulated_s": "time",
    "ratio": "ratio",
    "gap": "ratio",
    "exposed_communication_s": "time",
}
WORDS = {
    "total_s": "time",
    "simulated_s": "simulated time",
    "ratio": "ratio",
    "gap": "gap",
    "exposed_communication_s": "exposed communication",
    "reconfigurations": "reconfigurations",
}
# A ratio above this is a plan that is faster, not rounding.
FASTER = 1.001
MOST_CHOICES = 8
MOST_REASONS = 5
# Most values of an axis for which the summary says where plans are faster.
MOST_PLACES = 7
# Most combinations of the other axes' values for which it says so.
MOST_PANELS = 6


def sweep_summary(result: SweepResult) -> dict[str, Any]:
    """The figures of the summary, for programs."""
    planned = int(np.isfinite(result["total_s"]).sum())
    made: dict[str, Any] = {
        "sweep": result.description.name,
        "engine": result.description.engine,
        "points": len(result),
        "computed": result.computed,
        "found": result.found,
        "without_plan": len(result) - planned,
        "metrics": {
            column: {
                "least": _extreme(result, column, largest=False),
                "median": float(np.median(values)),
                "largest": _extreme(result, column, largest=True),
            }
            for column, values in _metrics(result)
        },
        "chosen": [
            {"planner": planner, "algorithm": algorithm, "share": share}
            for planner, algorithm, share in _choices(result)
        ],
    }
    sent = traffic_range(result.description)
    made["traffic_bytes"] = None if sent is None else dict(zip(("least", "largest"), sent, strict=True))
    if "ratio" in result.columns:
        made["faster"] = _faster(result)
    return made


def sweep_table(result: SweepResult, files: Sequence[Path]) -> str:
    """The summary for people, and the files that were written."""
    return render(*sweep_parts(result), *(Text(f"written: {file}") for file in files))


def sweep_parts(result: SweepResult) -> list[RenderableType]:
    """The summary for people, part by part."""
    description = result.description
    without = int(np.isnan(result["total_s"]).sum())
    parts: list[RenderableType] = [
        heading(f"{description.name}: {len(result):,} points ({shape_words(result.axes)}), engine {description.engine}")
    ]
    metrics = table("", "least", "median", "largest", "least at", "largest at", right=("least", "median", "largest"))
    for column, values in _metrics(result):
        kind = KINDS.get(column, "count")
        metrics.add_row(
            WORDS[column],
            *(_shown(kind, value) for value in (values.min(), np.median(values), values.max())),
            _at(result, column, largest=False),
            _at(result, column, largest=True),
        )
    parts.append(metrics)
    chosen = table("planner", "algorithm", "share of points", "", right=("share of points",))
    choices = _choices(result)
    for planner, algorithm, share in choices[:MOST_CHOICES]:
        chosen.add_row(planner, algorithm, f"{share:.1%}", bar(share))
    if len(choices) > MOST_CHOICES:
        rest = choices[MOST_CHOICES:]
        chosen.add_row(f"{len(rest)} more", "", f"{sum(share for *_, share in rest):.1%}", "")
    if choices:
        parts.append(chosen)
    if "ratio" in result.columns:
        parts += _faster_parts(result)
    parts += map(Text, _unequal_traffic(result))
    if without:
        parts.append(Text(f"without a plan: {without:,} points"))
        parts += [Text(f"  {count:,}: {reason}") for reason, count in _reasons(result)]
    if result.found:
        parts.append(Text(f"{result.found:,} points were there from a run before"))
    return parts


def _shown(kind: Kind, value: float) -> str:
    return factor(value) if kind == "ratio" else natural_label(kind, value)


def _metrics(result: SweepResult) -> list[tuple[str, NDArray[np.float64]]]:
    """Every metric with its values where there are some."""
    found = []
    for column in WORDS:
        if column in result.columns:
            values = _numbers(result, column)
            kept = values[np.isfinite(values)]
            if kept.size:
                found.append((column, kept))
    return found


def _numbers(result: SweepResult, column: str) -> NDArray[np.float64]:
    values = result[column].astype(np.float64)
    if column == "reconfigurations":
        values[values < 0] = np.nan
    return values


def _extreme(result: SweepResult, column: str, *, largest: bool) -> dict[str, Any]:
    """The value and its point."""
    values = _numbers(result, column)
    row = int(np.nanargmax(values) if largest else np.nanargmin(values))
    point: dict[str, Any] = result.to_arrow().select([axis.column for axis in result.axes]).slice(row, 1).to_pylist()[0]
    return {column: float(values[row]), **point}


def _at(result: SweepResult, column: str, *, largest: bool) -> str:
    values = _numbers(result, column)
    return _point(result, int(np.nanargmax(values) if largest else np.nanargmin(values)))


def _point(result: SweepResult, row: int) -> str:
    """The axes' values at a row; an axis of one value needs no mention."""
    shape = tuple(len(axis.values) for axis in result.axes)
    places = np.unravel_index(row, shape)
    shown = [
        natural_label(axis.kind, axis.shown[int(place)]) + (f" {axis.key}" if axis.kind == "count" else "")
        for axis, place in zip(result.axes, places, strict=True)
        if len(axis.values) > 1
    ]
    return ", ".join(shown)


def _choices(result: SweepResult) -> list[tuple[str, str, float]]:
    """Planner and algorithm with the share of planned points that they are taken at, most first."""
    if "chosen_planner" not in result.columns:
        return []
    counts = (
        result.to_arrow()
        .select(["chosen_planner", "chosen_algorithm"])
        .group_by(["chosen_planner", "chosen_algorithm"])
        .aggregate([([], "count_all")])
    )
    rows = [row for row in counts.to_pylist() if row["chosen_planner"] is not None]
    total = sum(row["count_all"] for row in rows)
    rows.sort(key=lambda row: (-row["count_all"], row["chosen_planner"], row["chosen_algorithm"]))
    return [(row["chosen_planner"], row["chosen_algorithm"], row["count_all"] / total) for row in rows]


def _faster(result: SweepResult) -> dict[str, Any]:
    """The share of points that are faster than the best baseline, and their mean ratio."""
    faster, known = _where_faster(result)
    mean = float(np.exp(np.log(result["ratio"][faster]).mean())) if faster.any() else None
    return {"above": FASTER, "share": faster.sum() / known if known else None, "geometric_mean": mean}


def _where_faster(result: SweepResult) -> tuple[NDArray[np.bool_], int]:
    """The points that are faster than the best baseline, and the number of points that have one."""
    ratio = result["ratio"]
    known = np.isfinite(ratio)
    return known & (np.nan_to_num(ratio) > FASTER), int(known.sum())


def _faster_parts(result: SweepResult) -> list[RenderableType]:
    """The share of points at which the plan is faster than the best baseline, and their range along two axes."""
    faster, known = _where_faster(result)
    entries = result.description.baseline
    labels = ("the best of " if len(entries) > 1 else "") + ", ".join(entry.label for entry in entries)
    verdict = [Text(line) for line in _verdict(result)]
    if not faster.any():
        return [*verdict, Text(f"nowhere faster than {labels}")]
    mean = float(np.exp(np.log(result["ratio"][faster]).mean()))
    count = int(faster.sum())
    where = f"all {known} points" if count == known else f"{count} of {known} points"
    said = f"faster than {labels} at {where}, {factor(mean)} on average"
    numeric = [axis for axis in result.axes if axis.kind != "name" and len(axis.values) > 1]
    if len(numeric) < 2:
        return [*verdict, Text(said)]
    along, across = sorted(numeric[-2:], key=lambda axis: axis.key != "size")
    others = [axis for axis in result.axes if len(axis.values) > 1 and axis not in {along, across}]
    shape = [len(axis.values) for axis in (*others, along, across)]
    if math.prod(shape[:-2]) > MOST_PANELS:
        return [*verdict, Text(said)]
    words = [axis.key.replace("_", " ") for axis in (*others, along, across)]
    made = table(*words[:-1], f"faster at {words[-1]}", "most", right=("most",))
    ratios = result.grid("ratio").squeeze()
    ratios = np.moveaxis(ratios, _places(result, (along, across)), (-2, -1)).reshape(shape)
    places = np.argsort(along.values)
    for panel in np.ndindex(*shape[:-2]):
        names = [natural_label(axis.kind, axis.shown[place]) for axis, place in zip(others, panel, strict=True)]
        for place in _evenly(places):
            ratio = ratios[*panel, place]
            most = factor(np.nanmax(ratio)) if np.isfinite(ratio).any() else ""
            made.add_row(*names, _label(along, along.values[place]), _span(across, ratio), most)
            names = [""] * len(names)
    return [*verdict, Text(said), made]


def _verdict(result: SweepResult) -> list[str]:
    """At how many points changing circuits pays, where plans are compared with the best that change nothing."""
    if [entry.settings for entry in result.description.baseline] != [NEVER_CHANGE]:
        return [] if result.description.engine == "train" else _where_unchanged(result)
    faster, known = _where_faster(result)
    changes = _numbers(result, "reconfigurations") > 0 if "reconfigurations" in result.columns else faster
    paying = int((faster & changes).sum())
    if not known:
        return []
    if not paying:
        return [
            "changing circuits does not pay at any point: no plan that changes them is faster than the best without"
        ]
    most = factor(float(result["ratio"][faster & changes].max()))
    where = f"all {known} points" if paying == known else f"{paying} of {known} points"
    return [f"changing circuits pays at {where}, up to {most} over the best circuits that never change"]


def _where_unchanged(result: SweepResult) -> list[str]:
    """The part of the gain over other baselines that is not from changing circuits."""
    if "reconfigurations" not in result.columns:
        return []
    faster, _ = _where_faster(result)
    still = int((faster & (_numbers(result, "reconfigurations") == 0)).sum())
    if not still:
        return []
    return [f"{still} of the faster plans change no circuits: their gain comes from the algorithm or the topology"]


def _unequal_traffic(result: SweepResult) -> list[str]:
    """A note that matrices of one size, the busiest GPU's buffer, differ in their total traffic."""
    description = result.description
    found = traffic_of(description)
    if has_pair_sizes(description) or not any(one.is_unequal for one in found):
        return []
    differ = ": matrices differ in traffic" if len({one.matrix for one in found}) > 1 else ""
    lines = [f"sizes are the busiest GPU's buffer{differ}; sizes such as 1MiB/pair compare equal traffic"]
    for gpus in dict.fromkeys(one.gpus for one in found):
        said = ", ".join(f"{one.matrix} {one.share:.3g}" for one in found if one.gpus == gpus)
        lines.append(f"total traffic of all {gpus} GPUs, in buffers of the busiest GPU: {said}")
    sent = traffic_range(description)
    if sent is not None:
        lines.append(f"in all {' to '.join(dict.fromkeys(show_size(size) for size in sent))}")
    return lines


def _places(result: SweepResult, axes: Sequence[Axis]) -> list[int]:
    """The places of axes among those of several values."""
    varying = [axis for axis in result.axes if len(axis.values) > 1]
    return [varying.index(axis) for axis in axes]


def _span(axis: Axis, ratios: NDArray[np.float64]) -> str:
    """From which to which value of an axis plans are faster."""
    faster = np.asarray(axis.values)[np.nan_to_num(ratios) > FASTER]
    if not faster.size:
        return "none"
    return " to ".join(dict.fromkeys(_label(axis, end) for end in (faster.min(), faster.max())))


def _label(axis: Axis, value: object) -> str:
    """A value of an axis, sizes in the units of the least."""
    least = float(min(axis.values)) if axis.kind == "size" else None
    return natural_label(axis.kind, value) if least is None else size_label(float(value), least)  # type: ignore[arg-type]


def _evenly(values: NDArray[Any]) -> NDArray[Any]:
    """Some of the values, this many, both ends among them."""
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_PLACES))
    kept: NDArray[Any] = values[np.round(places).astype(np.intp)]
    return kept


def _reasons(result: SweepResult) -> list[tuple[str, int]]:
    """The commonest reasons."""
    counts = result.to_arrow().column("reason").value_counts().to_pylist()
    rows = [(entry["values"], entry["counts"]) for entry in counts if entry["values"] is not None]
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:MOST_REASONS]
