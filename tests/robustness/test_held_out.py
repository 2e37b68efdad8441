"""Plans that are made once, judged by iterations that they have not seen: recomputed from the JSON that is printed."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.robustness.document import plan_for

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.conftest import RunCli

RANKS = 6
STARTUP_S, HOP_S, BIT_S = 2e-6, 5e-7, 1 / 800e9
FABRIC = ll.Fabric(
    gpus=RANKS, ports=2, startup=STARTUP_S, hop_delay=HOP_S, bandwidth=1 / BIT_S, reconfiguration_delay="1us"
)


def drifting(seed: int, iterations: int, drift: float, *, sparse: bool = False) -> NDArray[np.float64]:
    """A trace of which a share is drawn anew from one iteration to the next; if sparse, pairs send in some only."""
    random = np.random.default_rng(seed)
    made = [random.pareto(1.5, (RANKS, RANKS)) * 1e6 + 1e4]
    for _ in range(1, iterations):
        made.append((1 - drift) * made[-1] + drift * (random.pareto(1.5, (RANKS, RANKS)) * 1e6 + 1e4))
    trace = np.rint(made)
    if sparse:
        trace[random.random(trace.shape) < 0.7] = 0.0
        trace[:, 0, 1] = 5e5
    trace[:, range(RANKS), range(RANKS)] = 0.0
    return trace


def recomputed_s(told: dict[str, Any], matrix: NDArray[np.float64]) -> float:
    """Seconds of an iteration by the document: startups, longest paths, busiest circuits, and changes between steps."""
    served: defaultdict[tuple[int, int], float] = defaultdict(float)
    loads: list[defaultdict[tuple[int, int], float]] = [defaultdict(float) for _ in told["steps"]]
    hops = [0] * len(told["steps"])
    for piece in told["pieces"]:
        pair = piece["source"], piece["destination"]
        served[pair] += piece["share"]
        for move in piece["moves"]:
            for path in move["paths"]:
                if matrix[pair] > 0:
                    hops[move["step"]] = max(hops[move["step"]], len(path["ranks"]) - 1)
                for link in pairwise(path["ranks"]):
                    loads[move["step"]][link] += matrix[pair] * piece["share"] * path["share"]
    assert all(served[pair] == pytest.approx(1.0) for pair in np.ndindex(matrix.shape) if matrix[pair] > 0)
    total_s = 0.0
    for index, (step, of_links) in enumerate(zip(told["steps"], loads, strict=True)):
        circuits = {(src, dst): count for src, dst, count in step["links"]}
        busiest = max((sent / circuits[link] for link, sent in of_links.items()), default=0.0)
        change_s = step["reconfiguration_s"] if index else 0.0
        total_s += STARTUP_S + HOP_S * hops[index] + 8 * BIT_S * busiest + change_s
    return total_s


@pytest.mark.large
@pytest.mark.parametrize("objective", ["expected", "worst"])
@pytest.mark.parametrize("sparse", [False, True], ids=["all pairs", "some pairs"])
@pytest.mark.parametrize("seed", range(3))
def test_regrets_are_those_of_a_second_computation(seed: int, sparse: bool, objective: str) -> None:
    trace = drifting(seed, 5, 0.3, sparse=sparse)
    found = ll.robust(trace, fabric=FABRIC, objective=objective, hold_out=2)
    told = json.loads(found.to_json())
    assert [one["held_out"] for one in told["iterations"]] == [False, False, False, True, True]
    for one, matrix in zip(told["iterations"], trace, strict=True):
        assert one["once_s"] == pytest.approx(recomputed_s(told, matrix), rel=1e-9)
        alone_s = ll.plan("all-to-all", matrix=matrix, fabric=FABRIC).total_s
        assert one["each_s"] <= min(alone_s, one["once_s"]) * (1 + 1e-9)
        assert all(check.passed for check in ll.verify(plan_for(found.fixed, matrix, FABRIC)))
    for rows, of in ((told["strategies"], told["iterations"][:3]), (told["held_out"], told["iterations"][3:])):
        for row in rows:
            times_s = np.array([one[f"{row['name']}_s"] for one in of])
            each_s = np.array([one["each_s"] for one in of])
            assert row["mean_s"] == pytest.approx(times_s.mean())
            assert row["worst_s"] == times_s.max()
            assert row["mean_regret_s"] == pytest.approx((times_s - each_s).mean(), abs=1e-15)
            assert row["worst_regret_s"] == pytest.approx((times_s - each_s).max(), abs=1e-15)
            assert row["over_each"] == pytest.approx(times_s.sum() / each_s.sum())


@pytest.mark.large
def test_the_plan_knows_nothing_of_what_is_held_out() -> None:
    trace, other = drifting(0, 6, 0.3), drifting(7, 6, 0.3)
    held_out = json.loads(ll.robust(trace, fabric=FABRIC, hold_out=2).to_json())
    changed = json.loads(ll.robust([*trace[:4], *other[4:]], fabric=FABRIC, hold_out=2).to_json())
    alone = json.loads(ll.robust(trace[:4], fabric=FABRIC).to_json())
    for name in ("steps", "pieces", "optimised", "strategies"):
        assert held_out[name] == changed[name] == alone[name], name
    assert alone["held_out"] == []


def test_every_pair_has_paths_where_some_iterations_are_held_out() -> None:
    trace = drifting(1, 4, 0.3)
    trace[:3, 2:] = 0.0
    found = ll.robust(trace, fabric=FABRIC, hold_out=1)
    assert found.fixed.pairs.reshape(RANKS, RANKS)[~np.eye(RANKS, dtype=bool)].all()
    assert found.held_out[0].mean_s == found.iterations[3].once_s


@pytest.mark.large
@pytest.mark.parametrize(("hold_out", "count"), [(1, 1), (3, 3), (0.5, 2), (0.25, 1), (0.01, 1), (0.99, 3), (None, 0)])
def test_a_share_or_a_number_is_held_out(hold_out: Any, count: int) -> None:
    found = ll.robust(drifting(2, 4, 0.2), fabric=FABRIC, hold_out=hold_out)
    assert [one.held_out for one in found.iterations] == [False] * (4 - count) + [True] * count


@pytest.mark.parametrize("hold_out", [0, 4, 5, 1.5, -1, float("nan"), float("inf"), "2"])
def test_what_is_refused_names_its_argument(hold_out: Any) -> None:
    with pytest.raises(ll.InputError, match="from 1 to 3 of the 4 iterations") as error:
        ll.robust(drifting(2, 4, 0.2), fabric=FABRIC, hold_out=hold_out)
    assert error.value.field == "hold_out"


def test_a_single_iteration_is_not_divided() -> None:
    with pytest.raises(ll.InputError, match="hold_out: it takes a trace of at least 2 iterations"):
        ll.robust(drifting(2, 1, 0.2), fabric=FABRIC, hold_out=1)


@pytest.mark.large
def test_tables_and_pictures_say_which_iterations_are_held_out(in_tmp: Path, cli: RunCli) -> None:
    np.save(in_tmp / "trace.npy", drifting(3, 4, 0.2))
    given = ("robust", "--matrices", "trace.npy", "--ports", 2, "--hold-out", 0.25)
    ran = cli(*given, "--plot", "regret.svg")
    assert ran.status == 0, ran.err
    assert "1 iteration after these, held out" in ran.out
    assert "made for the first 3 iterations together" in ran.out
    assert "<svg" in (in_tmp / "regret.svg").read_text()
    rows = cli(*given, "--format", "csv").out.splitlines()
    assert rows[0].split(",")[-1] == "held_out"
    assert [row.split(",")[-1] for row in rows[1:]] == ["False"] * 3 + ["True"]
    refused = cli("robust", "--matrices", "trace.npy", "--hold-out", 4)
    assert refused.status == 2
    assert refused.err.count("\n") == 1
    assert refused.err.startswith("error: hold_out: `4` is not accepted")
