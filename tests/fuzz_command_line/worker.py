"""The process in which command lines are run; it gets their numbers and answers with the faults of each."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz_command_line.arguments import CommandLine
from tests.fuzz_command_line.judge import Ran, entries, faults

MEMORY_BYTES = 4 << 30
# Bytes that a pipe holds if nobody reads it.
PIPE_BYTES = 1 << 20
# Where the output goes, and one that is interrupted; work that goes on in other threads then makes it the last run of
# the process.
SINKS = ("file",) * 460 + ("full",) * 12 + ("closed",) * 6 + ("interrupted",)


def case(seed: int, index: int, folder: Path) -> tuple[CommandLine, str]:
    """The command line of a number, its files made in `folder`, and where its output goes."""
    rng = Random(f"{seed}:{index}")  # noqa: S311 (nothing here is secret)
    line = CommandLine(rng, folder)
    return line, rng.choice(SINKS)


def pipes(folder: Path) -> list[int]:
    """The named pipes of a folder, opened for reading: a writer waits for that, as everywhere."""
    found = [entry for entry in folder.iterdir() if entry.is_fifo()]
    handles = [os.open(entry, os.O_RDONLY | os.O_NONBLOCK) for entry in found]
    for handle in handles:
        fcntl.fcntl(handle, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return handles


class Runner:
    """Runs command lines in this process, their output in files of its own."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "in" / "here"
        self.temporary = base / "temporary"
        self.temporary.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(self.temporary)
        self.captured = [os.open(base / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for name in ("out", "err")]

    def run(self, seed: int, index: int) -> dict[str, Any]:
        """Run one command line and judge it."""
        from lightloom.cli import main

        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        line, sink = case(seed, index, self.folder)
        before = entries(self.folder)
        os.chdir(self.folder)
        self._point_at(sink)
        exception, status = "", None
        unread = pipes(self.folder)
        try:
            if sink == "interrupted":
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                signal.setitimer(signal.ITIMER_REAL, Random(index).uniform(1e-4, 0.05))  # noqa: S311
            try:
                status = main(list(line.arguments))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            exception = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {str(error)[:150]}"
        if sink == "interrupted":
            # The process ends after it, and so does what other threads of it were writing.
            atexit._run_exitfuncs()
        self._forget_unwritten()
        for handle in unread:
            os.close(handle)
        out, err = (self._text_of(handle) for handle in self.captured)
        os.chdir(self.temporary)
        stray = sorted(entry.name for entry in self.temporary.iterdir())
        ran = Ran(line.arguments, line.verb, status, exception, out, err, sink)
        found = faults(ran, before, entries(self.folder), stray)
        for name in stray:
            (self.temporary / name).unlink(missing_ok=True)
        answer = {"index": index, "verb": line.verb, "status": status, "sink": sink, "faults": found}
        return {**answer, "arguments": line.arguments, "out": out[-300:], "err": err[-600:]} if found else answer

    def _point_at(self, sink: str) -> None:
        for handle in self.captured:
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
        os.dup2(self.captured[1], 2)
        if sink in {"file", "interrupted"}:
            os.dup2(self.captured[0], 1)
            return
        if sink == "full":
            handle = os.open("/dev/full", os.O_WRONLY)
        else:
            unread, handle = os.pipe()
            os.close(unread)
        os.dup2(handle, 1)
        os.close(handle)

    def _forget_unwritten(self) -> None:
        """What is still in the streams' buffers goes where it should, or nowhere where that is full."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(self.captured[0], 1)
                stream.flush()

    @staticmethod
    def _text_of(handle: int) -> str:
        size = os.lseek(handle, 0, os.SEEK_END)
        return os.pread(handle, size, 0).decode("utf-8", "replace")


def serve(seed: int, base: Path) -> None:
    """Answer the numbers on standard input, one line of JSON each, until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), "w")
    numbers = os.fdopen(os.dup(0), "r")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    runner = Runner(base)
    for number in numbers:
        answer = runner.run(seed, int(number))
        print(json.dumps(answer), file=replies, flush=True)
        if answer["sink"] == "interrupted":
            os._exit(0)
