"""Long work: results and errors come through, and an interrupt is heard while the work goes on."""

import _thread
import signal
import threading
import time

import pytest

from lightloom.cli import patience
from lightloom.cli.patience import patiently
from lightloom.errors import InputError


def test_results_and_errors_come_through() -> None:
    assert patiently("adding", lambda: 1 + 1) == 2

    def refuse() -> None:
        raise InputError("size", "size: no")

    with pytest.raises(InputError, match="size: no"):
        patiently("refusing", refuse)


def test_an_interrupt_does_not_wait_for_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "QUIET_S", 0.01)
    done = threading.Event()
    started = time.monotonic()
    # A shell's background jobs, such as these tests may be, are started deaf to interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            patiently("waiting", lambda: done.wait(30))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not done.is_set()
    assert time.monotonic() - started < 20
    done.set()
