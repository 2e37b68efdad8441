"""A process that works: reads requests, computes them, and writes their outcomes.

`python -m lightloom.page.worker LIMITS`, where LIMITS is JSON. Frames come by standard input and go by standard output.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import FailedError, InputError, StoppedError
from lightloom.page.confinement import confine, limit_memory, most_resident_bytes
from lightloom.page.frames import Kind, as_bytes, read_frame
from lightloom.page.limits import Limits
from lightloom.page.outcome import Outcome
from lightloom.page.parser import RefusedError, read_text
from lightloom.page.tasks import task
from lightloom.page.work.say import PausedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from lightloom.page.frames import Frame
    from lightloom.page.work.say import Say

TELLING = Lock()
# A process that held more than this part of its memory is replaced: its memory may never be used again.
SPENT_PART = 4
WRONG, TOO_LARGE, FAILED, NO_MEMORY, STOPPED = 422, 413, 500, 503, 503


def main() -> None:
    """Work until standard input ends."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Output that anything prints must not come between frames.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    limits = Limits(**json.loads(sys.argv[1]))
    jobs: SimpleQueue[tuple[Frame, _core.Interruption]] = SimpleQueue()
    say = _Say(told)
    Thread(target=_read, args=(asked, jobs, say), daemon=True).start()
    limit_memory(limits.memory_bytes)
    _warm_up()
    confine()
    _tell(told, Kind.READY)
    while True:
        frame, interruption = jobs.get()
        if frame.kind is Kind.TOLD:
            say.told = json.loads(frame.content)
            continue
        _core.heed(interruption)
        outcome = carried_out(frame.content, limits, say)
        say.told = ()
        is_spent = most_resident_bytes() > limits.memory_bytes // SPENT_PART
        if outcome is None:
            _tell(told, Kind.PAUSED, json.dumps({"is_spent": is_spent}).encode())
            continue
        head = {"status": outcome.status, "media_type": outcome.media_type, "name": outcome.name}
        _tell(told, Kind.CONTENT, outcome.content)
        _tell(told, Kind.END, json.dumps({**head, "is_spent": is_spent}).encode())


class _Say:
    """Messages of work, as frames; work pauses when the server says so, until the next task."""

    def __init__(self, told: BinaryIO) -> None:
        self.told: Sequence[dict[str, Any]] = ()
        self.pause = Event()
        self._stream = told

    @property
    def is_to_pause(self) -> bool:
        return self.pause.is_set()

    def __call__(self, kind: Kind, row: dict[str, Any]) -> None:
        _tell(self._stream, kind, json.dumps(row).encode())


def _read(asked: BinaryIO, jobs: SimpleQueue[tuple[Frame, _core.Interruption]], say: _Say) -> None:
    """Pass jobs on, each with what interrupts it, which is done when the server says so.

    At their end the server is gone, and so is this process, also during work.
    """
    interruption = _core.Interruption()
    while (frame := read_frame(asked)) is not None:
        if frame.kind is Kind.PAUSE:
            say.pause.set()
        elif frame.kind is Kind.STOP:
            interruption.interrupt()
        else:
            say.pause.clear()
            interruption = _core.Interruption()
            jobs.put((frame, interruption))
    os._exit(0)


def _tell(told: BinaryIO, kind: Kind, content: bytes = b"") -> None:
    # Rows come from several threads.
    with TELLING:
        told.write(as_bytes(kind, content))
        told.flush()


def _warm_up() -> None:
    """Import what most requests need, and plan once, so that the first request takes no longer than the next."""
    import lightloom as ll

    for name in ("lightloom.views.charts", task("map").module):
        import_module(name)
    # Matplotlib reads its list of fonts, or makes and keeps it.
    import_module("matplotlib.font_manager")
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8))


def carried_out(text: bytes, limits: Limits, say: Say) -> Outcome | None:
    """The task's answer, or the error in its place; None where it was paused."""
    try:
        name, asked = read_text(text)
        work = import_module(task(name).module).work
        outcome: Outcome = work(asked, limits, say)
    except PausedError:
        return None
    except RefusedError as refused:
        return refused.outcome
    except BaseException as error:  # a panic of the core is no Exception
        return _outcome_of(error, limits)
    if len(outcome.content) > limits.answer_bytes:
        most = limits.answer_bytes >> 20
        return Outcome.error(
            TOO_LARGE, f"gpus: the answer is larger than the limit of {most} MiB; ask for fewer GPUs", "gpus"
        )
    return outcome


def _outcome_of(error: BaseException, limits: Limits) -> Outcome:
    """One line for what went wrong: never where in the program, nor where on the machine."""
    match error:
        case InputError():
            return Outcome.error(WRONG, str(error), error.field)
        case FailedError():
            return Outcome.error(FAILED, str(error))
        case StoppedError():
            return Outcome.error(STOPPED, "nobody waits for it any more")
        case MemoryError():
            return Outcome.error(
                NO_MEMORY,
                f"the work takes more than the limit of {limits.memory_bytes >> 20} MiB of memory; ask for fewer "
                "GPUs or points",
            )
        case RecursionError():
            return Outcome.error(WRONG, "body: it is nested too deeply", "body")
        case _:
            return Outcome.error(FAILED, f"the request failed unexpectedly ({type(error).__name__}); please report it")


if __name__ == "__main__":
    main()
