"""The peers and our own simulators, skipped with the reason where they are not there."""

from collections.abc import Callable
from typing import Any

import pytest

import lightloom as ll
from tests.peers.build import PeerAbsentError, ns3_driver, simgrid_driver
from tests.peers.flow_peer import FlowRun, run_simgrid
from tests.peers.ours import OursAbsentError, simulated_s
from tests.peers.packet_peer import PacketRun, run_ns3

Ours = Callable[..., float]
Ns3 = Callable[..., PacketRun]
SimGrid = Callable[..., FlowRun]


@pytest.fixture(scope="session")
def ns3() -> Ns3:
    """`run_ns3`."""
    try:
        ns3_driver()
    except PeerAbsentError as absent:
        pytest.skip(str(absent))
    return run_ns3


@pytest.fixture(scope="session")
def simgrid() -> SimGrid:
    """`run_simgrid`."""
    try:
        simgrid_driver()
    except PeerAbsentError as absent:
        pytest.skip(str(absent))
    return run_simgrid


@pytest.fixture
def ours() -> Ours:
    """`ours(plan, **settings)`: the simulated time of a plan, in seconds, by Lightloom's own simulators."""

    def simulate(plan: ll.Plan, **settings: Any) -> float:
        try:
            return simulated_s(plan, **settings)
        except OursAbsentError as absent:
            pytest.skip(str(absent))

    return simulate
