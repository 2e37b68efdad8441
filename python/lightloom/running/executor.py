"""Plans run on real processes and data: a process a rank, circuits that really change, results as NumPy has them."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import FailedError, refuse, shown, unknown_name
from lightloom.base.whole_numbers import whole_number
from lightloom.planning import plan
from lightloom.plans import Plan
from lightloom.running.advice import advised
from lightloom.running.controller import Controller, RunFailedError
from lightloom.running.data import DrawnInputs, checked_inputs, expected, wrong
from lightloom.running.hosts.measured import run_on_hosts
from lightloom.running.hosts.runs import AGENT_PORT, checked_hosts
from lightloom.running.judged import Jitter
from lightloom.running.measurement import Measurement
from lightloom.running.namespaces import KernelNetwork, remove_left
from lightloom.running.preparation import Prepared, prepared
from lightloom.running.reported_times import reported_times
from lightloom.running.run_options import run_options
from lightloom.running.run_settings import RunSettings
from lightloom.running.workspaces import Workspaces

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from lightloom.inputs.fabric import Fabric

__all__ = ["TRANSPORTS", "Executor", "run"]

TRANSPORTS = ("shared-memory", "kernel", "mpi", "tcp")
# Plans that are kept ready.
MOST_PREPARED = 64


class Executor:
    """Runs plans, one after the other, by processes that stay up between them.

        with ll.Executor(fabric, runs=1) as executor:
            measurement = executor.run(executor.plan("all-reduce", "1MiB"), arrays)

    fabric: for `plan`; `run` of existing plans does not need it. transport:
    `"shared-memory"`: packets go through memory, and a switch process holds them back by rate, hop delay
    and dark time; `"kernel"`: they go through the kernel's network, whose token buckets are the rates and whose filters
    are the circuits, without hop delay (root, and iproute2); `"mpi"`: processes send messages by the MPI that there is,
    without circuits of their own, each of them one that mpiexec has started, or for this run is to start; `"tcp"`:
    ranks on several hosts, with a connection for every circuit (`hosts`, `launch`, `agent_port` and `tls` as of the
    command line). dtype:
    `"float32"`, `"float64"`, `"int32"` or `"bfloat16"` (bits in uint16). reduction: `"sum"` or `"max"`. runs: that are
    measured; warm_ups: before them. dilation: rates are divided and delays multiplied by it; chosen from machine and
    plan unless it is said. packet_size: `"4KiB"` or bytes, likewise. real_time: ask for real-time priority and locked
    memory, which are used where they are allowed. switch: an address such as `"scpi://192.0.2.7"`; that switch makes
    and acknowledges every configuration of circuits, too.

    Threads may share an executor: one waits until another's plan has run.

    Raises `InputError` that names the argument.
    """

    def __init__(
        self,
        fabric: Fabric | None = None,
        *,
        transport: str = "shared-memory",
        dtype: str = "float32",
        reduction: str = "sum",
        runs: int = 5,
        warm_ups: int = 1,
        dilation: float | None = None,
        packet_size: str | float | None = None,
        real_time: bool = True,
        switch: str | None = None,
        hosts: str | None = None,
        launch: str = "ssh",
        agent_port: int = AGENT_PORT,
        tls: str | None = None,
    ) -> None:
        if transport not in TRANSPORTS:
            raise unknown_name("transport", transport, TRANSPORTS)
        if transport in {"mpi", "tcp"}:
            for name, value in (("dilation", dilation), ("packet_size", packet_size)):
                if value is not None:
                    sends = f"{transport.upper()} sends at its own speed"
                    raise refuse(name, f"`{shown(value)}` is not accepted: {sends}; leave the option out")
        self._hosts = checked_hosts(transport, hosts, launch, agent_port, tls)
        self._transport, self._switch = transport, switch
        self._options = run_options(
            dtype=dtype,
            reduction=reduction,
            runs=runs,
            warm_ups=warm_ups,
            dilation=dilation,
            packet_size=packet_size,
            transport=transport,
            real_time=real_time,
            has_outside_switch=switch is not None,
        )
        self._controller: Controller | None = None
        # There is one controller, which runs one plan at a time.
        self._lock = RLock()
        self._is_running = False
        # Of the last run: for each configuration, the seconds that the outside switch says it took to set it.
        self._answered_s: list[float] = []
        self._fabric = fabric
        self._plans: dict[tuple[str, str | float], Plan] = {}
        # Prepared plans by the identity of the plan, which is kept with each; the one used last is at the end.
        self._prepared: OrderedDict[int, Prepared] = OrderedDict()

    @property
    def controller(self) -> int | None:
        """Number of the controller process, whose children run the ranks; None before the first run."""
        return None if self._controller is None else self._controller.number

    def plan(self, collective: str, size: str | float) -> Plan:
        """The plan of a collective and size on the fabric: made when it is first asked for, then looked up.

        Arguments as of `lightloom.plan`. Raises `InputError` that names the argument, `fabric` if there is none.
        """
        found = self._plans.get((collective, size))
        if found is None:
            if self._fabric is None:
                raise refuse("fabric", "missing; an executor that plans takes one, such as Executor(Fabric(gpus=4))")
            found = self._plans[collective, size] = plan(collective, size, fabric=self._fabric)
        return found

    def run(
        self,
        plan: Plan | str | os.PathLike[str],
        data: Sequence[NDArray[Any]] | None = None,
        *,
        seed: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> Measurement:
        """Run a plan, and compare what ranks end with to what NumPy makes of the data.

        plan: a Plan, or a plan's JSON file; one that was read must pass `lightloom.verify`. data: an array a rank, of
        the type and of the size that its input has; test data drawn from `seed` where it is left out, whole numbers
        whose sums are exact. progress: told how many runs are measured.

        Raises `InputError` that names the argument, and `RunFailedError` where a process fails, does not answer in
        time, or the system refuses a run's resources: all processes are ended then.
        """
        seed = whole_number("seed", seed, 0)
        with self._lock:
            # The lock keeps other threads out; only a run within a run is left.
            if self._is_running:
                raise refuse(
                    "progress",
                    "the callback runs a plan by the same executor, which is still running one; use another executor",
                )
            self._is_running = True
            try:
                return self._run(plan, data, seed, progress)
            finally:
                self._is_running = False

    def _run(
        self,
        plan: Plan | str | os.PathLike[str],
        data: Sequence[NDArray[Any]] | None,
        seed: int,
        progress: Callable[[int], None] | None,
    ) -> Measurement:
        if self._transport == "mpi":
            from lightloom.running.mpi_processes import run_by_mpi
            from lightloom.running.mpi_runs import MpiOptions

            told = self._options
            options = MpiOptions(told.kind, told.reduction, told.runs, told.warm_ups, self._switch)
            return run_by_mpi(plan, data, options, seed=seed, progress=progress)
        if self._hosts is not None:
            return run_on_hosts(self._hosts, plan, data, self._options, self._switch, seed=seed, progress=progress)
        ready = self._ready(plan if isinstance(plan, Plan) else Plan.load(plan))
        program, kind, reduction = ready.program, self._options.kind, self._options.reduction
        given = None if data is None else checked_inputs(program, data, kind)
        # Workspaces first: they refuse what memory does not hold, test data included.
        with Workspaces(program.workspace_bytes, kind) as workspaces:
            inputs = list(DrawnInputs(program, kind, reduction, seed)) if given is None else given
            workspaces.clear()
            workspaces.load(program, inputs)
            with advised(ready.plan.gpus, ready.pace):
                report = self._report(ready, workspaces, progress)
            arrays = workspaces.store(program)
        times_ns, moments, lateness, granted = _core.run_report(report)
        return Measurement(
            ready.plan,
            RunSettings.chosen(self._options, ready.pace, granted, self._switch),
            reported_times(
                ready, times_ns, moments, self._answered_s[-self._options.runs * (1 + ready.changed.size) :]
            ),
            Jitter.reported(lateness),
            tuple(arrays),
            wrong(arrays, expected(program, inputs, kind, reduction), kind),
            ready.windows_s,
        )

    def close(self) -> None:
        """End all processes, and let go of all hosts."""
        if self._hosts is not None:
            self._hosts.close()
        if self._controller is not None:
            self._controller.close()
            self._controller = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ready(self, plan: Plan) -> Prepared:
        ready = self._prepared.get(id(plan))
        if ready is None:
            ready = prepared(plan, self._options)
            self._prepared[id(plan)] = ready
            if len(self._prepared) > MOST_PREPARED:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(id(plan))
        return ready

    def _report(self, ready: Prepared, workspaces: Workspaces, progress: Callable[[int], None] | None) -> bytes:
        if self._controller is None:
            self._controller = Controller()
        try:
            if self._transport != "kernel":
                return self._asked(
                    self._controller, ready, ready.request.encoded(workspaces.offsets), workspaces, progress
                )
            remove_left()
            network = KernelNetwork(
                self._controller.number,
                ranks=ready.plan.gpus,
                ports=ready.plan.ports,
                packet_bytes=ready.pace.packet_bytes,
                rate_bps=ready.rate_bps,
            )
            with network:
                request = ready.request.encoded(workspaces.offsets, namespaces=network.described)
                return self._asked(self._controller, ready, request, workspaces, progress)
        except BaseException:
            # The process does not go on with its work.
            self.close()
            raise

    def _asked(
        self,
        controller: Controller,
        ready: Prepared,
        request: bytes,
        workspaces: Workspaces,
        progress: Callable[[int], None] | None,
    ) -> bytes:
        if self._switch is None:
            return controller.run(request, workspaces.descriptor, progress=progress)
        return self._with_switch(controller, ready, request, workspaces.descriptor, progress)

    def _with_switch(
        self,
        controller: Controller,
        ready: Prepared,
        request: bytes,
        workspaces: int,
        progress: Callable[[int], None] | None,
    ) -> bytes:
        from lightloom.running.outside_switch import OutsideSwitch

        assert self._switch is not None  # noqa: S101
        try:
            switch = OutsideSwitch(ready.circuits, self._switch)
        except FailedError as error:
            raise RunFailedError(*error.lines) from error

        def outside(configuration: int) -> str:
            try:
                switch.make(configuration)
            except FailedError as error:
                return str(error)
            return ""

        with switch:
            report = controller.run(request, workspaces, progress=progress, outside=outside)
        self._answered_s = switch.answered_s
        return report


def run(
    plan: Plan | str | os.PathLike[str],
    data: Sequence[NDArray[Any]] | None = None,
    *,
    transport: str = "shared-memory",
    dtype: str = "float32",
    reduction: str = "sum",
    runs: int = 5,
    warm_ups: int = 1,
    dilation: float | None = None,
    packet_size: str | float | None = None,
    real_time: bool = True,
    switch: str | None = None,
    hosts: str | None = None,
    launch: str = "ssh",
    agent_port: int = AGENT_PORT,
    tls: str | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Measurement:
    """Run a plan on processes of this machine, and compare measured and planned times; Linux only.

    Arguments and errors as of `Executor` and `Executor.run`, which is for many plans.
    """
    with Executor(
        transport=transport,
        dtype=dtype,
        reduction=reduction,
        runs=runs,
        warm_ups=warm_ups,
        dilation=dilation,
        packet_size=packet_size,
        real_time=real_time,
        switch=switch,
        hosts=hosts,
        launch=launch,
        agent_port=agent_port,
        tls=tls,
    ) as executor:
        return executor.run(plan, data, seed=seed, progress=progress)
