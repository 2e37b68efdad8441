"""The connections of switches after each change, from only the changes, and the circuits that they make."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import lightloom as ll

Joined = list[dict[int, int]]


def followed(circuits: ll.Circuits) -> Iterator[Joined]:
    """Per configuration and switch, the egress port of every lit ingress port."""
    joined: Joined = [{} for _ in circuits.switches]
    for configuration in circuits.configurations:
        for state, switch, told in zip(joined, circuits.switches, configuration.switches, strict=True):
            for ingress, egress in told.disconnect.tolist():
                assert state.pop(ingress) == egress
            for ingress, egress in told.connect.tolist():
                assert ingress not in state
                state[ingress] = egress
            assert min([1, *state, *state.values()]) >= 1
            assert max([1, *state, *state.values()]) <= switch.ports
            assert len(set(state.values())) == len(state)
            assert sorted(state.items()) == [tuple(pair) for pair in told.connections.tolist()]
        yield [dict(state) for state in joined]


def composed(joined: Joined, owner: Callable[[int, int], int]) -> Counter[tuple[int, int]]:
    """The circuits between owners of ports: `owner(switch, port)`."""
    pairs = (
        (owner(switch, ingress), owner(switch, egress))
        for switch, state in enumerate(joined)
        for ingress, egress in state.items()
    )
    return Counter(pairs)


def circuits_of(topology: ll.Topology) -> Counter[tuple[int, int]]:
    """Circuits of a topology by their ends."""
    return Counter({(int(src), int(dst)): int(count) for src, dst, count in topology.links})
