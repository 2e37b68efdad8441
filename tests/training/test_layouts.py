"""Layouts of models: memory by hand, the pruned search against all layouts, refusals."""

from __future__ import annotations

import csv
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.inputs.workloads.layouts import legal_layouts, memory_bytes
from lightloom.inputs.workloads.model import model_workload, trained_model, workload_of
from lightloom.training.layouts import best_layout, least_s
from tests.conftest import RunCli
from tests.inputs.model_descriptions import with_keys, written

MODEL = {"layers": 2, "hidden": 64, "ffn_hidden": 128, "heads": 4, "vocabulary": 64, "sequence": 32, "experts": 4}
BATCH = {"micro_batch": 1, "microbatches": 2}


def described(folder: Path, **parallelism: Any) -> Path:
    """A small model of experts on eight ranks, eight samples an iteration, as a file."""
    shape = {"tensor": 2, "expert": 2, "pipeline": 1, "data": 2, **parallelism}
    tables = with_keys(model=MODEL, batch=BATCH, parallelism=shape, accelerator={"flops": 1e12})
    path = folder / "model.toml"
    path.write_text(written(tables))
    return path


def all_layouts(ranks: int) -> list[dict[str, Any]]:
    """Every division of the ranks that the small model allows, by trying all numbers."""
    found = []
    sizes = range(1, ranks + 1)
    for tensor, context, expert, pipeline, data in product(sizes, repeat=5):
        degrees = (tensor, context, expert, pipeline, data)
        samples = 8 / (expert * data)
        fits = prod(degrees) == ranks and 4 % tensor == 0 and 4 % expert == 0 and 2 % pipeline == 0
        if not fits or 32 % context or samples != int(samples):
            continue
        for together, sharded in product((False, True), repeat=2):
            if (together and tensor == 1) or (sharded and (pipeline > 1 or data * expert * context == 1)):
                continue
            names = {"tensor": tensor, "context": context, "expert": expert, "pipeline": pipeline, "data": data}
            shape = {**names, "sequence_parallel": together, "sharded": sharded}
            found.append({"parallelism": shape, "batch": {"micro_batch": 1, "microbatches": int(samples)}})
    return found


def test_layouts_are_all_divisions(tmp_path: Path) -> None:
    for ranks in (4, 8):
        found = legal_layouts(trained_model(described(tmp_path)), ranks)
        wanted = [
            {name: value for table in layout.values() for name, value in table.items()} for layout in all_layouts(ranks)
        ]
        key = sorted(wanted[0])
        told = [tuple(getattr(layout, name) for name in key) for layout in found]
        assert sorted(told) == sorted(tuple(layout[name] for name in key) for layout in wanted)


@pytest.mark.large
@pytest.mark.parametrize(("ports", "delay"), [(1, "1us"), (2, "1us"), (2, "10ms")])
def test_the_pruned_search_finds_the_best_of_all(tmp_path: Path, ports: int, delay: str) -> None:
    path = described(tmp_path)
    fabric = ll.Fabric(ports=ports, reconfiguration_delay=delay, bandwidth="1Gbps")
    times: dict[tuple[Any, ...], float] = {}
    for layout in all_layouts(4):
        told = model_workload(written(with_keys(model=MODEL, accelerator={"flops": 1e12}, **layout)))
        names = {**layout["parallelism"], **layout["batch"]}
        times[tuple(names.values())] = ll.train(ll.Workload.of(told), fabric=fabric).total_s
    for legal in legal_layouts(trained_model(path), 4):
        assert least_s(legal, fabric) <= times[tuple(getattr(legal, name) for name in names)] * (1 + 1e-12)
    found = best_layout(path, fabric=fabric, ranks=4)
    assert found.legal == found.fitting == len(times)
    assert [layout.total_s for layout in found.fastest] == pytest.approx(sorted(times.values())[:5], rel=1e-12)
    assert found.best.total_s == min(times.values())
    alone = best_layout(path, fabric=fabric, ranks=4, most_named=1)
    assert alone.best.total_s == min(times.values())
    assert alone.planned <= found.planned < len(times)


@pytest.mark.large
@pytest.mark.parametrize("optics", ["mesh:2x3", "mesh:3x3"])
def test_layouts_that_are_named_have_room_in_the_mesh(tmp_path: Path, optics: str) -> None:
    path = described(tmp_path)
    fabric = ll.Fabric(ports=2, optics=optics)
    times = []
    for layout in all_layouts(4):
        told = model_workload(written(with_keys(model=MODEL, accelerator={"flops": 1e12}, **layout)))
        try:
            training = ll.train(ll.Workload.of(told), fabric=fabric)
            ll.circuits(training)
        except InputError as error:
            assert error.field == "optics"
        else:
            times.append(training.total_s)
    assert len(times) < len(all_layouts(4))
    found = best_layout(path, fabric=fabric, ranks=4)
    assert found.refused > 0
    assert [layout.total_s for layout in found.fastest] == pytest.approx(sorted(times)[:5], rel=1e-12)


def test_memory_of_a_tiny_model_by_hand(tmp_path: Path) -> None:
    # Attention 4 · 64², an expert 2 · 64 · 128, the embedding and the logits 64 · 64 each; two bytes a parameter and as
    # many a gradient, twelve of states. Two ranks of tp, two of ep with two of four experts, two replicas.
    attention, expert, embedding = 4 * 64 * 64, 2 * 64 * 128, 64 * 64
    parameters = 2 * (attention + 2 * expert) // 2 + 2 * embedding // 2
    # Activations of two layers: of 32 · 64 values each, 10 bytes that every rank has and 24 that two ranks share.
    activations = 2 * 32 * 64 * (10 + 24 // 2)
    model = trained_model(described(tmp_path))
    assert memory_bytes(model) == 16 * parameters + activations
    # Sequence parallel, all of it in halves; recomputed, two bytes a value.
    model = trained_model(described(tmp_path, sequence_parallel=True))
    assert memory_bytes(model) == 16 * parameters + 2 * 32 * 64 * 34 // 2
    # Dense parameters shared by four, experts by two, and one layer gathered, the embedding and the logits.
    model = trained_model(described(tmp_path, sharded=True))
    dense, experts = (2 * attention + 2 * embedding) // 2, 2 * 2 * expert // 2
    ends = 2 * 2 * embedding // 2
    gathered = 2 * (attention + 2 * expert) // 2 + ends
    assert memory_bytes(model) == 16 * dense // 4 + 16 * experts // 2 + gathered + activations
    # Prefetched, both layers.
    model = trained_model(described(tmp_path, sharded=True, prefetch=True))
    both = 2 * (gathered - ends) + ends
    assert memory_bytes(model) == 16 * dense // 4 + 16 * experts // 2 + both + activations
    # One replica over four ranks of ep, an expert each: only dense parameters are shared and gathered.
    model = trained_model(described(tmp_path, sharded=True, expert=4, data=1))
    assert memory_bytes(model) == 16 * dense // 4 + 16 * (2 * expert // 2) + 2 * attention // 2 + ends + activations
    # Two ranks of cp share the tokens; sharded, dense parameters are on eight ranks, experts on four.
    half = activations // 2
    assert memory_bytes(trained_model(described(tmp_path, context=2))) == 16 * parameters + half
    model = trained_model(described(tmp_path, context=2, sharded=True))
    assert memory_bytes(model) == 16 * dense // 8 + 16 * experts // 4 + gathered + half
    # Two stages: one layer and one of the two ends each; four microbatches held.
    model = trained_model(described(tmp_path, pipeline=2, data=1))
    halved = (attention + 2 * expert) // 2 + embedding // 2
    assert memory_bytes(model) == 16 * halved + 2 * 32 * 64 * (10 + 24 // 2)


def test_only_layouts_that_fit_are_planned(tmp_path: Path) -> None:
    path = described(tmp_path)
    needs = sorted({memory_bytes(layout) for layout in legal_layouts(trained_model(path))})
    found = best_layout(path, memory=needs[1], most_named=1)
    assert max(layout.memory_bytes for layout in found.fastest) <= needs[1]
    assert 0 < found.fitting < found.legal
    with pytest.raises(InputError, match=f"the layout that needs least takes .*, {needs[0]} bytes"):
        best_layout(path, memory=needs[0] - 1)


@pytest.mark.large
def test_the_command_prints_the_fastest_and_the_best_iteration(tmp_path: Path, cli: RunCli) -> None:
    path = str(described(tmp_path))
    text = cli("train", path, "--layout", "auto", "--ports", "2", "--ranks", "4").out
    found = best_layout(path, fabric=ll.Fabric(ports=2), ranks=4)
    assert all(layout.name in text for layout in found.fastest)
    assert f"{found.legal} legal layouts, no limit on memory; {found.planned} planned" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bert-pccl", "--layout", "auto"), "layout: [compute] states the times of one layout"),
        (("llama-3-70b-decode", "--layout", "auto"), "layout: it is for training"),
        (("nothing.json", "--layout", "auto"), "layout: it is for models"),
        (
            ("mixtral-8x22b", "--layout", "auto", "--ranks", "5"),
            "no layout of the model has this many; nearest are 4 and 7",
        ),
        (("mixtral-8x22b", "--ranks", "200"), "= 128, nearest 128 and 256; --layout auto looks for another layout"),
        (("mixtral-8x22b", "--layout", "auto", "--comm-size", "input"), "comm_size: it is only for traces"),
        (("mixtral-8x22b", "--memory", "80GiB"), "memory: it is used only together with --layout"),
        (("mixtral-8x22b", "--layout", "auto", "--memory", "much"), "memory: `much` is not accepted"),
    ],
)
def test_what_cannot_be_is_refused(cli: RunCli, arguments: tuple[str, ...], said: str) -> None:
    ended = cli("train", *arguments)
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_uneven_experts_leave_layouts_that_their_matrices_serve(tmp_path: Path) -> None:
    path = described(tmp_path)
    (tmp_path / "tokens.csv").write_text("1,2\n3,4\n")
    path.write_text(path.read_text() + '[routing]\ntrace = ["tokens.csv"]\n')
    # The trace is of two ranks that share experts; where none do, no tokens are sent.
    assert {layout.expert for layout in legal_layouts(trained_model(path))} == {1, 2}
    path.write_text(path.read_text().replace("tokens.csv", "other.csv"))
    with pytest.raises(InputError, match=r"routing.trace: no such file"):
        best_layout(path)


@pytest.mark.large
def test_a_policy_that_serves_some_layouts_is_planned_on_these(tmp_path: Path) -> None:
    path = described(tmp_path)
    fabric = ll.Fabric(ports=1)
    found = best_layout(path, fabric=fabric, ranks=4, policy="static", most_named=50)
    times = []
    for layout in legal_layouts(trained_model(path), 4):
        try:
            training = ll.train(ll.Workload.of(workload_of(layout)), fabric=fabric, policy="static")
        except InputError:
            continue
        times.append(training.total_s)
    # One port has no room for the topologies of two axes.
    assert 0 < len(times) < found.legal
    assert [layout.total_s for layout in found.fastest] == sorted(times)
    assert found.refused == found.fitting - len(times)


@pytest.mark.large
def test_layouts_keep_the_degrees_that_are_asked_for(tmp_path: Path, cli: RunCli) -> None:
    path = described(tmp_path)
    kept = legal_layouts(trained_model(path), 8, {"tensor": 2, "sharded": 1})
    every = legal_layouts(trained_model(path), 8)
    assert kept == [layout for layout in every if layout.tensor == 2 and layout.sharded]
    file = tmp_path / "layouts.csv"
    asked = ("--layout", "context=2, sequence_parallel=false", "--layouts", str(file))
    told = cli("train", str(path), *asked, "--ports", "2")
    assert told.status == 0, told.err
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert {(row["context"], row["sequence_parallel"]) for row in rows} == {("2", "False")}
    found = best_layout(path, fabric=ll.Fabric(ports=2), layout="context=2,sequence_parallel=false")
    assert [float(row["total_s"]) for row in rows] == [layout.total_s for layout in found.fastest]
    assert found.best.total_s == min(found.to_columns()["total_s"])


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ("fast", "layout: `fast` is not accepted; it takes auto, or what layouts must have, each once: tensor="),
        ("tensor=0", "no legal layout of the model on 8 ranks has it"),
        ("tensor=2,tensor=2", "`tensor=2,tensor=2` is not accepted; it takes auto, or"),
        ("tensor=-2", "`tensor=-2` is not accepted; it takes auto, or"),
        ("sharded=1", "`sharded=1` is not accepted; it takes auto, or"),
        (
            "tensor=8,pipeline=1",
            "`tensor=8,pipeline=1` is not accepted: no legal layout of the model",
        ),
        ("", "`` is not accepted; it takes auto, or"),
    ],
)
def test_degrees_that_cannot_be_are_refused(tmp_path: Path, layout: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        best_layout(described(tmp_path), layout=layout)
    assert said in str(refused.value)
    assert refused.value.field == "layout"
