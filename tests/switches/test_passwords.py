"""Passwords of switches: where `lightloom circuits` does not write, print or send them."""

import json
import socket
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.conftest import RunCli
from tests.switches.conftest import StartSwitch, circuits_file, permutation


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
