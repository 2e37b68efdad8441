"""htsim's connection matrices, loaded and run as htsim does, flow by flow.

The loader takes the lines that `ConnectionMatrix::load` takes and stops where that ends the program; triggers do what
`SingleShotTrigger`, `MultiShotTrigger` and `BarrierTrigger` do (Broadcom/csg-htsim, in sim/datacenter,
connection_matrix.cpp, and sim/trigger.cpp). Flows that have begun end in an order that chance chooses.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NO_START = -1.0
MAX_INT = 2**31 - 1


class Stopped(Exception):  # noqa: N818 (the program's word)
    """htsim exits, or an assertion of it fails."""


@dataclass
class Connection:
    src: int
    dst: int
    size: int = 0
    flowid: int = 0
    trigger: int = 0
    send_done: int = 0
    recv_done: int = 0
    start: float = NO_START


@dataclass
class Shooter:
    kind: str = ""
    remaining: int = 0
    targets: list[int] = field(default_factory=list)
    done: bool = False
    next: int = 0


def _stoi(text: str) -> int:
    value = int(text)
    if abs(value) > MAX_INT:
        raise Stopped("out of range")
    return value


def load(text: str) -> tuple[int, list[Connection], dict[int, Shooter]]:
    """Nodes, connections and triggers."""
    counts = {"Nodes": 0, "Connections": 0, "Triggers": 0}
    connections: list[Connection] = []
    triggers: dict[int, Shooter] = {}
    header = True
    for line in text.splitlines():
        tokens = line.split(" ")
        if header and (not line or tokens[0].startswith("#")):
            continue
        if header and tokens[0] in counts:
            counts[tokens[0]] = _stoi(tokens[1])
            continue
        header = False
        if "->" in tokens[0]:
            connections.append(_connection(tokens))
        elif tokens[0] == "trigger":
            number, shooter = _shooter(tokens)
            if number in triggers:
                raise Stopped("assert")
            triggers[number] = shooter
        else:
            raise Stopped(f"unknown {tokens[0]}")
    if (len(connections), len(triggers)) != (counts["Connections"], counts["Triggers"]):
        raise Stopped("counts")
    numbers = [one.flowid for one in connections if one.flowid]
    if len(set(numbers)) != len(numbers):
        raise Stopped("flows of one id")
    for index, one in enumerate(connections):
        if one.trigger:
            if one.trigger not in triggers:
                raise Stopped("referenced but not specified")
            triggers[one.trigger].targets.append(index)
    return counts["Nodes"], connections, triggers


WORDS = {
    "size": "size",
    "id": "flowid",
    "trigger": "trigger",
    "send_done_trigger": "send_done",
    "recv_done_trigger": "recv_done",
}


def _connection(tokens: list[str]) -> Connection:
    src, dst = tokens[0].split("->")
    made = Connection(_stoi(src), _stoi(dst))
    rest = iter(tokens[1:])
    for word in rest:
        if word == "start":
            made.start = float(next(rest))
        elif word in WORDS:
            setattr(made, WORDS[word], _stoi(next(rest)))
            if (word == "id" or made.trigger) and not made.flowid:
                raise Stopped("no id")
        else:
            raise Stopped(f"unknown token {word}")
    if (made.start == NO_START) == (made.trigger == 0):
        raise Stopped("start or trigger")
    return made


def _shooter(tokens: list[str]) -> tuple[int, Shooter]:
    number, shooter = 0, Shooter()
    rest = iter(tokens[1:])
    for word in rest:
        if word == "id":
            number = _stoi(next(rest))
        elif word == "count":
            shooter.remaining = _stoi(next(rest))
        elif word in {"oneshot", "multishot", "barrier"} and not shooter.kind:
            shooter.kind = word
        else:
            raise Stopped(f"unknown token {word}")
    if not number or not shooter.kind:
        raise Stopped("trigger")
    return number, shooter


def run(text: str, seed: int) -> list[tuple[int, Connection]]:
    """Every flow that ends, with its round: flows that a trigger starts are of the round after the one that set it off.

    Raises `Stopped` where htsim does, and where flows never begin.
    """
    _, connections, triggers = load(text)
    chance = random.Random(seed)  # noqa: S311 (an order, not a secret)
    going = [(0, index) for index, one in enumerate(connections) if not one.trigger]
    ended: list[tuple[int, Connection]] = []

    def activate(number: int, round_: int) -> None:
        shooter = triggers[number]
        if shooter.kind == "oneshot":
            if shooter.done or not shooter.targets:
                raise Stopped("assert")
            shooter.done = True
            going.extend((round_ + 1, target) for target in shooter.targets)
        elif shooter.kind == "multishot":
            if shooter.next < len(shooter.targets):
                going.append((round_ + 1, shooter.targets[shooter.next]))
                shooter.next += 1
        else:
            if shooter.remaining <= 0:
                raise Stopped("assert")
            shooter.remaining -= 1
            if shooter.remaining == 0:
                going.extend((round_ + 1, target) for target in shooter.targets)

    while going:
        round_, index = going.pop(chance.randrange(len(going)))
        one = connections[index]
        if one.size <= 0:
            raise Stopped("a flow without end")
        ended.append((round_, one))
        for number in (one.send_done, one.recv_done):
            if number:
                activate(number, round_)
    if len(ended) < len(connections):
        raise Stopped("flows that never begin")
    return ended
