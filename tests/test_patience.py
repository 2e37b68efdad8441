"""Long work: results and errors come through, and an interrupt is heard while the work goes on."""

import _thread
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
    threading.Timer(0.2, _thread.interrupt_main).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        patiently("waiting", lambda: done.wait(30))
    assert not done.is_set()
    assert time.monotonic() - started < 20
    done.set()
