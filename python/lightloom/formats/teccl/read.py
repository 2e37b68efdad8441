"""TE-CCL's schedules: the JSON that its solvers write, with flows by epoch (microsoft/TE-CCL, `schedule_output_file`).

`N-Demand_Met` says by source, destination and chunk when each demand is met: nodes that have demands are GPUs, all
others switches. `N-Flows` has a line for a chunk that crosses a link, `Chunk 0 from 2 traveled over 2->6 in epoch 0`,
with `via switches 0` where it passes some, and `with volume 1.0` where an All-to-All was solved as a linear program.

An epoch is a step here; epochs without flows are dropped. A chunk that arrives in an epoch is sent on in a later one.
The GPUs are numbered anew from 0, in the order of their numbers in the file. Whether the schedule computes its
collective is for the verifier to say; the file does not say which topology it was solved for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.formats.source import Source

__all__ = ["read", "recognises"]

DEMANDS, FLOWS = re.compile(r"\d+-Demand_Met"), re.compile(r"\d+-Flows")
GPU, CHUNK = re.compile(r"GPU (\d{1,6})"), re.compile(r"Chunk (\d{1,6})")
FLOW = re.compile(
    r"Chunk (\d{1,6}) from (\d{1,6}) traveled over (\d{1,6})->(\d{1,6})(?: with volume (\d{1,9}(?:\.\d{1,20})?))?"
    r" in epoch (\d{1,9})(?: via switches [\d, ]{1,200})?"
)
MOST_FLOWS, MOST_GPUS = 1_000_000, 4096


class Flow(NamedTuple):
    """A chunk of a GPU that crosses a link in an epoch."""

    chunk: int
    owner: int
    source: int
    destination: int
    epoch: int


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return re.search(r'"\d+-Flows"\s*:', source.text) is not None


def read(source: Source) -> _core.Schedule:
    """The schedule, an epoch a step. Raises `InputError` that names the place in the file."""
    document = source.json()
    demands = _one(document, DEMANDS, "Demand_Met")
    flows = list(_flows(_one(document, FLOWS, "Flows")))
    wanted = _wanted(demands)
    gpus = sorted({gpu for pair in wanted for gpu in pair})
    rank = {gpu: index for index, gpu in enumerate(gpus)}
    collective, parts = _collective(wanted, rank)
    epochs: dict[int, dict[tuple[int, int], set[int]]] = {}
    for index, flow in enumerate(flows):
        if not {flow.owner, flow.source, flow.destination} <= rank.keys():
            switch = next(one for one in (flow.owner, flow.source, flow.destination) if one not in rank)
            raise refuse(f"schedule.Flows[{index}]", f"it names node {switch}, which has no demand in Demand_Met")
        chunk = _chunk(flow, index, collective, parts, rank)
        pair = rank[flow.source], rank[flow.destination]
        epochs.setdefault(flow.epoch, {}).setdefault(pair, set()).add(chunk)
    steps = [
        [(*pair, "copy", sorted(chunks)) for pair, chunks in sorted(sent.items())] for _, sent in sorted(epochs.items())
    ]
    return _core.Schedule.from_transfers("teccl", collective, len(gpus), parts, steps)


def _one(document: dict[str, Any], pattern: re.Pattern[str], name: str) -> Any:
    """The value of the one key of that name, with any number."""
    keys = [key for key in document if pattern.fullmatch(key)]
    if len(keys) != 1:
        raise refuse(f"schedule.{name}", "it is missing" if not keys else f"it is given {len(keys)} times")
    return document[keys[0]]


def _flows(lines: Any) -> Iterable[Flow]:
    if not isinstance(lines, list) or not 0 < len(lines) <= MOST_FLOWS:
        raise refuse("schedule.Flows", f"it is not a list of 1 to {MOST_FLOWS} flows")
    for index, line in enumerate(lines):
        field = f"schedule.Flows[{index}]"
        found = FLOW.fullmatch(line) if isinstance(line, str) else None
        if found is None:
            raise refuse(field, f"`{shown(line)}` is not `Chunk C from G traveled over A->B in epoch E`")
        chunk, owner, source, destination, volume, epoch = found.groups()
        if volume is not None and float(volume) != 1.0:
            raise refuse(field, f"it carries {volume} of a chunk; it takes whole chunks")
        if source == destination:
            raise refuse(field, f"it goes from GPU {source} to itself")
        yield Flow(int(chunk), int(owner), int(source), int(destination), int(epoch))


def _wanted(demands: Any) -> dict[tuple[int, int], set[int]]:
    """The chunks that each pair of GPUs wants, by source and destination."""
    wanted: dict[tuple[int, int], set[int]] = {}
    for source, by_destination in _items(demands, "schedule.Demand_Met", GPU):
        place = f"schedule.Demand_Met[GPU {source}]"
        for destination, by_chunk in _items(by_destination, place, GPU):
            pair_place = f"{place}[GPU {destination}]"
            if source == destination:
                raise refuse(pair_place, "a GPU wants its own chunk")
            wanted[source, destination] = {chunk for chunk, _ in _items(by_chunk, pair_place, CHUNK)}
    if len({gpu for pair in wanted for gpu in pair}) > MOST_GPUS:
        raise refuse("schedule.Demand_Met", f"it has more than {MOST_GPUS} GPUs")
    return wanted


def _items(value: Any, field: str, pattern: re.Pattern[str]) -> Iterable[tuple[int, Any]]:
    """Numbers in the keys of an object, and its values."""
    if not isinstance(value, dict) or not value:
        raise refuse(field, "it is not an object with entries")
    for key, item in value.items():
        found = pattern.fullmatch(key)
        if found is None:
            name = pattern.pattern.split("(")[0]
            raise refuse(
                field, f"key `{shown(key)}` is not accepted; it takes `{name}N`, N a number, such as `{name}0`"
            )
        yield int(found[1]), item


def _collective(wanted: dict[tuple[int, int], set[int]], rank: dict[int, int]) -> tuple[str, int]:
    """AllGather with this many chunks a GPU, or All-to-All with this many a pair."""
    count = len(rank)
    field = "schedule.Demand_Met"
    if len(wanted) != count * (count - 1):
        raise refuse(
            field, f"only {len(wanted)} pairs of {count} GPUs have demands; an AllGather or All-to-All has all"
        )
    parts = len(next(iter(wanted.values())))
    if any(len(chunks) != parts for chunks in wanted.values()):
        raise refuse(field, "pairs of GPUs have unequal numbers of chunks; it takes equal numbers")
    if all(chunks == set(range(parts)) for chunks in wanted.values()):
        return "all-gather", parts
    if all(chunks == set(range(rank[pair[1]], parts * count, count)) for pair, chunks in wanted.items()):
        return "all-to-all", parts
    raise refuse(field, "its chunks are neither those of an AllGather nor of an All-to-All")


def _chunk(flow: Flow, index: int, collective: str, parts: int, rank: dict[int, int]) -> int:
    """The number of a flow's chunk among all chunks of the collective."""
    count, owner = len(rank), rank[flow.owner]
    most = parts if collective == "all-gather" else parts * count
    if flow.chunk >= most:
        raise refuse(f"schedule.Flows[{index}]", f"there is no chunk {flow.chunk}; a GPU has chunks 0 to {most - 1}")
    if collective == "all-gather":
        return owner * parts + flow.chunk
    # Chunk c of a GPU is part c // n of its block for GPU c % n (TE-CCL, all_to_all_demand_generator).
    return (owner * count + flow.chunk % count) * parts + flow.chunk // count
