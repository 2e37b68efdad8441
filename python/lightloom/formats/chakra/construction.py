"""A schedule made of a trace that was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import InputError, refuse

if TYPE_CHECKING:
    from lightloom.formats.chakra.trace import Trace

__all__ = ["Transfers", "built"]

Transfers = list[tuple[int, int, str, list[int]]]


def built(
    field: str,
    trace: Trace,
    algorithm: object,
    collective: object,
    chunks: int | list[tuple[int, int, float]],
    root: Any,
    steps: list[Transfers],
) -> _core.Schedule:
    """The schedule of equal chunks of a buffer, this many of them, or of pieces of their own sizes.

    Raises `InputError` that names `field` where the core refuses it.
    """
    ranks = len(trace.ranks)
    try:
        if not isinstance(chunks, int):
            return _core.Schedule.from_transfers(algorithm, collective, ranks, 0, steps, pieces=chunks)  # type: ignore[arg-type]
        whole_buffer = collective in {"broadcast", "reduce"} or (collective == "all-reduce" and chunks % ranks != 0)
        if not whole_buffer and chunks % ranks:
            raise refuse(field, f"a buffer of {chunks} chunks does not divide into equal shares for {ranks} ranks")
        parts = chunks if whole_buffer else chunks // ranks
        return _core.Schedule.from_transfers(
            algorithm,  # type: ignore[arg-type]  # whatever they are, the core checks them
            collective,  # type: ignore[arg-type]
            ranks,
            parts,
            steps,
            whole_buffer=whole_buffer,
            root=root,
        )
    except InputError as error:
        reason = str(error).removeprefix(f"{field}: ")
        raise refuse(field, f"the messages of `{trace.name}` are not a valid schedule: {reason}") from error
