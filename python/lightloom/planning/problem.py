"""One request, planned for many sizes, rates and delays at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.inputs.arrays import array_of
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.quantities import number_of
from lightloom.inputs.requests import PER_PAIR, buffer_bytes, build_request

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from lightloom.inputs.options import Settings

    # Numbers in the unit of SI, text with a unit, or both.
    Quantities: TypeAlias = ArrayLike | Sequence[str | float]

ACCEPTS = "numbers, text with a unit, or both"


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results of `plan` at every point, in the shape that the arguments broadcast to.

    total_s: completion times, infinite where nothing serves the point; reconfigurations: changes of topology.
    names: pairs (planner, algorithm) that were taken anywhere, and one of empty names; choice: a point's place there.
    lower_bound_s: of the plans; None where it was not asked for. never_change_s: times of the best plans whose circuits
    never change, NaN if there is none; None if the algorithm or the planner was named, or topologies were.
    """

    total_s: NDArray[np.float64]
    reconfigurations: NDArray[np.uint32]
    names: tuple[tuple[str, str], ...]
    choice: NDArray[np.uint32]
    lower_bound_s: NDArray[np.float64] | None = None
    never_change_s: NDArray[np.float64] | None = None

    @cached_property
    def planner(self) -> NDArray[np.str_]:
        """Names of the planners that were taken; empty where nothing serves the point."""
        return np.array([planner for planner, _ in self.names])[self.choice]

    @cached_property
    def algorithm(self) -> NDArray[np.str_]:
        """Names of the algorithms that were taken; empty where nothing serves the point."""
        return np.array([algorithm for _, algorithm in self.names])[self.choice]


class Problem:
    """A request that is prepared once, its hops-load profiles with it; arguments as for `lightloom.plan`.

    The size may be left out: `sweep` says it.
    """

    def __init__(
        self,
        collective: str | None = None,
        size: str | float | None = None,
        *,
        fabric: Fabric | str | os.PathLike[str] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if not isinstance(fabric, Fabric):
            fabric = Fabric.load("default" if fabric is None else fabric)
        self._request = build_request(collective, "1MiB" if size is None else size, fabric, **settings)
        self._series = _core.Series(self._request)
        self._fabric = fabric
        self._has_matrix = settings.get("matrix") is not None
        self._arguments = (collective, size, fabric, settings)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _problem_of, self._arguments

    @cached_property
    def _schedule(self) -> _core.Problem:
        """The request's schedule. Raises `InputError` where no algorithm is named."""
        return _core.Problem(self._request)

    @property
    def collective(self) -> str:
        """Name of the collective."""
        return self._series.collective

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return self._series.gpus

    @property
    def algorithm(self) -> str:
        """Name of the algorithm. Raises `InputError` where it was left open."""
        return self._schedule.algorithm

    @property
    def steps(self) -> int:
        """Number of steps of the algorithm. Raises `InputError` where it was left open."""
        return self._schedule.steps

    @property
    def candidates(self) -> list[_core.Topology]:
        """The topologies that a step of the algorithm may use. Raises `InputError` where it was left open."""
        return self._schedule.candidates

    def sweep(
        self,
        sizes: Quantities,
        delays: Quantities,
        *,
        bandwidths: Quantities | None = None,
        startups: Quantities | None = None,
        hop_delays: Quantities | None = None,
        bound: bool = False,
    ) -> Sweep:
        """Results of `lightloom.plan` at every point.

        sizes: bytes, or text such as `"64MiB"` or `"1MiB/pair"`; delays: fixed reconfiguration delays, seconds or text
        such as `"10us"`, to which the fabric's delays per port or by port are added; bandwidths, startups, hop_delays:
        bit/s and seconds, or text; those of the fabric when left out, as they must be where ports or pairs of GPUs have
        different rates. One, a list or an array each, broadcast against each other as NumPy does (`sizes[:, None]`
        against `delays` is a table). bound: whether to bound the times from below.

        Points on the same plan share one search. Raises `InputError` that names the argument.
        """
        fabric = self._fabric
        fastest_bps, least_hop_s = self._series.fastest
        rates = fastest_bps if bandwidths is None else bandwidths
        numbers = {
            "sizes": self.buffer_bytes(sizes),
            "bandwidths": _numbers("bandwidths", rates, _core.parse_rate, _core.check_rate),
            "startups": _times("startups", fabric.startup_s if startups is None else startups),
            "hop_delays": _times("hop_delays", least_hop_s if hop_delays is None else hop_delays),
            "delays": _times("delays", delays),
        }
        try:
            points = np.broadcast_arrays(*numbers.values())
        except ValueError as error:
            shapes = ", ".join(f"{values.shape} of {name}" for name, values in numbers.items() if values.shape)
            raise refuse("sizes", f"these shapes do not broadcast: {shapes}") from error
        size_bytes, bandwidth_bps, startup_s, hop_delay_s, delay_s = (np.ravel(values).copy() for values in points)
        total_s, reconfigurations, choice, lower_bound_s, never_change_s, *_ = self._series.evaluate(
            size_bytes, bandwidth_bps, startup_s, hop_delay_s, delay_s, bound
        )
        # The last pair is for points that nothing serves.
        names = (*self._series.names, ("", ""))
        missing = np.isnan(total_s)
        total_s[missing], choice[missing] = np.inf, len(names) - 1
        shape = points[0].shape
        return Sweep(
            total_s.reshape(shape),
            reconfigurations.reshape(shape),
            names,
            choice.reshape(shape),
            None if lower_bound_s is None else lower_bound_s.reshape(shape),
            None if never_change_s is None else never_change_s.reshape(shape),
        )

    def buffer_bytes(self, sizes: Quantities) -> NDArray[np.float64]:
        """Bytes of one GPU's whole buffer, of sizes as `sweep` takes them and in their shape.

        Raises `InputError` that names `sizes`.
        """
        return _numbers("sizes", sizes, self._bytes_of_text, _core.check_size)

    def _bytes_of_text(self, field: str, text: str) -> float:
        if self._has_matrix and text.strip().endswith(PER_PAIR):
            raise refuse(field, f"`{shown(text)}` is not accepted with a matrix; it takes whole buffers")
        return float(buffer_bytes(field, text, self.collective, self.gpus))


def _problem_of(collective: str | None, size: str | float | None, fabric: Fabric, settings: Settings) -> Problem:
    """The problem of these arguments, for pickles."""
    return Problem(collective, size, fabric=fabric, **settings)


def _times(field: str, values: Quantities) -> NDArray[np.float64]:
    return _numbers(field, values, _core.parse_time, _core.check_time)


def _numbers(
    field: str, values: Quantities, parse: Callable[[str, str], float], check: Callable[[str, float], float]
) -> NDArray[np.float64]:
    try:
        array = array_of(field, values)
        if array.dtype.kind in "UO":
            # In an array of objects, numbers among texts stay numbers.
            items = np.asarray(values, dtype=object).ravel().tolist()
            parsed = [
                parse(field, item) if isinstance(item, str) else number_of(field, item, ACCEPTS) for item in items
            ]
            array = np.array(parsed).reshape(array.shape)
        numbers = array.astype(np.float64) if array.dtype.kind in "iuf" else None
    except InputError:
        raise
    except Exception as error:  # whatever an object's own conversion raises
        raise refuse(field, f"`{shown(values)}` is not accepted; it takes {ACCEPTS}") from error
    if numbers is None:
        raise refuse(field, f"entries of type {array.dtype} are not accepted; it takes {ACCEPTS}")
    for number in np.unique(numbers):
        check(field, float(number))
    return numbers
