"""The ranks of a job, each a process, as torchrun starts them; nobody ends the others when one fails."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SECONDS = 240


class Ended(NamedTuple):
    """A rank that has ended."""

    code: int
    said: str
    errors: str


def ranks_of(job: str, *arguments: str, ranks: int, **settings: str) -> list[Ended]:
    """Run a program of jobs/ by so many ranks, with environment variables; every rank's end."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    processes = []
    for rank in range(ranks):
        environment = (
            os.environ
            | settings
            | {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(ranks),
                "MASTER_ADDR": "localhost",
                "MASTER_PORT": str(port),
                "OMP_NUM_THREADS": "1",
            }
        )
        process = subprocess.Popen(
            [sys.executable, "-m", f"tests.torch.jobs.{job}", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
    try:
        said = [process.communicate(timeout=SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [Ended(process.returncode, *texts) for process, texts in zip(processes, said, strict=True)]


def check_all_well(ended: list[Ended]) -> None:
    """Every rank has ended without an error."""
    for rank, one in enumerate(ended):
        assert one.code == 0, f"rank {rank}: {one.errors[-3000:]}"
