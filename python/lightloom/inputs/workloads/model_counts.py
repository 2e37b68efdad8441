"""Sizes and work of a model's parts: parameters, FLOPs, seconds and bytes.

Parameters are those of matrices; biases, norms, routers and learned positions, some hundredths of a percent, are left
out. With h the hidden size, v = h · kv_heads / heads, f the feed-forward size, g its matrices (2, gated 3), E experts,
k of them per token, V the vocabulary, s the sequence, b samples of a microbatch and L layers:

- parameters of a layer: 2h² + 2hv for attention (queries and output, keys and values), and E · g·h·f; V·h for the
  embedding and as many for the logits unless they are tied (Narayanan et al. 2021, "Efficient large-scale language
  model training on GPU clusters using Megatron-LM", equation 2, where v = h, f = 4h, g = 2, E = 1);
- FLOPs of a microbatch, forward, a multiplication and an addition for each parameter and token (ibid., appendix):
  projections 2·b·s·(2h² + 2hv), scores and their sums over values 4·b·s²·h, networks 2·b·s·k·g·h·f, logits 2·b·s·h·V.
  With `causal` half of the scores (Dao 2023, "FlashAttention-2", §4.1). Narayanan and the usual MFU count all;
- backward twice forward, by inputs and by weights (ibid.); with recomputation each layer once more forward
  (ibid.; Korthikanti et al. 2022, "Reducing activation recomputation in large transformer models", §5).

Every rank of a tensor- and of a context-parallel group does an equal part; tokens are taken to be spread evenly over
experts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.inputs.workloads.model_description import Description

__all__ = ["Counts", "Times", "times"]


class Times(NamedTuple):
    """Seconds of one rank for one microbatch: a layer's attention, its network or experts, and the logits."""

    attention_s: float
    network_s: float
    logits_s: float

    def scaled(self, factor: float) -> Times:
        """The same work, longer by this factor."""
        return Times(self.attention_s * factor, self.network_s * factor, self.logits_s * factor)


class Counts:
    """Parameters and FLOPs of a model as the module says."""

    def __init__(self, model: Description) -> None:
        self._model = model
        hidden = model.hidden
        shared = hidden * model.kv_heads // model.heads
        # Parameters of one layer's attention, of one network or expert, and of only the embedding.
        self.attention = 2 * hidden * hidden + 2 * hidden * shared
        self.network = (3 if model.gated else 2) * hidden * model.ffn_hidden
        self.embedding = model.vocabulary * hidden
        # Tokens of one microbatch.
        self.tokens = model.micro_batch * model.sequence

    @property
    def parameters(self) -> int:
        """Parameters of the whole model."""
        layer = self.attention + self._model.experts * self.network
        return self._model.layers * layer + self.embedding * (1 if self._model.tied_embeddings else 2)

    @property
    def dense_parameters(self) -> int:
        """Parameters of one layer on one rank without experts: attention, and the network where there is one."""
        dense = self.attention + (self.network if self._model.experts == 1 else 0)
        return dense // self._model.tensor

    @property
    def expert_parameters(self) -> int:
        """Parameters of one layer's experts on one rank; 0 where there is one dense network."""
        model = self._model
        return 0 if model.experts == 1 else model.experts // model.expert * self.network // model.tensor

    @property
    def attention_flops(self) -> int:
        """FLOPs of one layer's attention for one microbatch, forward, over all ranks of tp and cp."""
        scores = 4 * self._model.sequence * self._model.hidden // (2 if self._model.causal else 1)
        return self.tokens * (2 * self.attention + scores)

    @property
    def network_flops(self) -> int:
        """FLOPs of one layer's network or experts; as `attention_flops`."""
        return self.tokens * 2 * self._model.experts_per_token * self.network

    @property
    def logits_flops(self) -> int:
        """FLOPs of the logits; as `attention_flops`."""
        return self.tokens * 2 * self.embedding

    @property
    def model_flops(self) -> int:
        """FLOPs of an iteration over all ranks, forward and backward, without recomputation, as MFU counts them."""
        model = self._model
        forward = model.layers * (self.attention_flops + self.network_flops) + self.logits_flops
        return 3 * forward * model.microbatches * model.data * model.expert


def times(model: Description, counts: Counts) -> tuple[Times, Times]:
    """Seconds of the forward and the backward pass.

    Where the description states times, a layer gets an equal part, shared between attention and network by their
    FLOPs, and the logits are taken to be in it.
    """
    flops = Times(counts.attention_flops, counts.network_flops, counts.logits_flops)
    if model.flops is not None and model.utilisation is not None:
        forward = flops.scaled(1 / (model.tensor * model.context * model.flops * model.utilisation))
        return forward, forward.scaled(2)
    layer = flops._replace(logits_s=0.0).scaled(1 / ((flops.attention_s + flops.network_s) * model.stage_layers))
    return layer.scaled(model.forward or 0.0), layer.scaled(model.backward or 0.0)
