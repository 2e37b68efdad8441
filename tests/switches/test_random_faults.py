"""Random sequences of permutations with random faults: the report states the circuits that the switch holds."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightloom.switches import ChangeError, Connections, Ports, Switches
from lightloom.switches.simulated import Crossbar, Faults, start_switch
from tests.switches.conftest import program, restored_from

PORTS = 6


@st.composite
def partial_permutations(draw: st.DrawFn) -> Connections:
    egress = draw(st.permutations(range(1, PORTS + 1)))
    count = draw(st.integers(0, PORTS))
    ingress = draw(st.permutations(range(1, PORTS + 1)))[:count]
    return frozenset(zip(ingress, egress[:count], strict=True))


def numbers(most: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(1, most), max_size=2)


FAULTS = st.builds(
    Faults,
    refuse=numbers(PORTS),
    refuse_change=numbers(12),
    ignore=numbers(12),
    half=numbers(12),
    drop_before=numbers(12),
    drop_after=numbers(12),
    garbage=numbers(12),
)


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("interface", ["scpi", "restconf", "restconf-each", "sonic"])
def test_the_report_is_true_and_the_file_brings_all_back(interface: str, in_own_folder: Path) -> None:
    scheme, _, each = interface.partition("-")
    with start_switch(scheme, PORTS, listen="127.0.0.1:0") as switch:
        address = f"{switch.address}?timeout=2s&settle=20ms{'&write=each' if each else ''}"

        numbered = count()

        # SONiC's switch is polled through its database, tens of milliseconds a change.
        @settings(max_examples=20 if scheme == "sonic" else 80, deadline=None)
        @given(
            before=partial_permutations(),
            configurations=st.lists(partial_permutations(), min_size=1, max_size=5),
            faults=FAULTS,
            undo=st.booleans(),
            replace=st.booleans(),
        )
        def check(
            before: Connections, configurations: list[Connections], faults: Faults, undo: bool, replace: bool
        ) -> None:
            switch.crossbar.circuits = before
            switch.crossbar.faults = faults
            switch.crossbar.changes = 0
            state = in_own_folder / "state.json"
            state.unlink(missing_ok=True)
            plan = program(*configurations, ports=PORTS)
            with Switches([plan], {"core": address}, undo=undo, replace=replace, state=state) as switches:
                for number, wanted in enumerate(configurations):
                    _judge(switches, switch.crossbar, number, wanted, plan.used, undo=undo, replace=replace)
            switch.crossbar.faults = Faults()
            assert restored_from(state, state=in_own_folder / f"before-restoring-{next(numbered)}.json").acknowledged
            assert switch.crossbar.circuits == before

        check()


def _judge(
    switches: Switches, crossbar: Crossbar, number: int, wanted: Connections, used: Ports, *, undo: bool, replace: bool
) -> None:
    """Make a configuration, and compare its report with the circuits of the switch."""
    last = crossbar.circuits
    try:
        (change,) = switches.apply(number).changes
    except ChangeError as error:
        (change,) = error.applied.changes
        now = crossbar.circuits
        assert not change.acknowledged
        assert change.before == last
        if undo:
            assert error.undone is not None
            (back,) = error.undone.changes
            assert back.held == now
            assert back.acknowledged == (now == last)
        else:
            assert error.undone is None
            assert change.held == now
            assert change.missing == wanted - now
            assert change.left_over == (now if replace else used.touched_by(now)) - wanted
    else:
        assert change.held == crossbar.circuits
        assert crossbar.circuits == wanted | (frozenset() if replace else last - used.touched_by(last))
