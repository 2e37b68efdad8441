"""Runs on hosts with a fault at a random moment: `python -m tests.running.random_host_faults --runs 100`.

A host dies, stops or loses its network, or the switch refuses, is silent, or says that it holds what it does not. The
command must end soon with one line, the other hosts must take the next run, and that run must be right; a run that was
over before its fault must be right. Nothing may be sent on a port without a circuit, but where the switch lies.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import lightloom as ll
from lightloom.base.errors import FailedError
from lightloom.running.hosts import agents as agents_of_command
from lightloom.running.hosts import course
from lightloom.running.hosts.secret import SECRET
from lightloom.switches.simulated import Faults, SimulatedSwitch
from tests.running.host_agents import SECRET_OF_TESTS, await_listening
from tests.running.lab import Lab, made

HOST_FAULTS = ("dies", "stops", "loses its network")
SWITCH_FAULTS = ("refuses", "ends a connection", "does half", "lies")
# Deadlines of the command here; a fault must end a run within the last.
SILENT_S, OPENING_S, WITHIN_S = 2.0, 1.5, 20.0
# Time of a change of circuits: a run takes about two seconds.
SLOW_S = 0.1


class Trial:
    """Runs of one plan on a laboratory, with a fault in each."""

    def __init__(self, lab: Lab, switch: SimulatedSwitch, draw: random.Random) -> None:
        self._lab, self._switch, self._draw = lab, switch, draw
        fabric = ll.Fabric(gpus=8, reconfiguration_delay="10us")
        self._plan = ll.plan("all-reduce", "64KiB", fabric=fabric, algorithm="recursive-doubling", planner="bvn")
        self._agents = [lab.agent(host) for host in range(4)]
        self._await()

    def one(self) -> str:
        """What became of a run with a fault."""
        dark = self._lab.dark
        self._switch.crossbar.faults = Faults(slow_s=SLOW_S)
        outcome: list[str] = []
        thread = threading.Thread(target=lambda: outcome.append(self._run()))
        thread.start()
        time.sleep(self._draw.uniform(0.0, 2.0))
        kind = self._draw.choice(HOST_FAULTS + SWITCH_FAULTS)
        host = self._draw.randrange(4)
        lit = self._lab.light
        if kind in HOST_FAULTS:
            self._harm(host, kind)
        elif kind == "lies":
            dead = self._draw.randrange(1, 9)
            self._lab.light = lambda circuits: lit({one for one in circuits if one[0] != dead})  # type: ignore[method-assign]
        else:
            changes = frozenset(range(self._switch.crossbar.changes + 1, self._switch.crossbar.changes + 20))
            name = {"refuses": "refuse_change", "ends a connection": "drop_before", "does half": "half"}[kind]
            self._switch.crossbar.faults = Faults(slow_s=SLOW_S, **{name: changes})  # type: ignore[arg-type]
        thread.join(WITHIN_S)
        assert not thread.is_alive(), f"{kind}: it hangs"
        self._lab.light = lit  # type: ignore[method-assign]
        lit(self._switch.crossbar.circuits)
        self._mend(host, kind)
        if kind != "lies":
            assert self._lab.dark == dark, f"{kind}: {self._lab.dark - dark} frames on dark ports"
        line = outcome[0]
        assert "\n" not in line
        if line != "right" and kind in HOST_FAULTS:
            assert self._lab.names[host] in line, (kind, host, line)
        assert self._run() == "right", kind
        return f"{kind}: {'over before' if line == 'right' else 'one line'}"

    def _run(self) -> str:
        told = {"hosts": str(self._lab.file), "launch": "none", "switch": self._switch.address}
        try:
            with ll.Executor(transport="tcp", runs=1, warm_ups=1, **told) as run:  # type: ignore[arg-type]
                return "right" if run.run(self._plan).wrong == 0 else "wrong"
        except FailedError as error:
            return str(error)

    def _harm(self, host: int, kind: str) -> None:
        if kind == "loses its network":
            self._lab.cut_off(host)
        else:
            self._agents[host].send_signal(signal.SIGKILL if kind == "dies" else signal.SIGSTOP)

    def _mend(self, host: int, kind: str) -> None:
        self._switch.crossbar.faults = Faults()
        if kind == "loses its network":
            self._lab.cut_off(host, again=True)
            # Its agent learns by the silence of the connection that its command is gone.
        if kind in HOST_FAULTS:
            self._agents[host].kill()
            self._agents[host].wait()
            self._agents[host] = self._lab.agent(host)
        self._await()

    def _await(self) -> None:
        await_listening(self._lab.places)

    def end(self) -> None:
        """End all agents."""
        for agent in self._agents:
            agent.kill()
            agent.wait()


def random_faults(runs: int, seed: int) -> Counter[str]:
    """How often each outcome occurred in this many runs."""
    agents_of_command.SILENT_S, course.OPENING_S = SILENT_S, OPENING_S
    os.environ[SECRET] = SECRET_OF_TESTS
    draw = random.Random(seed)  # noqa: S311 (moments of faults are no secrets)
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        with made(Path(folder)) as lab, lab.switch() as switch:
            trial = Trial(lab, switch, draw)
            try:
                return Counter(trial.one() for _ in range(runs))
            finally:
                trial.end()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--seed", type=int, default=31)
    asked = options.parse_args()
    for became, count in sorted(random_faults(asked.runs, asked.seed).items()):
        print(f"{count:5} {became}")  # noqa: T201
