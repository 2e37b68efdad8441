"""A model that answers requests, the pools of ranks that read prompts and decode, and what does not go together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lightloom.base.errors import refuse
from lightloom.base.whole_numbers import whole_number
from lightloom.formats.workload_options import LEAST_RANKS, MOST_RANKS
from lightloom.inputs.workloads.inference_keys import read_inference
from lightloom.inputs.workloads.model_keys import INFERENCE, ROUTING
from lightloom.inputs.workloads.routing import Routing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Accelerator", "Description", "Model", "Pool"]

# Sizes of both pools of which one divides the other, so that caches are sent in equal parts.
MATCHED = ("tensor", "pipeline", "replicas")


class Model(NamedTuple):
    """Dimensions of a model; parameters as `model_counts` counts them.

    attention, network, embedding: parameters of a layer's attention, of one network or expert, and of the logits.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn_hidden: int
    vocabulary: int
    experts: int
    experts_per_token: int
    shared_experts: int
    parameter_bytes: int
    cache_bytes: int
    cache_values: int
    score_flops: int
    attention: int
    network: int
    embedding: int

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """The model of a table `[model]`."""
        hidden, heads = table["hidden"], table["heads"]
        kv_heads = table["kv_heads"] or heads
        shared = hidden * kv_heads // heads
        names = ("layers", "ffn_hidden", "vocabulary", "experts", "experts_per_token", "shared_experts")
        return cls(
            **{name: table[name] for name in names},
            hidden=hidden,
            heads=heads,
            kv_heads=kv_heads,
            parameter_bytes=table["parameter_bytes"],
            cache_bytes=table["cache_bytes"] or table["parameter_bytes"],
            cache_values=table["cache_values"] or 2 * shared,
            score_flops=table["score_flops"] or 4 * hidden,
            attention=table["attention_parameters"] or 2 * hidden * hidden + 2 * hidden * shared,
            network=(3 if table["gated"] else 2) * hidden * table["ffn_hidden"],
            embedding=table["vocabulary"] * hidden,
        )


class Accelerator(NamedTuple):
    """The speed of a rank's computation and memory: FLOP/s, bytes/s and the shares of them that are reached."""

    flops: float
    utilisation: float
    memory_bandwidth: float
    memory_utilisation: float


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Ranks that read prompts or decode; those of `first` and on.

    requests: of one tensor-parallel group. prompt: tokens of each, of prefill; context, steps: of decode.
    """

    name: str
    requests: int
    tensor: int
    pipeline: int
    expert: int
    instances: int
    microbatches: int
    prompt: int = 0
    context: int = 0
    steps: int = 1
    first: int = 0

    @property
    def is_prefill(self) -> bool:
        """Whether it reads prompts."""
        return self.prompt > 0

    @property
    def group(self) -> int:
        """Requests that go through a stage at once."""
        return self.requests // self.microbatches

    @property
    def tokens(self) -> int:
        """Tokens that go through a stage at once."""
        return self.group * self.prompt if self.is_prefill else self.group

    @property
    def replicas(self) -> int:
        """Tensor-parallel groups of a stage, each with requests of its own."""
        return self.expert * self.instances

    @property
    def stage_ranks(self) -> int:
        """Ranks of one stage."""
        return self.tensor * self.replicas

    @property
    def ranks(self) -> int:
        """Ranks in all."""
        return self.stage_ranks * self.pipeline

    @property
    def mesh(self) -> dict[str, int]:
        """The axes of more than one rank, the fastest first."""
        axes = {"tp": self.tensor, "ep": self.expert, "dp": self.instances, "pp": self.pipeline}
        return {name: size for name, size in axes.items() if size > 1}

    @property
    def slots(self) -> int:
        """Slots of a pass: decode steps follow each other without a gap, a batch of prompts stands alone."""
        if self.is_prefill:
            return self.microbatches + self.pipeline - 1
        return max(self.microbatches, self.pipeline)

    def is_busy(self, slot: int, stage: int) -> bool:
        """Whether a stage has a part of the requests in a slot."""
        return (slot - stage) % self.slots < self.microbatches

    def rank(self, shard: int, replica: int, stage: int) -> int:
        """The rank of a place: tp, ep and dp together, pp."""
        return self.first + shard + self.tensor * (replica + self.replicas * stage)

    def groups(self, axis: str) -> list[list[int]]:
        """The groups of the axis tp or ep."""
        size, stride = (self.tensor, 1) if axis == "tp" else (self.expert, self.tensor)
        starts = [place for place in range(self.ranks) if place // stride % size == 0]
        return [[self.first + start + stride * place for place in range(size)] for start in starts]

    def check(self, model: Model) -> None:
        """Raise `InputError` that names the key for what does not fit the model."""
        for name in ("kv_heads", "ffn_hidden", "vocabulary"):
            _divides(f"model.{name}", getattr(model, name), f"{self.name}.tensor", self.tensor)
        _divides("model.layers", model.layers, f"{self.name}.pipeline", self.pipeline)
        _divides("model.experts", model.experts, f"{self.name}.expert", self.expert)
        _divides(f"{self.name}.requests", self.requests, f"{self.name}.microbatches", self.microbatches)


class Description(NamedTuple):
    """A description of inference, checked; one of the pools may be None."""

    model: Model
    accelerator: Accelerator
    prefill: Pool | None
    decode: Pool | None
    routing: Routing | None
    name: str | None

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str, ranks: int | None, folder: Path | None = None) -> Self:
        """The description that the tables state, on `ranks` ranks if given: as many instances as make it.

        folder: of the description's file; None of a text. Raises `InputError` that names the key, or `ranks`.
        """
        tables = read_inference(values, where)
        model = Model.of(tables["model"])
        pools = [Pool(name=name, **tables[name]) for name in INFERENCE if name in values]
        if ranks is not None:
            pools = _sized(pools, ranks)
        _check_model(model)
        for pool in pools:
            pool.check(model)
        if len(pools) == len(INFERENCE):
            _check_pair(*pools)
            pools[1] = replace(pools[1], first=pools[0].ranks)
        total = sum(pool.ranks for pool in pools)
        if not LEAST_RANKS <= total <= MOST_RANKS:
            names = " and ".join(f"[{pool.name}]" for pool in pools)
            raise refuse(pools[0].name, f"{names} make {total} ranks in all; it takes {LEAST_RANKS} to {MOST_RANKS}")
        by_name = {pool.name: pool for pool in pools}
        return cls(
            model,
            Accelerator(**tables["accelerator"]),
            by_name.get("prefill"),
            by_name.get("decode"),
            Routing.of(values, tables[ROUTING], max(pool.expert for pool in pools), folder),
            tables[""].get("name"),
        )

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools that there are, prefill first."""
        return tuple(pool for pool in (self.prefill, self.decode) if pool is not None)


def _sized(pools: list[Pool], ranks: int) -> list[Pool]:
    """The pools with the numbers of instances that give this many ranks, in the proportion that they have."""
    common = gcd(*(pool.instances for pool in pools))
    copy = sum(pool.ranks for pool in pools) // common
    if whole_number("ranks", ranks, LEAST_RANKS, MOST_RANKS) % copy:
        raise refuse("ranks", f"`{ranks}` is not accepted; it takes a multiple of the ranks of an instance, {copy}")
    return [replace(pool, instances=pool.instances // common * (ranks // copy)) for pool in pools]


def _check_model(model: Model) -> None:
    _divides("model.hidden", model.hidden, "model.heads", model.heads)
    _divides("model.heads", model.heads, "model.kv_heads", model.kv_heads)
    if model.experts_per_token > model.experts:
        raise refuse(
            "model.experts_per_token",
            f"`{model.experts_per_token}` is not accepted; it takes at most model.experts = {model.experts}",
        )


def _check_pair(prefill: Pool, decode: Pool) -> None:
    """Refuse pools whose caches cannot be cut into equal parts."""
    for name in MATCHED:
        sizes = getattr(prefill, name), getattr(decode, name)
        if max(sizes) % min(sizes):
            key = "expert · instances" if name == "replicas" else name
            raise refuse(
                f"decode.{'instances' if name == 'replicas' else name}",
                f"{key} is {sizes[1]}, and prefill's {sizes[0]}; one of the two must be a multiple of the other",
            )


def _divides(field: str, value: int, divisor: str, by: int) -> None:
    if value % by:
        raise refuse(field, f"`{value}` is not accepted; it takes a multiple of {divisor} = {by}")
