"""Agents that ssh starts, by a server of ssh of our own on this machine, with keys of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.running.controller import RunFailedError
from lightloom.running.hosts.secret import SECRET
from tests.running.host_agents import ADDRESSES, await_listening, free_port
from tests.running.processes import plan_of

SERVER = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin")
CLIENT, KEYS = shutil.which("ssh"), shutil.which("ssh-keygen")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address"),
    pytest.mark.skipif(None in {SERVER, CLIENT, KEYS}, reason="there is no sshd, or no ssh"),
]


def key(path: Path) -> Path:
    assert KEYS is not None
    subprocess.run([KEYS, "-q", "-t", "ed25519", "-N", "", "-f", path], check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a server that listens, in which `ssh` is a program that asks it."""
    folder = tmp_path_factory.mktemp("ssh")
    number = free_port()
    allowed = key(folder / "user").with_suffix(".pub")
    lines = [
        f"Port {number}",
        f"HostKey {key(folder / 'host')}",
        f"AuthorizedKeysFile {allowed}",
        f"PidFile {folder / 'pid'}",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "AcceptEnv PYTHONPATH",
    ]
    (folder / "sshd_config").write_text("\n".join(lines) + "\n")
    assert SERVER is not None
    tried = subprocess.run(
        [SERVER, "-t", "-f", folder / "sshd_config"], capture_output=True, text=True, check=False, timeout=60
    )
    if tried.returncode:
        pytest.skip(f"sshd does not run here: {tried.stderr.strip()}")
    lines = [
        f"Port {number}",
        "IdentitiesOnly yes",
        f"UserKnownHostsFile {folder / 'known'}",
        "StrictHostKeyChecking accept-new",
        # An installation needs none; the tests' package may be on a path.
        f"SetEnv PYTHONPATH={os.environ.get('PYTHONPATH', '')}",
    ]
    (folder / "ssh_config").write_text("\n".join(lines) + "\n")
    process = subprocess.Popen([SERVER, "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL)
    try:
        await_listening([(address, number) for address in ADDRESSES])
        yield folder
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def by_ssh(server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The key with which ssh asks, which may be taken away."""
    user = tmp_path / "user"
    shutil.copy(server / "user", user)
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {CLIENT} -F {server / "ssh_config"} -i {user} "$@"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv(SECRET, raising=False)
    return user


def executor(number: int) -> ll.Executor:
    return ll.Executor(transport="tcp", hosts=",".join(ADDRESSES), launch="ssh", agent_port=number, runs=1, warm_ups=0)


@pytest.mark.usefixtures("by_ssh")
def test_agents_start_run_a_plan_and_are_gone() -> None:
    number = free_port()
    with executor(number) as run:
        for one in (plan_of(), plan_of("all-to-all", gpus=6)):
            assert run.run(one).wrong == 0
        agents = agents_at(number)
        assert len(agents) == len(ADDRESSES)
        # The secret is in nobody's arguments: they are the module's options only.
        assert {tuple(line[-3:]) for line in agents.values()} == {
            ("--listen", f"{address}:{number}", "--secret-from-input") for address in ADDRESSES
        }
    deadline = time.monotonic() + 30
    while agents_at(number) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not agents_at(number)
    for address in ADDRESSES:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, number), timeout=5)


@pytest.mark.large
def test_a_key_that_the_server_does_not_know_is_said(by_ssh: Path) -> None:
    by_ssh.unlink()
    key(by_ssh)
    with executor(free_port()) as run, pytest.raises(RunFailedError) as caught:
        run.run(plan_of())
    assert "ssh ended with status 255 and started no agent: " in str(caught.value)
    assert "Permission denied (publickey" in str(caught.value)


def agents_at(number: int) -> dict[str, list[str]]:
    """Arguments by process of the interpreters that are agents at a TCP port."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
        except OSError:
            continue
        if "lightloom.running.hosts.agent" in words and any(word.endswith(f":{number}") for word in words):
            found[path.parent.name] = words
    return found
