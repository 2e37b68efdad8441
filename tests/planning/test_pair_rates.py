"""Rates by pair of GPUs: plans against their files and linear programs, tables of pairs, and refusals."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.bounds_from_starts.all_schedules import Step
from tests.bounds_from_starts.graphs import Graph
from tests.draws import cases
from tests.names import names
from tests.planning.unlike_rates import BITS, ROUNDING, hold_to_what_it_says, least_load
from tests.reference.plan_document import pairs_of
from tests.refusals import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

FABRIC: dict[str, Any] = {"gpus": 8, "ports": 2, "bandwidth": "400Gbps", "pair_rates": "inside:4:800Gbps:100ns"}


@pytest.fixture(scope="module")
def plan() -> ll.Plan:
    return ll.plan("all-gather", "1MiB", fabric=ll.Fabric(**FABRIC))


def drawn(number: int, most_gpus: int = 9) -> tuple[str, int, ll.Fabric]:
    """Collective, bytes and fabric of a random problem; pairs are of up to four classes."""
    rng = Random(f"rates by pair {number}")  # noqa: S311
    gpus = rng.randint(2, most_gpus)
    number_of = rng.choice((1, 2, 3))
    classes = [f"{rng.randint(100, 900)}Gbps:{rng.choice((0, 250, 1000))}ns" for _ in range(number_of)]
    pairs = [f"{one}:{other}:{rng.choice(classes)}" for one, other in itertools.combinations(range(gpus), 2)]
    named = [pair for pair in pairs if rng.random() < 0.6] or pairs[:1]
    fabric = ll.Fabric(
        gpus=gpus,
        ports=rng.choice((1, 2, 2, 3)),
        bandwidth="400Gbps",
        hop_delay="500ns",
        reconfiguration_delay=rng.choice(("1us", "20us", "1s")),
        initial=rng.choice((None, None, None, "ring", "repeated")),
        pair_rates=",".join(named if rng.random() < 0.8 else [f"inside:{rng.randint(2, gpus)}:{classes[0]}"]),
    )
    return rng.choice(names("collectives")), gpus * rng.choice((100, 10_000, 1_000_000)), fabric


@pytest.mark.large
@pytest.mark.parametrize("number", range(24))
def test_plans_are_what_they_say(number: int) -> None:
    hold_to_what_it_says(*drawn(number))


@pytest.mark.large
@pytest.mark.long
@settings(max_examples=cases(60), deadline=None)
@given(st.integers(24, 10**9))
def test_plans_of_other_fabrics_are_what_they_say(number: int) -> None:
    hold_to_what_it_says(*drawn(number))


@pytest.mark.large
@pytest.mark.parametrize("number", range(20))
def test_no_plan_is_slower_than_that_of_the_slowest_pair_nor_faster_than_that_of_the_best(number: int) -> None:
    """Circuits that are all as slow, and hops as long, as those of the worst pair; and the bound of the best."""
    collective, size_bytes, fabric = drawn(number)
    plan = ll.plan(collective, size_bytes, fabric=fabric, planner="harvest")
    told = json.loads(plan.to_json())["fabric"]
    pairs = pairs_of(told, plan.gpus).values()
    rates, delays = {rate for rate, _ in pairs}, {delay for _, delay in pairs}

    def alike(rate_bps: float, delay_s: float) -> ll.Fabric:
        return ll.Fabric(
            gpus=fabric.gpus,
            ports=fabric.ports,
            bandwidth=rate_bps,
            hop_delay=delay_s,
            reconfiguration_delay=fabric.reconfiguration_delay,
            initial=fabric.initial,
        )

    slowest = ll.plan(collective, size_bytes, fabric=alike(min(rates), max(delays)), planner="harvest")
    assert plan.total_s <= slowest.total_s * (1 + 1e-9)
    best = ll.bound(collective, size_bytes, fabric=alike(max(rates), min(delays)))
    assert best.lower_bound_s <= plan.lower_bound_s * (1 + 1e-9)
    assert plan.lower_bound_s <= plan.total_s


def graph_of(links: list[tuple[int, int, int]], told: dict[str, Any], gpus: int) -> Any:
    """Links with the rates of their pairs over the fastest."""
    graph: Any = Graph()
    pairs = pairs_of(told, gpus)
    for src, dst, count in links:
        graph[src, dst] += count * pairs[src, dst][0] / told["bandwidth_bps"]
    return graph


@pytest.mark.large
@pytest.mark.parametrize("number", range(40))
def test_no_plan_is_below_and_no_bound_above_all_schedules(number: int) -> None:
    hold_against_programs(number)


@pytest.mark.large
@pytest.mark.long
@settings(max_examples=cases(100), deadline=None)
@given(st.integers(40, 10**9))
def test_no_plan_of_other_fabrics_is_below_and_no_bound_above_all_schedules(number: int) -> None:
    hold_against_programs(number)


def hold_against_programs(number: int) -> None:
    """The plan's steps and the bound of a random problem of up to four GPUs, against the programs of all schedules."""
    collective, size_bytes, fabric = drawn(number, most_gpus=4)
    plan = ll.plan(collective, size_bytes, fabric=fabric)
    bound_s = ll.bound(collective, size_bytes, fabric=fabric).lower_bound_s
    document = json.loads(plan.to_json())
    told, gpus = document["fabric"], plan.gpus
    byte_s = BITS / told["bandwidth_bps"]
    graphs = [graph_of(topology["links"], told, gpus) for topology in document["topologies"]]
    steps = [Step(graphs[step.topology_index], step.hops) for step in plan.steps]
    least = least_load(collective, gpus, steps)
    if least is not None:
        sent_s = sum(step.transmission_s for step in plan.steps)
        assert sent_s >= byte_s * size_bytes * least * (1 - ROUNDING)
    rng, pairs = Random(number), pairs_of(told, gpus)  # noqa: S311
    for _ in range(4):
        # A permutation for each port; GPUs that keep their place are dark.
        links = [(src, dst, 1) for _ in range(fabric.ports) for src, dst in enumerate(rng.sample(range(gpus), gpus))]
        links = [link for link in links if link[0] != link[1]]
        hops = [rng.randint(1, gpus - 1) for _ in range(rng.choice((1, 2)))]
        graph = graph_of(links, told, gpus)
        load = least_load(collective, gpus, [Step(graph, limit) for limit in hops])
        if load is not None and fabric.initial is None:
            hop_s = max(pairs[src, dst][1] for src, dst, _ in links)
            total_s = plan.startup_s * len(hops) + hop_s * sum(hops) + byte_s * size_bytes * load
            assert bound_s <= total_s * (1 + ROUNDING)


def test_a_ring_of_two_groups_by_hand() -> None:
    """Six steps of an eighth: circuits between the groups have half the rate, so that all steps wait for them."""
    fabric = ll.Fabric(**{**FABRIC, "ports": 1}, startup="1us", reconfiguration_delay="1s")
    plan = ll.plan("all-gather", "8MB", algorithm="ring", planner="static", topology="ring:one-way", fabric=fabric)
    assert plan.total_s == pytest.approx(7 * (1e-6 + 5e-7 + 1e6 * BITS / 4e11))
    assert plan.hop_delay_s == 1e-7


def test_pairs_that_are_alike_are_one_rate() -> None:
    """To the last bit, in the file too."""
    for collective in ("all-reduce", "all-to-all"):
        one = ll.plan(collective, "1MiB", fabric=ll.Fabric(gpus=6, ports=2, bandwidth="800Gbps")).to_json()
        alike = ll.Fabric(gpus=6, ports=2, bandwidth="100Gbps", pair_rates="inside:6:800Gbps:500ns")
        assert ll.plan(collective, "1MiB", fabric=alike).to_json() == one


@pytest.mark.large
def test_a_plan_says_its_pairs(plan: ll.Plan) -> None:
    told = json.loads(plan.to_json())["fabric"]
    assert (told["bandwidth_bps"], told["hop_delay_s"]) == (8e11, 1e-7)
    pairs = pairs_of(told, 8)
    assert {pairs[0, 3], pairs[7, 4]} == {(8e11, 1e-7)}
    assert {pairs[3, 4], pairs[0, 7]} == {(4e11, 5e-7)}
    assert plan.pair_rates == told["pair_rates"]
    again = ll.Fabric(gpus=8, ports=2, bandwidth=8e11, hop_delay=1e-7, pair_rates=plan.pair_rates)
    assert ll.plan("all-gather", "1MiB", fabric=again).to_json() == plan.to_json()


@pytest.mark.large
def test_files_say_what_texts_say(plan: ll.Plan, tmp_path: Path) -> None:
    table = tmp_path / "rates.csv"
    table.write_text("gpu,peer,bandwidth,hop_delay\n0-3,0-3,800Gbps,100ns\n4-7,4-7,800Gbps,100ns\n")
    toml = tmp_path / "rates.toml"
    toml.write_text('pairs = [{gpu = "inside", peer = 4, bandwidth = "800Gbps", hop_delay = "100ns"}]\n')
    whole = tmp_path / "fabric.toml"
    whole.write_text('gpus = 8\nports = 2\nbandwidth = "400Gbps"\npair_rates = "rates.csv"\n')
    for fabric in (
        ll.Fabric(**{**FABRIC, "pair_rates": table}),
        ll.Fabric(**{**FABRIC, "pair_rates": str(toml)}),
        ll.Fabric.load(whole),
    ):
        assert ll.plan("all-gather", "1MiB", fabric=fabric).to_json() == plan.to_json()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "columns"),
        ("gpu,peer,rate\n0,1,1Gbps\n", "columns"),
        ("gpu,peer,bandwidth\n", "has no pairs"),
        ("gpu,peer,bandwidth\n0,1\n", "line 2"),
        ("gpu,peer,bandwidth\n0,1:2,1Gbps\n", "peer of line 2"),
        ("gpu,peer,bandwidth\n0,,1Gbps\n", "peer of line 2"),
        ("gpu,peer,bandwidth\n0,9,1Gbps\n", "GPU 9"),
        ("gpu,peer,bandwidth\n0,1,fast\n", "fast"),
        (f"gpu,peer,bandwidth\n0,{1:0200000},1Gbps\n", "no CSV"),
    ],
)
def test_wrong_tables_are_refused_in_a_line(tmp_path: Path, cli: RunCli, content: str, named: str) -> None:
    table = tmp_path / "rates.csv"
    table.write_text(content)
    asked = ("plan", "--collective", "all-gather", "--size", "1MiB", "--gpus", "4", "--pair-rates", table)
    assert named in assert_refused(cli, tmp_path, *asked, field="pair_rates")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "pairs = 3",
        "pairs = [3]",
        "other = 1\npairs = []",
        "pairs = [{gpu = 0, peer = 1}]",
        "pairs = []",
        "pairs = [",
        "pairs = [{gpu = 0, peer = 1, bandwidth = 1.5}]",
        "pairs = [{gpu = 0, peer = 1, bandwidth = '1Gbps', rate = 1}]",
    ],
)
def test_wrong_toml_files_are_refused_in_a_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rates.toml"
    path.write_text(content)
    with pytest.raises(ll.InputError, match=r"^pair_rates: ") as refused:
        ll.Fabric(gpus=4, pair_rates=path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("circuits_by_rate", None, "it is missing"),
        ("circuits_by_rate", "turned", "rates of the pairs"),
        ("pair_rates", "0-7:0-7:8e11bps:1e-7s", "pair_rates"),
        ("pair_rates", "0-7:0-7:800000000000bps:0.0000001s", "left out"),
        ("bandwidth_bps", 1e11, "rates of the pairs"),
    ],
)
def test_files_with_other_rates_are_refused(plan: ll.Plan, key: str, value: object, named: str) -> None:
    document = json.loads(plan.to_json())
    topology = document["topologies"][0]
    if value is None:
        del topology[key]
    elif value == "turned":
        topology[key] = [counts[::-1] for counts in topology[key]]
    else:
        document["fabric"][key] = value
    with pytest.raises(ll.InputError, match=named):
        ll.Plan.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"bandwidth": ["800Gbps", "400Gbps"]}, "bandwidth"),
        ({"bandwidth": ["800Gbps", "400Gbps"], "pair_rates": "inside:4:800Gbps"}, "bandwidth"),
        ({"electrical": "4:1Tbps"}, "electrical"),
        ({"positions": "grid:1x2:4:3"}, "positions"),
        ({"pair_rates": "inside:1:8Gbps"}, "pair_rates"),
        ({"pair_rates": "0:8:8Gbps"}, "pair_rates"),
        ({"pair_rates": "3:3:8Gbps"}, "pair_rates"),
        ({"gpus": 1024, "pair_rates": ",".join(["0-511:512-1023:8Gbps"] * 513)}, "pair_rates"),
    ],
)
def test_what_does_not_go_with_rates_of_pairs_is_refused_in_a_line(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(ll.InputError, match=f"^{field}: ") as refused:
        ll.plan("all-gather", "1MiB", fabric=ll.Fabric(**{**FABRIC, **changed}))
    assert "\n" not in str(refused.value)


@pytest.mark.large
@pytest.mark.parametrize(
    ("pair_rates", "rates", "hops"),
    [
        ("inside:6:800Gbps:100ns", "800 Gbit/s", "100.0 ns"),
        ("inside:3:800Gbps:100ns,0-2:3-5:300Gbps:1us", "300 to 800 Gbit/s by pair of GPUs", "100.0 ns to 1.000 µs by"),
        ("inside:3:800Gbps,0-2:3-5:300Gbps", "300 to 800 Gbit/s by pair of GPUs", "500.0 ns, "),
        ("inside:3:400Gbps:100ns", "400 Gbit/s", "100.0 ns to 500.0 ns by pair of GPUs"),
    ],
)
def test_headers_say_what_pairs_have_and_what_failed(cli: RunCli, pair_rates: str, rates: str, hops: str) -> None:
    """Not the rate of the fabric that no pair has."""
    asked = ("--collective", "all-gather", "--size", "1KiB", "--gpus", "6", "--ports", "2", "--bandwidth", "400Gbps")
    for verb in ("plan", "compare"):
        said = " ".join(cli(verb, *asked, "--pair-rates", pair_rates, "--failed", "port:5.1").out.split())
        assert f"2 ports of {rates}, startup" in said
        assert f"hop delay {hops}" in said
        assert "failed: port:5.1 (its receiver works)" in said
