"""Programs of others: where they are, and their end by a deadline, with all programs that they start in turn."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["carried_out", "end_group", "program_at"]


def program_at(name: str) -> str | None:
    """The path of a program: next to the interpreter, where a package index puts an MPI, or else on the path."""
    folders = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    return shutil.which(name, path=os.pathsep.join(folders))


def carried_out(command: Sequence[str], given: bytes = b"", *, limit_s: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end. Raises `subprocess.TimeoutExpired`; it is ended then, with all that it started.

    Its output goes to files: a pipe would stay open as long as a program that it started goes on.
    """
    with TemporaryFile() as asked, TemporaryFile() as out, TemporaryFile() as said:
        asked.write(given)
        asked.seek(0)
        process = subprocess.Popen(  # noqa: S603 (the caller's command)
            command, stdin=asked, stdout=out, stderr=said, process_group=0
        )
        try:
            status = process.wait(limit_s)
        except BaseException:
            end_group(process)
            raise
        out.seek(0)
        said.seek(0)
        return subprocess.CompletedProcess(command, status, out.read(), said.read())


def end_group(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a process that leads a group, and all of that group, at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
