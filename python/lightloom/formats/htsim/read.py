"""htsim's connection matrix, `.cm`: its flows as an All-to-All of unequal pieces, in the steps that its triggers make.

Lines and their meaning are those of htsim's loader (Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp and
sim/trigger.cpp). A flow that starts at a time is in the first step, at any time; one that a trigger starts is in
the step after the last flow that the trigger waits for. The data of a flow is a piece of its own, which goes from its
source to its destination; the size m of the schedule's buffer is the bytes of the GPU that sends or receives most.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lightloom.formats.source import Source

__all__ = ["Flow", "Matrix", "Trigger", "parsed", "read", "recognises"]

# htsim reads whole numbers as a C++ `int`.
LARGEST = (1 << 31) - 1
MAX_LINES, MAX_NODES = 1_000_000, 1 << 20
COUNTS = ("Nodes", "Connections", "Triggers", "Failures")
ONE_SHOT, MULTI_SHOT, BARRIER = "oneshot", "multishot", "barrier"


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow from one node to another.

    trigger: its trigger; None if it starts at a time. ends: triggers that it sets off when it is sent, and when
    it is received. line: where it is in the file, from 1.
    """

    source: int
    destination: int
    size_bytes: int
    trigger: int | None
    ends: tuple[int, ...]
    line: int


class Trigger(NamedTuple):
    """A trigger, which starts flows: its kind, and how often a barrier must be set off before it does."""

    kind: str
    needed: int
    line: int


class Matrix(NamedTuple):
    """The content of a file: nodes, flows in its order, triggers by number."""

    nodes: int
    flows: list[Flow]
    triggers: dict[int, Trigger]


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    lines = (line for line in source.text[:10_000].splitlines() if line.strip() and not line.startswith("#"))
    return next(lines, "").split(" ")[0] in COUNTS


def read(source: Source) -> _core.Schedule:
    """The schedule of the flows. Raises `InputError` that names the field and the line."""
    matrix = parsed(source.field, source.text)
    steps: dict[int, dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for piece, (flow, step) in enumerate(zip(matrix.flows, _steps(source.field, matrix), strict=True)):
        steps[step][flow.source, flow.destination].append(piece)
    transfers = [
        [(source_, destination, "copy", pieces) for (source_, destination), pieces in steps[step].items()]
        for step in sorted(steps)
    ]
    sent: dict[int, int] = defaultdict(int)
    received: dict[int, int] = defaultdict(int)
    for flow in matrix.flows:
        sent[flow.source] += flow.size_bytes
        received[flow.destination] += flow.size_bytes
    most = max(*sent.values(), *received.values())
    pieces = [(flow.source, flow.destination, flow.size_bytes / most) for flow in matrix.flows]
    name = source.path.stem if source.path.stem.isprintable() else "htsim"
    return _core.Schedule.from_transfers(name, "all-to-all", matrix.nodes, 1, transfers, pieces=pieces)


def parsed(field_name: str, text: str) -> Matrix:
    """The content of a text, refused where htsim would end with an error, or run a flow without end.

    Raises `InputError` that names the field and the line.
    """
    reading = _Reading(field_name)
    for number, line in enumerate(text.split("\n"), 1):
        if number > MAX_LINES:
            raise refuse(field_name, f"it has more than {MAX_LINES} lines")
        reading.line(number, line)
    return reading.end()


@dataclass
class _Reading:
    """A file as it is read, line by line."""

    field_name: str
    counts: dict[str, int] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    triggers: dict[int, Trigger] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)
    in_header: bool = True

    def line(self, number: int, line: str) -> None:
        tokens = line.split(" ")
        if not line or (self.in_header and line.startswith("#")):
            return
        if self.in_header and tokens[0] in COUNTS:
            self.counts[tokens[0]] = self._whole(number, tokens[0], tokens[1] if len(tokens) > 1 else "")
            return
        self.in_header = False
        if "->" in tokens[0]:
            self._flow(number, tokens)
        elif tokens[0] == "trigger":
            self._trigger(number, tokens)
        else:
            raise self._wrong(number, f"begins with `{shown(tokens[0])}`; it takes SOURCE->DESTINATION or trigger")

    def end(self) -> Matrix:
        for name, found in (("Connections", len(self.flows)), ("Triggers", len(self.triggers))):
            if self.counts.get(name, 0) != found:
                raise refuse(
                    self.field_name, f"the head states {name} {self.counts.get(name, 0)}, and the file has {found}"
                )
        nodes = self.counts.get("Nodes", 0)
        if not 2 <= nodes <= MAX_NODES:
            raise refuse(self.field_name, f"it says Nodes {nodes}; it takes 2 to {MAX_NODES}")
        if not self.flows:
            raise refuse(self.field_name, "it has no flows")
        for flow in self.flows:
            if flow.source == flow.destination or max(flow.source, flow.destination) >= nodes:
                said = f"is from {flow.source} to {flow.destination}"
                raise self._wrong(flow.line, f"{said}; it takes two of the nodes 0 to {nodes - 1}")
            for trigger in (*flow.ends, *(() if flow.trigger is None else (flow.trigger,))):
                if trigger not in self.triggers:
                    raise self._wrong(flow.line, f"names trigger {trigger}, which no line defines")
        return Matrix(nodes, self.flows, self.triggers)

    def _flow(self, number: int, tokens: list[str]) -> None:
        source, _, destination = tokens[0].partition("->")
        values: dict[str, int] = {}
        words = {"id", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio", "start"}
        for name, text in self._pairs(number, tokens[1:], words):
            values[name] = self._time(number, text) if name == "start" else self._whole(number, name, text)
        if "trigger" in values and not values.get("id"):
            raise self._wrong(number, "has a trigger and no id before the trigger")
        if ("trigger" in values) == ("start" in values):
            raise self._wrong(number, "must have either start or trigger")
        if not values.get("size"):
            raise self._wrong(number, "has no size; without one a flow never ends")
        if "id" in values:
            if values["id"] == 0 or values["id"] in self.numbers:
                raise self._wrong(number, f"has id {values['id']}; it takes an id above 0 that no other flow has")
            self.numbers.add(values["id"])
        ends = tuple(values[name] for name in ("send_done_trigger", "recv_done_trigger") if values.get(name))
        self.flows.append(
            Flow(
                self._whole(number, "source", source),
                self._whole(number, "destination", destination),
                values["size"],
                values.get("trigger"),
                ends,
                number,
            )
        )

    def _trigger(self, number: int, tokens: list[str]) -> None:
        kinds = [token for token in tokens[1:] if token in {ONE_SHOT, MULTI_SHOT, BARRIER}]
        rest = [token for token in tokens[1:] if token not in {ONE_SHOT, MULTI_SHOT, BARRIER}]
        values = {name: self._whole(number, name, text) for name, text in self._pairs(number, rest, {"id", "count"})}
        if len(kinds) != 1:
            raise self._wrong(number, f"takes one of {ONE_SHOT}, {MULTI_SHOT} and {BARRIER}")
        identity = values.get("id", 0)
        if identity == 0 or identity in self.triggers:
            raise self._wrong(number, f"has id {identity}; it takes an id above 0 that no other trigger has")
        if kinds[0] == BARRIER and not values.get("count"):
            raise self._wrong(number, "is a barrier and has no count")
        self.triggers[identity] = Trigger(kinds[0], values.get("count", 0), number)

    def _pairs(self, number: int, tokens: list[str], words: set[str]) -> Iterator[tuple[str, str]]:
        """Each word with the next word."""
        seen: set[str] = set()
        for place in range(0, len(tokens), 2):
            word = tokens[place]
            if word not in words or word in seen:
                raise self._wrong(number, f"has `{shown(word)}`; it takes {', '.join(sorted(words))}, each once")
            if place + 1 == len(tokens):
                raise self._wrong(number, f"ends after `{word}`")
            seen.add(word)
            yield word, tokens[place + 1]

    def _whole(self, number: int, name: str, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= LARGEST):
            raise self._wrong(number, f"has {name} `{shown(text)}`; it takes a whole number from 0 to {LARGEST}")
        return int(text)

    def _time(self, number: int, text: str) -> int:
        try:
            time = float(text)
        except ValueError:
            time = -1.0
        if not 0 <= time < float("inf"):
            raise self._wrong(number, f"has start `{shown(text)}`; it takes a time from 0")
        return 0

    def _wrong(self, number: int, what: str) -> Exception:
        return refuse(self.field_name, f"line {number} {what}")


def _steps(field_name: str, matrix: Matrix) -> list[int]:
    """The step of every flow, from 0."""
    started: dict[int, list[int]] = defaultdict(list)
    ending: dict[int, int] = defaultdict(int)
    for index, flow in enumerate(matrix.flows):
        if flow.trigger is not None:
            started[flow.trigger].append(index)
        for trigger in flow.ends:
            ending[trigger] += 1
    _check_triggers(field_name, matrix.triggers, started, ending)
    steps: dict[int, int] = {index: 0 for index, flow in enumerate(matrix.flows) if flow.trigger is None}
    ended: dict[int, list[int]] = defaultdict(list)
    ready = deque(steps)
    while ready:
        index = ready.popleft()
        for number in matrix.flows[index].ends:
            ended[number].append(steps[index])
            if len(ended[number]) < ending[number]:
                continue
            # All flows that set this trigger off have their steps now. A multishot trigger starts one flow each time,
            # any other trigger all its flows at once.
            times = sorted(ended[number])
            for place, other in enumerate(started[number]):
                steps[other] = 1 + (times[place] if matrix.triggers[number].kind == MULTI_SHOT else times[-1])
                ready.append(other)
    if len(steps) < len(matrix.flows):
        stuck = next(flow for index, flow in enumerate(matrix.flows) if index not in steps)
        raise refuse(field_name, f"line {stuck.line} never starts: triggers wait for each other (deadlock)")
    return [steps[index] for index in range(len(matrix.flows))]


def _check_triggers(
    field_name: str, triggers: Mapping[int, Trigger], started: Mapping[int, Iterable[int]], ending: Mapping[int, int]
) -> None:
    """Refuse a trigger that htsim would stop at, or that never starts its flows."""
    for number, trigger in triggers.items():
        targets, times = len(list(started.get(number, ()))), ending.get(number, 0)
        where = f"line {trigger.line}: trigger {number}"
        if trigger.kind == BARRIER and times != trigger.needed:
            raise refuse(field_name, f"{where} waits for {trigger.needed} flows, but {times} set it off")
        if trigger.kind == ONE_SHOT and times != 1:
            raise refuse(field_name, f"{where} is {ONE_SHOT}, but {times} flows set it off; it takes 1")
        if trigger.kind == ONE_SHOT and not targets:
            raise refuse(field_name, f"{where} is {ONE_SHOT} and starts no flow")
        if trigger.kind == MULTI_SHOT and times < targets:
            raise refuse(field_name, f"{where} is to start {targets} flows, but only {times} flows set it off")
