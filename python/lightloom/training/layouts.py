"""The fastest parallel layout of a model on a fabric."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom._core import show_size
from lightloom.base.errors import InputError, refuse
from lightloom.base.files import write_bytes
from lightloom.base.frames import Table
from lightloom.base.port_rates import all_ports_bps
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.optics import Optics
from lightloom.inputs.quantities import bytes_of, seconds_of
from lightloom.inputs.workloads.layouts import kept_degrees, layout_words, legal_layouts, memory_bytes
from lightloom.inputs.workloads.model import trained_model, workload_of
from lightloom.training.planning import train
from lightloom.training.workload import Workload

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from lightloom.inputs.workloads.model_description import Description
    from lightloom.training.result import Training

__all__ = ["Layout", "Layouts", "best_layout", "least_s"]

SCHEMA = "lightloom.layouts/1"
# Arguments for which some layouts are refused and others are not.
PASSED_OVER = {"policy", "optics"}


class Layout(NamedTuple):
    """A layout that was planned.

    name: its degrees in words. tensor, context, expert, data, pipeline: these. memory_bytes: of the rank that holds
    most. total_s: of its iteration; fixed_s: on the best circuits that never change, None where they do not serve it.
    """

    name: str
    tensor: int
    context: int
    expert: int
    data: int
    pipeline: int
    sequence_parallel: bool
    sharded: bool
    microbatches: int
    memory_bytes: int
    total_s: float
    fixed_s: float | None


@dataclass(frozen=True)
class Layouts(Table):
    """The fastest layouts, best first, with the iteration of the best and its workload; seconds and bytes.

    legal, fitting, planned, refused: how many layouts the model's dimensions allow, how many of these fit into memory,
    how many were planned, and how many the policy does not serve or the optical layer has no room for.
    """

    best: Training
    workload: Workload
    fastest: tuple[Layout, ...]
    legal: int
    fitting: int
    planned: int
    refused: int

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one of the fastest layouts each."""
        return {name: [getattr(layout, name) for layout in self.fastest] for name in Layout._fields}

    def to_json(self) -> str:
        """The layouts as JSON of schema `lightloom.layouts/1`, without the iteration; seconds and bytes."""
        counts = {name: getattr(self, name) for name in ("legal", "fitting", "planned", "refused")}
        made = {
            "schema": SCHEMA,
            "workload": self.workload.name,
            "ranks": self.workload.ranks,
            "policy": self.best.policy,
            **counts,
            "layouts": [layout._asdict() for layout in self.fastest],
        }
        return json.dumps(made, indent=1, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("layouts", path, (self.to_json() + "\n").encode())


def _after(words: str, report: Callable[[str], object]) -> Callable[[str], object]:
    """Reports of one layout's plans, each after what is said of the layout."""
    report(words)
    return lambda text: report(f"{words}: {text}")


def best_layout(
    model: str | os.PathLike[str],
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    ranks: int | None = None,
    layout: str = "auto",
    memory: str | int | None = None,
    policy: str = "carry",
    most_named: int = 5,
    report: Callable[[str], object] | None = None,
) -> Layouts:
    """Plan a model's layouts, in the order of a lower bound on their time, until no other may be among the fastest.

    model: a TOML file, its text of several lines, or a name of `lightloom list models`. ranks: as the description has
    it when left out. memory: of a rank, `"80GiB"` or bytes; no limit when left out. layout: degrees and flags that all
    layouts must have, such as `"tensor=4,sharded=true"`. most_named: how many of the fastest are found. fabric, policy,
    report: as `train` takes them.

    A layout whose circuits the fabric's optical layer has no room for is passed over, as one that the policy does not
    serve.

    Raises `InputError` that names the argument, or `layout` or `memory` where no layout is legal or fits.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    legal = legal_layouts(trained_model(model), ranks, kept_degrees(layout))
    most = None if memory is None else bytes_of("memory", memory)
    fitting = [one for one in legal if most is None or memory_bytes(one) <= most]
    if not fitting:
        least = min(map(memory_bytes, legal))
        needs = f"{show_size(least)}, {least} bytes"
        raise refuse("memory", f"`{memory}` is not accepted; the layout that needs least takes {needs}")
    bounded = sorted(((least_s(one, fabric), one) for one in fitting), key=lambda found: found[0])
    best: tuple[Training, Workload] | None = None
    planned: list[Layout] = []
    refused, refusal = 0, None
    for bound_s, divided in bounded:
        if bound_s >= _time_to_beat(planned, most_named):
            break
        name = layout_words(divided)
        say = (
            None
            if report is None
            else _after(f"{name} ({len(planned)} of at most {len(bounded)} layouts done)", report)
        )
        workload = Workload.of(workload_of(divided))
        try:
            training = train(workload, fabric=fabric, policy=policy, report=say)
            if fabric.optics is not None and training.total_s < _time_to_beat(planned, most_named):
                _check_room(training, Optics.load(fabric.optics))
        except InputError as error:
            # A policy or an optical layer that does not serve one layout may serve another.
            if error.field not in PASSED_OVER:
                raise
            refused, refusal = refused + 1, error
            continue
        fixed_s = training.policies.get("one-shot")
        degrees = {field: getattr(divided, field) for field in Layout._fields if hasattr(divided, field)}
        told = {**degrees, "name": name, "memory_bytes": memory_bytes(divided)}
        planned.append(Layout(**told, total_s=training.total_s, fixed_s=fixed_s))
        if best is None or training.total_s < best[0].total_s:
            best = training, workload
    if best is None:
        raise refusal or refuse("policy", "no layout of the model was planned")
    planned.sort(key=lambda one: one.total_s)
    return Layouts(*best, tuple(planned[:most_named]), len(legal), len(fitting), len(planned), refused)


def _check_room(training: Training, layer: Optics) -> None:
    """Raise `InputError` that names `optics` where the layer has no room for the circuits of all groups."""
    core = _core.TrainingPlan.from_json(training.to_json())
    _core.iteration_circuits(core, layer.kind, list(layer.names), layer.switch_ports)


def _time_to_beat(planned: list[Layout], most_named: int) -> float:
    """The time of the slowest of the layouts that are named, s; infinite while there is room for more."""
    return math.inf if len(planned) < most_named else sorted(one.total_s for one in planned)[most_named - 1]


def least_s(layout: Description, fabric: Fabric) -> float:
    """A time that no plan of the layout's iteration is below, s.

    The longest chain of its nodes, each communication in one step over one hop, with the bytes that a rank must send at
    least on all ports.
    """
    told = workload_of(layout)
    step_s = seconds_of("startup", fabric.startup) + seconds_of("hop_delay", fabric.hop_delay)
    byte_s = 8 / all_ports_bps(fabric.ports, fabric.rates_bps)
    ends_s: dict[str, float] = {}
    takes_s: float
    for node in told["nodes"]:
        takes_s = node["duration_s"] if node["kind"] == "compute" else step_s + byte_s * _least_bytes(told, node)
        ends_s[node["id"]] = max((ends_s[before] for before in node["after"]), default=0.0) + takes_s
    return max(ends_s.values())


def _least_bytes(told: Mapping[str, Any], node: Mapping[str, Any]) -> float:
    """Bytes that some rank of a communication must send or receive at least."""
    size = float(node["size_bytes"])
    if node["kind"] == "send":
        return size
    if "matrix" in node:
        rows = told["matrices"][node["matrix"]]
        sent = (sum(row) - row[place] for place, row in enumerate(rows))
        received = (sum(column) - column[place] for place, column in enumerate(zip(*rows, strict=True)))
        return float(max(*sent, *received))
    ranks: int
    if "axis" in node:
        ranks = told["mesh"][node["axis"]]
    else:
        ranks = len(told["groups"][node["group"] if isinstance(node["group"], str) else node["group"][0]])
    others = 1 - 1 / ranks
    return size * (2 * others if node["collective"] == "all-reduce" else others)
