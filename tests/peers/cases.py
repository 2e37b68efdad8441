"""What is compared: plans and packet settings, for the tests and for docs/validation.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

import lightloom as ll
from tests.peers.traffic import StepTraffic, Traffic, traffic

EXACT_S = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One plan, and how its packets are made and handed over."""

    collective: str
    algorithm: str
    gpus: int
    size: str
    topology: str | None = None
    planner: str = "static"
    fabric: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    payload: int = 4096
    header: int = 0
    injection: str = "burst"

    @property
    def name(self) -> str:
        """Everything that tells it from the others."""
        parts = [self.collective, self.algorithm, self.planner, self.topology, str(self.gpus), self.size, self.settings]
        return " ".join(part for part in parts if part)

    @property
    def settings(self) -> str:
        """The settings that are not the defaults, in words."""
        said = [self.fabric_settings] if self.fabric_settings else []
        said += [f"payload {self.payload}"] if self.payload != 4096 else []
        said += [f"header {self.header}"] if self.header else []
        return ", ".join([*said, self.injection])

    @property
    def fabric_settings(self) -> str:
        """The settings of the plan's fabric."""
        said = [f"{key.replace('_', ' ')} {value}" for key, value in self.fabric.items() if key != "dims"]
        said += [f"{key} {value}" for key, value in self.more.items() if isinstance(value, str)]
        return ", ".join(said)

    @cached_property
    def plan(self) -> ll.Plan:
        """The plan."""
        fabric = ll.Fabric(gpus=self.gpus, **self.fabric)
        chosen: dict[str, Any] = {} if self.topology is None else {"topology": self.topology}
        named: dict[str, Any] = {} if "matrix" in self.more else {"algorithm": self.algorithm}
        size = None if "matrix" in self.more else self.size
        return ll.plan(self.collective, size, fabric=fabric, planner=self.planner, **chosen, **named, **self.more)

    @cached_property
    def traffic(self) -> Traffic:
        """Its packets."""
        return traffic(self.plan, self.payload)

    @property
    def additive_s(self) -> float:
        """The plan's cost with the bytes of headers counted: dark time + startup + δ·hops + wire time·load."""
        return sum(self._additive_step_s(step) for step in self.traffic.steps)

    def _additive_step_s(self, step: StepTraffic) -> float:
        wires = [sum(f.packets.wire_bytes(self.header) for f in transfer.flows) for transfer in step.transfers]
        wire_s = max(wires) * 8 / self.traffic.bandwidth_bps
        return step.dark_s + step.startup_s + self.traffic.hop_delay_s * step.hops + wire_s * step.load

    @property
    def packet_settings(self) -> dict[str, Any]:
        """The arguments of `lightloom.simulate` for it."""
        return {
            "level": "packet",
            "packet_size": self.payload,
            "header_size": self.header,
            "injection": self.injection,
            "forwarding": "store-and-forward",
            "sync": "barrier",
        }


FLOW_SETTINGS = {"level": "flow", "sync": "barrier"}

ROTATIONS = (("all-reduce", "recursive-doubling"), ("all-gather", "bruck"))

ONE_WAY_RINGS = [
    Case(
        collective=collective,
        algorithm=algorithm,
        gpus=gpus,
        size=size,
        topology="ring:one-way",
        fabric={"hop_delay": hop_delay},
        header=header,
    )
    for (collective, algorithm), gpus, (size, header), hop_delay in product(
        ROTATIONS, (8, 16, 32, 64), (("64KiB", 0), ("1MiB", 64)), ("50ns", "500ns", "5us")
    )
]

SHIFTED_RINGS = [
    Case(
        collective=collective,
        algorithm=algorithm,
        gpus=gpus,
        size="1MiB",
        planner="bvn",
        fabric={"reconfiguration_delay": "1us", "hop_delay": hop_delay},
        header=64,
    )
    for (collective, algorithm), gpus, hop_delay in product(ROTATIONS, (8, 16, 32, 64), ("50ns", "5us"))
]

MATCHINGS = [
    replace(case, collective="all-reduce", algorithm="halving-doubling")
    for case in SHIFTED_RINGS
    if case.algorithm == "bruck"
]

MIXED_RINGS = [
    Case(
        collective="all-reduce",
        algorithm="recursive-doubling",
        gpus=gpus,
        size="1MiB",
        planner="harvest",
        fabric={"reconfiguration_delay": delay},
    )
    for gpus, delay in product((8, 16, 32, 64), ("1us", "5us"))
]

CLOSED = [*ONE_WAY_RINGS, *SHIFTED_RINGS, *MATCHINGS, *MIXED_RINGS]

# Long enough for a packet's own store and forward to be small compared with the additive cost.
PACED = [
    Case(
        collective=collective,
        algorithm=algorithm,
        gpus=gpus,
        size=size,
        topology="ring:one-way",
        fabric={"hop_delay": hop_delay},
        header=header,
        injection="paced",
    )
    for (collective, algorithm), (gpus, size), (hop_delay, header) in product(
        (("reduce-scatter", "recursive-doubling"), ("all-gather", "bruck")),
        ((8, "1MiB"), (16, "1MiB"), (32, "4MiB"), (64, "16MiB")),
        (("500ns", 0), ("5us", 64)),
    )
    if (algorithm, gpus) != ("bruck", 64)  # a minute
] + [replace(case, injection="paced") for case in [*SHIFTED_RINGS, *MATCHINGS]]


def _unequal_matrix() -> Any:
    return np.random.default_rng(1).integers(0, 60_000, (8, 8)).astype(float)


# Where packets of several circuits meet, and nothing is known in closed form.
OPEN = [
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=8,
        size="64KiB/pair",
        topology="ring:two-way",
        fabric={"ports": 2},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=16,
        size="64KiB/pair",
        topology="ring:two-way",
        fabric={"ports": 2},
    ),
    Case(
        collective="all-reduce",
        algorithm="recursive-doubling",
        gpus=16,
        size="1MiB",
        topology="ring:two-way",
        fabric={"ports": 2},
    ),
    Case(
        collective="all-reduce",
        algorithm="halving-doubling",
        gpus=16,
        size="1MiB",
        topology="ring:two-way",
        fabric={"ports": 2},
    ),
    Case(collective="all-reduce", algorithm="halving-doubling", gpus=16, size="1MiB", topology="ring:one-way"),
    Case(
        collective="all-reduce", algorithm="swing", gpus=16, size="1MiB", topology="ring:two-way", fabric={"ports": 2}
    ),
    Case(
        collective="all-reduce",
        algorithm="swing",
        gpus=16,
        size="1MiB",
        topology="torus:4x4",
        fabric={"dims": "4x4", "ports": 4},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=16,
        size="64KiB/pair",
        topology="torus:4x4",
        fabric={"dims": "4x4", "ports": 4},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=64,
        size="16KiB/pair",
        topology="torus:4x4x4",
        fabric={"dims": "4x4x4", "ports": 6},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=16,
        size="64KiB/pair",
        topology="torus:4x4",
        fabric={"dims": "4x4", "ports": 4},
        more={"routing": "equal-split"},
    ),
    Case(
        collective="all-to-all", algorithm="direct", gpus=12, size="64KiB/pair", topology="kautz", fabric={"ports": 2}
    ),
    Case(
        collective="all-to-all",
        algorithm="bruck",
        gpus=16,
        size="64KiB/pair",
        planner="harvest",
        fabric={"reconfiguration_delay": "1us"},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=16,
        size="64KiB/pair",
        planner="reconfigure-all-to-all",
        fabric={"ports": 2, "reconfiguration_delay": "1us"},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=16,
        size="64KiB/pair",
        planner="pccl-parallel",
        fabric={"ports": 4, "reconfiguration_delay": "1us"},
    ),
    Case(
        collective="all-reduce",
        algorithm="ring",
        gpus=12,
        size="100003B",
        topology="ring:two-way",
        fabric={"ports": 2},
        payload=1500,
        header=66,
    ),
    Case(
        collective="all-reduce",
        algorithm="dissemination",
        gpus=16,
        size="100003B",
        topology="ring:one-way",
        payload=1500,
        header=66,
    ),
    Case(
        collective="broadcast",
        algorithm="binary-tree",
        gpus=16,
        size="256KiB",
        topology="ring:two-way",
        fabric={"ports": 2},
    ),
    Case(
        collective="broadcast",
        algorithm="scatter-allgather",
        gpus=16,
        size="256KiB",
        topology="hypercube",
        fabric={"ports": 4},
    ),
    Case(
        collective="all-to-all",
        algorithm="direct",
        gpus=8,
        size="matrix",
        topology="ring:two-way",
        fabric={"ports": 2},
        more={"matrix": _unequal_matrix()},
        header=64,
    ),
]
# The longest path and the busiest link of a step belong to the same flow, except with the last case's unequal bytes.
EQUAL, UNEQUAL = OPEN[:-1], OPEN[-1:]
OPEN += [replace(case, injection="paced") for case in OPEN]

# A hop takes as long as eight packets of 50 ns each, so that packets of different hops meet at the same instant.
TIED = [
    replace(case, fabric={**case.fabric, "hop_delay": "400ns"}, payload=4936, header=64)
    for case in OPEN
    if case.gpus <= 16
    and case.payload == 4096
    and case.algorithm in {"direct", "halving-doubling"}
    and case.header == 0
]

# Ports of different rates, and circuits that cannot be made.
UNLIKE = [
    Case(collective=collective, algorithm="auto", planner="auto", gpus=8, size=size, fabric=fabric)
    for collective, size, fabric in product(
        ("all-reduce", "all-gather", "all-to-all", "broadcast"),
        ("256KiB", "2MiB"),
        (
            {"ports": 2, "bandwidth": ["800Gbps", "400Gbps"]},
            {"ports": 3, "bandwidth": ["800Gbps", "400Gbps", "200Gbps"]},
            {"ports": 2, "failed": "link:0-1"},
            {"ports": 2, "failed": "link:0>1,port:3.1"},
        ),
    )
]
