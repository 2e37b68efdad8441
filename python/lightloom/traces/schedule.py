"""The schedule that a trace of sends and receives carries out.

A trace says which bytes go where and what waits for what, not which data they are. Lightloom's own traces say that in
attributes, and read back as they were. Of others it is inferred from what each send waits for:

- A send passes on what the receives brought that it waits for last, also through computations; through other sends only
  where it waits for nothing else.
- A receive that a computation waits for is added to what the rank has; any other is kept.
- A send before which nothing was received sends the rank's own data: every such send another chunk, or all the same.

An All-to-All may also send each block straight to where it belongs, whatever was received before.

The first reading is taken that computes the collective, which the trace names or which is tried. All messages must be
of one size. A transfer is in the first step in which all is there that its send waits for.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.errors import InputError, refuse, shown
from lightloom.traces.schema import NodeType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.traces.trace import Message, Place, Trace

__all__ = ["SCHEMA", "schedule_of"]

SCHEMA = "lightloom.trace/1"
REDUCING, OTHERS = ("all-reduce", "reduce-scatter"), ("all-gather", "broadcast", "all-to-all")
MAX_CHUNKS = 1 << 26

Transfers = list[tuple[int, int, str, list[int]]]


def schedule_of(trace: Trace, field: str = "schedule") -> _core.Schedule:
    """The schedule of a trace whose communication is sends and receives alone.

    Raises `InputError` that names `field` where it has collectives or no messages, and where no collective is found
    that its messages compute.
    """
    if trace.collectives:
        held = ", ".join(f"{count} {name}" for name, count in trace.collectives.most_common(3))
        raise refuse(
            field, f"`{trace.name}` has nodes of whole collectives ({held}); it takes sends and receives alone"
        )
    if len(trace.ranks) < 2 or not trace.messages:
        raise refuse(field, f"`{trace.name}` sends nothing; it takes at least 2 ranks with messages")
    schema = trace.attributes.get("lightloom_schema")
    if schema is None:
        return _inferred(trace, field)
    if schema != SCHEMA:
        raise refuse(field, f"`{trace.name}` is of schema `{shown(schema)}`; {SCHEMA} is read")
    return _stated(trace, field)


# --- Lightloom's own -------------------------------------------------------------------------------------------------


def _stated(trace: Trace, field: str) -> _core.Schedule:
    """The schedule that the attributes of a trace state, which its messages must carry out."""
    arcs: dict[tuple[int, int, int], list[Message]] = defaultdict(list)
    for message in trace.messages:
        sent, received = (
            [_number(trace, end, name, field) for name in ("step", "source", "destination", "first_byte")]
            for end in (message.send, message.receive)
        )
        if sent != received:
            raise refuse(field, f"{trace.at(message.send)} and {trace.at(message.receive)} are not of one transfer")
        arcs[sent[0], sent[1], sent[2]].append(message)
    _check_steps(trace, field)
    steps: list[Transfers] = []
    for (step, source, destination), messages in sorted(arcs.items()):
        if step > len(steps):
            raise refuse(field, f"`{trace.name}` has messages of step {step} and none of step {len(steps)}")
        if step == len(steps):
            steps.append([])
        copied, reduced = _chunks(trace, messages, source, destination, field)
        if copied:
            steps[step].append((source, destination, "copy", copied))
        if reduced:
            steps[step].append((source, destination, "reduce", reduced))
    attributes = trace.attributes
    chunks = _stated_chunks(trace, field)
    root = attributes.get("lightloom_root", 0)
    algorithm = attributes.get("lightloom_algorithm", trace.name)
    return _built(field, trace, algorithm, attributes.get("collective"), chunks, root, steps)


def _chunks(
    trace: Trace, messages: Sequence[Message], source: int, destination: int, field: str
) -> tuple[list[int], list[int]]:
    """Which chunks the messages of an arc bring, copied and reduced; every byte of it must arrive once."""
    stated: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    at: dict[tuple[int, int], set[int]] = defaultdict(set)
    sizes: dict[int, int] = {}
    for message in messages:
        first_byte = _number(trace, message.send, "first_byte", field)
        if sizes.setdefault(first_byte, message.size_bytes) != message.size_bytes:
            raise refuse(field, f"{trace.at(message.send)} changes the size of what it sends on")
        at[first_byte, message.send[0]].add(message.receive[0])
        if message.send[0] == source:
            attributes = trace.node(message.send).attributes
            lists = [attributes.get(f"lightloom_{name}") for name in ("copied", "reduced")]
            if not all(isinstance(one, tuple) and all(type(chunk) is int for chunk in one) for one in lists):
                raise refuse(field, f"{trace.at(message.send)} does not state its chunks")
            stated.add((lists[0], lists[1]))  # type: ignore[arg-type]  # checked above
    arc = f"what rank {source} sends to rank {destination}"
    if len(stated) != 1:
        raise refuse(field, f"{arc}: its sends must state the same chunks, they state {len(stated)} lists")
    end = 0
    for first_byte, size_bytes in sorted(sizes.items()):
        if first_byte != end:
            raise refuse(
                field, f"{arc}: bytes {min(end, first_byte)} to {max(end, first_byte)} are sent twice or never"
            )
        end = first_byte + size_bytes
        reached, hops = source, sum(len(peers) for (byte, _), peers in at.items() if byte == first_byte)
        for _ in range(hops):
            reached = next(iter(at.get((first_byte, reached), {-1})))
        if reached != destination:
            raise refuse(field, f"{arc}: its bytes from {first_byte} do not arrive")
    ((copied, reduced),) = stated
    return list(copied), list(reduced)


def _check_steps(trace: Trace, field: str) -> None:
    """Every rank must come to a step after all that it does in the steps before.

    What begins in a step waits for all ends of the last one before it.
    """
    for rank, nodes in enumerate(trace.ranks):
        steps = [_number(trace, (rank, place), "step", field) for place in range(len(nodes))]
        followed = {
            before
            for node, step in zip(nodes, steps, strict=True)
            for before in node.after
            if steps[trace.places[rank][before]] == step
        }
        ends: dict[int, set[int]] = defaultdict(set)
        for node, step in zip(nodes, steps, strict=True):
            if node.id not in followed:
                ends[step].add(node.id)
        last: dict[int, int | None] = {}
        for step in sorted(ends):
            last[step] = max((other for other in ends if other < step), default=None)
        for node, step in zip(nodes, steps, strict=True):
            own = any(steps[trace.places[rank][before]] == step for before in node.after)
            earlier = last.get(step)
            if not own and earlier is not None and not ends[earlier] <= set(node.after):
                at = trace.at((rank, trace.places[rank][node.id]))
                raise refuse(field, f"{at} does not wait for all of step {earlier}")


def _stated_chunks(trace: Trace, field: str) -> int | list[tuple[int, int, float]]:
    attributes = trace.attributes
    if "lightloom_chunks" in attributes:
        return attributes["lightloom_chunks"]  # type: ignore[return-value]  # whatever it is, `_built` checks it
    columns = [attributes.get(f"lightloom_chunk_{name}") for name in ("sources", "destinations", "shares")]
    if not all(isinstance(column, tuple) for column in columns):
        raise refuse(field, f"`{trace.name}` states neither the number of its chunks nor their ends and sizes")
    sources, destinations, shares = columns
    if not len(sources) == len(destinations) == len(shares):  # type: ignore[arg-type]  # tuples, as checked
        raise refuse(field, f"`{trace.name}` does not state source, destination and size of every chunk")
    return list(zip(sources, destinations, map(float, shares), strict=True))  # type: ignore[arg-type]


def _number(trace: Trace, place: Place, name: str, field: str) -> int:
    value = trace.node(place).attributes.get(f"lightloom_{name}")
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise refuse(field, f"{trace.at(place)} does not state lightloom_{name}, a whole number from 0")
    return value


# --- Others ----------------------------------------------------------------------------------------------------------


class _Flow(NamedTuple):
    """What is known of a message from what its send waits for.

    step: counted from 0. passes_on: messages whose data it sends on, by index; none where it sends the rank's own.
    """

    step: int
    passes_on: tuple[int, ...]
    is_added: bool


def _inferred(trace: Trace, field: str) -> _core.Schedule:
    sizes = {message.size_bytes for message in trace.messages}
    if len(sizes) != 1:
        shown_sizes = ", ".join(map(str, sorted(sizes)[:3]))
        raise refuse(
            field,
            f"`{trace.name}` states no chunks, and its messages are of {len(sizes)} sizes ({shown_sizes}); chunks are "
            "told apart where all are of one size",
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
    raise refuse(
        field, f"`{trace.name}` states no chunks, and its messages compute no collective that is known; {wrong}"
    )


def _flows(trace: Trace) -> list[_Flow]:
    """Of every message its step, and what it passes on."""
    of_send = {message.send: index for index, message in enumerate(trace.messages)}
    of_receive = {message.receive: index for index, message in enumerate(trace.messages)}
    # By node: the messages whose data it has, the step that what follows it may share, and that a send must come after.
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
    root = min(own, default=0) if collective == "broadcast" else 0
    return _built(field, trace, trace.name, collective, count, root, [_joined(step) for step in steps if step])


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
        block = {"all-gather": begin, "reduce-scatter": end, "all-to-all": begin * ranks + end}.get(collective, 0)
        blocks[block].append(group)
    parts = max(map(len, blocks.values()))
    if ranks * ranks * parts > MAX_CHUNKS:
        raise refuse(field, f"its messages have too many chunks for {collective}")
    numbered = {group: block * parts + part for block, held in blocks.items() for part, group in enumerate(held)}
    is_shared = collective in {"all-gather", "reduce-scatter", "all-to-all"}
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


def _built(
    field: str,
    trace: Trace,
    algorithm: object,
    collective: object,
    chunks: int | list[tuple[int, int, float]],
    root: Any,
    steps: list[Transfers],
) -> _core.Schedule:
    """The schedule of equal chunks of a buffer, so many of them, or of pieces of their own sizes."""
    ranks = len(trace.ranks)
    try:
        if not isinstance(chunks, int):
            return _core.Schedule.from_transfers(algorithm, collective, ranks, 0, steps, pieces=chunks)  # type: ignore[arg-type]
        whole_buffer = collective == "broadcast" or (collective == "all-reduce" and chunks % ranks != 0)
        if not whole_buffer and chunks % ranks:
            raise refuse(field, f"{chunks} chunks of a buffer do not divide into the shares of {ranks} ranks")
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
        raise refuse(field, f"`{trace.name}` states no schedule: {reason}") from error
