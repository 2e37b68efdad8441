"""Configurations on switches: changed and unchanged circuits, every fault, and restoring the state."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.switches import ChangeError, Connections, Switches, UnreadError, load_state
from tests.switches.conftest import PORTS, StartSwitch, address, one_switch, permutation, program, restored_from

FIRST, SECOND = permutation(1), permutation(2)
NONE: Connections = frozenset()


def test_configurations_follow_one_another(start: StartSwitch, interface: str) -> None:
    switch = start(interface)
    configurations = [permutation(seed) for seed in range(9)]
    with one_switch(switch, interface, *configurations) as switches:
        for number, wanted in enumerate(configurations):
            applied = switches.apply(number)
            assert applied.acknowledged
            assert switch.crossbar.circuits == wanted
            assert applied.changes[0].held == wanted


def test_what_is_there_already_is_not_touched(start: StartSwitch, interface: str) -> None:
    switch = start(interface)
    kept = frozenset({(1, 1), (2, 2)})
    with one_switch(switch, interface, kept | {(3, 4)}, kept | {(3, 5)}, kept | {(3, 5)}) as switches:
        switches.apply(0)
        (change,) = switches.apply(1).changes
        assert change.unmade == {(3, 4)}
        assert change.made == {(3, 5)}
        sent = switch.crossbar.changes
        (change,) = switches.apply(2).changes
        assert (change.unmade, change.made, switch.crossbar.changes) == (NONE, NONE, sent)


def test_circuits_on_ports_of_nobodys_plan_stay_unless_all_is_replaced(start: StartSwitch, interface: str) -> None:
    """The plan uses ingress 1 and 2 and egress 1, 2 and 3: (2, 9) and (5, 3) are on ports of it, (7, 8) is not."""
    switch = start(interface)
    switch.crossbar.circuits = frozenset({(7, 8), (2, 9), (5, 3)})
    plan = program(frozenset({(1, 1)}), frozenset({(1, 2), (2, 3)}))
    with Switches([plan], {"core": address(switch, interface)}) as switches:
        switches.apply(0)
        assert switch.crossbar.circuits == {(7, 8), (1, 1)}
    with Switches([plan], {"core": address(switch, interface)}, replace=True) as switches:
        switches.apply(1)
        assert switch.crossbar.circuits == {(1, 2), (2, 3)}
    # Each command kept the former state; the first file restores the circuits of the plan's ports at the beginning.
    assert restored_from("out/switches/before-1.json").acknowledged
    assert switch.crossbar.circuits == {(2, 9), (5, 3)}
    assert restored_from("out/switches/before-2.json").acknowledged
    assert switch.crossbar.circuits == {(7, 8), (1, 1)}


@pytest.mark.parametrize("fault", ["drop-after=1", "garbage=1"])
def test_a_lost_answer_is_no_failure_where_all_is_read_back(start: StartSwitch, interface: str, fault: str) -> None:
    switch = start(interface, faults=fault)
    with one_switch(switch, interface, frozenset({(1, 2)})) as switches:
        applied = switches.apply(0)
    assert applied.acknowledged
    assert switch.crossbar.circuits == {(1, 2)}
    # Rows of SONiC's databases are written again: they are the same rows.
    if interface != "sonic" or fault == "garbage=1":
        assert applied.changes[0].failure is not None
        assert applied.changes[0].report().endswith("read back with all 1 circuit")


def test_a_slow_switch_is_waited_for(start: StartSwitch, interface: str) -> None:
    switch = start(interface, faults="slow=30ms")
    with one_switch(switch, interface, FIRST if interface != "restconf-each" else frozenset({(1, 2)})) as switches:
        assert switches.apply(0).seconds >= 0.03


FAULTS = {
    # Neither an answer nor the change within the time.
    "slow=2s": r"no answer from 127\.0\.0\.1:\d+ within 1 s; it has its former circuits",
    "drop-before=1": r".*(ended the connection|was lost).*; it has its former circuits",
    "ignore=1": r"the circuits read back are not those asked for within 0\.15 s; .*",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("interface", ["scpi", "restconf"])
def test_every_fault_is_one_line_and_loses_no_state(start: StartSwitch, interface: str, fault: str) -> None:
    switch = start(interface, faults=fault)
    before = NONE if fault == "ignore=1" else FIRST
    switch.crossbar.circuits = before
    with one_switch(switch, interface, SECOND) as switches, pytest.raises(ChangeError) as raised:
        switches.apply(0)
    (line,) = raised.value.lines
    assert re.fullmatch(f"switch core: {FAULTS[fault]}", line), line
    assert switch.crossbar.circuits == before


def test_late_answers_are_not_taken_for_others(start: StartSwitch, interface: str) -> None:
    """An answer that comes after its time must not be read as that of the next question."""
    switch = start(interface, faults="late=1500ms")
    with one_switch(switch, interface, SECOND) as switches, pytest.raises(UnreadError) as raised:
        switches.apply(0)
    assert re.fullmatch(
        r"switch core: no answer from 127\.0\.0\.1:\d+ within 1 s; nothing was changed", raised.value.lines[0]
    )
    assert switch.crossbar.changes == 0
    assert not Path("out").exists()


def test_a_half_made_change_says_what_holds_and_is_undone(start: StartSwitch, interface: str) -> None:
    switch = start(interface, faults="refuse=3")
    before = frozenset({(1, 1), (3, 3), (9, 10)})
    wanted = frozenset({(1, 2), (3, 4), (5, 6)})
    switch.crossbar.circuits = before
    with one_switch(switch, interface, wanted) as switches, pytest.raises(ChangeError) as raised:
        switches.apply(0)
    (line,) = raised.value.lines
    assert re.fullmatch(
        r'switch core: circuit 3 -> 4 was rejected: "[^"]*(Port 3|status) failed"; half made: '
        r"2 of 3 circuits are there; missing: 3 -> 4; to bring its former circuits back: "
        r"lightloom circuits --restore out/switches/before-1\.json",
        line,
    ), line
    assert switch.crossbar.circuits == {(1, 2), (5, 6), (9, 10)}

    # Undoing needs the port that is refused: circuits that could not be undone are named.
    with one_switch(switch, interface, wanted, undo=True) as switches:
        switch.crossbar.circuits = before
        with pytest.raises(ChangeError, match="it could not be undone: circuit 3 -> 3 was rejected"):
            switches.apply(0)
        switch.crossbar.faults = type(switch.crossbar.faults)()
    assert restored_from("out/switches/before-1.json").acknowledged
    assert switch.crossbar.circuits == before


def test_undone_it_holds_what_it_held(start: StartSwitch, interface: str) -> None:
    switch = start(interface, faults="refuse=3")
    before = frozenset({(1, 1), (2, 3), (9, 10)})
    switch.crossbar.circuits = before
    wanted = frozenset({(1, 2), (3, 4)})
    with one_switch(switch, interface, wanted, undo=True) as switches, pytest.raises(ChangeError) as raised:
        switches.apply(0)
    assert raised.value.lines[0].endswith("undone: it has its former circuits")
    assert switch.crossbar.circuits == before


def test_several_switches_change_together_and_are_undone_together(start: StartSwitch) -> None:
    good, bad = start("scpi"), start("restconf", faults="refuse=2")
    good.crossbar.circuits = frozenset({(1, 4)})
    programs = [program(FIRST, name="a"), program(SECOND, name="b")]
    addresses = {"b": address(bad), "a": address(good)}
    with Switches(programs, addresses) as switches:
        with pytest.raises(ChangeError) as raised:
            switches.apply(0)
        assert [line.partition(":")[0] for line in raised.value.lines] == ["switch b"]
        assert good.crossbar.circuits == FIRST
    assert restored_from("out/switches/before-1.json").acknowledged
    assert good.crossbar.circuits == {(1, 4)}
    assert bad.crossbar.circuits == NONE
    with Switches(programs, addresses, undo=True) as switches, pytest.raises(ChangeError):
        switches.apply(0)
    assert good.crossbar.circuits == {(1, 4)}
    assert bad.crossbar.circuits == NONE


def test_where_one_switch_cannot_be_read_none_is_changed(start: StartSwitch) -> None:
    good, gone = start("scpi"), start("scpi")
    gone.close()
    addresses = {"a": address(good), "b": address(gone)}
    programs = [program(FIRST, name="a"), program(SECOND, name="b")]
    with Switches(programs, addresses) as switches:  # noqa: SIM117 (together they are longer than a line)
        with pytest.raises(UnreadError, match=r"switch b: cannot be reached at .*; nothing was changed"):
            switches.apply(0)
    assert good.crossbar.changes == 0


def test_a_switch_that_is_too_small_is_refused(start: StartSwitch, interface: str) -> None:
    switch = start(interface, ports=8)
    with one_switch(switch, interface, FIRST) as switches, pytest.raises(InputError) as raised:
        switches.check()
    assert f"has 8 ingress ports; the plan's need {PORTS}" in str(raised.value)


def test_addresses_must_be_those_of_the_plans_switches() -> None:
    with pytest.raises(InputError, match="switch `core` has no address"):
        Switches([program(FIRST)], {})
    with pytest.raises(InputError, match="the plan has no switch `cor`; it has core"):
        Switches([program(FIRST)], {"core": "scpi://a", "cor": "scpi://b"})


def test_two_switches_of_one_address_are_refused() -> None:
    programs = [program(FIRST, name="a"), program(SECOND, name="b")]
    with pytest.raises(InputError, match="`a` and `b` have the same address"):
        Switches(programs, {"a": "scpi://host:5025", "b": "scpi://host?timeout=1s"})


def test_what_others_change_on_their_ports_meanwhile_is_not_ours(start: StartSwitch) -> None:
    """The change is refused; somebody else's circuit that came in between does not make it look half made."""
    switch = start("scpi", faults="refuse=1")
    with Switches([program(frozenset({(1, 1)}))], {"core": address(switch)}) as switches:
        read = switches.read

        def read_and_let_others_in() -> dict[str, Connections]:
            found = read()
            switch.crossbar.circuits = frozenset({(7, 8)})
            return found

        switches.read = read_and_let_others_in  # type: ignore[method-assign]
        with pytest.raises(ChangeError) as raised:
            switches.apply(0)
    assert raised.value.lines[0].endswith("; it has its former circuits")


def test_a_state_file_is_never_written_over(start: StartSwitch, in_own_folder: Path) -> None:
    switch = start("scpi")
    state = in_own_folder / "kept.json"
    with Switches([program(FIRST)], {"core": address(switch)}, state=state) as switches:
        # Another program makes it meanwhile; a file that was there before is refused at once.
        state.write_text("mine")
        wanted = pytest.raises(InputError, match=r"state: cannot write .*kept\.json`: File exists")
        with wanted:
            switches.apply(0)
    with pytest.raises(InputError, match=r"^state: `.*kept\.json` exists already"):
        Switches([program(FIRST)], {"core": address(switch)}, state=state)
    assert (state.read_text(), switch.crossbar.changes) == ("mine", 0)
    assert sorted(file.name for file in in_own_folder.iterdir()) == ["kept.json"]


def test_the_state_file_is_written_before_anything_is_changed(start: StartSwitch, interface: str) -> None:
    switch = start(interface)
    switch.crossbar.circuits = FIRST
    with one_switch(switch, interface, SECOND, permutation(3)) as switches:
        switches.apply(0)
        switches.apply(1)
        state = switches.state
    assert state is not None
    (found,) = json.loads(state.read_text())["switches"]
    assert {tuple(pair) for pair in found["connections"]} == FIRST
    assert [file.name for file in state.parent.iterdir()] == ["before-1.json"]


WRONG_STATES = {
    "": "is not JSON",
    "[]": "it takes an object",
    "{}": "`schema` is missing",
    '{"schema": "lightloom.switch-state/2", "switches": []}': "schema: `lightloom.switch-state/2` is not accepted",
    '{"schema": "lightloom.switch-state/1", "switches": []}': "it takes one entry or more",
    '{"schema": "lightloom.switch-state/1", "switches": [], "more": 1}': "unknown key `more`",
    '{"schema": "lightloom.switch-state/1", "switches": [1]}': "switches[0]: it takes an object",
}
ENTRY = {"name": "core", "address": "scpi://127.0.0.1", "connections": [[1, 2]], "ports": None}


@pytest.mark.parametrize("text", WRONG_STATES)
def test_wrong_state_files_are_refused(in_own_folder: Path, text: str) -> None:
    file = in_own_folder / "state.json"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        restored_from(file)
    assert WRONG_STATES[text] in str(raised.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"connections": [[1, 2], [1, 3]]}, "connections: port 1 has two circuits"),
        ({"connections": [[1, 0]]}, "connections[0]: `0` is not accepted"),
        ({"connections": [[1]]}, "connections[0]: it takes a pair"),
        ({"connections": [[1, True]]}, "connections[0]: `True` is not accepted"),
        ({"address": "scpi://a?x=1"}, "address: setting of scpi: unknown name `x`"),
        ({"ports": {"ingress": [1]}}, "`egress` is missing"),
        ({"ports": 3}, "ports: `3` is not accepted"),
    ],
)
def test_wrong_entries_of_a_state_file_are_refused(in_own_folder: Path, change: dict[str, object], said: str) -> None:
    file = in_own_folder / "state.json"
    file.write_text(json.dumps({"schema": "lightloom.switch-state/1", "switches": [{**ENTRY, **change}]}))
    with pytest.raises(InputError) as raised:
        restored_from(file)
    assert str(raised.value).startswith("restore: switches[0]")
    assert said in str(raised.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 1 << 70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(key=st.sampled_from([*ENTRY, "more"]), value=VALUES, garbage=st.binary(max_size=20), at=st.integers(0, 200))
def test_state_files_with_anything_in_them_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: object, garbage: bytes, at: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "any-state.json"
    content = json.dumps({"schema": "lightloom.switch-state/1", "switches": [{**ENTRY, key: value}]}).encode()
    for text in (content, content[:at] + garbage + content[at:]):
        file.write_bytes(text)
        try:
            states = load_state(file)
        except InputError as error:
            assert str(error).isprintable()
            assert str(error).startswith("restore: ")
        else:
            assert [one.name for one in states]
