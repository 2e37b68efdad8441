"""`lightloom circuits` with switches: sent, read back, undone, restored, interrupted and killed."""

import csv
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

import lightloom as ll
from lightloom.switches import Connections, Switches, restorable
from lightloom.switches.simulated import Crossbar, Faults, SimulatedSwitch, start_switch
from tests.conftest import RunCli
from tests.refusals import assert_refused
from tests.switches.conftest import QUICK, StartSwitch, address, permutation

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


@pytest.fixture
def plan(in_own_folder: Path) -> Path:
    """64 GPUs and 8 reconfigurations: HARVEST's published plan."""
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    made = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    assert made.reconfigurations == 8
    made.save(in_own_folder / "plan.json")
    return in_own_folder / "plan.json"


def circuits_file(folder: Path, **switches: list[Connections]) -> Path:
    """A file of circuits: by switch, its configurations."""
    settings = []
    last: dict[str, Connections] = dict.fromkeys(switches, frozenset())
    for index in range(len(next(iter(switches.values())))):
        of_switches = []
        for name, configurations in switches.items():
            now = configurations[index]
            lists = {"connections": now, "connect": now - last[name], "disconnect": last[name] - now}
            of_switches.append({"name": name, **{key: sorted(value) for key, value in lists.items()}})
            last[name] = now
        settings.append({"topology": index, "steps": [index], "time_s": 1e-6 * index, "switches": of_switches})
    document = {
        "schema": "lightloom.circuits/1",
        "switches": [{"name": name, "ports": 16} for name in switches],
        "configurations": settings,
    }
    (folder / "circuits.json").write_text(json.dumps(document))
    return folder / "circuits.json"


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
    "slow=2s": r"no answer from .* within 0\.3 s; .*|within 0\.15 s not tuned: .*",
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
    # A refusal is waited for as long as a busy machine takes.
    settings = "timeout=20s&settle=20s" if "refuse" in fault else QUICK
    ran = cli("circuits", file, "--send", address(switch, settings=settings), "--follow")
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


def test_no_password_is_in_what_is_written_or_printed(
    cli: RunCli, start: StartSwitch, in_own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGHTLOOM_SWITCH_USER", "admin")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_HOST", "127.0.0.1")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_PASSWORD", "hunter2")
    switch = start("restconf", faults="refuse=1")
    file = circuits_file(in_own_folder, core=[permutation(1)])
    ran = cli("circuits", file, "--send", switch.address, "--format", "json")
    assert ran.status == 1
    written = "".join(path.read_text() for path in in_own_folder.rglob("*.json"))
    assert "hunter2" not in ran.out + ran.err + written


def test_an_address_of_a_file_gets_no_password_of_others(
    cli: RunCli, in_own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of `--restore` may name any host: it is sent the same as a switch without a password."""
    monkeypatch.setenv("LIGHTLOOM_SWITCH_USER", "admin")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_PASSWORD", "hunter2")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_HOST", "switch.example, 192.0.2.7")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"restconf://127.0.0.1:{listening.getsockname()[1]}?timeout=2s"
        state: dict[str, Any] = {"name": "crossbar", "address": address, "connections": [], "ports": None}
        document = {"schema": "lightloom.switch-state/1", "switches": [state]}
        (in_own_folder / "state.json").write_text(json.dumps(document))
        received: list[bytes] = []

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                received.append(connection.recv(1 << 16))

        listener = Thread(target=answer)
        listener.start()
        ran = cli("circuits", "--restore", "state.json")
        listener.join(20)
    assert (ran.status, ran.err.count("\n")) == (1, 1)
    assert received
    assert received[0].startswith(b"GET ")
    assert b"uthorization" not in received[0]
    # And one that it is for is told nothing in clear.
    state["address"] = "restconf://192.0.2.7?timeout=1ms"
    (in_own_folder / "state.json").write_text(json.dumps(document))
    ran = cli("circuits", "--restore", "state.json")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: LIGHTLOOM_SWITCH_CLEAR: user and password of 192.0.2.7 would be sent in clear; ")


SEND = ["--send", "scpi://127.0.0.1:1"]


@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ([], "plan", "missing; give PLAN"),
        (SEND, "plan", "missing; give PLAN"),
        (
            ["circuits.json", *SEND, "--follow", "--configuration", 1],
            "configuration",
            "it cannot be combined with --follow",
        ),
        (["circuits.json", *SEND, "--interval", "1s"], "interval", "it is used only together with --send and --follow"),
        (["circuits.json", *SEND, "--configuration", 3], "configuration", "the plan has configurations 1 to 2"),
        (["circuits.json", *SEND, "--configuration", 0], "configuration", "from 1 to"),
        (["circuits.json", *SEND, "--follow", "--interval", "soon"], "interval", "soon"),
        (["circuits.json", "--follow"], "follow", "it is used only together with --send"),
        (["circuits.json", "--state", "x.json"], "state", "it is used only together with --send or --restore"),
        (["circuits.json", *SEND, "--ports", 3], "ports", "it cannot be combined with --send"),
        (["circuits.json", *SEND, "--all-connections"], "all_connections", "it cannot be combined with --send"),
        (
            ["circuits.json", *SEND, "--optics", "crossbar"],
            "optics",
            "is a file of circuits, whose switches are chosen already",
        ),
        (["circuits.json", "--send", "a=scpi://127.0.0.1"], "send", "no switch `a`; it has core"),
        (["circuits.json", *SEND, *SEND], "send", "switch `core` is given twice"),
        (["circuits.json", "--send", "scpi:/127.0.0.1"], "send", "is not an address"),
        (["circuits.json", "--send", "restconf://a?tls=yes&ca=none.pem"], "send: ca", "no such file: `none.pem`"),
        (["circuits.json", "--restore", "x.json"], "plan", "no PLAN is taken with --restore"),
        (["--restore", "circuits.json"], "restore", "unknown key `configurations`"),
        (["--restore", "x.json", "--follow"], "follow", "it cannot be combined with --restore"),
        (["--simulated-switch", "gnmi"], "simulated_switch", "one of scpi, restconf, sonic"),
        (["--simulated-switch", "scpi", "--ports", 5000], "ports", "from 1 to 4096"),
        (["--simulated-switch", "scpi", "--listen", "127.0.0.1"], "listen", "it takes HOST:PORT"),
        (["--simulated-switch", "scpi", "--faults", "slow"], "faults", "it takes slow=VALUE"),
        (["--simulated-switch", "scpi", "--faults", "fast=1"], "faults", "unknown name `fast`"),
        (["--simulated-switch", "scpi", "--faults", "refuse=0"], "faults: refuse", "from 1"),
        (["--simulated-switch", "scpi", *SEND], "send", "it cannot be combined with --simulated-switch"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else "",
)
def test_what_does_not_go_together_is_refused(
    cli: RunCli, in_own_folder: Path, arguments: list[object], field: str, said: str
) -> None:
    circuits_file(in_own_folder, core=[permutation(1), permutation(2)])
    assert said in assert_refused(cli, in_own_folder, "circuits", *arguments, field=field)


@pytest.mark.parametrize("taken", ["file", "link"])
def test_a_state_file_that_is_there_is_refused_before_a_switch_is_asked(
    cli: RunCli, start: StartSwitch, in_own_folder: Path, taken: str
) -> None:
    switch = start("scpi", faults="late=100s")
    file = circuits_file(in_own_folder, core=[permutation(1)])
    place = in_own_folder / "there.json"
    if taken == "link":
        place.symlink_to("nowhere")
    else:
        place.write_text("of somebody else")
    sent = ["circuits", file, "--send", address(switch), "--state", place]
    said = assert_refused(cli, in_own_folder, *sent, field="state")
    assert "exists already; it takes the name of a new file" in said


@pytest.mark.parametrize("wrong", [None, 5, "x", b"x", [1], {"a": 1}, object()], ids=lambda wrong: type(wrong).__name__)
def test_python_refuses_what_is_no_switch_or_circuits(plan: Path, wrong: Any) -> None:
    circuits = ll.circuits(plan)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("circuits", lambda: Switches.of(wrong, "scpi://127.0.0.1")),
        ("send", lambda: Switches.of(circuits, wrong)),
        ("send", lambda: Switches.of(circuits, {"crossbar": wrong})),
        ("restore", lambda: restorable(wrong)),
        ("restore", lambda: Switches.of(circuits, "scpi://127.0.0.1").restore(wrong)),
        ("simulated_switch", lambda: start_switch(wrong)),
        ("faults", lambda: Faults.parse("faults", wrong)),
    ]
    if wrong is not None:
        calls += [
            ("listen", lambda: start_switch("scpi", listen=wrong)),
            ("faults", lambda: start_switch("scpi", listen="127.0.0.1:0", faults=wrong)),
        ]
    if not isinstance(wrong, str | bytes | None):
        calls.append(("state", lambda: Switches.of(circuits, "scpi://127.0.0.1", state=wrong)))
    for field, call in calls:
        with pytest.raises(ll.InputError) as raised:
            call()
        assert raised.value.field.startswith(field)


def test_several_switches_need_names(cli: RunCli, in_own_folder: Path) -> None:
    file = circuits_file(in_own_folder, a=[permutation(1)], b=[permutation(2)])
    said = assert_refused(cli, in_own_folder, "circuits", file, *SEND, field="send")
    assert "the plan has 2 switches, a, b; give NAME=ADDRESS for each" in said


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
