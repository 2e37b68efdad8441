"""Parallel layouts of a model: how its layers, matrices, experts and batch are divided among ranks.

A layout says tensor, context, expert, data and pipeline degrees, whether tensor-parallel ranks share tokens (sequence
parallel), whether replicas share parameters (sharded), and as many microbatches as keep the samples of an iteration.
The samples of a microbatch stay as the description has them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.whole_numbers import whole_number
from lightloom.formats.workload_options import LEAST_RANKS, MOST_RANKS
from lightloom.inputs.workloads.model_counts import Counts
from lightloom.inputs.workloads.model_layers import expert_bytes
from lightloom.inputs.workloads.routing import ExpertTraffic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.inputs.workloads.model_description import Description

__all__ = ["Kept", "kept_degrees", "layout_words", "legal_layouts", "memory_bytes"]

# Degrees and flags that layouts must have.
Kept = dict[str, int]
DEGREES = ("tensor", "context", "expert", "data", "pipeline")
FLAGS = ("sequence_parallel", "sharded")

# Bytes of a parameter's optimizer states: a copy, momentum and variance of four bytes each.
OPTIMIZER_BYTES = 12


def kept_degrees(layout: str) -> Kept:
    """The degrees and flags that `layout` asks for: `auto`, none, or a list such as `tensor=4,sharded=true`.

    Raises `InputError` that names `layout`.
    """
    kept: Kept = {}
    for part in [] if layout == "auto" else layout.split(",") if isinstance(layout, str) else [layout]:
        name, _, value = str(part).strip().partition("=")
        number = {"true": 1, "false": 0}.get(value) if name in FLAGS else int(value) if _is_degree(value) else None
        if name not in (*DEGREES, *FLAGS) or number is None or name in kept:
            accepts = f"auto, or what layouts must have, each once: {'=, '.join(DEGREES)}= and a whole number, "
            accepts += f"{'=, '.join(FLAGS)}= and true or false"
            raise refuse("layout", f"`{shown(layout)}` is not accepted; it takes {accepts}")
        kept[name] = number
    return kept


def legal_layouts(model: Description, ranks: int | None = None, kept: Kept | None = None) -> list[Description]:
    """The model in every layout that its dimensions allow on `ranks` ranks, the description's number if left out.

    kept: degrees and flags that all of them have.

    Raises `InputError` that names `layout` where the description states times or bytes of one layout, or none has what
    is kept, and `ranks` where none is legal.
    """
    ranks = model.ranks if ranks is None else whole_number("ranks", ranks, LEAST_RANKS, MOST_RANKS)
    if model.flops is None:
        raise refuse("layout", "[compute] states the times of one layout; layouts are searched with [accelerator]")
    if model.layer_gradients is not None:
        raise refuse("layout", "model.layer_gradients states the bytes of one layout")
    # A fault in the description's own matrices is a fault of every layout.
    ExpertTraffic(model.routing, model.expert, expert_bytes(model), model.stage_layers)
    found = [layout for layout in _divided(model, ranks, kept) if _is_legal(layout)]
    if not found and kept and any(map(_is_legal, _divided(model, ranks))):
        asked = [f"{name}={str(bool(value)).lower() if name in FLAGS else value}" for name, value in kept.items()]
        reason = f"no legal layout of the model on {ranks} ranks has it"
        raise refuse("layout", f"`{','.join(asked)}` is not accepted: {reason}")
    if not found:
        near = " and ".join(str(number) for number in _nearest(model, ranks))
        raise refuse("ranks", f"`{ranks}` is not accepted: no layout of the model has this many; nearest are {near}")
    return found


def memory_bytes(model: Description) -> int:
    """Bytes that the rank with most must hold at least: parameters, gradients, optimizer states and activations.

    Mixed-precision Adam has parameters and gradients as they are and 12 bytes of states a parameter, which sharded
    ranks divide (Rajbhandari et al. 2020, "ZeRO", §3.1 and §5); they gather the parameters of a layer, with `prefetch`
    of two, and of the embedding and the logits. Activations are 34·b·s·h bytes a layer and microbatch
    without scores, which are computed again (Korthikanti et al. 2022, "Reducing activation recomputation", equations 1,
    2 and 4, and §5), 19 of the 34 of the network and so of each of k experts; with recomputation 2·b·s·h; s is the part
    of a sample that a rank of cp has. All microbatches of a pass are held, as the pipeline in lockstep has them; with
    one stage, one.
    """
    states = model.parameter_bytes + model.gradient_bytes + OPTIMIZER_BYTES
    counts = Counts(model)
    dense, experts = counts.dense_parameters * model.stage_layers, counts.expert_parameters * model.stage_layers
    ends = 2 if model.pipeline == 1 and not model.tied_embeddings else 1
    dense += counts.embedding // model.tensor * ends
    if model.sharded:
        # Experts of one replica are whole on each of its ranks, and nothing of them is gathered.
        copies = model.data * model.context
        experts_gathered = counts.expert_parameters if copies > 1 else 0
        layers = min(2, model.stage_layers) if model.prefetch else 1
        gathered = layers * (counts.dense_parameters + experts_gathered) + counts.embedding // model.tensor * ends
        held = dense * states // model.sharers + experts * states // copies
        held += gathered * model.parameter_bytes
    else:
        held = (dense + experts) * states
    return held + _activation_bytes(model)


def layout_words(model: Description) -> str:
    """A layout in words, such as `tp 4 · ep 8 · pp 4, 8 microbatches`."""
    degrees = " · ".join(f"{axis} {size}" for axis, size in model.mesh.items())
    flags = (("sequence parallel", model.sequence_parallel), ("sharded", model.sharded))
    words = [degrees, *(name for name, holds in flags if holds)]
    batches = "1 microbatch" if model.microbatches == 1 else f"{model.microbatches:,} microbatches"
    return ", ".join([*words, batches])


def _activation_bytes(model: Description) -> int:
    size = model.micro_batch * model.sequence // model.context * model.hidden
    tensor = model.tensor
    if model.recomputation:
        layer = 2 * size // (tensor if model.sequence_parallel else 1)
    else:
        # 4 of the norms; of attention and of the network 3 each as a whole, and 8 and 16 of which ranks have parts.
        copies = model.experts_per_token
        whole, split = 4 + 3 + 3 * copies, 8 + 16 * copies
        layer = size * (whole + split) // tensor if model.sequence_parallel else size * whole + size * split // tensor
    held = model.microbatches if model.pipeline > 1 else 1
    return layer * model.stage_layers * held


def _divided(model: Description, ranks: int, kept: Kept | None = None) -> Iterator[Description]:
    """All divisions of the ranks that have what is kept; some are not legal."""
    kept = {} if kept is None else kept
    samples = model.microbatches * model.data * model.expert
    for tensor, context, expert, data, pipeline in _products(ranks, DEGREES, kept):
        if samples % (data * expert):
            continue
        divided = replace(
            model,
            tensor=tensor,
            context=context,
            expert=expert,
            data=data,
            pipeline=pipeline,
            microbatches=samples // (data * expert),
            routing=model.routing if expert > 1 else None,
        )
        for shares_tokens in (False, True)[: 1 + (tensor > 1)]:
            for sharded in (False, True)[: 1 + (pipeline == 1 and divided.sharers > 1)]:
                flags = {"sequence_parallel": shares_tokens, "sharded": sharded}
                if any(kept.get(name, flag) != flag for name, flag in flags.items()):
                    continue
                yield replace(
                    divided,
                    sequence_parallel=shares_tokens,
                    sharded=sharded,
                    prefetch=divided.prefetch and sharded,
                    bucket=None if sharded else divided.bucket,
                )


def _products(product_of_all: int, names: Sequence[str], kept: Kept) -> Iterator[tuple[int, ...]]:
    """All ways to write the product as one whole number for each name, where the numbers in `kept` are fixed."""
    first, *others = names
    for number in _divisors(product_of_all) if others else [product_of_all]:
        if kept.get(first, number) != number:
            continue
        for rest in _products(product_of_all // number, others, kept) if others else [()]:
            yield (number, *rest)


def _is_legal(layout: Description) -> bool:
    """Whether the dimensions allow it, and the tokens of uneven experts can be spread over this many ranks."""
    if not _has_legal_sizes(layout):
        return False
    try:
        ExpertTraffic(layout.routing, layout.expert, expert_bytes(layout), layout.stage_layers)
    except InputError:
        return False
    return True


def _nearest(model: Description, ranks: int) -> list[int]:
    """The next numbers of ranks below and above for which there is a layout."""
    samples = model.microbatches * model.data * model.expert
    contexts = _divisors(model.sequence // 2 if model.causal else model.sequence)
    degrees = product(_divisors(model.kv_heads), _divisors(model.layers), _divisors(samples), contexts)
    sizes = sorted({number for number in map(prod, degrees) if LEAST_RANKS <= number <= MOST_RANKS})
    below, above = [size for size in reversed(sizes) if size < ranks], [size for size in sizes if size > ranks]
    found = []
    for numbers in (below, above):
        for number in numbers:
            if any(map(_has_legal_sizes, _divided(model, number))):
                found.append(number)
                break
    return sorted(found)


def _has_legal_sizes(layout: Description) -> bool:
    try:
        layout.check()
    except InputError:
        return False
    return True


def _is_degree(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < len(str(MOST_RANKS)) + 1


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]
