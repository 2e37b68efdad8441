"""A model as its description has it, checked: divisibility, and keys that go together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from lightloom.base.errors import refuse
from lightloom.base.whole_numbers import whole_number
from lightloom.formats.workload_options import LEAST_RANKS, MOST_RANKS
from lightloom.inputs.workloads.model_keys import KEYS, read_keys
from lightloom.inputs.workloads.routing import Routing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Description"]

FIELDS = {key.name: key.field for key in KEYS}


@dataclass(frozen=True, kw_only=True)
class Description:
    """A model, its batch, its parallelism and how fast it is computed; the fields are the keys of `model_keys.KEYS`.

    Bytes, seconds and FLOP/s; None where a key is left out and has no default.
    """

    layers: int
    hidden: int
    ffn_hidden: int
    gated: bool
    heads: int
    kv_heads: int
    vocabulary: int
    tied_embeddings: bool
    experts: int
    experts_per_token: int
    sequence: int
    causal: bool
    parameter_bytes: int
    gradient_bytes: int
    layer_gradients: tuple[int, ...] | None
    micro_batch: int
    microbatches: int
    recomputation: bool
    tensor: int
    pipeline: int
    data: int
    expert: int
    context: int
    sequence_parallel: bool
    sharded: bool
    prefetch: bool
    overlap_gradients: bool
    bucket: int | None
    flops: float | None
    utilisation: float | None
    traffic: str | None
    trace: tuple[str, ...] | None
    matrices: int
    drift: float | None
    seed: int
    routing: Routing | None
    forward: float | None
    backward: float | None
    name: str | None = None
    summary: str = ""
    source: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str, ranks: int | None, folder: Path | None = None) -> Self:
        """The description that the tables state, on `ranks` ranks if given: as many data-parallel replicas as make it.

        folder: of the description's file; None of a text. Raises `InputError` that names the key, or `ranks`.
        """
        found = read_keys(values, where)
        for name, same in (("kv_heads", "heads"), ("gradient_bytes", "parameter_bytes")):
            found[name] = found[same] if found[name] is None else found[name]
        found["routing"] = Routing.of(values, found, found["expert"], folder)
        made = cls(**found)
        if ranks is not None:
            copy = made.copy_ranks
            if whole_number("ranks", ranks, LEAST_RANKS, MOST_RANKS) % copy:
                nearest = " and ".join(map(str, made._nearest_ranks(ranks)))
                degrees = "tensor · pipeline · expert" + " · context" * (made.context > 1)
                accepts = f"a multiple of {degrees} = {copy}" + f", nearest {nearest}" * bool(nearest)
                raise refuse(
                    "ranks", f"`{ranks}` is not accepted; it takes {accepts}; --layout auto looks for another layout"
                )
            made = replace(made, data=ranks // copy)
        made.check()
        return made

    @property
    def ranks(self) -> int:
        """Ranks in all."""
        return self.copy_ranks * self.data

    @property
    def copy_ranks(self) -> int:
        """Ranks of one data-parallel replica."""
        return self.tensor * self.context * self.expert * self.pipeline

    @property
    def sharers(self) -> int:
        """Ranks that have the same dense parameters."""
        return self.context * self.expert * self.data

    @property
    def mesh(self) -> dict[str, int]:
        """The axes of more than one rank, the fastest first, in Megatron-LM's default order."""
        axes = {
            "tp": self.tensor,
            "cp": self.context,
            "ep": self.expert,
            "dp": self.data,
            "pp": self.pipeline,
        }
        return {name: size for name, size in axes.items() if size > 1}

    @property
    def stage_ranks(self) -> int:
        """Ranks of one stage; stage p has those from p times this many on."""
        return self.ranks // self.pipeline

    @property
    def stage_layers(self) -> int:
        """Layers of one stage."""
        return self.layers // self.pipeline

    @property
    def slots(self) -> int:
        """Slots of a pass: each stage has its first microbatch one slot after the stage before it."""
        return self.microbatches + self.pipeline - 1

    def check(self) -> None:
        """Raise `InputError` that names the key for what does not go together."""
        if not LEAST_RANKS <= self.ranks <= MOST_RANKS:
            raise refuse("parallelism", f"it makes {self.ranks} ranks in all; it takes {LEAST_RANKS} to {MOST_RANKS}")
        self._divides("layers", "pipeline")
        self._divides("hidden", "heads")
        self._divides("heads", "kv_heads")
        for name in ("kv_heads", "ffn_hidden", "vocabulary"):
            self._divides(name, "tensor")
        self._divides("experts", "expert")
        # A rank has one of the first and one of the last parts of causal scores, so that all ranks have the same
        # number.
        self._divides("sequence", "context", 2 if self.causal and self.context > 1 else 1)
        if self.sequence_parallel:
            self._divides("sequence", "tensor", self.context)
        if self.experts_per_token > self.experts:
            raise _unfit("experts_per_token", self.experts_per_token, f"at most {FIELDS['experts']} = {self.experts}")
        if self.sharded and self.pipeline > 1:
            raise refuse(FIELDS["sharded"], f"true is only for one stage, and {FIELDS['pipeline']} is {self.pipeline}")
        if self.sharded and self.sharers == 1:
            copies = " · ".join(FIELDS[name] for name in ("data", "expert", "context"))
            raise refuse(FIELDS["sharded"], f"true is not accepted: {copies} is 1, so no ranks can share parameters")
        if self.prefetch and not self.sharded:
            raise refuse(
                FIELDS["prefetch"], f"true is only for {FIELDS['sharded']} = true, without which no layer is gathered"
            )
        if self.sharded and self.bucket is not None:
            raise refuse(
                FIELDS["bucket"],
                f"with {FIELDS['sharded']} = true gradients are reduced one layer at a time; leave the bucket size out",
            )
        if self.layer_gradients is not None and (self.sharded or self.experts > 1 or self.bucket is not None):
            other = "sharded" if self.sharded else "experts" if self.experts > 1 else "bucket"
            raise refuse(
                FIELDS["layer_gradients"], f"it cannot be combined with {FIELDS[other]}; leave one of the two out"
            )

    def _nearest_ranks(self, ranks: int) -> list[int]:
        """The numbers of ranks next to `ranks`, below and above, that more or fewer replicas make of this layout."""
        copy = self.copy_ranks
        # Parameters are shared by two ranks at least.
        least = 2 * copy if self.sharded and self.expert * self.context == 1 else copy
        below = ranks // copy * copy
        return [fitting for fitting in (below, max(below + copy, least)) if least <= fitting <= MOST_RANKS]

    def _divides(self, name: str, divisor: str, parts: int = 1) -> None:
        """parts: into which each of the parts is to be divided."""
        value, by = getattr(self, name), getattr(self, divisor) * parts
        if value % by:
            times = f"{parts} · " if parts > 1 else ""
            raise _unfit(name, value, f"a multiple of {times}{FIELDS[divisor]} = {by}")


def _unfit(name: str, value: int, accepts: str) -> Exception:
    return refuse(FIELDS[name], f"`{value}` is not accepted; it takes {accepts}")
