"""Collectives that are under way: a thread carries them out in the order in which they were called."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from lightloom.torch.trace import Trace

__all__ = ["Call", "Caller"]


class Call(dist.Work):  # type: ignore[misc]
    """A collective, or a message; `wait` returns when it is done, or raises what it failed by.

    tensors: its results. trace: told when the program calls it, and waits for it.
    """

    def __init__(self, tensors: list[Any], trace: Trace | None, peer: int | None = None) -> None:
        super().__init__()
        self._tensors, self._trace = tensors, trace
        if trace is not None:
            trace.called()
        # The future of results is a second one, since a callback alone makes a future fail for readers in C++, too.
        self._ended = torch.futures.Future()
        self._future = self._ended.then(self._results)
        self._done = threading.Event()
        self._error: Exception | None = None
        self.peer = peer

    def end(self, error: Exception | None = None) -> None:
        """Say that it is done, or what it failed by."""
        self._error = error
        # Before the future, whose readers may look whether the call is completed.
        self._done.set()
        self._ended.set_result(None)

    def _results(self, _ended: Any) -> list[Any]:
        if self._error is not None:
            raise self._error
        return self._tensors

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it is done, for no longer than a timeout above 0."""
        seconds = None if timeout is None or timeout.total_seconds() <= 0 else timeout.total_seconds()
        if self._trace is not None:
            self._trace.waits()
        is_done = self._done.wait(seconds)
        if self._trace is not None:
            self._trace.goes_on()
        if not is_done:
            raise dist.DistBackendError(f"the collective was not done within {seconds:g} s")
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """As `wait`."""
        self.wait()

    def get_future(self) -> Any:
        """A future of the results."""
        return self._future

    def is_completed(self) -> bool:
        """Whether it is done, well or not."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Whether it is done, and well."""
        return self._done.is_set() and self._error is None

    def exception(self) -> Exception | None:
        """What it failed by."""
        return self._error

    def result(self) -> list[Any]:
        """The results, once it is done."""
        self.wait()
        return self._tensors

    def source_rank(self) -> int:
        """Of a message, the rank that sent it."""
        if self.peer is None:
            raise dist.DistBackendError("only a message that was received has a source")
        return self.peer

    _source_rank = source_rank


class Caller:
    """The thread of a group."""

    def __init__(self, name: str, trace: Trace | None) -> None:
        self._trace = trace
        self._queue: SimpleQueue[tuple[Call, Callable[[], None]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def call(self, tensors: list[Any], carry: Callable[[], None]) -> Call:
        """Carry something out after all that was called before."""
        made = Call(tensors, self._trace)
        self._queue.put((made, carry))
        return made

    def close(self) -> None:
        """End the thread, once it has done all that was called; an interpreter that ends would break it off."""
        self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _serve(self) -> None:
        while (asked := self._queue.get()) is not None:
            made, carry = asked
            fault = None
            try:
                carry()
            except Exception as error:
                fault = error
            if self._trace is not None:
                self._trace.ended()
            made.end(fault)
            # Tensors of the last call are not held while there is none.
            del asked, made, carry, fault
