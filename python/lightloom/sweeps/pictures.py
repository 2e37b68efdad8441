"""Pictures of a sweep: those of its description, or those that suit its axes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse, shown, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.sweeps.axes import Axis

# Keys of each kind in addition to `kind` and `value`.
PLACES = {"heat": ("x", "y", "best", "regions"), "lines": ("x", "lines"), "bars": ("x", "lines")}
REGIONS = ("planner", "algorithm", "reconfigurations", "best", "none")
# Axes of these are choices that a reader wants to see made: of which planner is it best to have the plan?
CHOICES = ("planner", "algorithm", "topology", "candidates", "policy")
MAX_PANELS = 200


class Picture(NamedTuple):
    """A picture: a panel for each combination of the axes that it does not place.

    kind: `"heat"`, `"lines"` or `"bars"`; value: the metric that is drawn; x, y: keys of axes; regions: between what
    lines are drawn in a heat map, `"planner"`, `"algorithm"`, `"reconfigurations"`, `"best"` or `"none"`; lines: key of
    the axis with a line or bar for each value, empty for one line; best: key of the axis of which every cell of a heat
    map shows the value that takes the least time, empty if no axis is reduced.
    """

    kind: str
    value: str
    x: str
    y: str = ""
    regions: str = "none"
    lines: str = ""
    best: str = ""

    @property
    def placed(self) -> tuple[str, ...]:
        """Keys of the axes that are not panels."""
        return tuple(key for key in (self.x, self.y, self.lines, self.best) if key)


def pictures_of(given: object, axes: Sequence[Axis], metrics: Sequence[str]) -> tuple[Picture, ...]:
    """The pictures of `plots`, or the defaults if there are none. Raises `InputError` that names `plots[0].x`."""
    if given is None:
        made = [*_choices(axes, metrics), *(_default(axes, metric, metrics) for metric in metrics)]
    else:
        if not isinstance(given, (list, tuple)):
            raise refuse("plots", "it takes tables [[plots]], or an empty list for no pictures")
        made = [_picture(f"plots[{index}]", entry, axes, metrics) for index, entry in enumerate(given)]
    for index, picture in enumerate(made):
        panels = math.prod(len(axis.values) for axis in axes if axis.key not in picture.placed)
        if panels > MAX_PANELS:
            raise refuse(
                "plots" if given is None else f"plots[{index}]",
                f"a picture of {picture.value} has {panels} panels, the combinations of the axes other than "
                f"{', '.join(picture.placed)}; it takes at most {MAX_PANELS}; plots = [] draws nothing",
            )
    return tuple(made)


def _default(axes: Sequence[Axis], metric: str, metrics: Sequence[str]) -> Picture:
    """A heat map over two axes of numbers, lines over one, bars without one."""
    several = [axis for axis in axes if len(axis.values) > 1] or list(axes)
    numeric = sorted((axis for axis in several if axis.kind != "name"), key=lambda axis: not axis.is_number)
    if len(numeric) >= 2:
        drawn = metric != "reconfigurations" and "reconfigurations" in metrics
        regions = "reconfigurations" if drawn else "none"
        return Picture("heat", metric, numeric[0].key, numeric[1].key, regions=regions)
    first = (numeric or several)[0]
    others = [axis.key for axis in several if axis is not first]
    return Picture("lines" if numeric else "bars", metric, first.key, lines=others[-1] if others else "")


def _choices(axes: Sequence[Axis], metrics: Sequence[str]) -> list[Picture]:
    """The best value of an axis of choices at each point, for axes that make heat maps."""
    picture = _default(axes, "ratio" if "ratio" in metrics else metrics[0], metrics)
    several = [axis.key for axis in axes if axis.key in CHOICES and len(axis.values) > 1]
    return [picture._replace(best=key, regions="best") for key in several if picture.kind == "heat"]


def _picture(field: str, given: object, axes: Sequence[Axis], metrics: Sequence[str]) -> Picture:
    if not isinstance(given, Mapping):
        raise refuse(field, f"`{shown(given)}` is not accepted; it takes a table with kind, x and value")
    kind = _one_of(f"{field}.kind", given.get("kind"), tuple(PLACES))
    known = ("kind", "value", *PLACES[kind])
    for key in given:
        if key not in known:
            raise unknown_name(field, key, known)
    keys = tuple(axis.key for axis in axes)
    places = {
        place: _one_of(f"{field}.{place}", _underscored(given[place]), keys)
        for place in ("x", "y", "lines", "best")
        if place in given
    }
    for place in ("x", "y") if kind == "heat" else ("x",):
        if place not in places:
            raise refuse(field, f"it has no `{place}`, one of the axes {', '.join(keys)}")
    if len(set(places.values())) < len(places):
        raise refuse(field, f"{' and '.join(places)} are not all different axes")
    by_key = {axis.key: axis for axis in axes}
    if kind == "lines" and by_key[places["x"]].kind == "name":
        raise refuse(f"{field}.x", f'`{places["x"]}` has names and no numbers; kind = "bars" shows them')
    value = _one_of(f"{field}.value", given.get("value"), tuple(metrics))
    best = places.get("best", "")
    regions = _one_of(f"{field}.regions", given.get("regions", "best" if best else "none"), REGIONS)
    if regions == "best" and not best:
        raise refuse(f"{field}.regions", '`best` takes an axis too, such as best = "planner"')
    if regions == "reconfigurations" and regions not in metrics:
        raise refuse(f"{field}.regions", "`reconfigurations` is not among the metrics")
    return Picture(kind, value, places["x"], places.get("y", ""), regions, places.get("lines", ""), best)


def _underscored(value: object) -> object:
    return value.replace("-", "_") if isinstance(value, str) else value


def _one_of(field: str, value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise (
            refuse(field, f"it is missing; one of {', '.join(known)}")
            if value is None
            else unknown_name(field, value, known)
        )
    return value
