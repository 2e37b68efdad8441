"""Evaluates a chunk of a sweep, in every worker, on this machine or another."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.plans.comparison import UNCHANGING
from lightloom.sweeps.iterations import TrainedSeries
from lightloom.sweeps.keys import POLICIES
from lightloom.sweeps.layout import Layout
from lightloom.sweeps.parts import Judged, Place, part_of
from lightloom.sweeps.series import Outcome, SeriesKey, evaluator_of

if TYPE_CHECKING:
    from lightloom.sweeps.description import Baseline, SweepDescription
    from lightloom.sweeps.layout import Piece
    from lightloom.sweeps.series import Evaluator

# Prepared problems that a worker keeps; a chunk rarely needs more, and each may hold megabytes of profiles.
MOST_KEPT = 16
# The baseline of gains from changing circuits, and the settings that leave fewer plans to choose from.
NEVER_CHANGE = (("planner", UNCHANGING),)
NARROWING = ("planner", "algorithm", "radix", "candidates", "topology", "chunk_size", "budget")


def evaluate_chunk(description: SweepDescription, digest: str, chunk: int) -> bytes:
    """The chunk's rows as the content of a part file; `digest`: of the sweep's label, by which parts are known."""
    layout = Layout(description)
    judged = [judge(description, digest, piece) for piece in layout.pieces(chunk)]
    return part_of(description, judged, Place(digest, chunk))


def series_key(description: SweepDescription, digest: str, settings: tuple[tuple[str, object], ...]) -> SeriesKey:
    """The key of the series with these settings."""
    axes = {axis.key: axis for axis in description.axes if axis.is_number}
    numbers = {key: quantity.number for key, quantity in description.numbers}
    numbers |= {key: float(axis.values[0]) for key, axis in axes.items()}
    size = dict(description.numbers).get("size")
    per_pair = axes["size"].per_pair if "size" in axes else size is not None and size.per_pair
    return SeriesKey(
        description.engine,
        settings,  # type: ignore[arg-type]
        tuple(sorted(numbers.items())),
        per_pair,
        description.folder,
        digest,
    )


class _Prepared:
    """Evaluators of the series that were last used; each is made once, however many threads ask for it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Keep nothing. After a fork, too: locks may have been taken by threads that the child does not have."""
        self._lock = Lock()
        self._cache = _core.Cache()
        self._slots: OrderedDict[SeriesKey, tuple[Lock, list[Evaluator | InputError]]] = OrderedDict()

    def get(self, key: SeriesKey) -> Evaluator:
        """The evaluator. Raises the `InputError` that its making raised."""
        with self._lock:
            lock, made = self._slots.setdefault(key, (Lock(), []))
            self._slots.move_to_end(key)
            while len(self._slots) > MOST_KEPT:
                self._slots.popitem(last=False)
        with lock:
            if not made:
                try:
                    made.append(TrainedSeries(key) if key.engine == "train" else evaluator_of(key, self._cache))
                except InputError as error:
                    made.append(error)
        if isinstance(made[0], InputError):
            raise made[0]
        return made[0]


_PREPARED = _Prepared()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_PREPARED.forget)


def prepare(description: SweepDescription, digest: str, settings: tuple[tuple[str, object], ...]) -> None:
    """Prepare the series with these settings, as `judge` would. Raises `InputError` if nothing serves the series."""
    _PREPARED.get(series_key(description, digest, settings))


def judge(description: SweepDescription, digest: str, piece: Piece) -> Judged:
    """The outcome of a piece and of its baselines; `digest`: of the files that the series depends on."""
    own = _outcome(description, digest, piece, piece.settings, bound="gap" in description.metrics)
    points = len(piece.rows)
    if not description.baseline:
        return Judged(own, None, np.full(points, -1, dtype=np.int32))
    best_s = np.full(points, np.inf)
    best = np.full(points, -1, dtype=np.int32)
    others: list[Outcome | None] = []
    for index, baseline in enumerate(description.baseline):
        other = None
        if own.policies_s is not None:
            # Every iteration states its time under each policy.
            other_s = own.policies_s[baseline.label]
        elif own.never_change_s is not None and baseline.settings == NEVER_CHANGE:
            other_s = own.never_change_s
        else:
            other = _outcome(description, digest, piece, _with(piece.settings, baseline), bound=False)
            other_s = other.total_s if other.simulated_s is None else other.simulated_s
        others.append(other)
        # A NaN is never less.
        better = other_s < best_s
        best_s[better], best[better] = other_s[better], index
    best_s[best < 0] = np.nan
    return Judged(own, best_s, best, others)


def _with(settings: tuple[tuple[str, object], ...], baseline: Baseline) -> tuple[tuple[str, object], ...]:
    """The point's settings as the baseline changes them, under the point's assumptions unless it names others.

    A planner's own convention would compare other routings and starts in addition to other plans. Circuits that never
    change are compared with over all algorithms and topologies, unless the baseline names some.
    """
    own, planner = dict(baseline.settings), dict(settings).get("planner")
    able = _core.capabilities(str(own.get("planner", "auto")))
    if able is not None and able["never_changes"]:
        settings = tuple((key, value) for key, value in settings if key not in NARROWING)
    conventions = [entry["name"] for entry in _core.registry()["conventions"]]
    assumed = planner if planner in conventions else conventions[0]
    return tuple(sorted({"convention": assumed, **dict(settings), **own}.items()))


def _outcome(
    description: SweepDescription, digest: str, piece: Piece, settings: tuple[tuple[str, object], ...], *, bound: bool
) -> Outcome:
    """The outcome of the rows with these settings; no row has a plan if nothing serves the series."""
    points = len(piece.rows)
    try:
        return _PREPARED.get(series_key(description, digest, settings)).evaluate(piece.numbers, bound=bound)
    except InputError as error:
        nothing = np.full(points, np.nan)
        return Outcome(
            nothing,
            np.full(points, -1, dtype=np.int32),
            np.zeros(points, dtype=np.uint32),
            (("", ""),),
            dict.fromkeys(range(points), str(error)),
            None if description.engine in {"model", "train"} else nothing,
            nothing if bound else None,
            nothing,
            dict.fromkeys(POLICIES, nothing) if description.engine == "train" else None,
        )
