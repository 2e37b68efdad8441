"""One schedule on one fabric, planned for many sizes and delays at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from lightloom import _core
from lightloom.errors import InputError, refuse, shown
from lightloom.fabric import Fabric
from lightloom.requests import Settings, build_request

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


class Sweep(NamedTuple):
    """Best completion times and their numbers of reconfigurations, in the shape of the arguments' broadcast."""

    total_s: NDArray[np.float64]
    reconfigurations: NDArray[np.uint32]


class Problem:
    """A problem whose hops-load profiles are computed once; arguments as for `lightloom.plan`.

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
        planner = settings.get("planner")
        request = build_request(collective, "1MiB" if size is None else size, fabric, **settings)
        self._core = _core.Problem(request)
        self._fabric = fabric
        self._arguments = (collective, size, fabric, settings)
        # A named planner may choose otherwise than the best sequence of candidates.
        self._series = _core.Series(request) if planner not in {None, "auto", "harvest"} else None

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _problem_of, self._arguments

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self._core.algorithm

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self._core.steps

    @property
    def candidates(self) -> list[_core.Topology]:
        """The topologies that a step may use."""
        return self._core.candidates

    def sweep(self, sizes: ArrayLike, delays: ArrayLike) -> Sweep:
        """Best time at every (size, reconfiguration delay).

        It is that of the planner which was named, else over all sequences of candidates.

        sizes: bytes or strings such as `"64MiB"`; delays: seconds or strings such as `"10us"`; one, a list or an array
        each, broadcast against each other as NumPy does (`sizes[:, None]` against `delays` gives a grid).

        O(steps · candidates) a point at most; points on the same plan share one search. A point that the planner does
        not serve is infinite. Raises `InputError` that names `sizes` or `delays`.
        """
        size_bytes = _numbers("sizes", sizes, _core.parse_size, _core.check_size)
        delay_s = _numbers("delays", delays, _core.parse_time, _core.check_time)
        try:
            size_bytes, delay_s = np.broadcast_arrays(size_bytes, delay_s)
        except ValueError as error:
            raise refuse(
                "sizes", f"shapes {size_bytes.shape} and {delay_s.shape} of sizes and delays do not broadcast"
            ) from error
        if self._series is None:
            total_s, reconfigurations = self._core.sweep(np.ravel(size_bytes), np.ravel(delay_s))
        else:
            total_s, reconfigurations, *_ = self._series.evaluate(
                np.ravel(size_bytes),
                np.full(size_bytes.size, self._fabric.bandwidth_bps),
                np.full(size_bytes.size, self._fabric.startup_s),
                np.full(size_bytes.size, self._fabric.hop_delay_s),
                np.ravel(delay_s),
            )
            total_s[np.isnan(total_s)] = np.inf
        return Sweep(total_s.reshape(size_bytes.shape), reconfigurations.reshape(size_bytes.shape))


def _problem_of(collective: str | None, size: str | float | None, fabric: Fabric, settings: Settings) -> Problem:
    """The problem of these arguments, for pickles."""
    return Problem(collective, size, fabric=fabric, **settings)


def _numbers(
    field: str, values: ArrayLike, parse: Callable[[str, str], float], check: Callable[[str, float], float]
) -> NDArray[np.float64]:
    try:
        array: NDArray[Any] = np.asarray(values)
        if array.dtype.kind in "UO":
            parsed = [parse(field, item) if isinstance(item, str) else float(item) for item in array.ravel().tolist()]
            array = np.array(parsed).reshape(array.shape)
        numbers = array.astype(np.float64)
    except InputError:
        raise
    except Exception as error:  # whatever an object's own conversion raises
        raise refuse(field, f"`{shown(values)}` is not accepted; it takes numbers or strings") from error
    for number in np.unique(numbers):
        check(field, float(number))
    return numbers
