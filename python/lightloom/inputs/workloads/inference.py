"""Inference as a workload: prompts that are read, decode steps, and KV caches that are sent between.

*Prefill* reads a batch of prompts at once and ends with the logits of their last tokens, which give the first tokens of
the answers. *Decode* gives every request its next token: an iteration is a number of steps of the same size. With both,
on pools of ranks of their own, an iteration is one batch of prompts and then its caches on their way to the ranks that
decode, while these give the requests that came before their decode steps (Patel et al. 2024, "Splitwise"; Zhong et al.
2024, "DistServe"); it repeats, so that the pools always work at once, and caches arrive before the next iteration's
steps.

A layer of a pass, with a buffer a of tokens · h · parameter_bytes: an AllReduce of a over tp after attention and one
after the network (Shoeybi et al. 2019, "Megatron-LM", §3); around experts an All-to-All of k·a over ep. Stages run in
lockstep as in `model_iteration`: in every slot all stages run their layers at once, then hand on. A batch of prompts in
M parts takes M + P - 1 slots of P stages. Decode steps follow one another, so that a step takes max(M, P) slots, and no
stage idles with M = P parts of the requests.

Left out: exchanges of the embedding and the logits over tp, the tokens that the last stage hands to the first, and the
choice of tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.inputs.workloads.inference_caches import cache_sends
from lightloom.inputs.workloads.inference_counts import PassWork
from lightloom.inputs.workloads.inference_pools import Description
from lightloom.inputs.workloads.model_graph import Graph
from lightloom.inputs.workloads.model_layers import Exchange
from lightloom.inputs.workloads.routing import ExpertTraffic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lightloom.inputs.workloads.inference_pools import Model, Pool

__all__ = ["inference_workload"]

SCHEMA = "lightloom.workload/1"
# The All-to-All that brings results back from experts.
BACK = "ep-1"


def inference_workload(
    values: Mapping[str, Any], where: str, ranks: int | None, folder: Path | None = None
) -> dict[str, Any]:
    """The workload, as `lightloom.workload/1` has it, of a description's tables.

    where: what messages call the description. ranks: ranks in all; the instances follow from it.
    folder: of the description's file; None of a text. Raises `InputError` that names the key, or `ranks`.
    """
    told = Description.of(values, where, ranks, folder)
    pools = told.pools
    graph = Graph(sum(pool.steps * pool.slots * told.model.layers // pool.pipeline for pool in pools))
    groups: dict[str, list[int]] = {}
    passes = {pool.name: Passes(told, pool, graph, groups) for pool in pools}
    inference: dict[str, Any] = {"prompts": 0, "requests": 0, "steps": 0}
    if told.prefill is not None:
        passes["prefill"].run("prefill")
        inference["prompts"] = told.prefill.requests * told.prefill.replicas
        inference["first_token"] = graph.last[0]
        if told.decode is not None:
            _send_caches(graph, told.model, told.prefill, told.decode)
            inference["caches"] = graph.last[0]
    if told.decode is not None:
        graph.last = ()
        for step in range(told.decode.steps):
            passes["decode"].run(f"step-{step}")
        inference["requests"] = told.decode.requests * told.decode.replicas
        inference["steps"] = told.decode.steps
    matrices = {name: rows for of_pool in passes.values() for name, rows in of_pool.matrices.items()}
    return {
        "schema": SCHEMA,
        **({} if told.name is None else {"name": told.name}),
        "ranks": sum(pool.ranks for pool in pools),
        "mesh": pools[0].mesh if len(pools) == 1 else {},
        "groups": groups,
        **({"matrices": matrices} if matrices else {}),
        "model_flops": float(sum(PassWork(told.model, pool).flops for pool in pools)),
        "peak_flops": told.accelerator.flops,
        "inference": inference,
        "nodes": graph.nodes,
    }


class Passes:
    """Passes of a pool's requests through the layers, as nodes of a graph."""

    def __init__(
        self,
        told: Description,
        pool: Pool,
        graph: Graph,
        groups: dict[str, list[int]],
    ) -> None:
        """groups: lists of ranks by name, to which those that nodes name are added."""
        model, accelerator = told.model, told.accelerator
        # With several pools, groups of axes are named as well: the pools have no mesh in common.
        self._has_groups = has_groups = len(told.pools) > 1
        self._pool, self._graph, self._groups = pool, graph, groups
        self._layers = model.layers // pool.pipeline
        work = PassWork(model, pool)
        self._seconds = {
            name: getattr(work, name).seconds(accelerator, pool.tensor) for name in ("attention", "network", "logits")
        }
        self._size = pool.tokens * model.hidden * model.parameter_bytes
        routing = told.routing if pool.expert > 1 else None
        name = f"{pool.name}-routing" if has_groups else "routing"
        self._tokens = ExpertTraffic(routing, pool.expert, model.experts_per_token * self._size, self._layers, name)
        sums = (Exchange("tp", "all-reduce", self._size),) if pool.tensor > 1 else ()
        tokens = (Exchange("ep", "all-to-all", model.experts_per_token * self._size),) if pool.expert > 1 else ()
        network = "network" if model.experts == 1 else "experts"
        self._parts: tuple[tuple[str, Exchange | float], ...] = (
            ("attention", self._seconds["attention"]),
            *(("tp-0", exchange) for exchange in sums),
            *(("ep-0", exchange) for exchange in tokens),
            (network, self._seconds["network"]),
            *(("tp-1", exchange) for exchange in sums),
            *((BACK, exchange) for exchange in tokens),
        )
        self._over = {exchange.axis: self._fields(exchange.axis) for exchange in (*sums, *tokens)}
        self._all = {"ranks": self._named(pool.name, range(pool.first, pool.first + pool.ranks))} if has_groups else {}
        last = range(pool.first + pool.ranks - pool.stage_ranks, pool.first + pool.ranks)
        self._last = {"ranks": self._named(f"{pool.name}-last-stage", last)} if pool.pipeline > 1 else self._all

    @property
    def matrices(self) -> dict[str, list[list[int]]]:
        """The matrices that nodes name."""
        return self._tokens.matrices

    def run(self, name: str) -> None:
        """The nodes of one pass, each waiting for the one before."""
        pool = self._pool
        for slot in range(pool.slots):
            here = name if pool.slots == 1 else f"{name}-slot-{slot}"
            for layer in range(self._layers):
                self._layer(f"{here}-layer-{layer}", layer)
            if pool.is_busy(slot, pool.pipeline - 1):
                self._graph.compute(f"{here}-logits", self._seconds["logits"], **self._last)
            if any(pool.is_busy(slot, stage) for stage in range(pool.pipeline - 1)):
                near = range(pool.first, pool.first + pool.ranks - pool.stage_ranks)
                far = range(pool.first + pool.stage_ranks, pool.first + pool.ranks)
                ends = {"source": list(near), "destination": list(far)}
                self._graph.then(f"{here}-send", kind="send", **ends, size_bytes=self._size)

    def _layer(self, name: str, layer: int) -> None:
        """Parts with nothing to exchange between them are one node."""
        seconds = 0.0
        computed: list[str] = []
        for part, what in self._parts:
            if isinstance(what, float):
                seconds, computed = seconds + what, [*computed, part]
                continue
            if computed:
                self._graph.compute(f"{name}-{'-'.join(computed)}", seconds, **self._all)
                seconds, computed = 0.0, []
            of_experts = self._tokens.fields(layer, is_back=part == BACK)
            size = of_experts if what.axis == "ep" else {"size_bytes": what.size_bytes}
            kind = {"kind": "collective", "collective": what.collective}
            self._graph.then(f"{name}-{part}", **kind, **self._over[what.axis], **size)
        if computed:
            self._graph.compute(f"{name}-{'-'.join(computed)}", seconds, **self._all)

    def _fields(self, axis: str) -> dict[str, Any]:
        """The fields of a collective over all groups of an axis."""
        if not self._has_groups:
            return {"axis": axis}
        found = self._pool.groups(axis)
        names = [
            self._named(f"{self._pool.name}-{axis}" + (f"-{index}" if len(found) > 1 else ""), ranks)
            for index, ranks in enumerate(found)
        ]
        return {"group": names if len(names) > 1 else names[0]}

    def _named(self, name: str, ranks: range | list[int]) -> str:
        self._groups[name] = list(ranks)
        return name


def _send_caches(graph: Graph, model: Model, prefill: Pool, decode: Pool) -> None:
    sends = cache_sends(model, prefill, decode)
    for index, (sources, destinations) in enumerate(sends.rounds):
        graph.then(
            f"caches-{index}",
            kind="send",
            source=sources,
            destination=destinations,
            size_bytes=sends.size_bytes,
        )
