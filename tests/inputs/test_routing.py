"""Tokens spread unevenly over experts: matrices of descriptions, against arithmetic; refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.inputs.matrix import generated_matrix
from lightloom.inputs.workloads.model import model_workload
from tests.inputs.model_descriptions import with_keys, written
from tests.inputs.test_inference import described
from tests.reference.workloads import check

EXPERTS = {"experts": 8, "experts_per_token": 2}
# Bytes that every rank sends to experts: 2 copies · 2 samples · 32 tokens · 64 values · 2 bytes.
BUFFER = 2 * 2 * 32 * 64 * 2
ROUTING = {"traffic": "zipf:1", "matrices": 3, "seed": 5}


def trained(routing: dict[str, Any], **parallelism: Any) -> dict[str, Any]:
    """A model of four layers in two stages, its experts on four ranks."""
    shape = {"tensor": 1, "expert": 4, "data": 1, **parallelism}
    return model_workload(written(with_keys(model=EXPERTS, parallelism=shape, routing=routing)))


def exchanges(workload: dict[str, Any]) -> list[dict[str, Any]]:
    return [node for node in workload["nodes"] if node.get("collective") == "all-to-all"]


def test_layers_take_matrices_in_turn_out_and_back() -> None:
    workload = trained(ROUTING, pipeline=1)
    check(workload)
    assert list(workload["matrices"]) == ["routing-0", "routing-1", "routing-2"]
    for index, rows in enumerate(workload["matrices"].values()):
        assert np.abs(np.array(rows) - generated_matrix("zipf:1", 4, BUFFER // 4, seed=5 + index)).max() <= 0.5
    for node in exchanges(workload):
        layer = int(re.search(r"layer-(\d)", node["id"])[1])  # type: ignore[index]
        assert node["matrix"] == f"routing-{layer % 3}"
        # A layer of a pass has two: to the experts, and back.
        assert node.get("transposed", False) == node["id"].endswith("-1")
    # Four layers forward and backward, three microbatches, out and back.
    assert len(exchanges(workload)) == 4 * 2 * 3 * 2


def test_sequence_parallel_ranks_send_their_part() -> None:
    whole, parts = trained(ROUTING), trained(ROUTING, tensor=2, sequence_parallel=True)
    check(parts)
    for rows, of_part in zip(whole["matrices"].values(), parts["matrices"].values(), strict=True):
        assert np.abs(np.array(rows) / 2 - np.array(of_part)).max() <= 1


def test_drift_mixes_each_matrix_with_the_one_before() -> None:
    drawn = [np.array(rows) for rows in trained(ROUTING, pipeline=1)["matrices"].values()]
    drifting = [np.array(rows) for rows in trained({**ROUTING, "drift": 0.25}, pipeline=1)["matrices"].values()]
    expected = [drawn[0], 0.75 * drawn[0] + 0.25 * drawn[1]]
    expected.append(0.75 * expected[1] + 0.25 * drawn[2])
    for found, wanted in zip(drifting, expected, strict=True):
        assert np.abs(found - wanted).max() <= 2


def test_pools_have_matrices_of_their_own() -> None:
    pool = {"expert": 2, "tensor": 1}
    tables = described(model={"experts": 4, "experts_per_token": 1}, prefill=pool, decode=pool)
    workload = model_workload(written({**tables, "routing": {"traffic": "hot-experts:1:0.7"}}))
    check(workload)
    assert list(workload["matrices"]) == ["prefill-routing-0", "decode-routing-0"]
    # Prompts of 32 tokens, and a token of each of four requests, of 64 values of two bytes.
    means = [np.array(rows).sum() / 2 for rows in workload["matrices"].values()]
    assert means == pytest.approx([32 * 64 * 2 / 2, 4 * 64 * 2 / 2], abs=1)


def test_a_trace_of_tokens_by_expert_is_scaled_to_the_model(tmp_path: Path) -> None:
    tokens = np.arange(32).reshape(4, 8)
    np.savetxt(tmp_path / "first.csv", tokens, fmt="%d", delimiter=",")
    np.save(tmp_path / "second.npy", tokens[::-1])
    tables = with_keys(
        model=EXPERTS,
        parallelism={"tensor": 1, "expert": 4, "data": 1},
        routing={"trace": ["first.csv", "second.npy"]},
    )
    (tmp_path / "model.toml").write_text(written(tables))
    workload = model_workload(tmp_path / "model.toml")
    check(workload)
    # Two experts a rank; ranks send 4 · BUFFER bytes in all, and the trace has 31 · 32 / 2 tokens.
    by_rank = tokens.reshape(4, 4, 2).sum(axis=2)
    for rows, wanted in zip(workload["matrices"].values(), (by_rank, by_rank[::-1]), strict=True):
        assert np.abs(np.array(rows) - wanted * (4 * BUFFER / 496)).max() <= 0.5


@pytest.mark.parametrize(
    ("routing", "field", "said"),
    [
        ({}, "routing.traffic", "either traffic or trace"),
        ({"traffic": "zipf:1", "trace": ["a.csv"]}, "routing.traffic", "either traffic or trace"),
        ({"traffic": "zapf:1"}, "routing.traffic", "did you mean `zipf`?"),
        ({"traffic": 3}, "routing.traffic", "a name of `lightloom list workloads`"),
        ({"trace": ["a.csv"]}, "routing.trace", "itself in a file"),
        ({"trace": []}, "routing.trace", "at least one"),
        ({"traffic": "zipf:1", "drift": 1.5}, "routing.drift", "at most 1"),
        ({"traffic": "zipf:1", "matrices": 1 << 21}, "routing.matrices", "from 1 to 1048576"),
        ({"traffic": "zipf:1", "wind": 1}, "routing", "unknown name `wind`"),
    ],
)
def test_wrong_keys_are_refused(routing: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        trained(routing)
    assert error.value.field == field
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1,2\n3,4\n", "has 2 rows; it takes 4"),
        ("0,0,0,0\n" * 4, "has no tokens"),
        ("9,0,0,0\n0,9,0,0\n0,0,9,0\n0,0,0,9\n", "no tokens to experts of other ranks"),
        ("x", "not a number"),
    ],
)
def test_wrong_traces_are_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "trace.csv").write_text(content)
    shape = {"tensor": 1, "expert": 4, "data": 1}
    tables = with_keys(model=EXPERTS, parallelism=shape, routing={"trace": ["trace.csv"]})
    (tmp_path / "model.toml").write_text(written(tables))
    with pytest.raises(InputError) as error:
        ll.Workload.read(tmp_path / "model.toml")
    assert error.value.field == "routing.trace"
    assert said in str(error.value)


def test_experts_on_one_rank_send_no_tokens() -> None:
    with pytest.raises(InputError, match="here no tokens are sent between ranks"):
        trained(ROUTING, expert=1)


@pytest.mark.parametrize("key", ["matrices", "drift", "seed"])
def test_keys_of_drawn_matrices_are_refused_with_a_trace(tmp_path: Path, key: str) -> None:
    shape = {"tensor": 1, "expert": 4, "data": 1}
    tables = with_keys(model=EXPERTS, parallelism=shape, routing={"trace": ["trace.csv"], key: 1})
    (tmp_path / "model.toml").write_text(written(tables))
    with pytest.raises(InputError) as error:
        model_workload(tmp_path / "model.toml")
    assert error.value.field == f"routing.{key}"
    assert "it goes with traffic" in str(error.value)


def test_traces_of_tiny_numbers_are_scaled_like_others(tmp_path: Path) -> None:
    shape = {"tensor": 1, "expert": 4, "data": 1}
    tables = with_keys(model=EXPERTS, parallelism=shape, routing={"trace": ["trace.csv"]})
    (tmp_path / "model.toml").write_text(written(tables))
    (tmp_path / "trace.csv").write_text("5e-324,5e-324,5e-324,5e-324\n" * 4)
    assert list(model_workload(tmp_path / "model.toml")["matrices"].values()) == [[[BUFFER // 4] * 4] * 4]


def test_no_more_matrices_are_drawn_than_layers_of_a_stage_use() -> None:
    assert len(trained({**ROUTING, "matrices": 9})["matrices"]) == 2
    assert len(trained({**ROUTING, "matrices": 9}, pipeline=1)["matrices"]) == 4
