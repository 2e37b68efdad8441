"""The description of a sweep: typed, immutable, made of TOML or of a mapping of the same keys."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.plans.comparison import UNCHANGING
from lightloom.sweeps.axes import Axis, axis_of
from lightloom.sweeps.keys import NUMBERS, POLICIES, Quantity, Value, key_of, known_keys, plain_value, quantity
from lightloom.sweeps.packets import check_packets
from lightloom.sweeps.pictures import Picture, pictures_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    Source: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | "SweepDescription"

ENGINES = ("model", "flow", "packet", "train")
METRICS = ("time", "simulated", "ratio", "gap", "exposed", "reconfigurations")
# Metrics that are not of every engine.
NOT_OF = {"model": ("simulated", "exposed"), "flow": ("exposed",), "packet": ("exposed",), "train": ("simulated",)}
KEYS = ("name", "summary", "engine", "metrics", "baseline", "settings", "axes", "plots")
BASELINE_KEYS = ("planner", "algorithm", "topology", "candidates", "routing", "convention")
MAX_NAME = 100
MAX_SUMMARY = 1000
# A table of them takes about 6 GB.
MAX_POINTS = 100_000_000
# A simulated point takes milliseconds at least.
MAX_SIMULATED_POINTS = 1_000_000


class Baseline(NamedTuple):
    """A baseline of points: its name in tables, and its changes of a point's settings."""

    label: str
    settings: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, kw_only=True)
class SweepDescription:
    """The problem, axes and engine of a sweep.

    name: of the files and the folder that results go to; summary: the title of pictures.
    engine: `"model"`, what plans say; `"flow"` or `"packet"`, plans simulated at that level; `"train"`, iterations.
    metrics: which of `METRICS` the table has; the time is always there.
    baseline: plans that the ratio compares with, the best of these; the best plans whose circuits never change where
        nothing else is said, empty without a ratio.
    settings: values of keys that do not vary; numbers: those of `keys.NUMBERS` among them.
    axes: settings that vary, in the order of writing.
    pictures: those to be drawn; empty for the defaults.
    folder: where files that it names are looked for.
    """

    name: str
    summary: str
    engine: str
    metrics: tuple[str, ...]
    baseline: tuple[Baseline, ...]
    settings: tuple[tuple[str, Value], ...]
    numbers: tuple[tuple[str, Quantity], ...]
    axes: tuple[Axis, ...]
    pictures: tuple[Picture, ...]
    folder: Path

    @classmethod
    def load(cls, source: Source, engine: str | None = None) -> Self:
        """The description in a TOML file or a mapping, or one that was made; `engine` wins over its own.

        Raises `InputError` that names the key, such as `axes.size`.
        """
        if isinstance(source, (str, os.PathLike)):
            path = Path(source)
            return cls.of(_parse(path), name=path.stem, folder=path.parent, engine=engine)
        if isinstance(source, Mapping):
            return cls.of(source, engine=engine)
        if not isinstance(source, cls):
            raise refuse("description", f"`{shown(source)}` is not accepted; it takes a TOML file or a mapping")
        if engine not in {None, source.engine}:
            # Metrics and settings depend on the engine, and the known ones are not those that were written.
            raise refuse("engine", f"the description was made for engine {source.engine}")
        return source

    @classmethod
    def of(
        cls,
        given: Mapping[str, object],
        *,
        name: str = "sweep",
        folder: Path | None = None,
        engine: str | None = None,
    ) -> Self:
        """The description in a mapping of the keys of a TOML file; errors as for `load`."""
        given = {key_of("description", key, KEYS): value for key, value in given.items()}
        engine = _one_of("engine", given.get("engine", _engine(given)) if engine is None else engine, ENGINES)
        folder = (Path() if folder is None else folder).absolute()
        known = known_keys(engine)
        axes = tuple(axis_of(key, value, known) for key, value in _table("axes", given.get("axes")).items())
        if not axes:
            raise refuse("axes", "no axis is given; it takes at least one, such as axes.size")
        settings, numbers = _settings(_table("settings", given.get("settings")), known)
        _check_once(axes, settings.keys() | numbers.keys())
        if engine == "train":
            baseline = _policies(given.get("baseline"))
        else:
            chosen = given.get("metrics")
            compares = chosen is None or (isinstance(chosen, (list, tuple)) and "ratio" in chosen)
            baseline = _baseline(given.get("baseline", UNCHANGING if compares else None))
        metrics = _metrics(given.get("metrics"), engine, has_baseline=bool(baseline))
        made = cls(
            name=_name(given.get("name", name)),
            summary=_summary(given.get("summary", "")),
            engine=engine,
            metrics=metrics,
            baseline=baseline,
            settings=tuple(settings.items()),
            numbers=tuple(numbers.items()),
            axes=axes,
            pictures=(),
            folder=folder,
        )
        _check_points(made)
        check_packets(engine, axes, settings.items(), numbers.items())
        made = replace(made, pictures=pictures_of(given.get("plots"), axes, metrics))
        for index, picture in enumerate(made.pictures):
            if engine == "train" and picture.regions in {"planner", "algorithm"}:
                raise refuse(
                    f"plots[{index}].regions", f"`{picture.regions}` is only for plans, not for training iterations"
                )
        return made

    @property
    def points(self) -> int:
        """The number of points: all combinations of the axes' values."""
        return math.prod(len(axis.values) for axis in self.axes)


def _parse(path: Path) -> dict[str, Any]:
    return parse_toml("description", read_text("description", path, MIB), f"`{path}`")


def _settings(given: Mapping[str, object], known: tuple[str, ...]) -> tuple[dict[str, Value], dict[str, Quantity]]:
    settings: dict[str, Value] = {}
    numbers: dict[str, Quantity] = {}
    for text, value in given.items():
        field = f"settings.{text}"
        key = key_of("settings", text, known)
        if key in settings or key in numbers:
            raise refuse(field, f"`{key}` is given twice")
        number = quantity(field, key, value) if key in NUMBERS else None
        if number is None:
            settings[key] = plain_value(field, key, value, known)
        elif number.varies:
            # A delay that is no single number is a setting of the problem, not a number that differs between points.
            settings[key] = number.text
        else:
            numbers[key] = number
    return settings, numbers


def _check_once(axes: Sequence[Axis], settings: set[str]) -> None:
    seen: set[str] = set()
    for axis in axes:
        if axis.key in seen:
            raise refuse(f"axes.{axis.key}", "it is given twice")
        if axis.key in settings:
            raise refuse(f"axes.{axis.key}", f"it is also given as settings.{axis.key}; leave one of the two out")
        seen.add(axis.key)


def _check_points(made: SweepDescription) -> None:
    most = MAX_POINTS if made.engine == "model" else MAX_SIMULATED_POINTS
    if made.points > most:
        sizes = " x ".join(str(len(axis.values)) for axis in made.axes)
        raise refuse("axes", f"they make {made.points:,} points ({sizes}); engine {made.engine} takes at most {most:,}")


def _metrics(given: object, engine: str, *, has_baseline: bool) -> tuple[str, ...]:
    if given is None:
        left_out = {"gap"} | (set() if has_baseline else {"ratio"}) | {*NOT_OF[engine]}
        return tuple(metric for metric in METRICS if metric not in left_out)
    chosen = {_one_of("metrics", metric, METRICS) for metric in _list("metrics", given)}
    if "ratio" in chosen and not has_baseline:
        raise refuse("baseline", "the metric ratio needs it: planners' names, such as ['static', 'bvn']")
    if has_baseline and "ratio" not in chosen:
        raise refuse("baseline", "it is for the metric ratio, which is not among the metrics")
    for metric in NOT_OF[engine]:
        if metric in chosen:
            others = " and ".join(name for name in ENGINES if metric not in NOT_OF[name])
            plural = "engines" if " and " in others else "engine"
            raise refuse("metrics", f"`{metric}` is only for the {plural} {others}, not for {engine}")
    # Every other metric is computed from the time; a simulation is run for its own time.
    chosen |= {"time"} if "simulated" in NOT_OF[engine] else {"time", "simulated"}
    return tuple(metric for metric in METRICS if metric in chosen)


def _baseline(given: object) -> tuple[Baseline, ...]:
    if given is None or (isinstance(given, (list, tuple)) and not given):
        return ()
    entries = [given] if isinstance(given, (str, Mapping)) else _list("baseline", given)
    made: list[Baseline] = []
    for index, entry in enumerate(entries):
        field = f"baseline[{index}]"
        if isinstance(entry, str):
            entry = {"planner": entry}  # noqa: PLW2901
        if not isinstance(entry, Mapping) or not entry:
            raise refuse(
                field,
                f"`{shown(entry)}` is not accepted; it takes a planner, or a table such as "
                "{ planner = 'static', topology = 'ring' }",
            )
        settings = {key_of(field, key, BASELINE_KEYS): value for key, value in entry.items()}
        values = {key: plain_value(f"{field}.{key}", key, value, BASELINE_KEYS) for key, value in settings.items()}
        # Ring, the algorithm, on the ring needs saying once.
        label = " ".join(dict.fromkeys(str(value) for value in values.values()))
        if label in {known.label for known in made}:
            raise refuse(field, f"`{label}` is given twice")
        made.append(Baseline(label, tuple(values.items())))
    return tuple(made)


def _policies(given: object) -> tuple[Baseline, ...]:
    """The baselines of training iterations: policies, whose times every iteration states."""
    if given is None:
        return ()
    names = [
        _one_of("baseline", name, POLICIES)
        for name in ([given] if isinstance(given, str) else _list("baseline", given))
    ]
    if len(set(names)) < len(names):
        raise refuse("baseline", f"`{max(names, key=names.count)}` is given twice")
    return tuple(Baseline(name, (("policy", name),)) for name in names)


def _engine(given: Mapping[str, object]) -> str:
    """The engine if none is named: `train` with a workload."""
    tables = (given.get("settings"), given.get("axes"))
    return "train" if any("workload" in table for table in tables if isinstance(table, Mapping)) else "model"


def _name(value: object) -> str:
    text = text_of("name", value)
    if not text or len(text) > MAX_NAME or text.startswith(".") or not all(c.isalnum() or c in "-_.+ " for c in text):
        raise refuse("name", f"`{shown(text)}` is not accepted; it takes a file's name of letters, digits, - and _")
    return text


def _summary(value: object) -> str:
    text = text_of("summary", value)
    if len(text) > MAX_SUMMARY:
        raise refuse("summary", f"it has {len(text)} characters; it takes at most {MAX_SUMMARY}")
    return text


def _table(field: str, value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a table of keys and values")
    return value


def _list(field: str, value: object) -> list[object]:
    if not isinstance(value, (list, tuple)) or not value:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a list that is not empty")
    return list(value)


def _one_of(field: str, value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise unknown_name(field, value, known)
    return value
