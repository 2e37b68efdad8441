"""Lower bounds: how fast a collective can be at best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Unpack

from lightloom import _core
from lightloom.base.views import html
from lightloom.inputs.requests import build_request

if TYPE_CHECKING:
    import os

    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.options import Settings


class Bounds(NamedTuple):
    """Every bound that is known: that of any algorithm first, then those of the steps of the algorithm that was named.

    largest: the largest that holds for every plan of the request. Where some planner splits or joins steps of the
    algorithm, that is the one for any algorithm. size_bytes: one rank's whole buffer m; traffic_bytes: bytes that all
    GPUs together send to others in an All-to-All, None for other collectives.
    """

    statements: tuple[_core.Statement, ...]
    largest: _core.Statement
    collective: str
    size_bytes: int
    gpus: int
    traffic_bytes: int | None

    @property
    def lower_bound_s(self) -> float:
        """No schedule of the class `bound_class` takes less."""
        return self.largest.lower_bound_s

    @property
    def bound_class(self) -> str:
        """The schedules that `lower_bound_s` bounds."""
        return self.largest.bound_class

    def __repr__(self) -> str:
        said = f"{_core.show_time(self.lower_bound_s)} for {self.bound_class}"
        return f"Bounds({said}; {_core.counted(len(self.statements), 'bound')})"

    def _repr_html_(self) -> str:
        return html("Bounds._repr_html_", self)


def bound(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Bounds:
    """Lower bounds on the time of a collective, without planning it; arguments and errors as for `plan`.

    With `algorithm` or `schedule`, also those for its steps as they are; on up to 64 GPUs these take seconds.
    """
    request = build_request(collective, size, fabric, **settings)
    statements, largest = _core.bound(request)
    problem = request.collective, request.size_bytes, request.gpus, request.traffic_bytes
    return Bounds(tuple(statements), statements[largest], *problem)
