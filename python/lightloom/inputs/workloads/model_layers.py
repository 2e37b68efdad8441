"""One layer in one pass: parts that compute, and exchanges of tensor- and expert-parallel ranks around them.

With a buffer a of b·s·h activations:

- tensor parallel: an AllReduce of a after attention and one after the network, in the forward and in the backward pass
  (Shoeybi et al. 2019, "Megatron-LM", §3: the conjugate operators f and g);
- sequence parallel: an AllGather of a before each of the two and a ReduceScatter of a after it, in both passes
  (Korthikanti et al. 2022, §4.2.2). The AllGather that repeats a part's input for its weights' gradient is left out, as
  they overlap it;
- experts: an All-to-All on ep before and after them, in both passes, of k·a, every tensor-parallel rank sending all
  tokens to its part of the experts; tensor parallel sums come after. Sequence parallel ranks send their own tokens,
  k·a / tensor, and gather and scatter k·a over tp between the two All-to-Alls (Megatron-Core's dispatcher `alltoall`);
- context parallel: s is the part of a sample that a rank of cp has. An AllGather over cp of the keys and values of all
  parts before attention, in both passes, and a ReduceScatter of their gradients after it in the backward pass
  (Grattafiori et al. 2024, "The Llama 3 herd of models", §3.3.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.inputs.workloads.model_counts import Times
    from lightloom.inputs.workloads.model_description import Description

__all__ = ["Exchange", "Part", "activation_bytes", "expert_bytes", "layer_parts"]


class Exchange(NamedTuple):
    """A collective of all groups of an axis; size_bytes as workloads count it."""

    axis: str
    collective: str
    size_bytes: int


class Part(NamedTuple):
    """A part of a layer: the exchange before it, its computation, the exchange after it."""

    name: str
    seconds: float
    before: tuple[Exchange, ...] = ()
    after: tuple[Exchange, ...] = ()


def activation_bytes(model: Description) -> int:
    """Bytes of the hidden states of one microbatch, of the tokens of one rank of cp."""
    return model.micro_batch * model.sequence // model.context * model.hidden * model.parameter_bytes


def expert_bytes(model: Description) -> int:
    """Bytes of a rank's tokens on their way to experts, one layer of one microbatch."""
    copies = model.experts_per_token * activation_bytes(model)
    return copies // model.tensor if model.sequence_parallel else copies


def layer_parts(model: Description, times: Times, *, is_backward: bool) -> tuple[Part, Part]:
    """Attention and the network, in the order of the forward pass."""
    network = "network" if model.experts == 1 else "experts"
    return (
        Part("attention", times.attention_s, *_around_attention(model, is_backward=is_backward)),
        Part(network, times.network_s, *_around_network(model)),
    )


def _around_attention(model: Description, *, is_backward: bool) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...]]:
    before, after = _tensor_parallel(model, 1)
    if model.context == 1:
        return before, after
    # Keys and values, of the heads that a rank of tp has.
    shared = 2 * model.hidden * model.kv_heads // model.heads // model.tensor
    size = model.micro_batch * model.sequence * shared * model.parameter_bytes
    gathered, summed = Exchange("cp", "all-gather", size), Exchange("cp", "reduce-scatter", size)
    return (*before, gathered), ((summed, *after) if is_backward else after)


def _tensor_parallel(model: Description, copies: int) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...]]:
    size = activation_bytes(model)
    if model.tensor == 1:
        return (), ()
    if model.sequence_parallel:
        gathered = copies * size
        return (Exchange("tp", "all-gather", gathered),), (Exchange("tp", "reduce-scatter", gathered),)
    return (), (Exchange("tp", "all-reduce", size),)


def _around_network(model: Description) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...]]:
    before, after = _tensor_parallel(model, model.experts_per_token)
    if model.expert == 1:
        return before, after
    tokens = Exchange("ep", "all-to-all", expert_bytes(model))
    return (tokens, *before), ((*after, tokens) if model.sequence_parallel else (tokens, *after))
