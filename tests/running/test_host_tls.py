"""Agents under TLS: certificates of one authority on both sides, and one line for each that is missing or wrong."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.running.controller import RunFailedError
from lightloom.running.hosts.secret import SECRET
from lightloom.running.hosts.tls import FILES
from tests.conftest import RunCli
from tests.refusals import assert_refused
from tests.running.host_agents import ADDRESSES, SECRET_OF_TESTS, agents_here, free_port
from tests.running.processes import plan_of

CA: Any = pytest.importorskip("trustme").CA
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
EXPIRED = datetime.now(UTC) - timedelta(days=1)


def side(folder: Path, authority: Any, *names: str, until: datetime | None = None) -> Path:
    """A folder with what one side shows and takes."""
    folder.mkdir()
    shown = authority.issue_cert(*names, not_after=until)
    contents = (shown.cert_chain_pems[0].bytes(), shown.private_key_pem.bytes(), authority.cert_pem.bytes())
    for name, content in zip(FILES, contents, strict=True):
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def authority() -> Any:
    return CA()


@pytest.fixture(scope="module")
def of_agents(authority: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return side(tmp_path_factory.mktemp("tls") / "agents", authority, *ADDRESSES)


@pytest.fixture(scope="module")
def port(of_agents: Path) -> Iterator[int]:
    number = free_port()
    with agents_here(number, "--tls", str(of_agents)):
        yield number


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)


@contextmanager
def relays(port: int, seen: bytearray) -> Iterator[int]:
    """A port at all of `ADDRESSES` whose connections are passed on to another one; what passes is put into `seen`."""
    number = free_port()
    with ExitStack() as stack:

        def end(one: socket.socket) -> None:
            # A thread that reads would keep it open.
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

        def passes(one: socket.socket, other: socket.socket) -> None:
            with suppress(OSError):
                while part := one.recv(1 << 16):
                    seen.extend(part)
                    other.sendall(part)
            with suppress(OSError):
                other.shutdown(socket.SHUT_WR)

        def serves(listener: socket.socket, address: str) -> None:
            with suppress(OSError):
                while True:
                    near, far = listener.accept()[0], socket.create_connection((address, port))
                    for one in (near, far):
                        stack.callback(end, one)
                    for pair in ((near, far), (far, near)):
                        threading.Thread(target=passes, args=pair, daemon=True).start()

        for address in ADDRESSES:
            listener = stack.enter_context(socket.create_server((address, number)))
            threading.Thread(target=serves, args=(listener, address), daemon=True).start()
        yield number


def executor(port: int, tls: Path | None) -> ll.Executor:
    folder = None if tls is None else str(tls)
    hosts = ",".join(ADDRESSES)
    return ll.Executor(transport="tcp", hosts=hosts, launch="none", agent_port=port, tls=folder, runs=2, warm_ups=0)


@pytest.mark.large
def test_plans_run_and_nothing_that_is_said_can_be_read(authority: Any, port: int, tmp_path: Path) -> None:
    """The plan's JSON passes the wire, of which a copy is kept, in no readable form."""
    seen = bytearray()
    with relays(port, seen) as other, executor(other, side(tmp_path / "command", authority, "command")) as run:
        for one in (plan_of("all-reduce", size="16KiB"), plan_of("all-to-all", gpus=6)):
            assert run.run(one).wrong == 0
    assert len(seen) > 1 << 16
    assert b"algorithm" not in seen


@pytest.mark.large
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("of another authority", "its certificate is not accepted: ca.pem of this side has not signed it"),
        ("expired", "it does not accept the certificate of this side: certificate expired"),
        ("none", "as agents with --tls do where the command has none"),
    ],
)
def test_who_shows_no_certificate_that_is_accepted_is_sent_away(
    kind: str, why: str, authority: Any, port: int, tmp_path: Path
) -> None:
    tls = None
    if kind == "of another authority":
        tls = side(tmp_path / "command", CA(), "command")
    elif kind == "expired":
        tls = side(tmp_path / "command", authority, "command", until=EXPIRED)
    with pytest.raises(RunFailedError, match=rf"^host {ADDRESSES[0]}: the agent at \S+ is not used: ") as caught:
        executor(port, tls).run(plan_of())
    assert why in str(caught.value)
    # The next one is served.
    with executor(port, side(tmp_path / "right", authority, "command")) as run:
        assert run.run(plan_of()).wrong == 0


def test_a_certificate_of_our_authority_that_the_agent_does_not_know_is_refused(
    authority: Any, port: int, tmp_path: Path
) -> None:
    """The command takes the agent's, and shows one of somebody else."""
    tls = side(tmp_path / "command", CA(), "command")
    (tls / "ca.pem").write_bytes(authority.cert_pem.bytes())
    with pytest.raises(
        RunFailedError, match=r"it does not accept the certificate of this side: its ca.pem has not signed it$"
    ):
        executor(port, tls).run(plan_of())


@pytest.mark.parametrize(
    ("names", "until", "why"),
    [
        (("127.0.0.9",), None, "its certificate is not accepted: IP address mismatch"),
        (ADDRESSES, EXPIRED, "its certificate is not accepted: certificate has expired"),
        (None, None, "TLS fails, wrong version number; both sides take --tls, or neither"),
    ],
)
def test_an_agent_without_a_certificate_that_is_accepted_is_not_used(
    names: tuple[str, ...] | None, until: datetime | None, why: str, authority: Any, tmp_path: Path
) -> None:
    told = () if names is None else ("--tls", str(side(tmp_path / "agent", authority, *names, until=until)))
    number = free_port()
    with agents_here(number, *told), pytest.raises(RunFailedError) as caught:
        executor(number, side(tmp_path / "command", authority, "command")).run(plan_of())
    assert f"the agent at {ADDRESSES[0]}:{number} is not used: {why}" in str(caught.value)


def test_folders_that_are_wrong_are_named_on_both_sides(cli: RunCli, in_tmp: Path, authority: Any) -> None:
    plan_of().save("plan.json")
    told = ("run", "plan.json", "--transport", "tcp", "--hosts", "a,b", "--launch", "none", "--tls")
    assert_refused(cli, in_tmp, *told, "nowhere", field="tls: `nowhere/cert.pem` is no file; it takes a folder with")
    files = side(in_tmp / "tls", authority, "a")
    (files / "key.pem").write_bytes(side(in_tmp / "other", authority, "a").joinpath("key.pem").read_bytes())
    wrong = "tls: `tls`: key values mismatch; cert.pem and key.pem take a certificate and its key in PEM"
    assert_refused(cli, in_tmp, *told, "tls", field=wrong)
    command = [sys.executable, "-m", "lightloom.running.hosts.agent", "--listen", "127.0.0.1:0", "--tls", "tls"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: {wrong}")
    (files / "ca.pem").write_text("nothing\n")
    assert_refused(cli, in_tmp, *told, "tls", field="tls: `tls/ca.pem` has no certificate in PEM")
    assert_refused(cli, in_tmp, "run", "plan.json", "--tls", "tls", field="tls: `tls` is not accepted: the transport")
