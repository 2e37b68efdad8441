"""Descriptions of inference: their workloads, against arithmetic from their dimensions; refusals."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.inputs.workloads.model import model_workload, preset_workload, presets
from tests.draws import cases
from tests.inputs.edited_texts import edited, hold_to_a_workload_or_one_line
from tests.inputs.model_descriptions import Tables, kinds, written
from tests.reference.workloads import check, groups_of

ACCELERATOR = {"flops": 1e12, "utilisation": 0.5, "memory_bandwidth": 1e11, "memory_utilisation": 0.25}
MODEL = {"layers": 4, "hidden": 64, "ffn_hidden": 256, "heads": 8, "kv_heads": 4, "vocabulary": 96}
PREFILL = {"prompt": 32, "tensor": 2}
DECODE = {"context": 40, "requests": 4, "tensor": 2, "steps": 3}
INFERRED = [name for name in presets() if "inference" in preset_workload(name)]


def described(**changes: Mapping[str, Any] | None) -> Tables:
    """Prefill and decode of the small model with other keys; None leaves a key or table out."""
    tables: dict[str, Any] = {"model": MODEL, "prefill": PREFILL, "decode": DECODE, "accelerator": ACCELERATOR}
    for name, change in changes.items():
        tables[name] = None if change is None else {**tables.get(name, {}), **change}
    kept = {name: table for name, table in tables.items() if table is not None}
    return {name: {key: value for key, value in table.items() if value is not None} for name, table in kept.items()}


def small(**changes: Mapping[str, Any] | None) -> dict[str, Any]:
    return model_workload(written(described(**changes)))


def seconds(workload: Mapping[str, Any], begin: str = "") -> float:
    nodes = (node for node in workload["nodes"] if node["kind"] == "compute" and node["id"].startswith(begin))
    return float(sum(node["duration_s"] for node in nodes))


@pytest.mark.parametrize("name", INFERRED)
def test_every_preset_holds_the_contract_and_takes_more_instances(name: str) -> None:
    workload = preset_workload(name)
    check(workload)
    twice = preset_workload(name, ranks=2 * workload["ranks"])
    check(twice)
    assert twice["ranks"] == 2 * workload["ranks"]
    assert twice["model_flops"] == 2 * workload["model_flops"]
    for key in ("prompts", "requests"):
        assert twice["inference"][key] == 2 * workload["inference"][key]
    assert twice["inference"]["steps"] == workload["inference"]["steps"]


def test_a_decode_step_of_llama_3_70b_reads_its_parameters_and_its_cache() -> None:
    workload = preset_workload("llama-3-70b-decode")
    assert (workload["mesh"], workload["inference"]) == (
        {"tp": 8, "dp": 2},
        {"prompts": 0, "requests": 64, "steps": 1},
    )
    assert kinds(workload) == {("all-reduce", "tp", 32 * 8192 * 2): 160}
    # As published, less the 161 norms and the embedding, of which a step reads a row a request.
    parameters = 70_553_706_496 - 161 * 8192 - 128256 * 8192
    cached = 32 * 4096 * 80 * 2 * 8 * 128
    assert seconds(workload) == pytest.approx(2 * (parameters + cached) / (8 * 0.8 * 3.35e12), rel=1e-12)


def test_prefill_of_llama_3_70b_computes() -> None:
    workload = preset_workload("llama-3-70b-prefill")
    assert kinds(workload) == {("all-reduce", "tp", 4096 * 8192 * 2): 160}
    layers = 70_553_706_496 - 161 * 8192 - 2 * 128256 * 8192
    flops = 4096 * (2 * layers + 80 * 2 * 4096 * 8192)
    # Only the last token has logits, which are read rather than computed.
    logits_s = 2 * 128256 * 8192 / (8 * 0.8 * 3.35e12)
    assert seconds(workload) == pytest.approx(flops / (8 * 0.6e15) + logits_s, rel=1e-12)
    assert workload["inference"] == {"prompts": 2, "requests": 0, "steps": 0, "first_token": "prefill-logits"}


def test_both_pools_of_llama_3_70b_send_the_whole_cache() -> None:
    workload = preset_workload("llama-3-70b-disaggregated")
    sends = [node for node in workload["nodes"] if node["kind"] == "send"]
    # Keys and values of 8 heads of 128 in 80 layers: 320 KiB a token.
    assert [node["size_bytes"] * len(node["source"]) for node in sends] == [4096 * 320 * 1024]
    assert list(zip(sends[0]["source"], sends[0]["destination"], strict=True)) == [(n, n + 8) for n in range(8)]
    assert workload["inference"]["caches"] == sends[-1]["id"]


def test_experts_that_are_met_are_read() -> None:
    workload = preset_workload("mixtral-8x22b-decode")
    assert workload["mesh"] == {"tp": 2, "ep": 8}
    a = 32 * 6144 * 2
    assert kinds(workload) == {("all-reduce", "tp", a): 112, ("all-to-all", "ep", 2 * a): 112}
    # 140.6e9 parameters as published: all ranks together read them, but the attention's and logits' each pair.
    alike = 56 * (2 * 6144**2 + 2 * 6144 * 1024) + 2 * 32768 * 6144
    experts = 140.6e9 - alike
    cached = 32 * 4096 * 56 * 2 * 8 * 128
    read = 2 * (alike - 32768 * 6144 + cached + experts / 8)
    assert seconds(workload) == pytest.approx(read / (2 * 0.8 * 3.35e12), rel=1e-3)


def test_deepseek_v3_has_the_parameters_that_a_token_goes_through() -> None:
    workload = preset_workload("deepseek-v3-decode")
    a = 64 * 7168
    assert kinds(workload) == {("all-to-all", "ep", 8 * a): 116}
    # 37e9 as published; the first three layers are dense, of 18432, and the embedding is a row of a table.
    scores = 58 * 4096 * 2 * 128 * (576 + 512)
    flops = workload["model_flops"] / (32 * 64) - scores
    left_out = 3 * (187.1e6 + 3 * 7168 * 18432) + 129280 * 7168
    assert flops / 2 + left_out == pytest.approx(37e9, rel=0.02)


@st.composite
def pools(draw: st.DrawFn) -> Tables:
    """Small descriptions of one pool or both, of every combination that is accepted."""
    few, ways = st.integers(1, 3), st.sampled_from([1, 2, 4])
    experts = 4 * draw(few)
    model: dict[str, Any] = {
        "layers": 4 * draw(few),
        "hidden": 32 * draw(few),
        "ffn_hidden": 16 * draw(few),
        "gated": draw(st.booleans()),
        "heads": 8,
        "kv_heads": draw(st.sampled_from([4, 8])),
        "vocabulary": 4 * draw(st.integers(0, 5)),
        "experts": experts,
        "experts_per_token": draw(st.integers(1, experts)),
        "shared_experts": draw(st.integers(0, 2)),
        "parameter_bytes": draw(ways),
        "cache_bytes": draw(ways),
    }
    if draw(st.booleans()):
        model |= {"experts": 1, "experts_per_token": 1, "shared_experts": 0}
    of_pools: Tables = {}
    for name in draw(st.sampled_from([["prefill"], ["decode"], ["prefill", "decode"]])):
        parts = draw(ways)
        expert = draw(ways) if model["experts"] > 1 else 1
        pool = {"tensor": draw(ways), "pipeline": draw(ways), "expert": expert, "instances": draw(ways)}
        pool |= {"microbatches": parts, "requests": parts * draw(few)}
        of_pools[name] = pool | ({"prompt": draw(few)} if name == "prefill" else {"context": 7, "steps": draw(few)})
    ranks = [ranks_of(pool) for pool in of_pools.values()]
    assume(sum(ranks) > 1)
    return {"model": model, **of_pools, "accelerator": ACCELERATOR}


def ranks_of(pool: Mapping[str, int]) -> int:
    return prod(pool[name] for name in ("tensor", "pipeline", "expert", "instances"))


def slots_of(name: str, pool: Mapping[str, int]) -> int:
    """Slots of a batch of prompts, or from a decode step to the next, by letting parts go through the stages."""
    parts, stages = pool["microbatches"], pool["pipeline"]
    if name == "prefill":
        return parts + stages - 1
    # A part goes on when the stage is free and its own token is there; step after step they come to a rhythm.
    free, ready = [0] * stages, [0] * parts
    ends = []
    for _ in range(20):
        for part in range(parts):
            for stage in range(stages):
                free[stage] = ready[part] = max(free[stage], ready[part]) + 1
        ends.append(ready[0])
    return ends[-1] - ends[-2]


@settings(max_examples=cases(150), deadline=None)
@given(pools())
def test_every_description_has_the_messages_and_the_time_that_its_dimensions_say(tables: Tables) -> None:
    workload = model_workload(written(tables))
    check(workload)
    model = tables["model"]
    h = model["hidden"]
    attention = 2 * h * h + 2 * h * h * model["kv_heads"] // model["heads"]
    network = (3 if model["gated"] else 2) * h * model["ffn_hidden"]
    embedding = model["vocabulary"] * h
    cache = 2 * h * model["kv_heads"] // model["heads"] * model["cache_bytes"]
    expected: Counter[tuple[str, int]] = Counter()
    flops = 0
    for name in ("prefill", "decode"):
        pool = tables.get(name)
        if pool is None:
            continue
        group = pool["requests"] // pool["microbatches"]
        tokens = group * pool.get("prompt", 1)
        steps, slots = pool.get("steps", 1), slots_of(name, pool)
        layers = model["layers"] // pool["pipeline"]
        a = tokens * h * model["parameter_bytes"]
        passes = steps * slots * layers
        if pool["tensor"] > 1:
            expected[("all-reduce", a)] += 2 * passes
        if pool["expert"] > 1:
            expected[("all-to-all", model["experts_per_token"] * a)] += 2 * passes
        pairs = group * pool["prompt"] ** 2 / 2 if name == "prefill" else group * pool["context"]
        used = model["experts_per_token"] + model["shared_experts"]
        attention_flops = 2 * attention * tokens + 4 * h * (pairs if name == "decode" else int(pairs))
        network_flops, logits_flops = 2 * network * used * tokens, 2 * embedding * group
        read = min(model["experts"] // pool["expert"], model["experts_per_token"] * tokens)
        read = 1 if model["experts"] == 1 else read + model["shared_experts"]
        cached = tokens if name == "prefill" else group * pool["context"]
        parts = (
            (attention_flops, attention * model["parameter_bytes"] + cached * cache),
            (network_flops, read * network * model["parameter_bytes"]),
            (logits_flops, embedding * model["parameter_bytes"]),
        )
        a_s, n_s, l_s = (max(f / 0.5e12, b / 0.25e11) / pool["tensor"] for f, b in parts)
        begin = "prefill" if name == "prefill" else "step"
        total_s = passes * (a_s + n_s) + steps * pool["microbatches"] * l_s
        assert seconds(workload, begin) == pytest.approx(total_s, rel=1e-9)
        flops += (
            (model["layers"] * (attention_flops + network_flops) + logits_flops)
            * pool["microbatches"]
            * pool["expert"]
            * pool["instances"]
            * steps
        )
    nodes = workload["nodes"]
    found = Counter((node["collective"], node["size_bytes"]) for node in nodes if node["kind"] == "collective")
    assert found == expected
    assert workload["model_flops"] == pytest.approx(flops)
    assert workload["ranks"] == sum(ranks_of(tables[name]) for name in ("prefill", "decode") if name in tables)
    for node in nodes:
        if node["kind"] == "collective":
            # All ranks of a pool take part, each in one group.
            ranks = sorted(rank for group in groups_of(workload, node) for rank in group)
            assert ranks == list(range(ranks[0], ranks[-1] + 1))
            pool = tables["prefill" if node["id"].startswith("prefill") else "decode"]
            assert len(ranks) == ranks_of(pool)
            size = pool["tensor" if node["collective"] == "all-reduce" else "expert"]
            assert {len(group) for group in groups_of(workload, node)} == {size}


def box(pool: Mapping[str, int], shard: int, replica: int, stage: int) -> list[tuple[Fraction, Fraction]]:
    """The parts of all caches, along heads, requests and layers, that a rank has or wants."""
    sizes = (pool["tensor"], pool["expert"] * pool["instances"], pool["pipeline"])
    places = zip((shard, replica, stage), sizes, strict=True)
    return [(Fraction(place, size), Fraction(place + 1, size)) for place, size in places]


def boxes(pool: Mapping[str, int], first: int) -> dict[int, list[tuple[Fraction, Fraction]]]:
    replicas = pool["expert"] * pool["instances"]
    places = product(range(pool["pipeline"]), range(replicas), range(pool["tensor"]))
    return {first + index: box(pool, shard, replica, stage) for index, (stage, replica, shard) in enumerate(places)}


@settings(max_examples=cases(150), deadline=None)
@given(pools())
def test_caches_go_from_who_has_them_to_who_wants_them_in_as_few_rounds_as_can_be(tables: Tables) -> None:
    assume("prefill" in tables)
    assume("decode" in tables)
    workload = model_workload(written(tables))
    prefill, decode, model = tables["prefill"], tables["decode"], tables["model"]
    replicas = prefill["expert"] * prefill["instances"]
    v = model["hidden"] * model["kv_heads"] // model["heads"]
    tokens = prefill["requests"] * replicas * prefill["prompt"]
    total = model["layers"] * 2 * v * model["cache_bytes"] * tokens
    having, wanting = boxes(prefill, 0), boxes(decode, ranks_of(prefill))
    expected = {}
    for (source, has), (destination, wants) in product(having.items(), wanting.items()):
        sides = [min(a[1], b[1]) - max(a[0], b[0]) for a, b in zip(has, wants, strict=True)]
        if all(side > 0 for side in sides):
            expected[source, destination] = prod(sides) * total
    nodes = [node for node in workload["nodes"] if node["id"].startswith("caches")]
    found = {}
    for node in nodes:
        for ends in zip(node["source"], node["destination"], strict=True):
            assert ends not in found
            found[ends] = node["size_bytes"]
    assert found.keys() == expected.keys()
    assert all(0 <= size - expected[ends] < 1 for ends, size in found.items())
    degrees = Counter(end for ends in expected for end in ends)
    assert len(nodes) == max(degrees.values())
    # They wait for the first tokens, and decode for nothing.
    after = {node["id"]: node["after"] for node in workload["nodes"]}
    assert after["caches-0"] == [workload["inference"]["first_token"]]
    assert [name for name, before in after.items() if not before] == [
        workload["nodes"][0]["id"],
        next(name for name in after if name.startswith("step-0")),
    ]


def test_what_is_stated_takes_the_place_of_what_is_counted() -> None:
    stated = small(
        model={
            "attention_parameters": 2 * 64**2 + 2 * 64 * 32,
            "score_flops": 4 * 64,
            "cache_values": 2 * 32,
            "cache_bytes": 2,
        }
    )
    assert stated == small()
    more = small(model={"cache_values": 4 * 32})
    sizes = [[node["size_bytes"] for node in one["nodes"] if node["id"] == "caches-0"] for one in (small(), more)]
    assert [2 * size for size in sizes[0]] == sizes[1]


def test_stages_hand_on_what_they_have() -> None:
    pool = {"pipeline": 2, "microbatches": 2, "tensor": 1}
    workload = small(prefill=None, decode={**pool, "steps": 2})
    ids = [node["id"] for node in workload["nodes"]]
    # Both stages have something in both slots of a step, and the last one hands its tokens to nobody.
    sends = [f"step-{step}-slot-{slot}-send" for step in (0, 1) for slot in (0, 1)]
    assert [name for name in ids if name.endswith("send")] == sends
    alone = small(prefill=None, decode={**pool, "microbatches": 1, "requests": 2, "steps": 1})
    # One part: stage 1 has it in the second slot, after which nothing is handed on.
    assert [node["id"] for node in alone["nodes"] if node["kind"] != "compute"] == ["step-0-slot-0-send"]
    logits = [node for node in alone["nodes"] if node["id"].endswith("logits")]
    assert [(node["id"], node["ranks"]) for node in logits] == [("step-0-slot-1-logits", "decode-last-stage")]
    assert alone["groups"]["decode-last-stage"] == [1]


def test_more_ranks_are_more_instances_of_both_pools() -> None:
    text = written(described(prefill={"instances": 1}, decode={"instances": 2}))
    workload = model_workload(text, ranks=12)
    assert (workload["ranks"], workload["inference"]["prompts"], workload["inference"]["requests"]) == (12, 2, 16)
    with pytest.raises(ll.InputError, match="a multiple of the ranks of an instance, 6"):
        model_workload(text, ranks=8)


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"prefill": {"prompts": 3}}, "prefill", "did you mean `prompt`"),
    ({"prefill": {"prompt": None}}, "prefill.prompt", "it is missing in the description"),
    ({"decode": {"context": 0}}, "decode.context", "a whole number from 1"),
    ({"model": {"sequence": 8}}, "model", "unknown name `sequence`"),
    ({"batch": {}}, "model", "unknown name `batch`"),
    ({"accelerator": None}, "accelerator", "it is missing in the description; it takes a table [accelerator]"),
    ({"accelerator": {"memory_bandwidth": None}}, "accelerator.memory_bandwidth", "a number of bytes/s from 1"),
    ({"accelerator": {"memory_bandwidth": 0}}, "accelerator.memory_bandwidth", "`0` is not accepted"),
    ({"accelerator": {"memory_utilisation": 1.5}}, "accelerator.memory_utilisation", "above 0 and at most 1"),
    ({"decode": {"tensor": 8}}, "model.kv_heads", "a multiple of decode.tensor = 8"),
    ({"prefill": {"pipeline": 3}}, "model.layers", "a multiple of prefill.pipeline = 3"),
    ({"prefill": {"expert": 2}}, "model.experts", "a multiple of prefill.expert = 2"),
    ({"decode": {"microbatches": 3}}, "decode.requests", "a multiple of decode.microbatches = 3"),
    (
        {"prefill": {"instances": 2}, "decode": {"instances": 3}},
        "decode.instances",
        "expert · instances is 3, and prefill's 2; one of the two must be a multiple of the other",
    ),
    ({"model": {"heads": 7}}, "model.hidden", "a multiple of model.heads = 7"),
    ({"model": {"kv_heads": 3}}, "model.heads", "a multiple of model.kv_heads = 3"),
    ({"model": {"experts_per_token": 2}}, "model.experts_per_token", "at most model.experts = 1"),
    ({"prefill": {"tensor": 1}, "decode": None}, "prefill", "[prefill] make 1 ranks in all; it takes 2 to 65536"),
    ({"decode": {"steps": 1 << 20}}, "model", "at most 262144 nodes"),
    ({"decode": {"instances": 1 << 20}, "prefill": None}, "decode", "2097152 ranks"),
]


@pytest.mark.parametrize(("changes", "field", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_refused_says_so_in_one_line(changes: Any, field: str, said: str) -> None:
    with pytest.raises(ll.InputError) as refused:
        small(**changes)
    assert refused.value.field == field
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


TEXT = written(described())


@settings(max_examples=cases(150), deadline=None)
@given(edited(TEXT))
def test_any_text_is_a_workload_or_one_line(text: str) -> None:
    hold_to_a_workload_or_one_line(text, check)
