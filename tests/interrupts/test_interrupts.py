"""Calls of the core end when they are interrupted, and no others do."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import StoppedError
from lightloom.base.threads import on_threads
from lightloom.cli.progress import with_progress
from tests.interrupts.__main__ import Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

SMALL = ("all-reduce", "1MiB")
EIGHT = ll.Fabric(gpus=8)


def _long() -> ll.Comparison:
    """Takes minutes, however fast the machine is."""
    return ll.compare("all-to-all", "1GiB", fabric=ll.Fabric(gpus=256, ports=4))


@contextmanager
def _after(seconds: float, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """A signal after so long."""
    former = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, former)


@pytest.mark.large
def test_a_call_ends_with_what_a_handler_raises() -> None:
    class EnoughError(Exception):
        pass

    def enough(_number: int, _frame: object) -> None:
        raise EnoughError

    expected = ll.plan(*SMALL, fabric=EIGHT).to_json()
    for handler, raised in [(signal.default_int_handler, KeyboardInterrupt), (enough, EnoughError)]:
        for seconds in (0.05, 0.4):
            with _after(seconds, handler), pytest.raises(raised):
                _long()
            assert ll.plan(*SMALL, fabric=EIGHT).to_json() == expected


def test_a_handler_that_raises_nothing_ends_nothing() -> None:
    planned: list[str] = []

    def plan(_number: int, _frame: object) -> None:
        # Also where it makes a call itself.
        planned.append(ll.plan(*SMALL, fabric=EIGHT).to_json())

    fabric = ll.Fabric(gpus=40, ports=3)
    with _after(0.02, plan):
        found = ll.compare("all-to-all", "1MiB", fabric=fabric)
    assert planned == [ll.plan(*SMALL, fabric=EIGHT).to_json()]
    assert found.to_columns() == ll.compare("all-to-all", "1MiB", fabric=fabric).to_columns()


def test_a_thread_is_interrupted_and_the_others_are_not() -> None:
    interruptions = [_core.Interruption(), _core.Interruption()]
    ended: dict[int, object] = {}
    begun = threading.Barrier(3)

    def work(index: int) -> None:
        _core.heed(interruptions[index])
        begun.wait()
        try:
            ended[index] = _long() if index == 0 else ll.plan("all-to-all", "1MiB", fabric=ll.Fabric(gpus=64, ports=3))
        except StoppedError as error:
            ended[index] = error

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in (0, 1)]
    for thread in threads:
        thread.start()
    begun.wait()
    interruptions[0].interrupt()
    for thread in threads:
        thread.join(60)
    assert isinstance(ended[0], StoppedError)
    assert isinstance(ended[1], ll.Plan)
    # Calls of the main thread heed neither.
    assert ll.plan(*SMALL, fabric=EIGHT).total_s > 0


def test_what_a_thread_heeds_stops_whatever_it_makes() -> None:
    outer = _core.Interruption()
    seen: list[bool] = []

    def work() -> None:
        _core.heed(outer)
        inner, other = _core.Interruption(), _core.Interruption()
        inner.interrupt()
        seen.extend([_is_set(inner), _is_set(other)])
        outer.interrupt()
        seen.extend([_is_set(other), _is_set(_core.Interruption())])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True, False, True, True]
    assert not _is_set(_core.Interruption())


def _is_set(interruption: _core.Interruption) -> bool:
    try:
        interruption.check()
    except StoppedError:
        return True
    return False


def test_threads_of_a_sweep_end_with_it() -> None:
    before = set(threading.enumerate())
    begun = threading.Barrier(3)

    def work(_chunk: int) -> bytes:
        begun.wait()
        _long()
        return b""

    parts = on_threads(work, range(2), 2)

    def stop(_number: int, _frame: object) -> None:
        begun.wait()
        raise KeyboardInterrupt

    with _after(0.1, stop), pytest.raises(KeyboardInterrupt):
        next(parts)
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
    assert set(threading.enumerate()) == before


def test_the_command_line_stops_the_work_that_it_waits_for() -> None:
    before = set(threading.enumerate())
    with _after(0.3, signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        with_progress(None, _long)
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
    assert set(threading.enumerate()) == before


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan all-to-all 1024x4", "compare matrix 500x4", "simulate all-to-all of 256 flow"])
def test_long_calls_hear_an_interrupt(name: str) -> None:
    caller = Caller()
    try:
        how, _ = caller.interrupt(name, 0.5)
        assert how in {"interrupted", "done"}
    finally:
        caller.end()
