"""Long work: results, errors and signs of life come through, and an interrupt is heard while the work goes on."""

import _thread
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from lightloom.base.errors import InputError
from lightloom.cli import progress
from lightloom.cli.progress import Status, progress_bar, with_progress


def test_results_and_errors_come_through() -> None:
    assert with_progress("adding", lambda: 1 + 1) == 2

    def refuse() -> None:
        raise InputError("size", "size: no")

    with pytest.raises(InputError, match="size: no"):
        with_progress("refusing", refuse)


def test_an_interrupt_does_not_wait_for_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUIET_S", 0.01)
    done = threading.Event()
    started = time.monotonic()
    # A shell's background jobs, such as these tests may be, are started deaf to interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            with_progress("waiting", lambda: done.wait(30))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not done.is_set()
    assert time.monotonic() - started < 20
    done.set()


def test_without_a_terminal_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "QUIET_S", 0.01)
    monkeypatch.setattr(progress, "LOOK_S", 0.01)
    monkeypatch.setattr(progress, "FIRST_LINE_S", 0.05)
    status = Status()
    status.say("3 topologies")
    with_progress("searching", lambda: time.sleep(0.5), status)
    lines = capsys.readouterr().err.splitlines()
    # At 0.05 s, then each at about twice the time.
    assert 2 <= len(lines) <= 4
    assert all(re.fullmatch("searching: 3 topologies, [0-9]+ s", line) for line in lines)


def test_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with_progress("adding", lambda: 1 + 1)
    with progress_bar("sweep", 3) as advance:
        advance("first", 3)
    assert capsys.readouterr().err == ""


def test_a_bar_without_a_terminal_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE_S", 0.0)
    monkeypatch.setattr(progress, "BETWEEN_LINES_S", 0.0)
    with progress_bar("sweep", 2000) as advance:
        advance("swing", 500)
        advance("bruck", 1500)
    assert capsys.readouterr().err.splitlines() == [
        "sweep: swing, 500 of 2,000 points, 0 s",
        "sweep: bruck, 2,000 of 2,000 points, 0 s",
    ]


def test_what_is_left_of_a_budget_is_said() -> None:
    status = Status(1000.0)
    assert re.fullmatch(r"(1000|99\d) s left", status.text)
    status.say("best so far 1 s")
    assert re.fullmatch(r"best so far 1 s, (1000|99\d) s left", status.text)
    assert Status(0.0).text == "0 s left"


@pytest.mark.large
@pytest.mark.slow
def test_on_a_terminal_a_long_plan_says_the_best_so_far() -> None:
    words = [
        "--collective",
        "all-to-all",
        "--matrix",
        "zipf:0.4",
        "--size",
        "1MiB/pair",
        "--gpus",
        "48",
        "--ports",
        "4",
    ]
    command = [sys.executable, "-m", "lightloom", "plan", *words, "--planner", "weave", "--budget", "4s"]
    terminal, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end, env=environment) as process:
        os.close(end)
        shown = b""
        # A terminal whose other end is closed is an error of reading.
        with suppress(OSError):
            while part := os.read(terminal, 4096):
                shown += part
        assert process.stdout is not None
        printed = process.stdout.read().decode()
    os.close(terminal)
    assert process.returncode == 0
    times = [
        float(number)
        for number in re.findall(rb"best so far ([0-9.]+) \xc2\xb5s, [0-9.]+ of the lower bound, \d+ s left", shown)
    ]
    assert times
    # Each is at most the one before, and the plan that is printed is at most the last.
    assert times == sorted(times, reverse=True)
    total = re.search(r"(\d+(\.\d+)?) µs", printed)
    assert total is not None
    assert float(total[1]) <= times[-1]
