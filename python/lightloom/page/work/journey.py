"""Where a chunk of a plan's data goes, step by step."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import refuse
from lightloom.base.whole_numbers import whole_number
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.loads import MOST_GPUS
from lightloom.page.work.results import plan_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say
    from lightloom.plans import Plan
    from lightloom.plans.transfers import Transfers

SCHEMA = "lightloom.journey/1"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Every transfer of `chunk` in the plan that is given, or that the options ask for."""
    asked = dict(asked)
    index = asked.pop("chunk", 0)
    return Outcome(DONE, json.dumps(journey(plan_of(asked, limits), index)).encode())


def journey(plan: Plan, index: int) -> dict[str, Any]:
    """Every transfer of the chunk of that index, from 0, as the server tells them.

    Raises `InputError` that names `gpus` where there are too many, or `chunk`.
    """
    if plan.gpus > MOST_GPUS:
        raise refuse("gpus", f"the plan has {plan.gpus} GPUs; chunks are followed for at most {MOST_GPUS}")
    chunks = plan.chunks()
    chunk = whole_number("chunk", index, 0, len(chunks) - 1)
    return {
        "schema": SCHEMA,
        "chunk": chunk,
        "chunks": len(chunks),
        "source": _gpu(int(chunks.source[chunk])),
        "destination": _gpu(int(chunks.destination[chunk])),
        "bytes": float(chunks.size_bytes[chunk]),
        "steps": [_carrying(plan.transfers(step.index), chunk) for step in plan.steps],
    }


def _gpu(number: int) -> int | None:
    """The GPU; None where it is every GPU."""
    return None if number < 0 else number


def _carrying(transfers: Transfers, chunk: int) -> list[dict[str, Any]]:
    """The transfers that carry the chunk."""
    places = np.flatnonzero(transfers.chunks == chunk)
    owners = np.unique(np.searchsorted(transfers.chunk_offsets, places, side="right") - 1)
    return [
        {
            "source": int(transfers.source[one]),
            "destination": int(transfers.destination[one]),
            "operation": "reduce" if transfers.is_reduction[one] else "copy",
        }
        for one in owners.tolist()
    ]
