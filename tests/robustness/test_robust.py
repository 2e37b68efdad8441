"""Plans that are made once: what they take, by the verifier of plans and by the order of strategies."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.robustness.document import change_s, plan_for
from lightloom.robustness.result import STRATEGIES

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.conftest import RunCli

FABRICS = {
    "free": ll.Fabric(gpus=6, ports=2),
    "one port": ll.Fabric(gpus=6),
    "repeated": ll.Fabric(gpus=6, initial="repeated", reconfiguration_delay="5us"),
    "by port": ll.Fabric(gpus=6, reconfiguration_delay="1us+100ns/port"),
    "from a ring": ll.Fabric(gpus=6, initial="ring", reconfiguration_delay="5us"),
    "window": ll.Fabric(gpus=6, window="3us,1=2us", reconfiguration_delay="5us"),
}


def trace(seed: int = 0, ranks: int = 6, iterations: int = 4, *, sparse: bool = False) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    made = np.rint(random.pareto(1.5, (iterations, ranks, ranks)) * 1e6 + 1e4)
    if sparse:
        made[random.random(made.shape) < 0.5] = 0.0
        made[:, 0, 1] = 5e5
    made[:, range(ranks), range(ranks)] = 0.0
    return made


@pytest.mark.large
@pytest.mark.parametrize("objective", ["expected", "worst"])
@pytest.mark.parametrize("sparse", [False, True], ids=["all pairs", "some pairs"])
@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_the_judge_finds_the_times_of_every_iteration(fabric: ll.Fabric, sparse: bool, objective: str) -> None:
    matrices = trace(sparse=sparse)
    found = ll.robust(matrices, fabric=fabric, objective=objective)
    for one, matrix in zip(found.iterations, matrices, strict=True):
        assert one.traffic_bytes == matrix.sum()
        made = plan_for(found.fixed, matrix, fabric)
        assert all(check.passed for check in ll.verify(made))
        if len(made.steps) == len(found.fixed.steps):
            assert made.total_s == pytest.approx(one.once_s, rel=1e-9)
        else:
            # A step without bytes is there all the same where the plan is made once.
            assert made.total_s < one.once_s
    assert all(check.passed for check in ll.verify(found.plan))


@pytest.mark.large
@pytest.mark.parametrize("fabric", FABRICS.values(), ids=FABRICS)
def test_strategies_are_in_order_of_what_they_know(fabric: ll.Fabric) -> None:
    matrices = trace(1)
    expected = ll.robust(matrices, fabric=fabric)
    worst = ll.robust(matrices, fabric=fabric, objective="worst")
    assert expected.strategy("once").mean_s <= expected.strategy("uniform").mean_s
    assert worst.strategy("once").worst_s <= worst.strategy("uniform").worst_s
    assert expected.strategy("each").mean_s <= expected.strategy("once").mean_s * (1 + 1e-9)
    # Each is at its best in what it is made for; the mean counts a little in the other.
    assert worst.strategy("once").worst_s <= expected.strategy("once").worst_s * (1 + 1e-3)
    assert expected.strategy("once").mean_s <= worst.strategy("once").mean_s * (1 + 1e-9)
    if fabric.initial != "repeated":
        assert all(one.each_s <= one.once_s * (1 + 1e-9) for one in expected.iterations)


def test_equal_iterations_leave_no_regret() -> None:
    matrix = trace(2)[0]
    found = ll.robust([matrix] * 3, fabric=FABRICS["free"])
    alone_s = ll.plan("all-to-all", matrix=matrix, fabric=FABRICS["free"]).total_s
    assert [one.regret_s("once") for one in found.iterations] == pytest.approx([0.0] * 3, abs=1e-12)
    assert [one.regret_s("previous") for one in found.iterations[1:]] == pytest.approx([0.0] * 2, abs=1e-7)
    assert found.iterations[0].each_s <= alone_s * (1 + 1e-12)
    assert found.iterations[0].previous_s == found.iterations[0].uniform_s


def test_changes_between_iterations_are_charged_where_the_plan_is_repeated() -> None:
    delay_s = 1e-2
    fabric = ll.Fabric(gpus=6, ports=2, initial="repeated", reconfiguration_delay=delay_s)
    found = ll.robust(trace(3), fabric=fabric)
    # So slow a switch that one topology is kept: by one plan for good, by the plans that differ never.
    assert found.plan.reconfigurations == 0
    assert all(one.once_s < delay_s for one in found.iterations)
    assert found.iterations[0].previous_s < delay_s
    assert all(one.previous_s > delay_s for one in found.iterations[1:2])
    assert all(one.each_s < delay_s for one in found.iterations)


def test_a_change_costs_what_the_fabric_says() -> None:
    there = ll.Topology.from_links("there", 4, [(rank, (rank + 1) % 4, 1) for rank in range(4)])
    back = ll.Topology.from_links("back", 4, [(rank, (rank + 3) % 4, 1) for rank in range(4)])
    assert change_s(ll.Fabric(gpus=4, reconfiguration_delay="10us"), there, back) == pytest.approx(1e-5)
    assert change_s(ll.Fabric(gpus=4, reconfiguration_delay="10us"), there, there) == 0.0
    # A port on each of the 4 GPUs.
    by_port = ll.Fabric(gpus=4, reconfiguration_delay="1us+100ns/port")
    assert change_s(by_port, there, back) == pytest.approx(1e-6 + 4 * 1e-7)
    hidden = ll.Fabric(gpus=4, reconfiguration_delay="10us", window="1us,2=4us")
    # The option counts steps from 1.
    assert change_s(hidden, there, back, 0) == pytest.approx(9e-6)
    assert change_s(hidden, there, back, 1) == pytest.approx(6e-6)


def test_the_document_says_for_every_pair_where_its_bytes_go() -> None:
    found = ll.robust(trace(4, sparse=True), fabric=FABRICS["one port"])
    told = json.loads(found.to_json())
    shares: defaultdict[tuple[int, int], float] = defaultdict(float)
    for piece in told["pieces"]:
        shares[piece["source"], piece["destination"]] += piece["share"]
        at = piece["source"]
        steps = [move["step"] for move in piece["moves"]]
        assert steps == sorted(set(steps))
        for move in piece["moves"]:
            assert sum(path["share"] for path in move["paths"]) == pytest.approx(1.0)
            ends = {(path["ranks"][0], path["ranks"][-1]) for path in move["paths"]}
            assert len(ends) == 1
            links = {(src, dst) for src, dst, _ in told["steps"][move["step"]]["links"]}
            for path in move["paths"]:
                assert set(zip(path["ranks"], path["ranks"][1:], strict=False)) <= links
            ((begin, at_end),) = ends
            assert begin == at
            at = at_end
        assert at == piece["destination"]
    sends = trace(4, sparse=True).any(axis=0)
    assert set(shares) >= {(int(src), int(dst)) for src, dst in np.argwhere(sends)}
    assert all(share == pytest.approx(1.0) for share in shares.values())


def test_tables_and_columns_say_the_same() -> None:
    found = ll.robust("zipf:0.6", "1MiB/pair", iterations=3, drift=0.5, seed=2, fabric=FABRICS["free"])
    columns = found.to_columns()
    assert columns["iteration"] == [0, 1, 2]
    assert columns["once_regret_s"] == [
        once - each for once, each in zip(columns["once_s"], columns["each_s"], strict=True)
    ]
    once = found.strategy("once")
    assert once.mean_s == pytest.approx(np.mean(columns["once_s"]))
    assert once.worst_regret_s == max(columns["once_regret_s"])
    assert [one.name for one in found.strategies] == list(STRATEGIES)
    again = ll.robust("zipf:0.6", "1MiB/pair", iterations=3, drift=0.5, seed=2, fabric=FABRICS["free"])
    assert again.to_json() == found.to_json()
    assert "3 iterations" in repr(found)


@pytest.mark.large
def test_the_plan_is_one_that_other_verbs_take(in_tmp: Path, cli: RunCli) -> None:
    np.save(in_tmp / "trace.npy", trace(5))
    ran = cli("robust", "--matrices", "trace.npy", "--ports", 2, "--output", "plan.json", "--plot", "regret.svg")
    assert ran.status == 0, ran.err
    assert "<svg" in (in_tmp / "regret.svg").read_text()
    for verb in ("verify", "simulate", "circuits"):
        assert cli(verb, "plan.json").status == 0
    found = ll.robust(in_tmp / "trace.npy", fabric=ll.Fabric(ports=2))
    assert ll.Plan.load(in_tmp / "plan.json") == found.plan
    # The mean of the matrices, at the busiest GPU.
    mean = trace(5).mean(axis=0)
    assert found.plan.traffic_bytes == pytest.approx(mean.sum(), abs=1.0)
    rows = cli("robust", "--matrices", "trace.npy", "--ports", 2, "--format", "csv").out.splitlines()
    assert len(rows) == 1 + len(found.iterations)
    assert float(rows[1].split(",")[2]) == pytest.approx(found.iterations[0].once_s)


def test_without_its_solver_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    with pytest.raises(ll.InputError, match=r"needs the package `highspy`: pip install 'lightloom\[exact\]'"):
        ll.robust(trace(0), fabric=FABRICS["free"])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "objective": ({"objective": "least"}, "objective"),
    "iterations of a trace": ({"iterations": 3}, "iterations"),
    "drift of a trace": ({"drift": 0.1}, "drift"),
    "seed of a trace": ({"seed": 0}, "seed"),
    "other ranks": ({"fabric": ll.Fabric(gpus=4)}, "matrices"),
    "changes in the background": (
        {"fabric": ll.Fabric(gpus=6, ports=2, background_reconfiguration=True)},
        "background_reconfiguration",
    ),
    "size": ({"size": "1 MB of tokens"}, "size"),
    "a pair's size": ({"size": "8PiB/pair"}, "size"),
}


@pytest.mark.parametrize(("given", "field"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_names_its_argument(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ll.InputError) as error:
        ll.robust(trace(0), **given)
    assert error.value.field == field


GENERATED: dict[str, tuple[dict[str, Any], str]] = {
    "no size": ({"size": None}, "size"),
    "no GPUs": ({"fabric": ll.Fabric()}, "gpus"),
    "drift above 1": ({"drift": 1.5}, "drift"),
    "drift that is no number": ({"drift": float("nan")}, "drift"),
    "no iterations": ({"iterations": 0}, "iterations"),
    "too many iterations": ({"iterations": 5000}, "iterations"),
    "a wrong parameter": ({"matrices": "zipf:many"}, "matrices"),
}


@pytest.mark.parametrize(("given", "field"), GENERATED.values(), ids=GENERATED)
def test_generated_traces_that_are_refused(given: dict[str, Any], field: str) -> None:
    arguments: dict[str, Any] = {"matrices": "zipf:0.6", "size": "1MiB/pair", "fabric": FABRICS["free"], **given}
    with pytest.raises(ll.InputError) as error:
        ll.robust(arguments.pop("matrices"), arguments.pop("size"), **arguments)
    assert error.value.field == field


def test_tokens_without_a_size_are_said_to_be_bytes(in_tmp: Path, cli: RunCli) -> None:
    tokens = np.arange(1, 25).reshape(3, 8)[:, :6]
    np.save("tokens.npy", tokens)
    np.save("trace.npy", np.array([tokens, tokens]))
    (in_tmp / "trace").mkdir()
    np.savetxt("trace/0.csv", tokens, delimiter=",")
    np.save("bytes.npy", np.ones((3, 3)))
    said = "6 columns for 3 rows are tokens by expert, each taken as one byte; --size says what they amount to\n"
    for verb, option, source in (
        ("plan", "--matrix", "tokens.npy"),
        ("robust", "--matrices", "trace.npy"),
        ("robust", "--matrices", "trace"),
    ):
        ran = cli(verb, option, source)
        assert (ran.status, ran.err) == (0, f"{option[2:]}: {said}")
        assert cli(verb, option, source, "--size", "1MiB").err == ""
    assert cli("plan", "--matrix", "bytes.npy").err == ""
