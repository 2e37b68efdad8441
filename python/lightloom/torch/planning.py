"""The plans of a group's collectives: made by its first rank, kept by collective, root and size class."""

from __future__ import annotations

import os
import sys
import time
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.requests import build_request
from lightloom.optics.port_maps import circuits
from lightloom.plans import Plan
from lightloom.running.crossbars import ends_of

__all__ = ["FABRIC", "Asked", "PlanBook", "Ready", "dilation_of", "fabric_of", "say_fabric"]

FABRIC, DILATION = "LIGHTLOOM_FABRIC", "LIGHTLOOM_DILATION"
# Tasks that are kept: of one size, and of one size of every pair.
MOST_TASKS = 1024
# The least size class, and the time between two looks for a plan.
LEAST_BYTES, LOOK_S = 1 << 10, 0.002
REFUSED = "refused: "


class Asked(NamedTuple):
    """A collective of a size: its name, its root if it has one, elements of the whole buffer, bytes of an element.

    blocks: of an All-to-All, elements by source and destination in a row.
    """

    collective: str
    root: int | None
    elements: int
    element_bytes: int
    blocks: tuple[int, ...] | None = None

    @property
    def size_class(self) -> int:
        """The power of two of bytes that it is planned for: the whole buffer, or what a rank sends most."""
        size = self.elements * self.element_bytes
        return max(LEAST_BYTES, 1 << max(0, size - 1).bit_length())


class Ready(NamedTuple):
    """A plan and what this rank does in it."""

    plan: Plan
    task: Any


def fabric_of(gpus: int) -> Fabric:
    """The fabric that the environment names, with a GPU a rank. Raises `InputError` that names `LIGHTLOOM_FABRIC`."""
    name = os.environ.get(FABRIC)
    try:
        return Fabric.load(name, gpus=gpus) if name else Fabric(gpus=gpus)
    except InputError as error:
        where = f"{shown(name)}: " if name and name not in str(error) else ""
        raise refuse(FABRIC, f"{where}{error}") from error


def dilation_of() -> float:
    """The times of the fabric are this many times as long; 0: nothing is held back. Raises `InputError`."""
    told = os.environ.get(DILATION, "0")
    try:
        found = float(told)
    except ValueError:
        found = -1.0
    if not 0.0 <= found < float("inf"):
        raise refuse(DILATION, f"`{shown(told)}` is not accepted; it takes a number from 0, where 0 is without delays")
    return found


def say_fabric(fabric: Fabric) -> None:
    """Say which fabric it is where nobody has said so."""
    if not os.environ.get(FABRIC):
        line = f"lightloom: {FABRIC} is not set; collectives are planned for {fabric.gpus} GPUs of the fabric `default`"
        print(line, file=sys.stderr)  # noqa: T201 - the only place where a job's user sees it


class PlanBook:
    """The plans of one group.

    store: of PyTorch, in which the first rank puts plans, so that all ranks have the same. member: the rank's place in
    the group's memory.
    """

    def __init__(self, store: Any, rank: int, fabric: Fabric, dilation: float, member: Any) -> None:
        self._store, self._rank, self._fabric, self._dilation, self._member = store, rank, fabric, dilation, member
        self._plans: dict[tuple[str, int | None, int], Plan] = {}
        self._tasks: OrderedDict[Asked, Ready] = OrderedDict()

    def ready(self, asked: Asked, call: str, timeout_s: float) -> Ready:
        """The plan and the task of a collective, made when it is first asked for.

        call: what all ranks call, which they compare before they wait for a plan. Raises `InputError`, or `OSError`
        with the fault of the group.
        """
        found = self._tasks.get(asked)
        if found is None:
            found = self._tasks[asked] = self._made(asked, call, timeout_s)
            if len(self._tasks) > MOST_TASKS:
                self._tasks.popitem(last=False)
        self._tasks.move_to_end(asked)
        return found

    def _made(self, asked: Asked, call: str, timeout_s: float) -> Ready:
        made = self._plan(asked, call, timeout_s)
        dark_s, windows_s = _core.change_times(made.core)
        # Circuits are as the collective before has left them: what differs changes before the first step.
        dark_s[0] = max(dark_s[0], self._fabric.reconfiguration.fixed_s)
        on_ports = circuits(made, "crossbar")
        held = np.zeros(len(made.steps), dtype=np.int64)
        for one in on_ports.configurations:
            held[list(one.steps)] = one.index
        slower = self._dilation
        task = _core.Task(
            made.core,
            self._rank,
            asked.element_bytes,
            elements=None if asked.blocks else asked.elements,
            blocks=None if asked.blocks is None else list(asked.blocks),
            ports=made.ports,
            configurations=ends_of(on_ports, made.gpus * made.ports).tolist(),
            held=held.tolist(),
            dark_s=[(dark + window) * slower for dark, window in zip(dark_s, windows_s, strict=True)],
            startup_s=(made.barrier_s + made.startup_s) * slower,
            s_per_byte=8 / made.bandwidth_bps * slower,
            hop_s=made.longest_hop_delay_s * slower,
        )
        return Ready(made, task)

    def _plan(self, asked: Asked, call: str, timeout_s: float) -> Plan:
        key = (asked.collective, asked.root, asked.size_class)
        found = self._plans.get(key)
        if found is None:
            self._member.meet(call, timeout_s)
            name = f"plan/{asked.collective}/{asked.root}/{asked.size_class}"
            found = self._plans[key] = self._give(name, key) if self._rank == 0 else self._take(name, timeout_s)
        return found

    def _give(self, name: str, key: tuple[str, int | None, int]) -> Plan:
        collective, root, size = key
        try:
            # Replicas would drift apart where sums of floats differ in their last bits.
            made = Plan(_core.plan_with_same_bits(build_request(collective, size, self._fabric, root=root)))
            if made.uses_electrical:
                raise refuse("plan", "it sends data through electrical switches, and only circuits are run")
        except InputError as error:
            self._store.set(name, f"{REFUSED}{error}")
            raise
        self._store.set(name, made.to_json())
        return made

    def _take(self, name: str, timeout_s: float) -> Plan:
        end_s = time.monotonic() + timeout_s
        while not self._store.check([name]):
            self._member.watch("a plan")
            if time.monotonic() > end_s:
                self._member.abort(f"rank 0 did not make a plan within {timeout_s:g} s")
            time.sleep(LOOK_S)
        text = self._store.get(name).decode()
        if text.startswith(REFUSED):
            raise InputError("plan", text.removeprefix(REFUSED))
        return Plan.from_json(text)
