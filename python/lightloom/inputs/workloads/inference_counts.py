"""Work of inference: FLOPs, bytes of memory that are read, and the time that the slower of the two takes.

With the letters of `model_counts`, A parameters of a layer's attention, N of one network or expert, s shared experts,
c values of the KV cache of a token and layer, and for one pass of q requests with t tokens:

- attention: 2·A·t FLOPs, and 4·h for each pair of tokens: t·context in a decode step, t·prompt / 2 in a causal prompt
  (Dao 2023, "FlashAttention-2", §4.1). It reads A parameters, and in a decode step the cache of q·context tokens; a
  prompt writes the cache of its own;
- network: 2·N·(k + s)·t FLOPs; it reads N parameters, of experts those that are met: min(E / expert, k·t) + s of them;
- logits: 2·V·h for the last token of each request; V·h parameters are read.

A part takes max(FLOPs / (flops · utilisation), bytes / (memory_bandwidth · memory_utilisation)) / tensor: the roofline
(Williams, Waterman and Patterson 2009, "Roofline: an insightful visual performance model"), as Pope et al. 2022,
"Efficiently scaling transformer inference", §2, weigh memory and compute time of a step. Activations stay on the chip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.inputs.workloads.inference_pools import Accelerator, Model, Pool

__all__ = ["PassWork", "Work"]


class Work(NamedTuple):
    """Work of one part for all ranks of a tensor-parallel group."""

    flops: int
    memory_bytes: int

    def seconds(self, accelerator: Accelerator, tensor: int) -> float:
        """The time of one rank, which does its share."""
        by_flops = self.flops / (accelerator.flops * accelerator.utilisation)
        by_bytes = self.memory_bytes / (accelerator.memory_bandwidth * accelerator.memory_utilisation)
        return max(by_flops, by_bytes) / tensor


class PassWork:
    """Work of one layer, and of the logits, for one part of the requests of a tensor-parallel group."""

    def __init__(self, model: Model, pool: Pool) -> None:
        self._model, self._pool = model, pool

    @property
    def attention(self) -> Work:
        """A layer's attention."""
        model, pool = self._model, self._pool
        pairs = pool.tokens * pool.prompt // 2 if pool.is_prefill else pool.tokens * pool.context
        cached = pool.tokens if pool.is_prefill else pool.group * pool.context
        return Work(
            2 * model.attention * pool.tokens + model.score_flops * pairs,
            model.attention * model.parameter_bytes + cached * model.cache_values * model.cache_bytes,
        )

    @property
    def network(self) -> Work:
        """A layer's network or experts."""
        model, pool = self._model, self._pool
        met = model.shared_experts
        met += 1 if model.experts == 1 else min(model.experts // pool.expert, model.experts_per_token * pool.tokens)
        gone_through = model.experts_per_token + model.shared_experts
        return Work(2 * model.network * gone_through * pool.tokens, met * model.network * model.parameter_bytes)

    @property
    def logits(self) -> Work:
        """The logits of the last token of every request."""
        model = self._model
        return Work(2 * model.embedding * self._pool.group, model.embedding * model.parameter_bytes)

    @property
    def flops(self) -> int:
        """FLOPs of the whole pool in an iteration."""
        model, pool = self._model, self._pool
        part = model.layers * (self.attention.flops + self.network.flops) + self.logits.flops
        return part * pool.microbatches * pool.replicas * pool.steps
