"""`docs/reference/models.md`, from the keys of descriptions and the models that come with Lightloom.

`python -m docs.generators.models_page` writes the page.
"""

from collections.abc import Sequence
from pathlib import Path

from lightloom.inputs.workloads import inference_keys
from lightloom.inputs.workloads.model import summaries
from lightloom.inputs.workloads.model_keys import KEYS, Form, Key

PAGE = Path(__file__).resolve().parent.parent / "reference" / "models.md"
COUNTED = (
    ("what", "formula", "source"),
    (
        "parameters of a layer",
        "2h² + 2hv, and E·g·h·f",
        "Narayanan et al. 2021, equation 2, where v = h, f = 4h, g = 2, E = 1",
    ),
    ("parameters of embedding and logits", "2·V·h, tied V·h", "the same"),
    (
        "FLOPs of a layer, forward, for a microbatch",
        "2·b·s·(2h² + 2hv) + 4·b·s²·h, and 2·b·s·k·g·h·f",
        "Narayanan et al. 2021, appendix",
    ),
    ("the second term when `causal`", "2·b·s²·h", "Dao 2023, FlashAttention-2, §4.1"),
    ("FLOPs of the logits, forward", "2·b·s·h·V", "Narayanan et al. 2021, appendix"),
    (
        "backward",
        "twice forward; with `recomputation` the layers' forward once more",
        "the same; Korthikanti et al. 2022, §5",
    ),
    ("time", "FLOPs / (tensor · context · flops · utilisation)", ""),
    (
        "the model's FLOPs, for MFU",
        "3 · forward of all layers and the logits · M · data · expert; recomputation is not counted",
        "Chowdhery et al. 2022, PaLM, appendix B",
    ),
)
EXCHANGED = (
    ("parallelism", "collectives of a layer and pass", "source"),
    ("tensor", "AllReduce of a after attention and after the network", "Shoeybi et al. 2019, Megatron-LM, §3"),
    (
        "tensor, sequence parallel",
        "AllGather of a before each of the two, ReduceScatter of a after it; of k·a around experts",
        "Korthikanti et al. 2022, §4.2.2",
    ),
    (
        "expert",
        "All-to-All of k·a before and after the experts; sums over tp come after",
        "GShard, Lepikhin et al. 2020",
    ),
    (
        "expert, sequence parallel",
        "All-to-All of k·a/tensor before and after; AllGather and ReduceScatter of k·a over tp between them",
        "Megatron-Core, token dispatcher `alltoall`",
    ),
    (
        "context",
        "AllGather of keys and values, 2·b·s·v·parameter_bytes / tensor, before attention; backward also a "
        "ReduceScatter of their gradients after it; s is the part of a rank in all else",
        "Grattafiori et al. 2024, The Llama 3 herd of models, §3.3.2",
    ),
    (
        "sharded",
        "AllGather of the layer's parameters before each pass, ReduceScatter of its gradients after the backward pass; "
        "of the embedding and the logits once a microbatch",
        "Zhao et al. 2023, PyTorch FSDP, §3",
    ),
)
REMEMBERED = (
    ("what", "bytes", "source"),
    (
        "parameters, gradients, states of the optimizer",
        "parameter_bytes + gradient_bytes + 12 a parameter",
        "Rajbhandari et al. 2020, ZeRO, §3.1: mixed-precision Adam",
    ),
    (
        "the same, `sharded`",
        "/ (data · expert · context) of dense parameters, / (data · context) of experts, and the parameters that are "
        "gathered: of a layer, with `prefetch` of two, of the embedding and of the logits",
        "the same, §5",
    ),
    (
        "activations of a layer and microbatch",
        "b·s·h·(7 + 3k + (8 + 16k) / tensor), without scores",
        "Korthikanti et al. 2022, equations 1 and 2, §5",
    ),
    ("the same, sequence parallel", "b·s·h·(15 + 19k) / tensor", "the same, equation 4"),
    ("the same, `recomputation`", "2·b·s·h, / tensor when sequence parallel", "the same, §5"),
    ("the same, context parallel", "/ context; keys and values that are gathered are not counted", ""),
    ("microbatches held", "M with several stages, which go all forward, then all backward; 1 with one", ""),
)
INFERRED = (
    ("what", "FLOPs", "bytes of memory", "source"),
    (
        "a layer's attention, a step",
        "2·A·q + 4·h·q·context",
        "A parameters, and q·context·c cached values",
        "Pope et al. 2022, §2: a step reads weights and the KV cache",
    ),
    (
        "a layer's attention, prompts",
        "2·A·t + 4·h·t·prompt / 2",
        "A parameters, and t·c cached values",
        "Dao 2023, FlashAttention-2, §4.1, for causal scores",
    ),
    (
        "a layer's network or experts",
        "2·N·(k + s)·t",
        "N parameters; (min(E / expert, k·t) + s)·N of experts",
        "Narayanan et al. 2021, appendix; experts that no token is sent to are not read",
    ),
    ("logits, of the last token of each request", "2·V·h·q", "V·h parameters", "the same"),
    (
        "time of each",
        "/ (flops · utilisation · tensor)",
        "/ (memory_bandwidth · memory_utilisation · tensor)",
        "the longer of the two: Williams et al. 2009, Roofline",
    ),
)
SENT = (
    ("what", "messages", "source"),
    ("tensor", "two AllReduces of a = t·h·parameter_bytes a layer", "Shoeybi et al. 2019, Megatron-LM, §3"),
    ("expert", "All-to-All of k·a before and after the experts", "GShard, Lepikhin et al. 2020"),
    ("pipeline", "a from each rank to the next stage, in every slot", "Huang et al. 2019, GPipe, §2.2"),
    (
        "caches, with both pools",
        "L·c·cache_bytes for each token of the prompts, in equal parts, each rank one message at a time",
        "Patel et al. 2024, Splitwise; Zhong et al. 2024, DistServe",
    ),
)
HEADER = """\
# Models

A TOML file describes a model, its batch, its parallelism and how fast it is computed; it makes the workload of one
training iteration, or of [inference](#inference). The keys are listed in
`python/lightloom/inputs/workloads/model_keys.py`, and `python -m docs.generators.models_page` writes this page.

## Models that come with Lightloom

{presets}

## Keys

`name`, `summary` and `source` are texts about the description itself and may be left out. One of the tables
`[accelerator]` and `[compute]` is given: FLOPs counted and divided by FLOP/s, or times as they were measured.
Sizes are bytes with a unit (`64MiB`, `1KB`) or plain numbers of bytes, times have `ns`, `us`, `ms` or `s` or are
plain seconds.

{keys}

Layers are a multiple of `pipeline`; `heads` divides `hidden`, `kv_heads` divides `heads`; `kv_heads`, `ffn_hidden` and
`vocabulary` (padded, as frameworks do) are multiples of `tensor`, `experts` of `expert`, and `sequence` of `context`
(of 2 · `context` when `causal`: a rank has an early and a late part of a sample, so that all have as many scores), with
`sequence_parallel` of `context` · `tensor`. `sharded` goes with one stage.

## Ranks

tensor · context · expert · data · pipeline ranks, the axes `tp`, `cp`, `ep`, `dp` and `pp`, of which the first is the
fastest: rank = tp + tensor·(cp + context·(ep + expert·(dp + data·pp))), Megatron-LM's default order. Axes of one rank
are left out. Another number of GPUs changes only `data`, unless
[layouts are searched](../how-to/plan-a-training-iteration.md#the-best-layout).

## What is counted

With v = h · kv_heads / heads and g = 2 matrices of a network, 3 of a gated one:

{counted}

Biases, norms, routers and learned positions, some hundredths of a percent of the parameters, are left out. Without
`[routing]` tokens are spread evenly over experts. Times of `[compute]` are shared equally between layers and by FLOPs
between attention and network; the logits are in them.

## Memory

`--layout` compares `--memory` with the least memory of the rank that must hold most:

{remembered}

## What is communicated

Let a = b·s·h·parameter_bytes. For a layer, in the forward pass and again in the backward pass (and in recomputation):

{exchanged}

**Pipeline in lockstep.** As GPipe has it, all microbatches go forward, then all go backward. A pass has M + P - 1
slots of M microbatches through P stages. In a slot all stages run their layers at once, then all hand on to the next
stage (backward: to the one before) at once: a, or a/tensor when sequence parallel, from each rank. A stage without a
microbatch idles but takes part in the slot's nodes, so that one node serves all stages. So a workload is a
serial sequence, which is planned exactly, of few kinds of communications: 2·(M + P - 1)·2·L/P AllReduces over `tp`,
as many All-to-Alls over `ep`, and 2·(M + P - 2) sends. With one stage each microbatch goes forward and backward
before the next.

**Data parallel.** After the backward pass gradients are AllReduced, a layer at a time or in buckets: dense ones over
`cp`, `ep` and `dp` together, those of experts over `cp` and `dp`. The embedding and the logits are on the first and the
last stage; if they are tied, these two stages then add their gradients up. With `overlap_gradients` reductions start
when their layers are done in a stage's last microbatch, on a stream `dp` parallel to the computation; with `prefetch` a
sharded layer is gathered while the one before computes. Nothing else overlaps.

**Uneven experts.** With `[routing]` the All-to-Alls over `ep` are those of matrices: `traffic` is one of `lightloom
list workloads`, whose mean of all pairs is that of equal blocks, less what `top-k` drops above a capacity, and
`trace` has files of tokens by rank and expert (CSV or NPY, a row for each rank of `ep`, the first columns the experts
of the first rank, and so on; or Parquet, a row for each count, 0 included), scaled so that ranks send on average as
many bytes as the model's do. Layer l of a
stage sends its tokens by matrix l modulo their number (more matrices than such layers are not drawn), and has them
back by the transposed one; gradients go the same ways. All groups of `ep` communicate by the same matrix, in all
microbatches. With `drift` a matrix is (1 - drift) of the one before and drift of a newly drawn one. The computation
of experts stays even. In inference both pools take the same table, so that a trace needs `expert` to be
the same in both.

**Left out**: exchanges of the embedding and the logits over `tp` (two of 4·L a microbatch), the AllGather that sequence
parallelism repeats in the backward pass and overlaps, norms of gradients, the optimizer's step.

## Inference

A description with a table `[prefill]`, `[decode]` or both is of inference: [how to plan
it](../how-to/plan-inference.md). Its keys, listed in `python/lightloom/inputs/workloads/inference_keys.py`:

{inference_keys}

`kv_heads`, `ffn_hidden` and `vocabulary` are multiples of each pool's `tensor`, `layers` of `pipeline`, `experts` of
`expert`, `requests` of `microbatches`. With both pools, one of each two of `tensor`, `pipeline` and expert ·
instances is a multiple of the other.

**Ranks.** A pool has tensor · expert · instances · pipeline ranks, numbered as above with instances as `dp`; those of
decode follow those of prefill, and the axes of two pools are named groups, as `prefill-tp`. Another number of GPUs
changes only instances, of both pools in their proportion.

**What is counted**, with A parameters of a layer's attention, N of one network or expert, s shared experts, c = 2v
values of the cache of a token and layer, q requests (of a microbatch) and t tokens of them that go through a stage at
once:

{inferred}

**What is communicated:**

{sent}

**Slots.** A batch of prompts takes M + P - 1 slots of M microbatches and P stages, as a pass of training. Decode
steps follow one another: a step takes max(M, P) slots, and no stage idles with M = P.

**An iteration** is a batch of prompts, or a number of `steps`, or both at once: one batch and then its caches on their
way, while the other pool gives the requests that came before their steps. It repeats. The times of a document
`lightloom.training/1` by policy: `first_token_s`, when the batch has its first tokens; `caches_s`, when the caches
are with the ranks that decode; the time per token is the iteration's time over its steps. Requests that wait for a
batch to begin are not in it.

**Left out**: activations that are read and written, exchanges of the embedding and the logits over `tp`, tokens that
the last stage hands to the first, the choice of tokens, caches of unequal length.

## An example

```pycon
>>> from lightloom.inputs.workloads.model import preset_workload
>>> workload = preset_workload("gpt-3", ranks=256)
>>> workload["mesh"]
{{'tp': 8, 'dp': 8, 'pp': 4}}
>>> sum(node.get("axis") == "tp" for node in workload["nodes"])
1056
```
"""


def page() -> str:
    """The page: the presets, and a table of the keys of every section."""
    presets = [("name", "what it is", "source")]
    presets += [(f"`{one['name']}`", one["summary"], one["source"]) for one in summaries()]
    return HEADER.format(
        presets=_table(presets),
        keys=_sections(KEYS),
        counted=_table(COUNTED),
        remembered=_table(REMEMBERED),
        exchanged=_table(EXCHANGED),
        inference_keys=_sections(inference_keys.KEYS),
        inferred=_table(INFERRED),
        sent=_table(SENT),
    )


def _sections(keys: Sequence[Key]) -> str:
    return "\n\n".join(_section(section, keys) for section in dict.fromkeys(key.section for key in keys))


def _section(section: str, keys: Sequence[Key]) -> str:
    rows = [_row(key) for key in keys if key.section == section]
    return f"### `[{section}]`\n\n" + _table([("key", "kind", "default", "meaning"), *rows])


def _row(key: Key) -> tuple[str, ...]:
    default = "needed" if key.is_needed else key.otherwise or str(key.default).lower()
    kind = key.form.value + (f", from {key.least}" if key.form is Form.WHOLE else "")
    return (f"`{key.name}`", kind, default, key.meaning)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of Markdown, the first of them the head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


if __name__ == "__main__":
    PAGE.write_text(page())
