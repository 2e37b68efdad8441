"""The schedule of a trace that does not say which data are sent: inferred from what each send waits for.

- A send passes on the data of the receives that it waits for last, also through computations; through other sends only
  where it waits for nothing else.
- A receive that a computation waits for is added to what the rank has; any other is kept.
- A send before which nothing was received sends the rank's own data: every such send another chunk, or all the same.

An All-to-All may also send each block straight to where it belongs, independent of earlier receives.

The first reading is taken that computes the collective, which the trace names or which is tried. All messages must be
of one size. A transfer is in the first step in which all is there that its send waits for.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import InputError, refuse
from lightloom.formats.chakra.construction import Transfers, built
from lightloom.formats.chakra.schema import NodeType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.formats.chakra.trace import Place, Trace

__all__ = ["inferred"]

REDUCING = ("all-reduce", "reduce-scatter", "reduce")
OTHERS = ("all-gather", "broadcast", "all-to-all", "gather", "scatter")
MAX_CHUNKS = 1 << 26


class _Flow(NamedTuple):
    """The role of a message in the collective, known from the nodes that its send waits for.

    step: counted from 0. passes_on: messages whose data it sends on, by index; empty if it sends the rank's own.
    """

    step: int
    passes_on: tuple[int, ...]
    is_added: bool


def inferred(trace: Trace, field: str) -> _core.Schedule:
    """The schedule. Raises `InputError` that names `field` where no reading computes a collective."""
    sizes = {message.size_bytes for message in trace.messages}
    if len(sizes) != 1:
        shown_sizes = ", ".join(map(str, sorted(sizes)[:3]))
        raise refuse(
            field,
            f"`{trace.name}` states no chunks, and its messages are of {len(sizes)} sizes ({shown_sizes}); messages "
            "without stated chunks must all be of one size",
        )
    flows = _flows(trace)
    named = trace.attributes.get("collective")
    tried: Iterable[str] = REDUCING if any(flow.is_added for flow in flows) else OTHERS
    if isinstance(named, str):
        known = [entry["name"] for entry in _core.registry()["collectives"]]
        plain = named.lower().replace("_", "").replace("-", "")
        tried = [name for name in known if name.replace("-", "") == plain] or [named]
    wrong = ""
    straight = [flow._replace(passes_on=()) for flow in flows]
    for collective, (read_as, one_chunk) in product(tried, ((flows, False), (flows, True), (straight, False))):
        if read_as is straight and collective != "all-to-all":
            continue
        try:
            schedule = _read(trace, read_as, collective, one_chunk=one_chunk, field=field)
        except InputError as error:
            wrong = str(error).removeprefix(f"{field}: ")
            continue
        failed = next((detail for _, passed, detail in _core.verify_schedule(schedule) if not passed), None)
        if failed is None:
            return schedule
        wrong = f"read as {collective}: {failed}"
    raise refuse(field, f"`{trace.name}` states no chunks, and its messages compute no known collective; {wrong}")


def _flows(trace: Trace) -> list[_Flow]:
    """For every message, its step and the messages that it passes on."""
    of_send = {message.send: index for index, message in enumerate(trace.messages)}
    of_receive = {message.receive: index for index, message in enumerate(trace.messages)}
    # By node: the messages whose data it has, the step that later nodes may share, and that a send must come after.
    data: dict[Place, frozenset[int]] = {}
    soft: dict[Place, int] = {}
    hard: dict[Place, int] = {}
    flows: list[_Flow | None] = [None] * len(trace.messages)
    added = {
        message_of
        for rank, nodes in enumerate(trace.ranks)
        for node in nodes
        if node.kind == NodeType.COMPUTE
        for before in node.after
        if (message_of := of_receive.get((rank, trace.places[rank][before]))) is not None
    }
    for place in trace.progress:
        rank, index = place
        node = trace.ranks[rank][index]
        before = [(rank, trace.places[rank][other]) for other in node.after]
        # A send says when, and which data only where nothing else does.
        others = [other for other in before if other not in of_send]
        data[place] = frozenset().union(*(data[other] for other in others or before))
        soft[place] = max((soft[other] for other in before), default=0)
        hard[place] = max((hard[other] for other in before), default=0)
        if place in of_send:
            soft[place] = hard[place]
            flows[of_send[place]] = _Flow(hard[place], tuple(sorted(data[place])), is_added=False)
        elif place in of_receive:
            message = of_receive[place]
            flow = flows[message]
            assert flow is not None  # noqa: S101 (its send comes before it in this order)
            step = max(soft[place], flow.step)
            flows[message] = flow._replace(step=step, is_added=message in added)
            soft[place], hard[place], data[place] = step, step + 1, frozenset({message})
    return [flow for flow in flows if flow is not None]


def _read(trace: Trace, flows: Sequence[_Flow], collective: str, *, one_chunk: bool, field: str) -> _core.Schedule:
    """The schedule of a collective; one_chunk: whether all that a rank sends of its own is the same chunk."""
    groups = _Groups(len(flows))
    own: dict[int, list[int]] = defaultdict(list)
    received: dict[int, list[int]] = defaultdict(list)
    sent_on: set[int] = set()
    for index, (flow, message) in enumerate(zip(flows, trace.messages, strict=True)):
        for other in flow.passes_on:
            groups.join(index, other)
        sent_on.update(flow.passes_on)
        if not flow.passes_on:
            own[message.send[0]].append(index)
        received[message.receive[0]].append(index)
    if one_chunk:
        for rank, sent in own.items():
            for index in (*sent, *(other for other in received[rank] if flows[other].is_added)):
                groups.join(sent[0], index)
    chunk_of, count = _numbered(trace, flows, groups, collective, own, sent_on, field)
    steps: list[Transfers] = [[] for _ in range(1 + max(flow.step for flow in flows))]
    for index, (flow, message) in enumerate(zip(flows, trace.messages, strict=True)):
        operation = "reduce" if flow.is_added else "copy"
        steps[flow.step].append((message.send[0], message.receive[0], operation, [chunk_of[groups.of(index)]]))
    root = _root(trace, collective, own)
    return built(field, trace, trace.name, collective, count, root, [_joined(step) for step in steps if step])


def _root(trace: Trace, collective: str, own: dict[int, list[int]]) -> int:
    """The rank that sends data of its own, or that only receives; 0 where the collective has no root."""
    if collective in {"broadcast", "scatter"}:
        return min(own, default=0)
    if collective in {"reduce", "gather"}:
        sends = {message.send[0] for message in trace.messages}
        return next((rank for rank in range(len(trace.ranks)) if rank not in sends), 0)
    return 0


def _numbered(
    trace: Trace,
    flows: Sequence[_Flow],
    groups: _Groups,
    collective: str,
    own: dict[int, list[int]],
    sent_on: set[int],
    field: str,
) -> tuple[dict[int, int], int]:
    """The chunk that each group of messages carries, and the number of chunks of a buffer.

    Numbered as the collective's are, by where they begin and end.
    """
    first: dict[int, int] = {}
    for rank, sent in own.items():
        for index in sent:
            first.setdefault(groups.of(index), rank)
    last = {groups.of(index): trace.messages[index].receive[0] for index in range(len(flows)) if index not in sent_on}
    known = sorted({groups.of(index) for index in range(len(flows))})
    ranks = len(trace.ranks)
    blocks: dict[int, list[int]] = defaultdict(list)
    for group in known:
        begin, end = first.get(group, 0), last.get(group, 0)
        numbers = {"all-gather": begin, "gather": begin, "reduce-scatter": end, "scatter": end}
        blocks[{**numbers, "all-to-all": begin * ranks + end}.get(collective, 0)].append(group)
    parts = max(map(len, blocks.values()))
    if ranks * ranks * parts > MAX_CHUNKS:
        raise refuse(field, f"its messages have too many chunks for {collective}")
    numbered = {group: block * parts + part for block, held in blocks.items() for part, group in enumerate(held)}
    is_shared = collective not in {"all-reduce", "broadcast", "reduce"}
    return numbered, parts * ranks if is_shared else parts


def _joined(step: Transfers) -> Transfers:
    """Transfers of one pair and operation as one."""
    chunks: dict[tuple[int, int, str], set[int]] = defaultdict(set)
    for source, destination, operation, held in step:
        chunks[source, destination, operation].update(held)
    return [(*key, sorted(held)) for key, held in chunks.items()]


class _Groups:
    """Messages that carry the same chunk: a union–find structure."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def of(self, index: int) -> int:
        while self._above[index] != index:
            self._above[index] = self._above[self._above[index]]
            index = self._above[index]
        return index

    def join(self, one: int, other: int) -> None:
        a, b = self.of(one), self.of(other)
        self._above[max(a, b)] = min(a, b)
