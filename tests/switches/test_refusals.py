"""`lightloom circuits` and `Switches` with options that do not go together, wrong objects and files that are there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.switches import Switches, restorable
from lightloom.switches.simulated import Faults, start_switch
from tests.conftest import RunCli
from tests.refusals import assert_refused
from tests.switches.conftest import StartSwitch, address, circuits_file, permutation

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
