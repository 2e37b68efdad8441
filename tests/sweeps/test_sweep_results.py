"""Results of sweeps equal those of plans and simulations of single points, whoever computes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.conftest import ROOT

SETTINGS = {"collective": "all-reduce", "gpus": 16, "algorithm": "recursive-doubling"}
MODEL: dict[str, Any] = {
    "metrics": ["time", "ratio", "gap", "reconfigurations"],
    "baseline": ["static", {"planner": "harvest", "algorithm": "ring"}],
    "settings": SETTINGS,
    "axes": {
        "planner": ["harvest", "bvn", "auto"],
        "ports": [1, 2],
        "size": ["1KiB", "300KB", "64MiB"],
        "reconfiguration-delay": ["100ns", "5us", "1ms"],
        "bandwidth": ["100Gbps", "800Gbps"],
    },
}


def plan_at(result: ll.SweepResult, row: int, **changes: Any) -> ll.Plan:
    """The plan of a row, by itself."""
    fabric = ll.Fabric(
        gpus=16,
        ports=int(result["ports"][row]),
        bandwidth=float(result["bandwidth_bps"][row]),
        reconfiguration_delay=float(result["reconfiguration_delay_s"][row]),
    )
    options = {"algorithm": "recursive-doubling", "planner": str(result["planner"][row]), **changes}
    return ll.plan("all-reduce", size=int(result["size_bytes"][row]), fabric=fabric, **options)


@pytest.fixture(scope="module")
def model() -> ll.SweepResult:
    return ll.sweep(MODEL)


def test_model_points_equal_plans(model: ll.SweepResult) -> None:
    assert len(model) == 3 * 2 * 3 * 3 * 2
    for row in range(0, len(model), 5):
        plan = plan_at(model, row)
        assert model["total_s"][row] == pytest.approx(plan.total_s, rel=1e-12)
        assert model["lower_bound_s"][row] == pytest.approx(plan.lower_bound_s, rel=1e-9)
        assert model["gap"][row] == pytest.approx(plan.gap, rel=1e-9)
        if model["planner"][row] != "auto":
            assert model["reconfigurations"][row] == plan.reconfigurations
            assert (model["chosen_planner"][row], model["chosen_algorithm"][row]) == (plan.planner, plan.algorithm)


def test_the_ratio_is_that_of_the_best_baseline_planned_by_itself(model: ll.SweepResult) -> None:
    best = set()
    for row in range(0, len(model), 7):
        others = {
            "static": plan_at(model, row, planner="static").total_s,
            "harvest ring": plan_at(model, row, planner="harvest", algorithm="ring").total_s,
        }
        label = min(others, key=lambda name: others[name])
        best.add(label)
        assert model["baseline_s"][row] == pytest.approx(others[label], rel=1e-12)
        assert model["ratio"][row] == pytest.approx(others[label] / plan_at(model, row).total_s, rel=1e-12)
        if len({round(time, 15) for time in others.values()}) > 1:
            assert model["baseline"][row] == label
    assert best == {"static", "harvest ring"}


def test_baselines_are_planned_under_the_assumptions_of_the_point() -> None:
    """Planner bridge starts on the ring by itself; compared with harvest its start is free."""
    result = ll.sweep(
        {
            "metrics": ["ratio"],
            "baseline": ["bridge"],
            "settings": {"collective": "reduce-scatter", "gpus": 16, "algorithm": "bruck", "size": "64MiB"},
            "axes": {"planner": ["harvest", "pccl"], "reconfiguration-delay": ["10us"]},
        }
    )
    fabric = ll.Fabric(gpus=16, reconfiguration_delay="10us")
    expected = [
        ll.plan(
            "reduce-scatter", "64MiB", fabric=fabric, algorithm="bruck", planner="bridge", convention=convention
        ).total_s
        for convention in ("harvest", "pccl")
    ]
    assert result["baseline_s"] == pytest.approx(expected, rel=1e-12)
    assert expected[0] < expected[1]


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_simulated_points_equal_simulations(engine: str) -> None:
    result = ll.sweep(
        {
            "baseline": ["static"],
            "settings": {**SETTINGS, "planner": "harvest", "barrier": "100ns"},
            "axes": {"sync": ["barrier"], "size": ["64KiB", "4MiB"], "reconfiguration-delay": ["1us", "10us"]},
        },
        engine=engine,
    )
    assert result.columns[:3] == ("sync", "size_bytes", "reconfiguration_delay_s")
    for row in range(len(result)):
        delay_s = float(result["reconfiguration_delay_s"][row])
        fabric = ll.Fabric(gpus=16, barrier="100ns", reconfiguration_delay=delay_s)
        simulated, static = (
            ll.simulate(
                ll.plan(
                    "all-reduce",
                    size=int(result["size_bytes"][row]),
                    fabric=fabric,
                    algorithm="recursive-doubling",
                    planner=planner,
                ),
                level=engine,
            )
            for planner in ("harvest", "static")
        )
        assert result["simulated_s"][row] == simulated.total_s
        assert result["total_s"][row] == simulated.predicted_total_s
        assert result["ratio"][row] == static.total_s / simulated.total_s


@pytest.mark.parametrize("workers", [2, 5])
def test_the_table_is_the_same_whatever_the_number_of_workers(
    tmp_path: Path, model: ll.SweepResult, workers: int
) -> None:
    one = ll.sweep(MODEL, output=tmp_path / "one", workers=1)
    many = ll.sweep(MODEL, output=tmp_path / "many", workers=workers)
    assert one.path is not None
    assert many.path is not None
    assert one.path.read_bytes() == many.path.read_bytes()
    assert one.to_arrow().equals(pq.read_table(one.path))
    for column in model.columns:
        assert np.array_equal(model[column], one[column], equal_nan=model[column].dtype.kind == "f"), column


def test_what_cannot_be_planned_is_a_row_with_its_reason() -> None:
    result = ll.sweep(
        {
            "baseline": ["static"],
            "settings": {"collective": "all-reduce", "planner": "harvest"},
            "axes": {"gpus": [8, 12], "algorithm": ["ring", "recursive-doubling"], "size": ["1KiB", "1MiB"]},
        }
    )
    missing = np.isnan(result["total_s"])
    assert missing.tolist() == [False] * 6 + [True] * 2
    assert np.isnan(result["ratio"][missing]).all()
    assert (result["reconfigurations"][missing] == -1).all()
    assert all("power of two" in reason for reason in result["reason"][missing])
    assert (result["reason"][~missing] == "").all()
    assert (result["chosen_planner"] == np.where(missing, "", "harvest")).all()
    assert result.to_arrow().column("total_s").null_count == 2


def test_a_point_that_is_too_large_leaves_the_others_of_its_series() -> None:
    result = ll.sweep(
        {
            "settings": {"collective": "all-to-all", "gpus": 16, "algorithm": "direct", "planner": "harvest"},
            "axes": {"size": ["1MiB/pair", "1000TiB/pair"]},
        }
    )
    assert np.isnan(result["total_s"]).tolist() == [False, True]
    assert result["reconfigurations"][1] == -1
    assert "1 to 2^53 bytes per rank" in result["reason"][1]


def test_a_sweep_without_any_plan_is_refused_by_its_reason() -> None:
    with pytest.raises(InputError, match=r"^algorithm: .*power of two.*every point fails"):
        ll.sweep(
            {
                "settings": {"collective": "all-reduce", "algorithm": "recursive-doubling", "gpus": 12},
                "axes": {"size": ["1KiB", "1MiB"]},
            }
        )


def test_sizes_per_pair_and_generated_matrices_are_those_of_plans() -> None:
    for matrix in (None, "zipf:0.4:7"):
        settings: dict[str, Any] = {"collective": "all-to-all", "gpus": 8, "planner": "harvest", "algorithm": "direct"}
        if matrix is not None:
            settings = {"gpus": 8, "planner": "harvest", "matrix": matrix}
        result = ll.sweep({"settings": settings, "axes": {"size": ["1KiB/pair", "1MB/pair"], "ports": [1, 2]}})
        assert result.columns[:2] == ("ports", "size_bytes_per_pair")
        for row, size in enumerate(result["size_bytes_per_pair"]):
            fabric = ll.Fabric(gpus=8, ports=int(result["ports"][row]))
            options: dict[str, Any] = {key: value for key, value in settings.items() if key != "gpus"}
            plan = ll.plan(options.pop("collective", None), size=f"{size}B/pair", fabric=fabric, **options)
            # A matrix of other bytes is rounded to other bytes.
            assert result["total_s"][row] == pytest.approx(plan.total_s, rel=1e-12 if matrix is None else 1e-3)


def test_files_are_looked_for_beside_the_description(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "lab.toml").write_text('ports = 1\nbandwidth = "400Gbps"\n')
    (folder / "bytes.csv").write_text("0,8000,1000\n2000,0,4000\n6000,1000,0\n")
    (folder / "cycle.edgelist").write_text("0 1\n1 2\n2 0\n")
    (folder / "sweep.toml").write_text(
        '[settings]\nfabric = "lab.toml"\nmatrix = "bytes.csv"\nplanner = "static"\n'
        '[axes]\ntopology = ["cycle.edgelist", "ring"]\nreconfiguration-delay = ["1us", "1ms"]\n'
    )
    result = ll.sweep(folder / "sweep.toml")
    for row in range(len(result)):
        name = str(result["topology"][row])
        plan = ll.plan(
            matrix=folder / "bytes.csv",
            fabric=ll.Fabric.load(folder / "lab.toml", reconfiguration_delay=result["reconfiguration_delay_s"][row]),
            planner="static",
            topology=folder / name if name.endswith("edgelist") else name,
        )
        assert result["total_s"][row] == pytest.approx(plan.total_s, rel=1e-12)
    assert set(result["topology"]) == {"cycle.edgelist", "ring"}


def test_planner_exact_and_delays_per_port() -> None:
    result = ll.sweep(
        {
            "settings": {"collective": "reduce-scatter", "gpus": 6, "algorithm": "ring", "size": "1MiB"},
            "axes": {"planner": ["exact", "harvest"], "reconfiguration-delay": ["1us", "1us+20ns/port"]},
        }
    )
    assert result["reconfiguration_delay"].tolist() == ["1us", "1us+20ns/port"] * 2
    assert [bool(reason) for reason in result["reason"]] == [False, True, False, False]
    assert "one delay for every change" in result["reason"][1]
    for row in (0, 2, 3):
        fabric = ll.Fabric(gpus=6, reconfiguration_delay=str(result["reconfiguration_delay"][row]))
        planner = str(result["planner"][row])
        plan = ll.plan("reduce-scatter", size="1MiB", fabric=fabric, algorithm="ring", planner=planner)
        assert result["total_s"][row] == pytest.approx(plan.total_s, rel=1e-12)


def test_delays_by_port_are_an_axis() -> None:
    delays: list[Any] = [["1us", "2us"], "1us,100us", "20ns/port", 1e-6]
    fabric: dict[str, Any] = {"gpus": 8, "ports": 2, "initial": "ring"}
    result = ll.sweep(
        {
            "settings": {"collective": "all-gather", "algorithm": "bruck", "planner": "harvest", **fabric},
            "axes": {"reconfiguration-delay": delays, "size": ["1MiB", "2MiB"]},
        }
    )
    plans = [
        ll.plan(
            "all-gather",
            size=size,
            fabric=ll.Fabric(**fabric, reconfiguration_delay=delay),
            algorithm="bruck",
            planner="harvest",
        )
        for delay in delays
        for size in ("1MiB", "2MiB")
    ]
    assert result["total_s"].tolist() == [plan.total_s for plan in plans]
    assert len(set(result["total_s"].tolist())) > len(delays)


@pytest.mark.parametrize("per_pair", ["", "/pair"])
@pytest.mark.parametrize("matrix", ["zipf:0.4", "random:3", "uniform"])
def test_workloads_are_planned_alike_at_every_size(matrix: str, per_pair: str) -> None:
    sizes = [f"{size}B{per_pair}" for size in (1, 7, 1556, 35780377, 1 << 26, *range(10**6, 10**7, 10**6))]
    settings: dict[str, Any] = {"matrix": matrix, "planner": "static", "seed": 5}
    fabric = ll.Fabric(gpus=6, ports=2, reconfiguration_delay="10us,200us", initial="ring")
    plans = [ll.plan("all-to-all", size=size, fabric=fabric, **settings) for size in sizes]
    settings |= {"collective": "all-to-all", "gpus": 6, "ports": 2, "initial": "ring"}
    settings |= {"reconfiguration_delay": "10us,200us"}
    swept = ll.sweep({"settings": settings, "axes": {"size": sizes}, "metrics": ["time", "gap"]})
    assert swept["total_s"].tolist() == [plan.total_s for plan in plans]
    assert swept["lower_bound_s"].tolist() == [plan.lower_bound_s for plan in plans]


def test_a_matrix_of_a_file_is_scaled_by_sizes_per_pair_as_plan_does(in_tmp: Path) -> None:
    (in_tmp / "bytes.csv").write_text("0,10,20\n5,0,40\n1,2,0\n")
    settings: dict[str, Any] = {"matrix": "bytes.csv", "planner": "static"}
    sizes = ["1KiB/pair", "4KiB/pair"]
    swept = ll.sweep({"settings": {**settings, "gpus": 3}, "axes": {"size": sizes}})
    plans = [ll.plan("all-to-all", size=size, fabric=ll.Fabric(gpus=3), **settings) for size in sizes]
    assert swept["total_s"].tolist() == [plan.total_s for plan in plans]


def test_columns_cannot_be_written_to_and_unknown_ones_are_named(model: ll.SweepResult) -> None:
    with pytest.raises(ValueError, match="read-only"):
        model["total_s"][0] = 0.0
    with pytest.raises(InputError, match="did you mean `total_s`"):
        model["total"]
    assert model.grid("ratio").shape == tuple(len(axis.values) for axis in model.axes)
    assert repr(model) == (
        "SweepResult(sweep, model: 108 points, "
        "3 planners × 2 ports × 3 sizes × 3 reconfiguration delays × 2 bandwidths)"
    )


@pytest.mark.large
@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "sweeps").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_say_what_they_are_for(path: Path) -> None:
    result = ll.sweep(path)
    assert np.isfinite(result["total_s"]).all()
    ratio = result["ratio"]
    match path.stem:
        case "when-to-reconfigure":
            # It pays twofold somewhere, and nowhere does a planner that may stay or change do worse than both.
            assert ratio.max() > 2
            assert ratio.min() >= 1 - 1e-12
        case "which-planner":
            # Staying is best for small buffers and slow switches, Ring for large ones, BRIDGE where switches are fast.
            time_s = result.grid("total_s")
            best = np.argmax(time_s <= time_s.min(0) * (1 + 1e-9), 0)
            assert (best[0, -1], best[-1, -1], best[0, 30]) == (0, 1, 2)
        case "which-switch":
            # Quick switches pay from small buffers on, slow ones only for the largest; a quicker one is never worse.
            by_delay = result.grid("ratio")
            assert by_delay[0].max() > 4
            assert by_delay[-1, :-2] == pytest.approx(1, abs=1e-9)
            assert by_delay[-1, -1] > 1.2
            assert (np.diff(by_delay, axis=0) <= 1e-9).all()
            assert ratio.min() >= 1
        case "packets":
            barrier, dataflow = (result["simulated_s"][result["sync"] == sync] for sync in ("barrier", "dataflow"))
            assert (dataflow <= barrier * (1 + 1e-12)).all()
        case "training":
            # Changes pay where they are quick, most where circuits are fast; slow ones are not made at all.
            by_delay = result.grid("ratio")
            assert by_delay.max() == by_delay[0, -1] > 1.1
            assert by_delay[-1] == pytest.approx(1, abs=1e-9)
            assert (np.diff(by_delay[0]) > 0).all()
        case _:
            pytest.fail("say here what it is for")
