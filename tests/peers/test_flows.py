"""Flows: SimGrid against the additive cost and our own simulator."""

import pytest

import lightloom as ll
from tests.peers.cases import CLOSED, EQUAL, FLOW_SETTINGS, UNEQUAL, Case
from tests.peers.conftest import SimGrid
from tests.peers.test_packets import named
from tests.peers.verdicts import flow_verdict

pytestmark = pytest.mark.peers
ADDITIVE = 1e-3


@pytest.mark.parametrize("case", [*CLOSED, *EQUAL], ids=named)
def test_fluid_takes_the_additive_cost_when_propagation_comes_last(case: Case, simgrid: SimGrid) -> None:
    assert simgrid(case.traffic, propagation="last").total_s == pytest.approx(case.plan.total_s, rel=ADDITIVE)


@pytest.mark.parametrize("case", CLOSED, ids=named)
def test_fluid_takes_the_additive_cost_where_all_paths_are_as_long(case: Case, simgrid: SimGrid) -> None:
    assert simgrid(case.traffic, propagation="first").total_s == pytest.approx(case.plan.total_s, rel=ADDITIVE)


@pytest.mark.parametrize("propagation", ["first", "last"])
@pytest.mark.parametrize("case", [*EQUAL, *UNEQUAL], ids=named)
def test_fluid_is_never_above_the_additive_cost(case: Case, propagation: str, simgrid: SimGrid) -> None:
    """Where flows differ, the longest path need not be over the busiest link; first, they start at different times."""
    total_s = simgrid(case.traffic, propagation=propagation).total_s
    assert total_s <= case.plan.total_s * (1 + ADDITIVE)
    assert total_s >= 0.9 * case.plan.total_s


@pytest.mark.parametrize("case", [*CLOSED, *EQUAL, *UNEQUAL], ids=named)
def test_we_take_what_simgrid_takes(case: Case, simgrid: SimGrid) -> None:
    mine = ll.simulate(case.plan, **FLOW_SETTINGS).total_s
    peers = [simgrid(case.traffic, propagation=propagation).total_s for propagation in ("first", "last")]
    assert any(flow_verdict(peer, mine).agrees for peer in peers), (mine, peers)
