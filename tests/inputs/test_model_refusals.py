"""Descriptions of models that are wrong, damaged or in files: a workload, or one line that names the key."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import lightloom as ll
from lightloom.inputs.workloads.model import model_workload, preset_workload
from tests.draws import cases
from tests.inputs.edited_texts import edited, hold_to_a_workload_or_one_line
from tests.inputs.model_descriptions import SMALL, small, written
from tests.reference.workloads import check

WRONG: list[tuple[dict[str, dict[str, Any]], str, str]] = [
    ({"model": {"layer": 3}}, "model", "did you mean `layers`"),
    ({"model": {"hidden": None}}, "model.hidden", "it is missing in the description; it takes a whole number from 1"),
    ({"model": {"layers": 5}}, "model.layers", "`5` is not accepted; it takes a multiple of parallelism.pipeline = 2"),
    ({"model": {"layers": 2.0}}, "model.layers", "`2.0` is not accepted; it takes a whole number"),
    ({"model": {"heads": 7}}, "model.hidden", "a multiple of model.heads = 7"),
    ({"model": {"kv_heads": 1}}, "model.kv_heads", "a multiple of parallelism.tensor = 2"),
    ({"model": {"vocabulary": 97}}, "model.vocabulary", "a multiple of parallelism.tensor = 2"),
    ({"model": {"experts_per_token": 2}}, "model.experts_per_token", "at most model.experts = 1"),
    ({"model": {"gated": 1}}, "model.gated", "`1` is not accepted; it takes true or false"),
    ({"model": {"layer_gradients": []}}, "model.layer_gradients", "a list of sizes"),
    ({"model": {"layer_gradients": ["0B"]}}, "model.layer_gradients", "`0B`"),
    (
        {"model": {"layer_gradients": [8], "experts": 2}},
        "model.layer_gradients",
        "cannot be combined with model.experts",
    ),
    ({"batch": {"micro_batch": 0}}, "batch.micro_batch", "a whole number from 1"),
    ({"parallelism": {"sharded": True}}, "parallelism.sharded", "parallelism.pipeline is 2"),
    ({"parallelism": {"prefetch": True}}, "parallelism.prefetch", "parallelism.sharded = true"),
    ({"parallelism": {"bucket": True}}, "parallelism.bucket", "a size such as 64MiB"),
    ({"parallelism": {"data": 1, "tensor": 1, "pipeline": 1}}, "parallelism", "1 ranks in all; it takes 2 to 65536"),
    ({"parallelism": {"data": 1 << 20}}, "parallelism", "4194304 ranks"),
    ({"accelerator": {"utilisation": 1.5}}, "accelerator.utilisation", "above 0 and at most 1"),
    ({"accelerator": {"flops": "fast"}}, "accelerator.flops", "a number of FLOP/s"),
    ({"compute": {"forward": "1ms", "backward": "2ms"}}, "accelerator", "give one of them"),
    ({"speed": {}}, "model", "unknown name `speed`"),
    ({"model": {"layers": 1 << 20}}, "model", "at most 262144 nodes"),
    ({"parallelism": {"bucket": 1}, "model": {"hidden": 4096}}, "parallelism.bucket", "more than 262144 reductions"),
    (
        {
            "batch": {"micro_batch": 1 << 20},
            "model": {"sequence": 1 << 20, "hidden": 1 << 14},
            "accelerator": {"flops": 1e21},
        },
        "model",
        "at most 2^53",
    ),
    (
        {"parallelism": {"sharded": True, "pipeline": 1, "data": 1}},
        "parallelism.sharded",
        "parallelism.expert · parallelism.context is 1",
    ),
    ({"accelerator": {"flops": 1}, "parallelism": {"tensor": 1}}, "model", "s; the limit is 1e+06 s"),
]


@pytest.mark.parametrize(("changes", "field", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_refused_says_so_in_one_line(changes: Any, field: str, said: str) -> None:
    with pytest.raises(ll.InputError) as refused:
        small(**changes)
    assert refused.value.field == field
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("section", SMALL)
def test_a_missing_table_is_named(section: str) -> None:
    with pytest.raises(ll.InputError, match="it is missing in the description") as refused:
        model_workload(written({name: table for name, table in SMALL.items() if name != section}))
    assert refused.value.field == section
    with pytest.raises(ll.InputError, match="`3` is not accepted; it takes a table"):
        model_workload(written({section: 3, **{name: table for name, table in SMALL.items() if name != section}}))


def test_files_and_gpus(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(written({"name": "small", **SMALL}))
    assert model_workload(file) == model_workload(str(file)) == {**small(), "name": "small"}
    assert model_workload(file, ranks=24)["mesh"] == {"tp": 2, "dp": 6, "pp": 2}
    for gpus in (22, 0, 1 << 20):
        with pytest.raises(ll.InputError) as refused:
            model_workload(file, ranks=gpus)
        assert refused.value.field == "ranks"
    with pytest.raises(ll.InputError, match=r": no such file: `.*absent\.toml`$"):
        model_workload(tmp_path / "absent.toml")
    with pytest.raises(ll.InputError, match="unknown name `gpt3`, did you mean `gpt-3`"):
        preset_workload("gpt3")


TEXT = written(SMALL)


@settings(max_examples=cases(150), deadline=None)
@given(edited(TEXT))
def test_any_text_is_a_workload_or_one_line(text: str) -> None:
    hold_to_a_workload_or_one_line(text, check)
