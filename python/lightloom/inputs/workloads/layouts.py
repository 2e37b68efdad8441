"""Parallel layouts of a model: how its layers, matrices, experts and batch are divided among ranks.

A layout says tensor, expert, data and pipeline degrees, whether tensor-parallel ranks share tokens (sequence parallel),
whether replicas share parameters (sharded), and as many microbatches as keep the samples of an iteration. The samples
of a microbatch stay as the description has them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from lightloom.base.errors import InputError, refuse
from lightloom.base.whole_numbers import whole_number
from lightloom.formats.workload_options import LEAST_RANKS, MOST_RANKS
from lightloom.inputs.workloads.model_counts import Counts
from lightloom.inputs.workloads.model_layers import expert_bytes
from lightloom.inputs.workloads.routing import ExpertTraffic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.inputs.workloads.model_description import Description

__all__ = ["layout_words", "legal_layouts", "memory_bytes"]

# Bytes of a parameter's optimizer states: a copy, momentum and variance of four bytes each.
OPTIMIZER_BYTES = 12


def legal_layouts(model: Description, ranks: int | None = None) -> list[Description]:
    """The model in every layout that its dimensions allow on `ranks` ranks, the description's number if left out.

    Raises `InputError` that names `layout` where the description states times or bytes of one layout, `ranks` where
    none is legal.
    """
    ranks = model.ranks if ranks is None else whole_number("ranks", ranks, LEAST_RANKS, MOST_RANKS)
    if model.flops is None:
        raise refuse("layout", "[compute] states the times of one layout; layouts are searched with [accelerator]")
    if model.layer_gradients is not None:
        raise refuse("layout", "model.layer_gradients states the bytes of one layout")
    # What is wrong with the description's own matrices is wrong with all.
    ExpertTraffic(model.routing, model.expert, expert_bytes(model), model.stage_layers)
    found = [layout for layout in _divided(model, ranks) if _is_legal(layout)]
    if not found:
        near = " and ".join(str(number) for number in _nearest(model, ranks))
        raise refuse("ranks", f"`{ranks}` is not accepted: no layout of the model has so many; nearest are {near}")
    return found


def memory_bytes(model: Description) -> int:
    """Bytes that the rank with most must hold at least: parameters, gradients, optimizer states and activations.

    Mixed-precision Adam has parameters and gradients as they are and 12 bytes of states a parameter, which sharded
    ranks divide (Rajbhandari et al. 2020, "ZeRO", §3.1 and §5). Activations are 34·b·s·h bytes a layer and microbatch
    without scores, which are computed again (Korthikanti et al. 2022, "Reducing activation recomputation", equations 1,
    2 and 4, and §5), 19 of the 34 of the network and so of each of k experts; with recomputation 2·b·s·h. All
    microbatches of a pass are held, as the pipeline in lockstep has them; with one stage, one.
    """
    states = model.parameter_bytes + model.gradient_bytes + OPTIMIZER_BYTES
    counts = Counts(model)
    dense, experts = counts.dense_parameters * model.stage_layers, counts.expert_parameters * model.stage_layers
    ends = 2 if model.pipeline == 1 and not model.tied_embeddings else 1
    dense += counts.embedding // model.tensor * ends
    if model.sharded:
        # Experts of one replica are whole on each of its ranks, and nothing of them is gathered.
        experts_gathered = counts.expert_parameters if model.data > 1 else 0
        gathered = (counts.dense_parameters + experts_gathered) * model.parameter_bytes
        held = dense * states // (model.data * model.expert) + experts * states // model.data
        held += gathered * (2 if model.prefetch else 1)
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
    size = model.micro_batch * model.sequence * model.hidden
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


def _divided(model: Description, ranks: int) -> Iterator[Description]:
    """All divisions of the ranks; some are not legal."""
    samples = model.microbatches * model.data * model.expert
    for tensor in _divisors(ranks):
        for pipeline in _divisors(ranks // tensor):
            for expert in _divisors(ranks // tensor // pipeline):
                data = ranks // tensor // pipeline // expert
                if samples % (data * expert):
                    continue
                degrees = replace(
                    model,
                    tensor=tensor,
                    pipeline=pipeline,
                    expert=expert,
                    data=data,
                    microbatches=samples // (data * expert),
                    routing=model.routing if expert > 1 else None,
                )
                for shares_tokens in (False, True)[: 1 + (tensor > 1)]:
                    yield replace(degrees, sequence_parallel=shares_tokens, sharded=False, prefetch=False)
                    if pipeline == 1 and data * expert > 1:
                        yield replace(degrees, sequence_parallel=shares_tokens, sharded=True, bucket=None)


def _is_legal(layout: Description) -> bool:
    """Whether the dimensions allow it, and the tokens of uneven experts can be spread over so many ranks."""
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
    degrees = product(_divisors(model.kv_heads), _divisors(model.layers), _divisors(samples))
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


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]
