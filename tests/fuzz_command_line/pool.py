"""Worker processes, each watched: one that takes too long or dies is replaced, and its run counted as faulty."""

from __future__ import annotations

import json
import selectors
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.fuzz_command_line.worker import case

# Faulty runs that are kept of those that begin alike.
MOST_KEPT = 20
ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A process that runs command lines, and the number of the one that it is running."""

    def __init__(self, seed: int, base: Path) -> None:
        self.seed = seed
        self.base = base
        base.mkdir(parents=True)
        command = [sys.executable, "-m", "tests.fuzz_command_line", "--seed", str(seed), "--serve", str(base)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        self.index = -1
        self.deadline_s = 0.0

    def start(self, index: int, seconds: float) -> None:
        """Hand it a number."""
        self.index = index
        self.deadline_s = time.monotonic() + seconds
        assert self.process.stdin is not None
        self.process.stdin.write(f"{index}\n".encode())
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The worker's answer about the run; if the worker died, the reason of its end."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line.endswith(b"\n"):
            answer: dict[str, Any] = json.loads(line)
            if answer["sink"] == "interrupted":
                self.stop()
            return answer
        return self.ended(f"the process ended with status {self.process.wait()}")

    def ended(self, why: str) -> dict[str, Any]:
        """The answer of a worker that gives none."""
        self.stop()
        files = self.base / "again"
        files.mkdir()
        line, sink = case(self.seed, self.index, files)
        err = (self.base / "err").read_text(errors="replace")[-600:] if (self.base / "err").exists() else ""
        answer = {"index": self.index, "verb": line.verb, "status": None, "sink": sink, "faults": [why]}
        return {**answer, "arguments": line.arguments, "out": "", "err": err}

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class Pool:
    """Some workers; `seconds` is the limit of a run, `replays` where faulty runs and their files are kept."""

    def __init__(self, seed: int, base: Path, workers: int, seconds: float, replays: Path) -> None:
        self.seed = seed
        self.base = base
        self.seconds = seconds
        self.replays = replays
        self.made = 0
        self.count = workers
        self.selector = selectors.DefaultSelector()
        self.kept: Counter[str] = Counter()

    def run(self, indices: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The answers of all runs, as they come."""
        waiting = iter(indices)
        busy = {worker for _ in range(self.count) if (worker := self._next(self._worker(), waiting)) is not None}
        while busy:
            soonest_s = min(worker.deadline_s for worker in busy)
            ready = [key.data for key, _ in self.selector.select(max(0.0, soonest_s - time.monotonic()))]
            late = [worker for worker in busy if worker not in ready and worker.deadline_s <= time.monotonic()]
            for worker in (*ready, *late):
                if worker in late:
                    answer = worker.ended(f"over its time limit of {self.seconds:g} s") | {"is_slow": True}
                else:
                    answer = worker.answer()
                if answer["faults"]:
                    self._keep(answer)
                yield answer
                busy.discard(worker)
                going = worker
                if worker.process.returncode is not None:
                    self._forget(worker)
                    going = self._worker()
                if self._next(going, waiting) is not None:
                    busy.add(going)

    def stop(self) -> None:
        """End every process, whatever it does."""
        for worker in {key.data for key in self.selector.get_map().values()}:
            self._forget(worker)
            worker.stop()

    def _worker(self) -> Worker:
        self.made += 1
        worker = Worker(self.seed, self.base / f"worker-{self.made}")
        self.selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
        return worker

    def _next(self, worker: Worker, waiting: Iterator[int]) -> Worker | None:
        for index in waiting:
            # The first run of a worker also pays for its imports.
            worker.start(index, self.seconds + (30.0 if worker.index < 0 else 0.0))
            return worker
        self._forget(worker)
        worker.stop()
        return None

    def _forget(self, worker: Worker) -> None:
        for key in list(self.selector.get_map().values()):
            if key.data is worker:
                self.selector.unregister(key.fileobj)

    def _keep(self, answer: dict[str, Any]) -> None:
        kind = answer["faults"][0][:40]
        self.kept[kind] += 1
        if self.kept[kind] > MOST_KEPT:
            return
        folder = self.replays / f"{self.seed}-{answer['index']}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps(answer, indent=1))
        case(self.seed, answer["index"], folder)
