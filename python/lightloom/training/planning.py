"""Plan a training iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of
from lightloom.inputs.fabric import Fabric
from lightloom.training.result import Training
from lightloom.training.workload import Workload

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["train"]

# In which topology groups rest where the fabric does not say it.
RESTING = "ring"


def train(
    workload: Workload | str | os.PathLike[str],
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    policy: str = "carry",
    report: Callable[[str], object] | None = None,
    **reading: Any,
) -> Training:
    """Plan one iteration of a training job: plans, ports and topologies of all its communication, and when it all runs.

    workload: a Workload, or what `Workload.read` takes; `reading` are its options.
    fabric: a Fabric, the name of a preset or a TOML file; the preset `default` when left out. Its GPUs are the ranks of
        the workload. `initial` names the topology in which each group rests, for policies that return to one; `"ring"`
        where it says nothing.
    policy: `"carry"`, which plans everything together, or another of `lightloom list policies`; the iteration's time
        under the others is stated too.
    report: is called with what is being planned, and how many of its plans are found.

    The iteration that is returned passed `verify`. Raises `InputError` that names the argument.
    """
    if not isinstance(workload, Workload):
        workload = Workload.read(workload, **reading)
    elif reading:
        raise refuse(next(iter(reading)), "it is only for files, and the workload has been read already")
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    initial = RESTING if fabric.initial is None else fabric.initial
    if not isinstance(initial, str) or initial == "free":
        accepts = "the name of a topology such as ring, in which each group rests"
        raise refuse("initial", f"`{shown(initial)}` is not accepted; it takes {accepts}")
    fabric.refuse_barrier("iterations are planned")
    fabric.refuse_failed("iterations are planned")
    fabric.refuse_positions("iterations are planned")
    if fabric.gpus not in (None, workload.ranks):
        raise refuse("gpus", f"it is {fabric.gpus}; the workload has {workload.ranks} ranks")
    if workload.ranks == 1:
        raise refuse(
            "workload.ranks", "1 is not accepted; an iteration is planned for 2 ranks or more, which communicate"
        )
    sized = fabric.sized(workload=workload.ranks)
    core = _core.train(workload.core, _without_start(sized), initial, text_of("policy", policy), report, fabric.cache)
    return Training.of_core(core)


def _without_start(fabric: Fabric) -> _core.Fabric:
    """The fabric in the core; its groups have topologies of their own, so it has no start topology."""
    from dataclasses import replace

    return replace(fabric, initial=None).to_core()
