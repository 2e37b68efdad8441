"""Pictures, circuits' loads and the papers' figures, as the page gets them."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from tests.page.streams import events

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli
    from tests.page.served import Served

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "4MiB", "gpus": 8}
MAP: dict[str, Any] = {
    "options": {"collective": "all-reduce", "gpus": 8},
    "x": {"option": "size", "from": "1KiB", "to": "1GiB", "points": 4},
    "y": {"option": "reconfiguration_delay", "from": "1us", "to": "1ms", "points": 3},
}
TRAIN: dict[str, Any] = {"model": "bert-pccl", "ranks": 8}
JOB = 'gpus = 4\n[[mix]]\ncollective = "all-reduce"\nsize = "1MiB"\n'
JOBS = '[[job]]\ncollective = "all-reduce"\nsize = "1MiB"\nranks = 2\niterations = 5\n'
SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF"}


@pytest.mark.large
@pytest.mark.parametrize(
    ("of", "asked"),
    [
        ("plan", SMALL),
        ("simulate", {**SMALL, "level": "flow"}),
        ("circuits", SMALL),
        ("train", TRAIN),
        ("break-even", {**TRAIN, "delays": "1us,1ms"}),
        ("advise", {"job": JOB, "switches": "sirius"}),
        ("robust", {"matrices": "zipf:0.6", "size": "1MiB/pair", "gpus": 4, "iterations": 3}),
        ("jobs", {"jobs": JOBS, "gpus": 4}),
        ("map", MAP),
    ],
)
def test_every_picture_is_drawn(server: Served, of: str, asked: dict[str, Any]) -> None:
    for kind, signature in SIGNATURES.items() if of == "plan" else [("svg", SIGNATURES["svg"])]:
        answer = server.post("picture", of=of, format=kind, **asked)
        assert answer.status_code == 200, answer.text
        assert answer.content.startswith(signature)
        assert answer.headers["content-disposition"] == f'attachment; filename="{of}.{kind}"'


@pytest.mark.large
def test_the_picture_of_a_plan_is_that_of_the_command_line(server: Served, cli: RunCli, in_tmp: Path) -> None:
    words = [word for key, value in SMALL.items() for word in (f"--{key}", value)]
    assert cli("plan", *words, "--plot", "plan.png").status == 0
    assert server.post("picture", of="plan", format="png", **SMALL).content == (in_tmp / "plan.png").read_bytes()


@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all", "broadcast"])
@pytest.mark.parametrize("ports", [1, 2])
def test_loads_are_those_of_the_paths(server: Served, collective: str, ports: int) -> None:
    asked = {"collective": collective, "size": "1MiB", "gpus": 12, "ports": ports}
    plan = ll.plan(collective, "1MiB", fabric=ll.Fabric(gpus=12, ports=ports))
    for step in plan.steps:
        told = server.post("loads", **asked, step=step.index).json()
        carried: dict[tuple[int, int], float] = {}
        for path in plan.routes(step.index):
            gpus = path.gpus.tolist()
            for link in itertools.pairwise(gpus):
                carried[link] = carried.get(link, 0.0) + path.size_bytes
        links = {(link["source"], link["target"]): link for link in told["links"]}
        assert sorted(links) == sorted((int(a), int(b)) for a, b, _ in step.topology.links)
        for link, row in links.items():
            assert row["bytes"] == pytest.approx(carried.get(link, 0.0), rel=1e-12)
            assert row["bytes"] == pytest.approx(sum(told["paths"][flow]["bytes"] for flow in row["flows"]))
        # The busiest circuit determines the step's transmission.
        expected_s = told["max_bytes"] * 8 / plan.bandwidth_bps
        assert step.transmission_s == pytest.approx(expected_s, rel=1e-6)
    assert np.isfinite(plan.total_s)


@pytest.mark.parametrize("step", [-1, 10_000, "0", None, 1.5, True])
def test_a_step_that_there_is_not_is_refused(server: Served, step: object) -> None:
    answer = server.post("loads", **SMALL, step=step)
    assert (answer.status_code, answer.json()["field"]) == (422, "step")


@pytest.mark.large
def test_a_figure_is_made_again_as_on_the_command_line(server: Served, cli: RunCli, in_tmp: Path) -> None:
    papers = server.client.get("/api/figures").json()["papers"]
    names = [figure["name"] for paper in papers for figure in paper["figures"]]
    listed = json.loads(cli("list", "figures", "--format", "json").out)["figures"]
    assert names == [entry["name"] for entry in listed]
    *told, (name, whole) = events(server, "reproduce", {"figure": "bridge-table-1"})
    assert name == "end"
    assert {name for name, _ in told} <= {"progress"}
    ran = cli("reproduce", "bridge-table-1", "--output", "out", "--format", "json")
    (made,) = json.loads(ran.out)["figures"]
    told_keys, made_keys = (
        ("verdict", "paper", "ours", "numbers", "text"),
        ("verdict", "paper", "ours", "numbers", "words"),
    )
    assert [[claim[key] for key in told_keys] for claim in whole["claims"]] == [
        [claim[key] for key in made_keys] for claim in made["claims"]
    ]
    assert whole["csv"] == (in_tmp / made["data"]).read_text()
    assert whole["svg"].startswith("<?xml")


@pytest.mark.parametrize("figure", ["none", "../bridge-table-1", "", 5, None, "harvest"])
def test_a_figure_that_there_is_not_is_refused(server: Served, figure: object) -> None:
    answer = server.post("reproduce", figure=figure)
    assert (answer.status_code, answer.json()["field"]) == (422, "figure")


FAULTS = [(), ("port:1.0", "receiver:2.1"), ("gpu:3",), ("gpu:0", "link:4-6")]


def test_each_port_may_be_on_a_switch_of_its_own(server: Served) -> None:
    asked = {"collective": "all-gather", "size": "1MiB", "gpus": 8, "ports": 2, "optics": "parallel"}
    told = server.post("ports", **asked, failed="gpu:3").json()
    fabric = ll.Fabric(gpus=8, ports=2, optics="parallel", failed="gpu:3")
    plan = ll.plan("all-gather", "1MiB", fabric=fabric)
    broken = [(switch["failed_ingress"], switch["failed_egress"]) for switch in told["switches"]]
    assert broken == [([4], [4])] * 2
    for one in told["configurations"]:
        pairs = Counter(
            (switch["ranks"][a - 1], switch["ranks"][b - 1])
            for switch, held in zip(told["switches"], one["switches"], strict=True)
            for a, b in held["connections"]
        )
        for step in one["steps"]:
            assert pairs == Counter({(int(a), int(b)): int(n) for a, b, n in plan.steps[step].topology.links})


@pytest.mark.parametrize("failed", FAULTS)
def test_ports_join_the_ranks_of_the_plan_s_circuits(server: Served, failed: tuple[str, ...]) -> None:
    asked = {"collective": "all-gather", "size": "1MiB", "gpus": 8, "ports": 2, "reconfiguration_delay": "100ns"}
    told = server.post("ports", **asked, **({"failed": ",".join(failed)} if failed else {})).json()
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="100ns", failed=failed or None)
    plan = ll.plan("all-gather", "1MiB", fabric=fabric)
    (switch,) = told["switches"]
    assert switch["ports"] == 16
    held = {step: one["switches"][0]["connections"] for one in told["configurations"] for step in one["steps"]}
    broken = {"ingress": set(switch["failed_ingress"]), "egress": set(switch["failed_egress"])}
    for step in plan.steps:
        joined = held[step.index]
        pairs = Counter((switch["ranks"][a - 1], switch["ranks"][b - 1]) for a, b in joined)
        assert pairs == Counter({(int(a), int(b)): int(count) for a, b, count in step.topology.links})
        assert not broken["ingress"] & {a for a, _ in joined}
        assert not broken["egress"] & {b for _, b in joined}
    # Port p of GPU g is number 2g + p + 1 of the switch.
    gpu = {2 * int(fault[4:]) + port for fault in failed if fault.startswith("gpu:") for port in (1, 2)}
    assert broken["ingress"] == gpu | ({3} if "port:1.0" in failed else set())
    assert broken["egress"] == gpu | ({6} if "receiver:2.1" in failed else set())


@pytest.mark.parametrize("collective", ["all-gather", "broadcast", "all-to-all", "reduce-scatter", "all-reduce"])
def test_a_journey_takes_the_chunk_where_it_must_be(server: Served, collective: str) -> None:
    asked = {"collective": collective, "size": "1MiB", "gpus": 6}
    chunks = server.post("journey", **asked).json()["chunks"]
    answer = server.post("journey", **asked, chunk=chunks)
    assert (answer.status_code, answer.json()["field"]) == (422, "chunk")
    for chunk in (0, chunks // 2, chunks - 1):
        told = server.post("journey", **asked, chunk=chunk).json()
        start = range(6) if told["source"] is None else [told["source"]]
        # What every GPU has of the chunk: the parts of a sum, or the whole from its source.
        has = {gpu: {gpu} if gpu in start else set() for gpu in range(6)}
        for step in told["steps"]:
            before = {gpu: set(parts) for gpu, parts in has.items()}
            for one in step:
                sent = before[one["source"]]
                assert sent, one
                has[one["destination"]] = has[one["destination"]] | sent if one["operation"] == "reduce" else set(sent)
        goal = range(6) if told["destination"] is None else [told["destination"]]
        assert all(has[gpu] == set(start) for gpu in goal)
