"""Messages between two ranks of a group: a thread moves them on, in which no other rank takes part."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch.distributed as dist

from lightloom.torch.tensors import flat_bytes, on_host, put_back
from lightloom.torch.work import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.torch.trace import Trace

__all__ = ["Messages"]

# Seconds between two looks at the time, while messages are under way.
LOOK_S = 0.2
MOST_TAG = (1 << 32) - 1


class Pending(NamedTuple):
    """A message that is under way: its call, and where it goes to if it is received."""

    call: Call
    tensor: Any
    what: str
    end_s: float
    begun_ns: int


class Messages:
    """The messages of a rank.

    trace: told of calls. noted: told of each message that is done: what it was, its peer, its tensor, when it began.
    """

    def __init__(self, member: Any, trace: Trace | None, noted: Callable[[str, int, Any, int], None]) -> None:
        self._member, self._trace, self._noted = member, trace, noted
        self._pending: dict[int, Pending] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def send(self, tensor: Any, to: int, tag: int, timeout_s: float) -> Call:
        """Send a tensor; done when the other rank has taken it."""
        data = flat_bytes(on_host(tensor))
        return self._ask(
            lambda: self._member.send(to, _checked(tag), data), Call([tensor], self._trace, to), None, tensor, timeout_s
        )

    def receive(self, tensor: Any, source: int | None, tag: int, timeout_s: float) -> Call:
        """Receive into a tensor, from a rank or from any."""
        call = Call([tensor], self._trace, source)
        return self._ask(lambda: self._member.receive(source, _checked(tag)), call, tensor, tensor, timeout_s)

    def close(self) -> None:
        """End the thread; messages that are under way fail."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _ask(self, ask: Callable[[], int], call: Call, into: Any, tensor: Any, timeout_s: float) -> Call:
        what = f"{'send' if into is None else 'recv'} of {tensor.numel()} {str(tensor.dtype).removeprefix('torch.')}"
        pending = Pending(call, into if into is not None else tensor, what, time.monotonic() + timeout_s, _now_ns())
        with self._changed:
            self._pending[ask()] = pending
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="lightloom messages", daemon=True)
                self._thread.start()
            self._changed.notify()
        return call

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._pending and not self._is_closed:
                    self._changed.wait()
                if not self._pending:
                    return
            try:
                for number, peer, data in self._member.deliver(LOOK_S):
                    with self._changed:
                        pending = self._pending.pop(number)
                    self._end(pending, peer, data)
                self._look_at_time()
            except OSError as error:
                with self._changed:
                    failed, self._pending = list(self._pending.values()), {}
                for one in failed:
                    one.call.end(dist.DistBackendError(str(error)))

    def _end(self, pending: Pending, peer: int, data: bytes) -> None:
        call, tensor = pending.call, pending.tensor
        if pending.what.startswith("recv"):
            size = tensor.numel() * tensor.element_size()
            if len(data) != size:
                reason = f"rank {peer} sent {len(data)} bytes, and the tensor has {size}"
                call.end(dist.DistBackendError(reason))
                return
            host = on_host(tensor)
            flat_bytes(host)[:] = np.frombuffer(data, dtype=np.uint8)
            put_back(tensor, host)
            call.peer = peer
        self._noted(pending.what, peer, tensor, pending.begun_ns)
        call.end()

    def _look_at_time(self) -> None:
        now_s = time.monotonic()
        with self._changed:
            late = next((one for one in self._pending.values() if now_s > one.end_s), None)
        if late is not None:
            self._member.abort(f"a {late.what} was not done in time")


def _checked(tag: int) -> int:
    if not 0 <= tag <= MOST_TAG:
        raise ValueError(f"tag: `{tag}` is not accepted; it takes a whole number from 0 to {MOST_TAG}")
    return tag


def _now_ns() -> int:
    return time.monotonic_ns()
