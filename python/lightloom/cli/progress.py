"""Long work: a sign of life on standard error, and an interrupt that is heard at once.

On a terminal that is a clock or a bar; elsewhere a line now and then.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    Result = TypeVar("Result")

# The first second needs no sign of life.
QUIET_S = 1.0
# Seconds between two looks for an interrupt.
LOOK_S = 0.1
# Seconds that work has to close its files after it is told to stop.
ENDING_S = 0.5
# Where there is no terminal: when the first line is written, and the longest time between two.
FIRST_LINE_S = 20.0
BETWEEN_LINES_S = 60.0


class Status:
    """The progress message of long work; set in one thread and shown by another.

    budget_s: seconds that the work may take, of which it says how many are left; None where nothing ends it.
    """

    def __init__(self, budget_s: float | None = None) -> None:
        self._said = ""
        self._ends_s = None if budget_s is None else monotonic() + budget_s

    def say(self, text: str) -> None:
        """Show this from now on."""
        self._said = text

    @property
    def text(self) -> str:
        """What was said last, and the time that is left."""
        left = "" if self._ends_s is None else f"{max(0.0, self._ends_s - monotonic()):.0f} s left"
        return ", ".join(filter(None, (self._said, left)))


class Lines:
    """Lines on standard error, the first after `FIRST_LINE_S`, the next ones each at twice the time."""

    def __init__(self) -> None:
        self._began_s = monotonic()
        self._next_s = FIRST_LINE_S

    def say(self, text: str) -> None:
        """Write this with the time that has passed, if it is time for a line."""
        passed_s = monotonic() - self._began_s
        if passed_s >= self._next_s:
            self._next_s = passed_s + min(passed_s, BETWEEN_LINES_S)
            print(f"{text}, {passed_s:.0f} s", file=sys.stderr, flush=True)  # noqa: T201


def with_progress(
    what: str | None,
    work: Callable[[], Result],
    status: Status | None = None,
    found: Callable[[], RenderableType] | None = None,
) -> Result:
    """Run `work` in a thread and return what it returns, or raise what it raises.

    An interrupt is heard by the thread that waits, which tells the other one to stop. `what`, and what `status` says,
    are shown with a clock on a terminal once it takes longer than a second, below what `found` gives; elsewhere there
    is a line now and then. Nothing is shown if `what` is None, for callers that show progress themselves.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []
    interruption, ended = _core.Interruption(), Event()

    def run() -> None:
        _core.heed(interruption)
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)
        finally:
            ended.set()

    Thread(target=run, daemon=True).start()
    try:
        is_long = not ended.wait(QUIET_S)
        with _sign_of_life(what, found) if what is not None and is_long else nullcontext(_quiet) as show:
            while not ended.wait(LOOK_S):
                show("" if status is None else status.text)
    except BaseException:
        interruption.interrupt()
        ended.wait(ENDING_S)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _quiet(_text: str) -> None:
    """Show nothing."""


@contextmanager
def progress_bar(what: str, total: int, of: str = "points") -> Iterator[Callable[[str, int], None]]:
    """A bar with the rate and the time that remains; its function takes the current work, if any, and the count."""

    def words(name: str) -> str:
        return f"{what}: {name}" if name else what

    if not sys.stderr.isatty():
        lines = Lines()
        done_so_far = 0

        def advance(name: str, done: int) -> None:
            nonlocal done_so_far
            done_so_far += done
            lines.say(f"{words(name)}, {done_so_far:,} of {total:,} {of}")

        yield advance
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """Points a second, of the last half minute."""

        def render(self, task: Task) -> Text:
            """The rate once there is one."""
            return Text("" if task.speed is None else f"{task.speed:,.3g} {of}/s", style="progress.data.speed")

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeElapsedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda name, done: progress.update(task, advance=done, description=words(name))


@contextmanager
def _sign_of_life(what: str, found: Callable[[], RenderableType] | None) -> Iterator[Callable[[str], None]]:
    """A clock on a terminal, below what was found; told what is being done."""

    def words(text: str) -> str:
        return f"{what}: {text}" if text else what

    if not sys.stderr.isatty():
        lines = Lines()
        yield lambda text: lines.say(words(text))
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    clock = Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    task = clock.add_task(what, total=None)
    shown = (lambda: clock) if found is None else (lambda: Group(found(), clock))
    with Live(get_renderable=shown, console=Console(stderr=True), transient=True, refresh_per_second=8):
        yield lambda text: clock.update(task, description=words(text))
