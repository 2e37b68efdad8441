"""Traffic through ns-3, packet by packet."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.peers.build import ns3_driver
from tests.peers.traffic import Circuit, Flow, StepTraffic, Traffic, Transfer, by_path

FS = 1e15
# Longest delay of a circuit that settles a tie: far below a byte's wire time, far above rounding to 1 fs.
TIE_FS = 2000
INJECTIONS = ("burst", "paced")
TIMEOUT_S = 3600


@dataclass(frozen=True)
class PacketRun:
    """When each step ended, in seconds from the start; packets sent; circuits crossed; the cost of the run itself."""

    ends_s: tuple[float, ...]
    packets: int
    packet_hops: int
    wall_s: float
    cpu_s: float

    @property
    def total_s(self) -> float:
        return self.ends_s[-1]

    @property
    def packet_hops_per_s(self) -> float:
        """Speed of the simulator, by processor time: it has one thread."""
        return self.packet_hops / self.cpu_s


def run_ns3(traffic: Traffic, *, header: int, injection: str = "burst", ties: int | None = None) -> PacketRun:
    """The whole plan in one run of ns-3, with `header` bytes added to every packet on the wire.

    ties: a seed that settles which of the packets that reach a circuit at the same instant is first, by some ps more
        delay: at random among those in transit, alike at all GPUs where the seed is odd; a paced sender's own packets
        are first, at random or last as the seed is 0, 1 or 2 modulo 3. Without it, the one whose transmission began
        first is first, as ns-3 has it.

    Raises `PeerAbsentError` where there is no ns-3.
    """
    assert injection in INJECTIONS, injection
    text = "\n".join(_lines(traffic, header, paced=injection == "paced", ties=ties))
    done = subprocess.run([ns3_driver()], input=text, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    ends_s = tuple(end / FS for end in result["ends_fs"])
    run = PacketRun(ends_s, *(result[key] for key in ("packets", "packet_hops", "wall_s", "cpu_s")))
    assert (run.packets, run.packet_hops) == (traffic.packets, traffic.packet_hops), "ns-3 sent something else"
    return run


class _Ties:
    """Delays that settle ties: of circuits, and of senders."""

    def __init__(self, seed: int) -> None:
        self._alike = seed % 2 == 1
        self._senders = seed % 3
        self._of_orbit: dict[tuple[int, int], int] = {}
        self._random = Random(seed)  # noqa: S311 (no secret)

    def circuit_fs(self, circuit: Circuit) -> int:
        delay = self._random.randint(1, TIE_FS)
        return self._of_orbit.setdefault((circuit.orbit, circuit.index), delay) if self._alike else delay

    def sender_fs(self, hops: int) -> int:
        """The most that a packet is late in transit."""
        most = hops * TIE_FS
        return (0, self._random.randint(0, most), most)[self._senders]


def _lines(traffic: Traffic, header: int, *, paced: bool, ties: int | None) -> Iterator[str]:
    """The input of ns3_driver.cc."""
    settle = None if ties is None else _Ties(ties)
    topologies: dict[tuple[Circuit, ...], int] = {}
    for step in traffic.steps:
        topologies.setdefault(step.circuits, len(topologies))
    yield f"{round(traffic.hop_delay_s * FS)} {traffic.gpus} {int(traffic.in_turn)}"
    yield str(len(topologies))
    for circuits in topologies:
        yield str(len(circuits))
        for circuit in circuits:
            late = 0 if settle is None else settle.circuit_fs(circuit)
            yield f"{circuit.src} {circuit.dst} {late} {round(circuit.rate_bps)}"
    yield str(len(traffic.steps))
    for step in traffic.steps:
        yield from _step_lines(traffic, step, topologies[step.circuits], header, paced=paced, settle=settle)


def _step_lines(
    traffic: Traffic, step: StepTraffic, topology: int, header: int, *, paced: bool, settle: _Ties | None
) -> Iterator[str]:
    transfers = [(path, 0) for path in step.transfers]
    if paced:
        paths = [path for transfer in step.transfers for path in by_path(transfer)]
        transfers = [(path, interval_fs(traffic, step, path, header)) for path in paths]
    times = f"{round(step.dark_s * FS)} {round(step.startup_s * FS)}"
    yield f"{topology} {times} {len(transfers)}"
    for transfer, interval in transfers:
        late = 0 if settle is None else settle.sender_fs(step.hops)
        yield f"{interval} {late} {len(transfer.flows)} {len(transfer.runs)}"
        for flow in transfer.flows:
            yield _flow_line(flow, header)
        yield " ".join(f"{flow} {packets}" for flow, packets in transfer.runs)


def interval_fs(traffic: Traffic, step: StepTraffic, path: Transfer, header: int) -> int:
    """From packet to packet of a paced path: its packets are spread over the time of the step's busiest circuit."""
    size = max(transfer.size_bytes for transfer in step.transfers)
    on_wire = size + -(-size // traffic.payload) * header
    packets = sum(flow.packets.count for flow in path.flows)
    return math.ceil(on_wire * 8 * FS / traffic.bandwidth_bps * step.load / packets)


def _flow_line(flow: Flow, header: int) -> str:
    packets = flow.packets
    # The payload of a single packet is its last one's.
    wires = f"{packets.payload + header} {packets.last + header}"
    return f"{wires} {packets.count} {len(flow.circuits)} {' '.join(map(str, flow.circuits))}"
