"""`lightloom circuits` with switches: sent, read back, undone, restored, interrupted and killed."""

import csv
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

import lightloom as ll
from lightloom.switches import Connections, Switches
from lightloom.switches.simulated import Crossbar, Faults, SimulatedSwitch
from tests.conftest import RunCli
from tests.switches.conftest import StartSwitch, address, circuits_file, permutation

# The tests may run in a shell's background job, which starts deaf to interrupts.
HEARS = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from lightloom.cli import program; program()"
)
COMMAND = [sys.executable, "-c", HEARS, "circuits"]
INTERFACES = ["scpi", "restconf", "sonic"]
TOLD = re.compile(
    r"configuration (\d+) of 9: (\d+) circuits made, (\d+) unmade, (\d+) ports changed, acknowledged in .+"
)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_plan_of_64_gpus_and_8_reconfigurations_is_followed(
    cli: RunCli, start: StartSwitch, plan: Path, interface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each configuration the switch holds the circuits of the plan, which make its topologies."""
    switch = start(interface, ports=64)
    held: list[Connections] = []
    apply = Switches.apply

    def recorded(switches: Switches, configuration: int) -> object:
        applied = apply(switches, configuration)
        held.append(switch.crossbar.circuits)
        return applied

    monkeypatch.setattr(Switches, "apply", recorded)
    ran = cli("circuits", plan, "--send", switch.address, "--follow")
    assert (ran.status, ran.err) == (0, "")
    wanted = json.loads(cli("circuits", plan, "--format", "json").out)["configurations"]
    assert held == [{tuple(pair) for pair in one["switches"][0]["connections"]} for one in wanted]
    loaded = ll.Plan.load(plan)
    for one, circuits in zip(wanted, held, strict=True):
        # A GPU of one port is at the port of its own number, counted from 1.
        edges = set(ll.to_networkx(loaded.topologies[one["topology"]]).edges())
        assert {(ingress - 1, egress - 1) for ingress, egress in circuits} == edges
    first, kept, *lines = ran.out.splitlines()
    assert first.startswith(f"switch crossbar at {switch.address}: ")
    assert [int(TOLD.fullmatch(line)[1]) for line in lines] == list(range(1, 10))  # type: ignore[index]
    assert kept.endswith("lightloom circuits --restore out/switches/before-1.json")


def test_one_configuration_of_a_file_of_circuits(cli: RunCli, start: StartSwitch, in_own_folder: Path) -> None:
    one, other = start("scpi"), start("restconf")
    file = circuits_file(in_own_folder, a=[permutation(1), permutation(2)], b=[permutation(3), permutation(4)])
    sent = ["--send", f"b={other.address}", "--send", f"a={one.address}"]
    ran = cli("circuits", file, *sent, "--configuration", 2, "--format", "json")
    assert (ran.status, ran.err) == (0, "")
    assert one.crossbar.circuits == permutation(2)
    assert other.crossbar.circuits == permutation(4)
    rows = json.loads(ran.out)["sent"]
    assert [(row["switch"], row["configuration"], row["made"], row["unmade"]) for row in rows] == [
        ("a", 2, 16, 0),
        ("b", 2, 16, 0),
    ]
    ran = cli("circuits", file, *sent, "--follow", "--interval", "30ms", "--format", "csv")
    told = list(csv.DictReader(ran.out.splitlines()))
    assert [(row["configuration"], row["switch"]) for row in told] == [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b")]
    assert cli("circuits", "--restore", "out/switches/before-1.json").status == 0
    assert one.crossbar.circuits == other.crossbar.circuits == frozenset()


FAULTS = {
    "refuse=3": r'circuit 3 -> \d+ was rejected: "[^"]+"; half made: 15 of 16 circuits are there; .*',
    "slow=2s": r"no answer from .* within 1 s; .*|within 0\.15 s not tuned: .*",
    "ignore=1": r"the circuits read back are not those asked for within 0\.15 s; .*|within 0\.15 s not tuned: .*",
    "drop-before=1": r".* ended the connection before its answer; .*|.* was lost: .*",
    "half=1,refuse=16": r"circuit \d+ -> \d+ was rejected: .*",
}


@pytest.mark.parametrize(
    ("interface", "fault"),
    [
        (interface, fault)
        for interface in INTERFACES
        for fault in FAULTS
        # Where a connection to SONiC's databases is lost, rows are written again; a row that is ignored: see below.
        if not (interface == "sonic" and fault in {"drop-before=1", "ignore=1"})
    ],
)
def test_every_fault_is_one_line_and_exit_status_1(
    cli: RunCli, start: StartSwitch, in_own_folder: Path, interface: str, fault: str
) -> None:
    switch = start(interface, faults=fault)
    file = circuits_file(in_own_folder, core=[permutation(1), permutation(2)])
    ran = cli("circuits", file, "--send", address(switch), "--follow")
    assert ran.status == 1
    assert re.fullmatch(f"error: switch core: ({FAULTS[fault]})\n", ran.err), ran.err
    assert "of 2: " not in ran.out
    switch.crossbar.faults = Faults()
    assert cli("circuits", "--restore", "out/switches/before-1.json").status == 0
    assert switch.crossbar.circuits == frozenset()


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_failure_in_the_middle_is_undone_to_the_configuration_before(
    cli: RunCli, start: StartSwitch, in_own_folder: Path, interface: str
) -> None:
    """The third configuration needs a port that fails: the second is brought back, exactly."""
    switch = start(interface, faults="refuse=16")
    first, second = ({(one, other) for one, other in permutation(seed) if one < 16} for seed in (1, 2))
    foreign = frozenset({(16, next(other for one, other in permutation(1) if one == 16))})
    third = frozenset({(1, 2), (2, 1)})
    file = circuits_file(
        in_own_folder, core=[frozenset(first), frozenset(second), frozenset(third | {(16, 3)}), frozenset()]
    )
    switch.crossbar.circuits = foreign
    ran = cli("circuits", file, "--send", address(switch), "--follow", "--undo-on-failure", "--format", "json")
    assert ran.status == 1
    assert ran.err.count("\n") == 1
    assert re.search(r"circuit 16 -> 3 was rejected: .*; undone: it has its former circuits\n", ran.err)
    assert switch.crossbar.circuits == second
    told = json.loads(ran.out)
    assert [row["acknowledged"] for row in told["sent"]] == [True, True, False]
    assert told["sent"][-1]["missing"] == [[16, 3]]
    assert {tuple(pair) for pair in told["sent"][-1]["held"]} == third
    # The file has the state before the command; its port 16 works again.
    switch.crossbar.faults = Faults()
    assert cli("circuits", "--restore", told["state"]).status == 0
    assert switch.crossbar.circuits == foreign


def test_a_lost_answer_is_told_and_is_no_failure(cli: RunCli, start: StartSwitch, in_own_folder: Path) -> None:
    switch = start("scpi", faults="drop-after=1")
    ran = cli("circuits", circuits_file(in_own_folder, core=[permutation(1)]), "--send", address(switch))
    assert ran.status == 0
    assert re.fullmatch(r"switch core: .*; read back with all 16 circuits\n", ran.err), ran.err


def started(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(what: object, crossbar: Crossbar, changes: int) -> None:
    end_s = monotonic() + 30
    while crossbar.changes < changes:
        assert monotonic() < end_s, what
        sleep(0.01)


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_it_in_the_middle_of_a_change_the_file_brings_all_back(
    cli: RunCli, start: StartSwitch, in_own_folder: Path, interface: str, number: signal.Signals
) -> None:
    switch = start(interface, faults="slow=400ms")
    before = permutation(9)
    switch.crossbar.circuits = before
    file = circuits_file(in_own_folder, core=[permutation(seed) for seed in range(5)])
    process = started(in_own_folder, file, "--send", f"{switch.address}?timeout=20s", "--follow")
    wait_for(interface, switch.crossbar, 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    if number is signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 1
        assert err == (
            "interrupted: lightloom circuits --restore out/switches/before-1.json brings back the former circuits\n"
        )
    assert "of 5: " in out or interface != "scpi"
    (state,) = (in_own_folder / "out" / "switches").iterdir()
    # The change that was under way ends by itself.
    sleep(0.6 if interface != "sonic" else 1.0)
    switch.crossbar.faults = Faults()
    assert switch.crossbar.circuits != before
    assert cli("circuits", "--restore", state).status == 0
    assert switch.crossbar.circuits == before


def test_a_simulated_switch_prints_its_address_and_ends_with_ctrl_c(cli: RunCli, in_own_folder: Path) -> None:
    process = started(in_own_folder, "--simulated-switch", "scpi", "--ports", 16, "--listen", "127.0.0.1:0")
    assert process.stdout is not None
    place = process.stdout.readline().strip()
    try:
        ran = cli("circuits", circuits_file(in_own_folder, core=[permutation(1)]), "--send", place)
        assert (ran.status, ran.err) == (0, "")
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    assert err == "a simulated switch of 16 by 16 ports; Ctrl-C ends it\n"


def test_a_port_that_is_taken_is_one_line(cli: RunCli, start: StartSwitch) -> None:
    taken = start("scpi").address.removeprefix("scpi://")
    ran = cli("circuits", "--simulated-switch", "restconf", "--listen", taken)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"error: cannot listen at {taken}: Address already in use\n"


def test_one_call_of_python_returns_when_a_configuration_is_acknowledged(start: StartSwitch, plan: Path) -> None:
    switch: SimulatedSwitch = start("scpi", ports=64)
    circuits = ll.circuits(plan)
    with Switches.of(circuits, switch.address) as switches:
        applied = switches.apply(3)
    assert applied.acknowledged
    wanted = circuits.configurations[3].switches[0].connections.tolist()
    assert switch.crossbar.circuits == set(map(tuple, wanted))


def test_a_row_of_sonic_that_is_never_tuned_is_named(cli: RunCli, start: StartSwitch, in_own_folder: Path) -> None:
    switch = start("sonic", faults="ignore=2")
    file = circuits_file(in_own_folder, core=[frozenset({(1, 4), (2, 7), (3, 3)})])
    ran = cli("circuits", file, "--send", address(switch))
    assert ran.status == 1
    assert re.fullmatch(
        r"error: switch core: within 0\.15 s not tuned: 2 -> 7; half made: 2 of 3 circuits are there; "
        r"missing: 2 -> 7; .*\n",
        ran.err,
    ), ran.err
