"""Simulated switches, plans and circuits for them, and a folder for state files."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.switches import Applied, Connections, Switches, SwitchProgram, load_state, restorable
from lightloom.switches.simulated import Faults, SimulatedSwitch, start_switch

PORTS = 16
# Short, where an answer never comes; else as long as a busy machine takes.
QUICK, PATIENT = "timeout=1s&settle=150ms", "timeout=20s&settle=20s"

StartSwitch = Callable[..., SimulatedSwitch]


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """State files go to a folder of the test's own; no password of the person who runs the tests is read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("USER", "PASSWORD", "HOST", "CLEAR"):
        monkeypatch.delenv(f"LIGHTLOOM_SWITCH_{name}", raising=False)
    monkeypatch.delenv("NETRC", raising=False)
    return tmp_path


@pytest.fixture(params=["scpi", "restconf", "restconf-each", "sonic"])
def interface(request: pytest.FixtureRequest) -> str:
    """Each interface, and each way to write."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture
def start() -> Iterator[StartSwitch]:
    """`start("scpi", faults="slow=1s")` starts a switch that is closed at the end."""
    started: list[SimulatedSwitch] = []

    def begin(interface: str, ports: int = PORTS, faults: str = "") -> SimulatedSwitch:
        switch = start_switch(
            interface.partition("-")[0], ports, listen="127.0.0.1:0", faults=Faults.parse("faults", faults)
        )
        started.append(switch)
        return switch

    yield begin
    for switch in started:
        switch.close()


@pytest.fixture
def plan(in_own_folder: Path) -> Path:
    """64 GPUs and 8 reconfigurations: HARVEST's published plan."""
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    made = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    assert made.reconfigurations == 8
    made.save(in_own_folder / "plan.json")
    return in_own_folder / "plan.json"


def address(switch: SimulatedSwitch, interface: str = "", settings: str | None = None) -> str:
    """The switch's address; times to wait depend on the faults that it has now, where no settings are given."""
    faults = switch.crossbar.faults
    if settings is None:
        only_refuses = faults == Faults(refuse=faults.refuse, refuse_change=faults.refuse_change)
        settings = PATIENT if only_refuses else QUICK
    each = "&write=each" if interface.endswith("-each") else ""
    return f"{switch.address}?{settings}{each}"


def permutation(seed: int, ports: int = PORTS) -> Connections:
    egress = list(range(1, ports + 1))
    random.Random(seed).shuffle(egress)  # noqa: S311
    return frozenset(enumerate(egress, start=1))


def program(*configurations: Connections, name: str = "core", ports: int = PORTS) -> SwitchProgram:
    return SwitchProgram(name, ports, configurations)


def one_switch(switch: SimulatedSwitch, interface: str, *configurations: Connections, undo: bool = False) -> Switches:
    return Switches([program(*configurations)], {"core": address(switch, interface)}, undo=undo)


def restored_from(file: str | Path, state: Path | None = None) -> Applied:
    """Restore the circuits of a state file."""
    states = load_state(file)
    with restorable(states, state=state) as switches:
        return switches.restore(states)


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
