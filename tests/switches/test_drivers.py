"""Drivers on simulated switches whose state is read directly."""

import os
import re
import shutil
import socket
import ssl
import subprocess
from importlib import import_module
from pathlib import Path
from socketserver import BaseRequestHandler

import pytest

from lightloom.base.errors import InputError
from lightloom.switches import RejectedError, SwitchDriver, SwitchError, driver_of, drivers, parse_address
from lightloom.switches.credentials import credentials_of
from lightloom.switches.registry import DRIVERS
from lightloom.switches.simulated import SimulatedSwitch
from tests.repository.import_graph import python_imports
from tests.switches.conftest import StartSwitch, address, permutation


def driver(switch: SimulatedSwitch, interface: str, settings: str | None = None) -> SwitchDriver:
    return driver_of(parse_address("send", address(switch, interface, settings)))


def test_every_driver_is_a_file_and_a_line_and_has_a_simulated_switch() -> None:
    files = {file.stem for file in Path(drivers.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {kind.scheme for kind in DRIVERS}
    for kind in DRIVERS:
        assert kind.module == f"lightloom.switches.drivers.{kind.scheme}"
        assert kind.simulated == f"lightloom.switches.simulated.{kind.scheme}"
        assert issubclass(import_module(kind.simulated).Handler, BaseRequestHandler)


@pytest.mark.large
def test_drivers_and_simulated_switches_share_no_code() -> None:
    package = Path(drivers.__file__).parents[2]
    imports = python_imports(package)
    for folder, other in (("drivers", "simulated"), ("simulated", "drivers")):
        for file in (package / "switches" / folder).glob("*.py"):
            assert not [one for one in imports[file] if one.parent.name == other], file
    shared = {one for file in (package / "switches" / "simulated").glob("*.py") for one in imports[file]}
    assert {one.name for one in shared if one.parent.name == "switches"} == {"registry.py"}


def test_circuits_are_made_unmade_replaced_and_read(start: StartSwitch, interface: str) -> None:
    switch = start(interface)
    with driver(switch, interface) as asked:
        assert asked.read() == frozenset()
        asked.connect(frozenset({(1, 5), (2, 1), (16, 16)}))
        assert switch.crossbar.circuits == {(1, 5), (2, 1), (16, 16)} == asked.read()
        asked.disconnect(frozenset({(2, 1)}))
        assert switch.crossbar.circuits == {(1, 5), (16, 16)} == asked.read()
        asked.replace(permutation(1))
        assert switch.crossbar.circuits == permutation(1) == asked.read()
        asked.replace(frozenset())
        assert switch.crossbar.circuits == frozenset() == asked.read()


def test_the_switch_says_what_it_is(start: StartSwitch, interface: str) -> None:
    switch = start(interface, ports=24)
    with driver(switch, interface) as asked:
        identity = asked.identity()
    assert (identity.ingress, identity.egress) == (24, 24)
    assert ("SONiC" if interface == "sonic" else "SIM-OST-24x24-LA1") in identity.words


def test_a_rejected_circuit_is_named_and_the_others_are_made(start: StartSwitch, interface: str) -> None:
    switch = start(interface, faults="refuse=3")
    with driver(switch, interface) as asked, pytest.raises(RejectedError) as raised:
        asked.change(frozenset(), frozenset({(1, 2), (3, 7), (4, 8)}), frozenset())
    assert [one.circuit for one in raised.value.rejections] == [(3, 7)]
    assert re.fullmatch(r'circuit 3 -> 7 was rejected: "[^"]*(Port 3|status) failed"', str(raised.value))
    assert switch.crossbar.circuits == {(1, 2), (4, 8)}


@pytest.mark.parametrize("interface", ["scpi", "restconf"])
def test_the_first_egress_port_may_be_said(start: StartSwitch, interface: str) -> None:
    """A switch of 16 ports numbers its egress from 17; told that they begin at 19, our first is its third."""
    switch = start(interface)
    with driver(switch, interface, "first-egress=19") as asked:
        asked.connect(frozenset({(1, 1), (2, 14)}))
        assert asked.read() == {(1, 1), (2, 14)}
    assert switch.crossbar.circuits == {(1, 3), (2, 16)}


def test_the_other_name_of_the_list_is_hinted_at(start: StartSwitch) -> None:
    switch = start("restconf")
    switch.crossbar.circuits = frozenset({(1, 1)})
    with driver(switch, "restconf", "list=pairs") as asked, pytest.raises(SwitchError, match=r"`pair`: add \?list="):
        asked.read()


def test_a_connection_that_was_idle_and_ended_is_made_anew(start: StartSwitch, interface: str) -> None:
    switch = start(interface)
    with driver(switch, interface) as asked:
        assert asked.read() == frozenset()
        switch._server.end_connections()  # as a switch does with an idle connection
        assert asked.read() == frozenset()


def test_nobody_listens(interface: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    scheme = interface.partition("-")[0]
    with driver_of(parse_address("send", f"{scheme}://{place}")) as asked, pytest.raises(SwitchError) as raised:
        asked.read()
    assert str(raised.value) == f"cannot be reached at {place}: Connection refused"


def test_a_user_and_password_are_read_from_the_environment(start: StartSwitch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGHTLOOM_SWITCH_USER", "admin")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_HOST", "127.0.0.1")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_PASSWORD", "gräf: in")
    switch = start("restconf")
    with driver(switch, "restconf") as asked:
        assert asked.read() == frozenset()
        asked.connect(frozenset({(1, 2)}))
    assert switch.crossbar.circuits == {(1, 2)}


def test_a_user_and_password_are_read_from_netrc(
    start: StartSwitch, monkeypatch: pytest.MonkeyPatch, in_own_folder: Path
) -> None:
    switch = start("restconf")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_USER", "admin")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_HOST", "127.0.0.1")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_PASSWORD", "secret")
    (in_own_folder / ".netrc").write_text("machine 127.0.0.1\nlogin admin\npassword secret\n")
    (in_own_folder / ".netrc").chmod(0o600)
    with monkeypatch.context() as changed:
        # The simulated switch asks for the environment's password when a request comes; the driver, when it is made.
        changed.delenv("LIGHTLOOM_SWITCH_USER")
        asked = driver(switch, "restconf")
    with asked:
        assert asked.read() == frozenset()
    monkeypatch.setenv("LIGHTLOOM_SWITCH_PASSWORD", "other")
    with asked, pytest.raises(SwitchError, match=r"takes a user and password \(HTTP 401\)"):
        asked.read()


@pytest.mark.parametrize(
    ("hosts", "address", "clear", "user"),
    [
        ("127.0.0.1", "restconf://127.0.0.1", "", "environment"),
        ("switch.example,127.0.0.1", "sonic://127.0.0.1", "", "environment"),
        ("LOCALHOST", "sonic://localhost", "", "environment"),
        ("::1", "restconf://[::1]", "", "environment"),
        ("switch.example", "restconf://127.0.0.1", "yes", None),
        ("switch.example", "restconf://switch.example.evil.example", "yes", None),
        ("switch.example", "restconf://other.example", "yes", "file"),
        ("switch.example", "restconf://other.example?tls=yes", "", "file"),
        ("switch.example", "restconf://Switch.Example?tls=yes", "", "environment"),
        ("switch.example", "restconf://switch.example", "yes", "environment"),
        ("switch.example", "restconf://switch.example", "", "in clear; tls=yes in the address encrypts them; "),
        ("switch.example", "restconf://switch.example", "true", "in clear"),
        ("switch.example", "sonic://switch.example", "", "in clear; LIGHTLOOM_SWITCH_CLEAR=yes"),
        ("", "sonic://127.0.0.1", "yes", "LIGHTLOOM_SWITCH_HOST: missing; it names the hosts"),
        (" , ", "sonic://127.0.0.1", "yes", "LIGHTLOOM_SWITCH_HOST: missing"),
    ],
)
def test_users_and_passwords_belong_to_hosts(
    monkeypatch: pytest.MonkeyPatch, in_own_folder: Path, hosts: str, address: str, clear: str, user: str | None
) -> None:
    (in_own_folder / ".netrc").write_text("machine other.example\nlogin file\npassword secret\n")
    (in_own_folder / ".netrc").chmod(0o600)
    monkeypatch.setenv("LIGHTLOOM_SWITCH_USER", "environment")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_PASSWORD", "secret")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_HOST", hosts)
    monkeypatch.setenv("LIGHTLOOM_SWITCH_CLEAR", clear)
    asked = parse_address("send", address)
    is_encrypted = bool(asked.settings.get("tls"))
    if user is None or user in {"environment", "file"}:
        found = credentials_of(asked, is_encrypted=is_encrypted)
        assert (found and found.user) == user
        return
    with pytest.raises(InputError) as raised:
        credentials_of(asked, is_encrypted=is_encrypted)
    assert user in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_wrong_netrc_is_refused_without_its_content(in_own_folder: Path) -> None:
    (in_own_folder / ".netrc").write_text("machine 127.0.0.1\nloginn topsecret\n")
    with pytest.raises(InputError) as raised:
        driver_of(parse_address("send", "restconf://127.0.0.1"))
    assert "topsecret" not in str(raised.value)
    assert raised.value.field == "NETRC"


@pytest.mark.parametrize("name", ["LIGHTLOOM_SWITCH_USER", "LIGHTLOOM_SWITCH_PASSWORD", "LIGHTLOOM_SWITCH_HOST"])
@pytest.mark.parametrize("scheme", ["restconf", "sonic"])
def test_a_user_or_password_that_is_no_text_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, scheme: str, name: str
) -> None:
    monkeypatch.setenv("LIGHTLOOM_SWITCH_USER", "admin")
    monkeypatch.setenv("LIGHTLOOM_SWITCH_HOST", "127.0.0.1")
    monkeypatch.setenv(name, "secret\udcff")
    with pytest.raises(InputError) as raised:
        driver_of(parse_address("send", f"{scheme}://127.0.0.1"))
    assert str(raised.value) == f"{name}: it is not UTF-8 text"


def test_what_is_no_file_of_users_or_certificates_is_not_read(
    monkeypatch: pytest.MonkeyPatch, in_own_folder: Path
) -> None:
    os.mkfifo(in_own_folder / "pipe")
    (in_own_folder / "text.pem").write_text("nothing\n")
    (in_own_folder / "large").write_bytes(b"#" * ((1 << 20) + 1))
    for place in ("pipe", "/dev/zero"):
        with pytest.raises(InputError, match=rf"^send: ca: `{place}` is not a regular file"):
            driver_of(parse_address("send", f"restconf://127.0.0.1?tls=yes&ca={place}"))
    for place in ("pipe", "/dev/zero"):
        monkeypatch.setenv("NETRC", place)
        with pytest.raises(InputError, match=rf"^NETRC: `{place}` is not a regular file"):
            driver_of(parse_address("send", "restconf://127.0.0.1"))
    monkeypatch.setenv("NETRC", "large")
    with pytest.raises(InputError, match=r"^NETRC: `large` is larger than 1 MiB"):
        driver_of(parse_address("send", "restconf://127.0.0.1"))
    monkeypatch.delenv("NETRC")
    with pytest.raises(InputError, match=r"^send: ca: `text.pem` has no certificates"):
        driver_of(parse_address("send", "restconf://127.0.0.1?tls=yes&ca=text.pem"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_https_with_a_certificate_of_the_switchs_own(start: StartSwitch, in_own_folder: Path) -> None:
    made = "-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        ["openssl", "req", *made.split(), "-keyout", "key.pem", "-out", "cert.pem"],  # noqa: S607
        check=True,
        capture_output=True,
    )
    switch = start("restconf")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(in_own_folder / "cert.pem", in_own_folder / "key.pem")
    switch._server.socket = context.wrap_socket(switch._server.socket, server_side=True)
    with driver(switch, "restconf", "timeout=2s&tls=yes&ca=cert.pem") as asked:
        asked.connect(frozenset({(1, 2)}))
        assert asked.read() == switch.crossbar.circuits == {(1, 2)}
    with driver(switch, "restconf", "timeout=2s&tls=yes") as asked, pytest.raises(SwitchError) as raised:
        asked.read()
    assert "certificate verify failed" in str(raised.value)
    assert str(raised.value).isprintable()
