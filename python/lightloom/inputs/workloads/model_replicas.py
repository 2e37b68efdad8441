"""Reductions and gathers over data-parallel ranks: the data, their buckets, and the ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse
from lightloom.inputs.workloads.model_counts import Counts

if TYPE_CHECKING:
    from lightloom.inputs.workloads.model_description import Description

__all__ = ["DENSE", "EXPERTS", "Bucket", "Replicas"]

# Dense parameters are the same on all ranks of cp, ep and dp; experts on those of cp and dp.
DENSE, EXPERTS = ("cp", "ep", "dp"), ("cp", "dp")
# The first and the last stage, as the ranks of a node.
ENDS = "ends"
MOST_BUCKETS = 1 << 18


class Bucket(NamedTuple):
    """Gradients that are reduced at once: over which axes, and bytes."""

    axes: tuple[str, ...]
    size_bytes: int


class Replicas:
    """The data-parallel groups of a model, named where they are used, and the bytes that each shares."""

    def __init__(self, model: Description) -> None:
        self._model = model
        self._counts = Counts(model)
        # Lists of ranks that nodes name.
        self.groups: dict[str, list[int]] = {}

    @property
    def layer(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """Axes and parameters of one layer on one rank: dense ones and experts."""
        parts = ((DENSE, self._counts.dense_parameters), (EXPERTS, self._counts.expert_parameters))
        return tuple((axes, parameters) for axes, parameters in parts if parameters and self._spans(axes))

    @property
    def end_parameters(self) -> int:
        """Parameters of the embedding and the logits on one rank of a stage that has them.

        With one stage it has both; else the first has the embedding and the last the logits, which are as large.
        """
        both = self._model.pipeline == 1 and not self._model.tied_embeddings
        return self._counts.embedding // self._model.tensor * (2 if both else 1) if self._spans(DENSE) else 0

    def layer_buckets(self) -> list[list[Bucket]]:
        """Gradients to be reduced once the k-th layer of a stage is done, in the order of the backward pass."""
        model = self._model
        ready: list[list[Bucket]] = [[] for _ in range(model.stage_layers)]
        for axes, parameters in self.layer:
            if axes == DENSE and model.layer_gradients is not None:
                cut = [list(model.layer_gradients)] * model.stage_layers
            else:
                cut = _cut([parameters * model.gradient_bytes] * model.stage_layers, model.bucket)
            for layer, sizes in zip(ready, cut, strict=True):
                layer.extend(Bucket(axes, size) for size in sizes)
        return ready

    def end_buckets(self) -> list[Bucket]:
        """The gradients of the embedding and the logits."""
        size = self.end_parameters * self._model.gradient_bytes
        return [Bucket(DENSE, part) for part in _cut([size], self._model.bucket)[0]]

    def tied_exchange(self) -> dict[str, Any] | None:
        """The AllReduce between first and last stage of an embedding that both have; None where they do not."""
        model = self._model
        if not (model.tied_embeddings and model.pipeline > 1 and model.vocabulary):
            return None
        far = model.stage_ranks * (model.pipeline - 1)
        for rank in range(model.stage_ranks):
            self.groups[f"embedding-{rank}"] = [rank, rank + far]
        names = [f"embedding-{rank}" for rank in range(model.stage_ranks)]
        size = self._counts.embedding // model.tensor * model.gradient_bytes
        return {"kind": "collective", "collective": "all-reduce", "group": names, "size_bytes": size}

    def stage(self, index: int) -> str:
        """The name of a stage's ranks."""
        size = self._model.stage_ranks
        return self._named(f"stage-{index}", range(index * size, (index + 1) * size))

    def ends(self) -> str:
        """The name of the ranks of the first and the last stage."""
        size, ranks = self._model.stage_ranks, self._model.ranks
        return self._named(ENDS, (*range(size), *range(ranks - size, ranks)))

    def collective(self, kind: str, bucket: Bucket, stages: tuple[int, ...] | None = None) -> dict[str, Any]:
        """The fields of a collective of the groups that span the axes, in these stages, or in all."""
        model = self._model
        fields: dict[str, Any] = {"kind": "collective", "collective": kind}
        spanned = [axis for axis in bucket.axes if axis in model.mesh]
        if len(spanned) > 1:
            stages = tuple(range(model.pipeline)) if stages is None else stages
            fields["group"] = [name for stage in stages for name in self._replicas(stage, bucket.axes)]
        else:
            fields["axis"] = spanned[0]
            if stages is not None and len(stages) < model.pipeline:
                fields["ranks"] = self.stage(stages[0]) if len(stages) == 1 else self.ends()
        return {**fields, "size_bytes": bucket.size_bytes}

    def _replicas(self, stage: int, axes: tuple[str, ...]) -> list[str]:
        """The names of the groups of one stage that span the axes: those who have the same part of its parameters."""
        model, begin, end = self._model, stage * self._model.stage_ranks, (stage + 1) * self._model.stage_ranks
        shards = range(model.tensor)
        if axes == DENSE or model.expert == 1:
            return [self._named(f"replicas-{stage}-{one}", range(begin + one, end, model.tensor)) for one in shards]
        # An expert's ranks of cp lie side by side, tensor apart.
        inner = model.tensor * model.context
        blocks = [range(begin + expert * inner, end, model.expert * inner) for expert in range(model.expert)]
        return [
            self._named(
                f"experts-{stage}-{one}-{expert}",
                tuple(base + one + place * model.tensor for base in block for place in range(model.context)),
            )
            for one in shards
            for expert, block in enumerate(blocks)
        ]

    def _named(self, name: str, ranks: range | tuple[int, ...]) -> str:
        if name not in self.groups:
            self.groups[name] = list(ranks)
        return name

    def _spans(self, axes: tuple[str, ...]) -> bool:
        return any(axis in self._model.mesh for axis in axes)


def _cut(parts: list[int], bucket: int | None) -> list[list[int]]:
    """Sizes of the buckets that the end of each part completes, where all parts follow one another.

    bucket: bytes of each but the last; None: a bucket a part.
    """
    if bucket is None:
        return [[part] if part else [] for part in parts]
    if sum(parts) // bucket > MOST_BUCKETS:
        raise refuse("parallelism.bucket", f"`{bucket}` is not accepted; it makes more than {MOST_BUCKETS} reductions")
    cut, waiting = [], 0
    for index, part in enumerate(parts):
        full, waiting = divmod(waiting + part, bucket)
        cut.append([bucket] * full)
        if waiting and index == len(parts) - 1:
            cut[-1].append(waiting)
    return cut
