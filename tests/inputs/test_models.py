"""Descriptions of models: their workloads, against arithmetic from their dimensions."""

from collections.abc import Mapping
from typing import Any

import pytest
from docs.generators.models_page import PAGE, page
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lightloom.inputs.workloads.model import model_workload, preset_workload, presets, summaries
from tests.draws import cases
from tests.inputs.model_descriptions import SMALL, Tables, kinds, small, written
from tests.reference.workloads import check, groups_of

MIB = 1 << 20


def seconds(workload: Mapping[str, Any], way: str = "") -> float:
    found = (node for node in workload["nodes"] if node["kind"] == "compute" and node["id"].startswith(way))
    return float(sum(node["duration_s"] for node in found))


def reduced_bytes(workload: Mapping[str, Any]) -> int:
    """Bytes of the gradients that are reduced, every part of the model counted once."""
    nodes = (node for node in workload["nodes"] if "gradients" in node["id"] and node["id"] != "embedding-gradients")
    return sum(node["size_bytes"] * len(groups_of(workload, node)) for node in nodes)


TRAINED = [name for name in presets() if "inference" not in preset_workload(name)]


@pytest.mark.parametrize("name", TRAINED)
def test_every_preset_holds_the_contract_on_128_gpus_and_on_others(name: str) -> None:
    for gpus in (None, 256):
        workload = preset_workload(name, ranks=gpus)
        check(workload)
        assert (workload["name"], workload["ranks"]) == (name, gpus or 128)
    assert {one["name"] for one in summaries()} == set(presets())


def test_llama_3_70b() -> None:
    workload = preset_workload("llama-3-70b")
    assert workload["mesh"] == {"tp": 8, "dp": 4, "pp": 4}
    # 70.55e9 parameters as the model is published, less the 161 norms of 8192.
    assert reduced_bytes(workload) == 4 * (70_553_706_496 - 161 * 8192)
    a = 4096 * 8192 * 2
    layer = (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672) // 8
    assert kinds(workload) == {
        ("all-reduce", "tp", a): 2 * (8 + 4 - 1) * 2 * 20,
        ("send", "group", a): 2 * (8 + 4 - 2),
        ("all-reduce", "dp", 4 * layer): 20,
        ("all-reduce", "dp", 4 * 128256 * 8192 // 8): 1,
    }
    assert workload["peak_flops"] * 0.6 == 600e12


def test_the_flops_of_gpt_3_are_narayanans() -> None:
    workload = preset_workload("gpt-3")
    tokens, layers, hidden, sequence, vocabulary = 8 * 4 * 2048, 96, 12288, 2048, 51200
    # Narayanan et al. 2021, equation 3, without the recomputation's quarter, and half of the scores.
    formula = 72 * tokens * layers * hidden**2 * (1 + sequence / (12 * hidden) + vocabulary / (12 * layers * hidden))
    assert workload["model_flops"] == pytest.approx(formula, rel=1e-12)
    parameters = reduced_bytes(workload) / 4 - vocabulary * hidden
    assert parameters == 12 * layers * hidden**2 + vocabulary * hidden
    assert parameters == pytest.approx(174.6e9, rel=1e-3)
    assert workload["model_flops"] / tokens == pytest.approx(6 * parameters, rel=0.03)
    exchange = next(node for node in workload["nodes"] if node["id"] == "embedding-gradients")
    assert sorted(groups_of(workload, exchange)) == [[rank, rank + 96] for rank in range(32)]


def test_mixtral_8x22b() -> None:
    workload = preset_workload("mixtral-8x22b")
    assert workload["mesh"] == {"tp": 4, "ep": 8, "pp": 4}
    a, slots, layers = 4096 * 6144 * 2, 11, 14
    dense = (2 * 6144**2 + 2 * 6144 * 1024) // 4
    assert kinds(workload) == {
        ("all-reduce", "tp", a): slots * 2 * layers * 2,
        ("all-to-all", "ep", 2 * a): slots * 2 * layers * 2,
        ("send", "group", a): 20,
        ("all-reduce", "ep", 4 * dense): layers,
        ("all-reduce", "ep", 4 * 32768 * 6144 // 4): 1,
    }
    # 39e9 parameters are active for a token, as published; 6 FLOPs each, and the scores.
    assert workload["model_flops"] / (8 * 8 * 4096) == pytest.approx(6 * 39e9, rel=0.05)


def test_sharded_llama_2_7b() -> None:
    workload = preset_workload("fsdp-7b")
    layer, ends = 4 * 4096**2 + 3 * 4096 * 11008, 2 * 32000 * 4096
    assert 32 * layer + ends == pytest.approx(6.738e9, rel=1e-3)
    assert kinds(workload) == {
        ("all-gather", "dp", 2 * layer): 64,
        ("all-gather", "dp", 2 * ends): 1,
        ("reduce-scatter", "dp", 2 * layer): 32,
        ("reduce-scatter", "dp", 2 * ends): 1,
    }
    after = {node["id"]: node["after"] for node in workload["nodes"]}
    # A layer waits for its own parameters, which were gathered while the one before computed.
    assert after["forward-0-layer-5"] == ["forward-0-layer-4", "forward-0-layer-5-gather-dense"]
    assert after["forward-0-layer-6-gather-dense"] == ["forward-0-layer-4"]
    assert after["backward-0-layer-31"] == ["backward-0-logits", "backward-0-layer-31-gather-dense"]
    assert after["backward-0-layer-30-gradients-0"] == ["backward-0-layer-30"]


def test_bert_of_pccl() -> None:
    workload = preset_workload("bert-pccl")
    sizes = [node["size_bytes"] for node in workload["nodes"] if node["kind"] == "collective"]
    h = 2048
    assert sizes == [4 * h * h * 4, h * h * 4, h * h * 4] * 12 == [64 * MIB, 16 * MIB, 16 * MIB] * 12
    assert seconds(workload) == pytest.approx(21.3e-3)
    assert seconds(workload, "backward") == pytest.approx(2 * seconds(workload, "forward"))
    assert workload.keys().isdisjoint({"model_flops", "peak_flops"})
    overlapped = preset_workload("bert-pccl-overlapped", ranks=64)
    assert overlapped["mesh"] == {"dp": 64}
    after = {node["id"]: node["after"] for node in overlapped["nodes"]}
    assert all(after[f"backward-0-layer-3-gradients-{index}"] == ["backward-0-layer-3"] for index in range(3))
    assert after["backward-0-layer-2"] == ["backward-0-layer-3"]
    assert {node.get("stream") for node in overlapped["nodes"] if node["kind"] == "collective"} == {"dp"}


def test_sequence_parallel_exchanges_as_many_bytes_in_two_halves() -> None:
    plain, halves = kinds(small()), kinds(small(parallelism={"sequence_parallel": True}))
    a = 2 * 32 * 64 * 2
    reduces = plain[("all-reduce", "tp", a)]
    assert halves[("all-gather", "tp", a)] == halves[("reduce-scatter", "tp", a)] == reduces
    assert halves[("send", "group", a // 2)] == plain[("send", "group", a)]
    experts = {"experts": 4, "experts_per_token": 2}
    moe = kinds(small(model=experts, parallelism={"sequence_parallel": True, "expert": 2}))
    around = reduces // 2
    assert moe[("all-to-all", "ep", a)] == 2 * around  # 2 copies of half of the tokens
    assert moe[("all-gather", "tp", a)] == moe[("all-gather", "tp", 2 * a)] == around


def test_ranks_that_share_samples_gather_keys_and_values() -> None:
    # 2 samples of 32 tokens of 64 values of 2 bytes; keys and values are as wide, half of their heads on each rank.
    whole = kinds(small(model={"experts": 4}, parallelism={"expert": 2, "pipeline": 1}))
    parts = kinds(small(model={"experts": 4}, parallelism={"expert": 2, "pipeline": 1, "context": 2}))
    a, gathered = 2 * 32 * 64 * 2, 2 * 2 * 32 * 64 * 2 // 2
    microbatches, layers = 3, 4
    assert parts[("all-gather", "cp", gathered)] == 2 * microbatches * layers
    assert parts[("reduce-scatter", "cp", gathered)] == microbatches * layers
    assert parts[("all-reduce", "tp", a // 2)] == whole[("all-reduce", "tp", a)]
    assert parts[("all-to-all", "ep", a // 2)] == whole[("all-to-all", "ep", a)]


def test_gradients_are_reduced_by_ranks_that_have_the_same_parameters() -> None:
    sizes = {"tensor": 2, "context": 2, "expert": 2, "data": 2, "pipeline": 1}
    workload = small(model={"experts": 4}, parallelism=sizes)
    groups = workload["groups"]
    # Rank = tp + 2 · (cp + 2 · (ep + 2 · dp)): an expert's are two ranks apart, and its replica's eight.
    assert groups["experts-0-0-1"] == [4, 6, 12, 14]
    assert groups["experts-0-1-0"] == [1, 3, 9, 11]
    assert groups["replicas-0-1"] == list(range(1, 16, 2))
    assert sorted(rank for name in groups if "experts" in name for rank in groups[name]) == list(range(16))


def test_buckets_have_their_size_and_wait_for_their_last_layer() -> None:
    layer = (4 * 64 * 64 + 2 * 64 * 256) * 2
    keys = {"tensor": 1, "pipeline": 1, "overlap_gradients": True, "bucket": layer * 3 // 2}
    workload = small(model={"vocabulary": 0}, batch={"microbatches": 1}, parallelism=keys)
    reductions = [(node["size_bytes"], node["after"]) for node in workload["nodes"] if node["kind"] == "collective"]
    assert reductions == [
        (layer * 3 // 2, ["backward-0-layer-2"]),
        (layer * 3 // 2, ["backward-0-layer-1"]),
        (layer, ["backward-0-layer-0"]),
    ]


def test_a_stage_reduces_when_its_last_microbatch_is_done() -> None:
    workload = small(parallelism={"overlap_gradients": True})
    ranks = {node["id"]: node["ranks"] for node in workload["nodes"] if "gradients" in node["id"]}
    # Three microbatches: the last stage is done in slot 2, the first in slot 3.
    assert {name.split("-layer")[0]: stage for name, stage in ranks.items()} == {
        "backward-2": "stage-1",
        "backward-2-gradients-0": "stage-1",
        "backward-3": "stage-0",
        "backward-3-gradients-0": "stage-0",
    }


@st.composite
def descriptions(draw: st.DrawFn) -> Tables:
    """Small descriptions of every combination that is accepted."""
    flag, few = st.booleans(), st.integers(1, 3)
    tensor, expert, experts = draw(st.sampled_from([1, 2, 4])), draw(few), draw(few)
    sharded = draw(flag)
    pipeline = 1 if sharded else draw(few)
    experts *= expert
    model = {
        "layers": pipeline * draw(few),
        "hidden": 8 * draw(few) * 4,
        "ffn_hidden": 16 * tensor * draw(few),
        "gated": draw(flag),
        "heads": 8,
        "kv_heads": draw(st.sampled_from([4, 8])),
        "vocabulary": tensor * draw(st.integers(0, 5)),
        "tied_embeddings": draw(flag),
        "experts": experts,
        "experts_per_token": draw(st.integers(1, experts)),
        "sequence": 8 * draw(few),
        "causal": draw(flag),
        "parameter_bytes": draw(st.sampled_from([1, 2, 4])),
        "gradient_bytes": draw(st.sampled_from([2, 4])),
    }
    parallelism: dict[str, Any] = {
        "tensor": tensor,
        "pipeline": pipeline,
        "data": draw(few),
        "expert": expert,
        "context": draw(st.sampled_from([1, 2])),
        "sequence_parallel": draw(flag),
        "sharded": sharded,
        "prefetch": sharded and draw(flag),
        "overlap_gradients": draw(flag),
    }
    if not sharded and draw(flag):
        parallelism["bucket"] = draw(st.integers(1000, 100_000))
    batch = {"micro_batch": draw(few), "microbatches": draw(few), "recomputation": draw(flag)}
    sharers = expert * parallelism["data"] * parallelism["context"]
    assume((1 if sharded else tensor * pipeline) * sharers > 1)
    return {"model": model, "batch": batch, "parallelism": parallelism, "accelerator": SMALL["accelerator"]}


@settings(max_examples=cases(120), deadline=None)
@given(descriptions())
def test_every_description_holds_the_contract_and_its_totals(tables: Tables) -> None:
    workload = model_workload(written(tables))
    check(workload)
    model, batch, parallel = tables["model"], tables["batch"], tables["parallelism"]
    h, heads = model["hidden"], model["heads"]
    attention = 2 * h * h + 2 * h * h * model["kv_heads"] // heads
    network = (3 if model["gated"] else 2) * h * model["ffn_hidden"]
    embedding = model["vocabulary"] * h
    stages, replicas, context = parallel["pipeline"], parallel["data"] * parallel["expert"], parallel["context"]
    # Gradients: every part of the model once, where anybody has a copy of it.
    is_dense = model["experts"] == 1
    copied = model["layers"] * (attention + (network if is_dense else 0)) if replicas * context > 1 else 0
    if replicas * context > 1:
        copied += embedding * (1 if model["tied_embeddings"] and stages == 1 else 2)
    if parallel["data"] * context > 1 and not is_dense:
        copied += model["layers"] * model["experts"] * network
    passes = batch["microbatches"] if parallel["sharded"] else 1
    assert reduced_bytes(workload) == copied * model["gradient_bytes"] * passes
    # Computation, by counting multiplications and additions: every stage idles in stages - 1 slots of a pass.
    tokens = batch["micro_batch"] * model["sequence"]
    scores = 4 * model["sequence"] * h / (2 if model["causal"] else 1)
    layer = tokens * (2 * (attention + model["experts_per_token"] * network) + scores)
    logits, count = tokens * 2 * embedding, batch["microbatches"]
    again = 1 if batch["recomputation"] else 0
    rate = 0.5e12 * parallel["tensor"] * context
    slots = (count + stages - 1) * model["layers"] // stages
    assert seconds(workload) == pytest.approx(((3 + again) * slots * layer + 3 * count * logits) / rate)
    flops = 3 * count * replicas * (model["layers"] * layer + logits)
    assert workload["model_flops"] == pytest.approx(flops)


@settings(max_examples=50, deadline=None)
@given(descriptions())
def test_without_overlap_an_iteration_is_a_sequence(tables: Tables) -> None:
    for key in ("prefetch", "overlap_gradients"):
        tables["parallelism"][key] = False
    nodes = model_workload(written(tables))["nodes"]
    assert [node["after"] for node in nodes] == [[], *([node["id"]] for node in nodes[:-1])]


def test_the_page_is_what_the_keys_say() -> None:
    assert page() == PAGE.read_text(), "run: python -m docs.generators.models_page"
