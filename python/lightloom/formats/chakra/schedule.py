"""The schedule that a trace of sends and receives carries out.

A trace says which bytes go where and what waits for what, not which data they are. Lightloom's own traces say that in
attributes, and read back as they were (`stated`). In other traces it is inferred (`inferred`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.inference import inferred
from lightloom.formats.chakra.statement import SCHEMA, stated

if TYPE_CHECKING:
    from lightloom import _core
    from lightloom.formats.chakra.trace import Trace

__all__ = ["schedule_of"]


def schedule_of(trace: Trace, field: str = "schedule") -> _core.Schedule:
    """The schedule of a trace whose communication is only sends and receives.

    Raises `InputError` that names `field` where it has collectives or no messages, and where no collective is found
    that its messages compute.
    """
    if trace.collectives:
        held = ", ".join(f"{count} {name}" for name, count in trace.collectives.most_common(3))
        raise refuse(field, f"`{trace.name}` has nodes of whole collectives ({held}); it takes only sends and receives")
    if len(trace.ranks) < 2 or not trace.messages:
        raise refuse(field, f"`{trace.name}` sends nothing; it takes at least 2 ranks with messages")
    schema = trace.attributes.get("lightloom_schema")
    if schema is None:
        return inferred(trace, field)
    if schema != SCHEMA:
        raise refuse(field, f"`{trace.name}` is of schema `{shown(schema)}`; {SCHEMA} is read")
    return stated(trace, field)
