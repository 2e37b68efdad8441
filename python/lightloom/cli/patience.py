"""Long work on a terminal: a sign of life on standard error, and an interrupt that is heard at once."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Result = TypeVar("Result")

# The first second needs no sign of life.
QUIET_S = 1.0
# How soon an interrupt is heard.
LOOK_S = 0.1


class Narration:
    """What long work says that it is doing; said in one thread and shown by another."""

    def __init__(self) -> None:
        self.text = ""

    def say(self, text: str) -> None:
        """Show this from now on."""
        self.text = text


def patiently(what: str | None, work: Callable[[], Result], progress: Narration | None = None) -> Result:
    """Run `work` in a thread and return what it returns, or raise what it raises.

    The core does not look for interrupts while it computes; the thread that waits for it does. `what`, and what
    `progress` says, are shown with a clock on a terminal once it takes longer than a second; nothing is where `what` is
    None, since something else is shown.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)

    worker = Thread(target=run, daemon=True)
    worker.start()
    worker.join(QUIET_S)
    with nullcontext(_quiet) if what is None or not worker.is_alive() else _sign_of_life(what) as show:
        while worker.is_alive():
            worker.join(LOOK_S)
            if progress is not None:
                show(progress.text)
    if failure:
        raise failure[0]
    return outcome[0]


def _quiet(_text: str) -> None:
    """Show nothing."""


@contextmanager
def progress_of(what: str, total: int) -> Iterator[Callable[[str, int], None]]:
    """A bar with the rate and the time that remains, on a terminal; told what is being done and how much is done."""
    if not sys.stderr.isatty():
        yield lambda _name, _done: None
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
            return Text("" if task.speed is None else f"{task.speed:,.3g} points/s", style="progress.data.speed")

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeElapsedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda name, done: progress.update(task, advance=done, description=f"{what}: {name}")


@contextmanager
def _sign_of_life(what: str) -> Iterator[Callable[[str], None]]:
    """A clock on a terminal; told what is being done."""
    if not sys.stderr.isatty():
        yield lambda _text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda text: shown.update(task, description=f"{what}: {text}" if text else what)
