"""The verb `serve`: where it listens, its messages, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.page.served import Served

EXAMPLE = re.compile(r"^ +lightloom (serve.*)$", re.MULTILINE)

if TYPE_CHECKING:
    from tests.conftest import RunCli


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_told_to(number: int) -> None:
    server = Served.start("--workers", 1)
    assert server.post("plan", collective="all-gather", size="1MiB", gpus=4).status_code == 200
    workers = server.workers()
    assert workers
    assert server.end(number) == (0, "")
    assert [pid for pid in workers if _is_there(pid)] == []


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("output", ["/dev/full", "closed pipe"])
def test_an_address_that_nobody_can_read_ends_it(output: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "lightloom", "serve", "--port", str(port), "--workers", "2"]
    if output == "/dev/full":
        with Path(output).open("w") as stream:
            ran = subprocess.run(words, stdout=stream, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    else:
        reading, writing = os.pipe()
        os.close(reading)
        try:
            ran = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        finally:
            os.close(writing)
    assert ran.returncode == 1
    assert re.fullmatch(r"error: standard output: the page's address cannot be printed: [^\n]+\n", ran.stderr), (
        ran.stderr
    )
    # Its processes would hold the pipe of standard error open, and the port is free.
    with socket.create_server(("127.0.0.1", port)):
        pass


@pytest.mark.large
def test_examples_of_its_help_work(cli: RunCli) -> None:
    examples = EXAMPLE.findall(cli("serve", "--help").out)
    assert len(examples) > 1
    for example in examples:
        if "--export" in example:  # writes files and ends: tests/page/browser has it
            continue
        # On a free port, whatever else this machine serves.
        words = re.sub(r"--port [0-9]+", "", example).split()[1:]
        server = Served.start(*words)
        token = server.line.split()[0].partition("?token=")[2]
        headers = {"authorization": f"Bearer {token}"} if token else {}
        assert server.client.get("/api/options", headers=headers).json()["limits"]["gpus"] > 1
        assert server.end() == (0, "")


def test_a_port_in_use_is_one_line(cli: RunCli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = cli("serve", "--port", taken.getsockname()[1])
    assert (ran.status, ran.out) == (2, "")
    assert re.fullmatch(r"error: port: [0-9]+ of 127\.0\.0\.1 is in use; .*\n", ran.err), ran.err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("port", "65536"),
        ("port", "-1"),
        ("port", "http"),
        ("host", "no.such.host.invalid"),
        ("host", "198.51.100.7"),
        ("workers", "0"),
        ("queue", "0"),
        ("most_gpus", "1"),
        ("most_time", "1ns"),
        ("most_memory", "1MiB"),
        ("cache", "many"),
        ("name", ""),
        ("name", "http://planner.example.org"),
        ("name", "planner.example.org:80"),
        ("name", "*.example.org"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_option(cli: RunCli, option: str, value: str) -> None:
    ran = cli("serve", "--port", 0, f"--{option.replace('_', '-')}", value)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"error: {option}: "), ran.err
