"""The peers, skipped with the reason where they are not there."""

from collections.abc import Callable

import pytest

from tests.peers.build import PeerAbsentError, ns3_driver, simgrid_driver
from tests.peers.flow_peer import FlowRun, run_simgrid
from tests.peers.packet_peer import PacketRun, run_ns3

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
