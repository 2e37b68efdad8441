"""Refusals of circuits of different rates, by port or by pair of GPUs: settings and verbs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import lightloom as ll

GPUS, PORTS = 8, 2
# By the option that gives circuits their rates: its value, words of refusals, and slower circuits in a plan's file.
BY_PORT: tuple[Any, ...] = (
    "bandwidth",
    ["800Gbps", "300Gbps"],
    "ports have the rates 800Gbps,300Gbps",
    {"bandwidth_bps": [8e11, 2e11]},
)
BY_PAIR: tuple[Any, ...] = (
    "pair_rates",
    "0-3:4-7:400Gbps:500ns,inside:4:800Gbps:100ns",
    "pairs of GPUs have different rates",
    {"pair_rates": "0-3:4-7:200000000000bps:0.0000005s"},
)


class Kind:
    """A way in which circuits have different rates."""

    def __init__(self, option: str, value: Any, words: str, slower: dict[str, Any]) -> None:
        self.option, self.words, self.slower = option, words, slower
        self.fabric = ll.Fabric(gpus=GPUS, ports=PORTS, **{option: value})
        self.plan = ll.plan("all-gather", "1MiB", fabric=self.fabric)


@pytest.fixture(scope="module", params=[BY_PORT, BY_PAIR], ids=["by port", "by pair"])
def kind(request: pytest.FixtureRequest) -> Kind:
    return Kind(*request.param)


@pytest.mark.large
def test_the_judge_finds_loads_of_other_rates(kind: Kind) -> None:
    document = json.loads(kind.plan.to_json())
    document["fabric"].update(kind.slower)
    failed = {check.name for check in ll.verify(ll.Plan.from_json(json.dumps(document))) if not check.passed}
    assert "load" in failed


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"overlap": "pipelined"}, "overlap"),
        ({"convention": "harvest-published"}, "convention"),
        ({"planner": "exact", "algorithm": "ring"}, None),
    ],
)
def test_settings_for_circuits_of_one_rate_are_refused(kind: Kind, asked: dict[str, Any], field: str | None) -> None:
    with pytest.raises(ll.InputError, match=f"^{field or kind.option}: "):
        ll.plan("all-gather", "1MiB", fabric=kind.fabric, **asked)


def test_verbs_for_circuits_of_one_rate_say_so(kind: Kind) -> None:
    with pytest.raises(ll.InputError, match=f"^plan: {kind.words}"):
        ll.run(kind.plan, transport="kernel")
    with pytest.raises(ll.InputError, match=f"^bandwidth: {kind.words}"):
        _ = kind.fabric.bandwidth_bps
    with pytest.raises(ll.InputError, match=f"^{kind.option}: "):
        ll.timeline("all-gather", "1MiB", fabric=kind.fabric)
    for setting, value in {"level": "flow", "sync": "dataflow", "injection": "paced"}.items():
        with pytest.raises(ll.InputError, match=f"^{setting}: "):
            ll.simulate(kind.plan, **{setting: value})
