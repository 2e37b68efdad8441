"""One training iteration of a model as the nodes of a workload.

*Pipeline in lockstep*: as GPipe has it (Huang et al. 2019, §2.2), all microbatches forward, then all backward. A pass
has M + P - 1 slots of M microbatches through P stages; in every slot all stages run their layers at once, then all hand
on to the next stage (backward: to the one before) at once. A stage without a microbatch idles, but takes part in the
slot's nodes, so that one node serves all stages: computation of all ranks, a collective of all groups of an axis, one
send node of all neighbouring stages. Nothing is handed on after the last slot of a pass. The logits are computed by the
ranks of the last stage, in the slots in which it has a microbatch. With one stage each microbatch goes forward and
backward before the next.

So the workload is a serial sequence of few kinds of communications: 2·(M + P - 1)·2·L/P collectives over tp (twice as
many when sequence parallel), as many All-to-Alls where there are experts on several ranks, and 2·(M + P - 2) sends.
Overlap, if asked for, is only of data-parallel collectives, on a stream of their own, `dp`: reductions start when
their layers are done in a stage's last microbatch; prefetched gathers when the layer before starts.

*Data parallel*: after the backward pass an AllReduce a bucket, of all stages at once. Dense gradients are reduced over
cp, ep and dp, experts' over cp and dp. Embedding and logits are on the first and the last stage; where they are tied,
the two stages then add theirs (Megatron-LM's embedding groups).

*Sharded* (Zhao et al. 2023, "PyTorch FSDP", §3; ZeRO-3, Rajbhandari et al. 2020, §5.3): each layer's parameters are
gathered before its forward and before its backward pass, its gradients reduce-scattered after the latter, in every
microbatch; embedding and logits are gathered once a microbatch and kept until its end.

Left out: exchanges of the embedding and the logits over tp, which are two of 4·L, norms of gradients, and the
optimizer's step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.inputs.workloads.model_counts import Counts, times
from lightloom.inputs.workloads.model_graph import Graph
from lightloom.inputs.workloads.model_layers import activation_bytes, expert_bytes, layer_parts
from lightloom.inputs.workloads.model_replicas import DENSE, Bucket, Replicas
from lightloom.inputs.workloads.routing import ExpertTraffic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.inputs.workloads.model_description import Description
    from lightloom.inputs.workloads.model_layers import Exchange, Part

__all__ = ["Iteration"]

FORWARD, BACKWARD = "forward", "backward"


class Iteration:
    """The nodes of an iteration, and the groups that they name."""

    def __init__(self, model: Description) -> None:
        self._model = model
        self._graph = Graph(2 * model.slots * model.stage_layers)
        self._replicas = Replicas(model)
        self._tokens = ExpertTraffic(model.routing, model.expert, expert_bytes(model), model.stage_layers)
        forward, backward = times(model, Counts(model))
        self._logits_s = {FORWARD: forward.logits_s, BACKWARD: backward.logits_s}
        self._parts = {
            FORWARD: layer_parts(model, forward, is_backward=False),
            BACKWARD: tuple(reversed(layer_parts(model, backward, is_backward=True))),
        }
        self._buckets = self._replicas.layer_buckets()
        self._stream = {"stream": "dp"} if model.overlap_gradients or model.prefetch else {}
        self._gathers = self._layer_names()
        self._ahead: tuple[str, ...] = ()
        for way, slot in self._slots():
            self._slot(way, slot)
        self._reduce_the_rest()

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes as the workload has them."""
        return self._graph.nodes

    @property
    def matrices(self) -> dict[str, list[list[int]]]:
        """The matrices that nodes name."""
        return self._tokens.matrices

    @property
    def groups(self) -> dict[str, list[int]]:
        """The lists of ranks that nodes name."""
        return self._replicas.groups

    def _slots(self) -> Iterator[tuple[str, int]]:
        model = self._model
        if model.pipeline == 1:
            yield from ((way, slot) for slot in range(model.microbatches) for way in (FORWARD, BACKWARD))
            return
        yield from ((way, slot) for way in (FORWARD, BACKWARD) for slot in range(model.slots))

    def _layers(self, way: str) -> range:
        layers = range(self._model.stage_layers)
        return layers if way == FORWARD else layers[::-1]

    def _layer_names(self) -> Iterator[str]:
        for way, slot in self._slots():
            yield from (f"{way}-{slot}-layer-{layer}" for layer in self._layers(way))

    def _slot(self, way: str, slot: int) -> None:
        model, name = self._model, f"{way}-{slot}"
        # The stage whose last backward pass this is: its gradients are whole.
        done = model.slots - 1 - slot
        finished = done if way == BACKWARD and done < model.pipeline else None
        if way == FORWARD and model.sharded:
            self._gather_ends(name)
        if way == BACKWARD:
            self._logits(way, slot)
        for index, layer in enumerate(self._layers(way)):
            here = f"{name}-layer-{layer}"
            if model.sharded:
                self._gather()
            if way == BACKWARD and model.recomputation:
                self._layer(f"{here}-again", layer, self._parts[FORWARD])
            self._layer(here, layer, self._parts[way])
            if way == BACKWARD and (model.sharded or finished is not None):
                self._reduce(here, self._buckets[index], finished)
        if way == FORWARD:
            self._logits(way, slot)
        elif model.sharded or finished in {0, model.pipeline - 1}:
            self._reduce(name, self._replicas.end_buckets(), finished)
        self._send(way, slot)

    def _layer(self, name: str, layer: int, parts: tuple[Part, ...]) -> None:
        """Parts with nothing to exchange between them are one node."""
        seconds, exchanges = 0.0, 0
        computed: list[str] = []
        for part in parts:
            for is_after, exchanged in enumerate((part.before, part.after)):
                if is_after:
                    seconds, computed = seconds + part.seconds, [*computed, part.name]
                for exchange in exchanged:
                    if computed:
                        self._graph.compute(f"{name}-{'-'.join(computed)}", seconds)
                        seconds, computed = 0.0, []
                    self._graph.then(
                        f"{name}-{exchange.axis}-{exchanges}",
                        kind="collective",
                        collective=exchange.collective,
                        axis=exchange.axis,
                        **self._bytes_of(exchange, layer, is_after=bool(is_after)),
                    )
                    exchanges += 1
        if computed:
            self._graph.compute(name if not exchanges else f"{name}-{'-'.join(computed)}", seconds)

    def _bytes_of(self, exchange: Exchange, layer: int, *, is_after: bool) -> dict[str, Any]:
        if exchange.axis == "ep":
            return self._tokens.fields(layer, is_back=is_after)
        return {"size_bytes": exchange.size_bytes}

    def _logits(self, way: str, slot: int) -> None:
        model = self._model
        # The last stage has its first microbatch P - 1 slots late forward, and at once backward.
        begin = model.pipeline - 1 if way == FORWARD and model.pipeline > 1 else 0
        if begin <= slot < begin + model.microbatches and self._logits_s[way]:
            of_stage = {"ranks": self._replicas.stage(model.pipeline - 1)} if model.pipeline > 1 else {}
            self._graph.compute(f"{way}-{slot}-logits", self._logits_s[way], **of_stage)

    def _send(self, way: str, slot: int) -> None:
        model = self._model
        if slot == model.slots - 1 or model.pipeline == 1:
            return
        near = list(range(model.ranks - model.stage_ranks))
        far = list(range(model.stage_ranks, model.ranks))
        self._graph.then(
            f"{way}-{slot}-send",
            kind="send",
            source=near if way == FORWARD else far,
            destination=far if way == FORWARD else near,
            size_bytes=activation_bytes(model) // (model.tensor if model.sequence_parallel else 1),
        )

    def _gather_ends(self, name: str) -> None:
        """The embedding and the logits of a microbatch, which nothing can run before."""
        size = self._replicas.end_parameters * self._model.parameter_bytes
        if size:
            fields = self._replicas.collective("all-gather", Bucket(DENSE, size))
            self._graph.then(f"{name}-gather", **fields, **self._stream)

    def _gather(self) -> None:
        """The parameters of the next layer, and with prefetching, those of the following layer at the same time."""
        graph, after = self._graph, self._graph.last
        if not self._model.prefetch:
            for name, fields in self._layer_gathers(next(self._gathers)):
                graph.then(name, **fields)
            return
        mine = self._ahead or self._prefetch(next(self._gathers), after)
        following = next(self._gathers, None)
        self._ahead = () if following is None else self._prefetch(following, after)
        graph.last = (*after, *mine)

    def _prefetch(self, layer: str, after: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._graph.beside(name, after, **fields) for name, fields in self._layer_gathers(layer))

    def _layer_gathers(self, layer: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for axes, parameters in self._replicas.layer:
            bucket = Bucket(axes, parameters * self._model.parameter_bytes)
            fields = self._replicas.collective("all-gather", bucket)
            yield f"{layer}-gather-{'dense' if axes == DENSE else 'experts'}", {**fields, **self._stream}

    def _reduce(self, name: str, buckets: list[Bucket], stage: int | None) -> None:
        """Reductions that are due within the backward pass: of sharded gradients, and those that overlap it."""
        model, graph = self._model, self._graph
        if not (model.sharded or model.overlap_gradients):
            return
        kind = "reduce-scatter" if model.sharded else "all-reduce"
        stages = None if stage is None else (stage,)
        for index, bucket in enumerate(buckets):
            fields = {**self._replicas.collective(kind, bucket, stages), **self._stream}
            if model.overlap_gradients:
                graph.beside(f"{name}-gradients-{index}", graph.last, **fields)
            else:
                graph.then(f"{name}-gradients-{index}", **fields)

    def _reduce_the_rest(self) -> None:
        """After the backward pass: gradients that nothing overlaps, and those of an embedding on two stages."""
        model, graph, replicas = self._model, self._graph, self._replicas
        if not (model.sharded or model.overlap_gradients):
            for layer, buckets in zip(self._layers(BACKWARD), self._buckets, strict=True):
                for index, bucket in enumerate(buckets):
                    graph.then(f"layer-{layer}-gradients-{index}", **replicas.collective("all-reduce", bucket))
            ends = (0, model.pipeline - 1) if model.pipeline > 1 else None
            for index, bucket in enumerate(replicas.end_buckets()):
                graph.then(f"ends-gradients-{index}", **replicas.collective("all-reduce", bucket, ends))
        tied = replicas.tied_exchange()
        if tied is not None:
            # On its stream it comes after the reductions of both stages.
            graph.then("embedding-gradients", **tied, **self._stream)
