"""Runs in which a process is killed or stopped at a random moment: `python -m tests.running.random_faults --runs 200`.

Everybody must end soon, with one line, and no process may be left; a run that was over before its fault must be right.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time
from collections import Counter

import lightloom as ll
from lightloom.running import preparation as prepared
from lightloom.running.controller import RunFailedError
from tests.running.processes import all_ended, children, dilation, plan_of

RUN_S = 0.2
# A fault must end a run within these seconds, however busy the machine is: deadlines are a second here.
WITHIN_S = 20.0


def one_fault(plan: ll.Plan, draw: random.Random) -> str:
    """The outcome of a run with a fault: what was done to which process, or that the run was over."""
    said: list[str] = []
    wrong: list[int] = []
    executor = ll.Executor(runs=2, warm_ups=0, dilation=dilation(plan, RUN_S))

    def carry_out() -> None:
        try:
            wrong.append(executor.run(plan).wrong)
        except RunFailedError as error:
            said.append(str(error))

    thread = threading.Thread(target=carry_out)
    thread.start()
    while executor.controller is None and thread.is_alive():
        time.sleep(0.001)
    time.sleep(draw.uniform(0.0, 4 * RUN_S))
    family = [executor.controller or 0]
    family += children(family[0])
    place = draw.randrange(len(family))
    # A controller that is stopped is noticed after a while; the tests of faults have it.
    number = signal.SIGKILL if place == 0 else draw.choice((signal.SIGKILL, signal.SIGSTOP))
    try:
        os.kill(family[place], number)
    except ProcessLookupError:
        place = -1
    thread.join(WITHIN_S)
    assert not thread.is_alive(), f"{number.name} to process {place} of {len(family)}: it hangs"
    executor.close()
    assert all_ended(family), f"{number.name} to process {place} of {len(family)}: processes are left"
    assert len(said) + len(wrong) == 1, said
    assert wrong in ([], [0])
    assert all("\n" not in line for line in said)
    if wrong:
        return "over before the fault"
    return f"{number.name} to {'the controller' if place == 0 else 'a rank or the switch'}"


def random_faults(runs: int, seed: int) -> Counter[str]:
    """How often each outcome occurred in this many runs."""
    draw = random.Random(seed)  # noqa: S311 (moments of faults are no secrets)
    prepared.DEADLINE_FACTOR, prepared.DEADLINE_FLOOR_S = 1.0, 1.0
    plan = plan_of(planner="bvn", algorithm="halving-doubling")
    return Counter(one_fault(plan, draw) for _ in range(runs))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--seed", type=int, default=16)
    asked = options.parse_args()
    for became, count in sorted(random_faults(asked.runs, asked.seed).items()):
        print(f"{count:5} {became}")  # noqa: T201
