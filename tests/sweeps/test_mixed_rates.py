"""Sweeps on circuits of different rates: every point is what `plan` says of it, also where circuits never change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.conftest import RunCli

SIZES = ["4KiB", "16MiB"]
DELAYS_S = [1e-7, 1e-3]
PAIRS: dict[str, Any] = {"ports": 2, "bandwidth": "400Gbps", "hop_delay": "1us", "pair_rates": "inside:4:800Gbps:100ns"}
MIXED: list[dict[str, Any]] = [
    {"ports": 2, "bandwidth": "800Gbps,400Gbps"},
    {"ports": 3, "bandwidth": ["200Gbps", "800Gbps", "800Gbps"]},
    PAIRS,
]
DESCRIPTION = """
[settings]
collective = "all-to-all"
gpus = 8
ports = 2

[axes]
bandwidth = ["800Gbps,400Gbps", "600Gbps", ["400Gbps", "800Gbps"]]
size = ["4KiB", "16MiB"]
"""


@pytest.mark.large
@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all", "broadcast"])
@pytest.mark.parametrize("given", MIXED)
def test_points_of_a_problem_are_plans(given: dict[str, Any], collective: str) -> None:
    found = ll.Problem(collective, fabric=ll.Fabric(gpus=6, **given))
    swept = found.sweep(np.array(SIZES)[:, None], DELAYS_S, bound=True)
    assert swept.lower_bound_s is not None
    for row, size in enumerate(SIZES):
        for column, delay_s in enumerate(DELAYS_S):
            fabric = ll.Fabric(gpus=6, reconfiguration_delay=delay_s, **given)
            plan = ll.plan(collective, size, fabric=fabric)
            assert swept.total_s[row, column] == plan.total_s
            assert swept.lower_bound_s[row, column] == plan.lower_bound_s
            assert swept.reconfigurations[row, column] == plan.reconfigurations
            assert swept.names[swept.choice[row, column]] == (plan.planner, plan.algorithm)


@pytest.mark.large
@pytest.mark.parametrize("given", MIXED)
def test_rows_of_a_sweep_are_plans(given: dict[str, Any]) -> None:
    settings = {"collective": "all-gather", "gpus": 8, **given}
    axes = {"size": SIZES, "reconfiguration_delay": ["100ns", "1ms"]}
    result = ll.sweep({"settings": settings, "axes": axes})
    assert [entry.label for entry in result.description.baseline] == ["never-change"]
    columns = result.to_columns()
    assert len(result) == 4
    for row, total_s in enumerate(columns["total_s"]):
        fabric = ll.Fabric(gpus=8, reconfiguration_delay=columns["reconfiguration_delay_s"][row], **given)
        size = int(columns["size_bytes"][row])
        assert total_s == ll.plan("all-gather", size, fabric=fabric).total_s
        still = ll.plan("all-gather", size, fabric=fabric, planner="never-change")
        assert columns["baseline_s"][row] == still.total_s


def test_rates_of_ports_may_be_an_axis(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "rates.toml").write_text(DESCRIPTION)
    ran = cli("sweep", "rates.toml", "--format", "json")
    assert ran.status == 0, ran.err
    columns = ll.sweep(in_tmp / "rates.toml").to_columns()
    assert list(dict.fromkeys(columns["bandwidth"])) == ["800Gbps,400Gbps", "600Gbps", "400Gbps,800Gbps"]
    for row, rates in enumerate(columns["bandwidth"]):
        fabric = ll.Fabric(gpus=8, ports=2, bandwidth=rates)
        assert columns["total_s"][row] == ll.plan("all-to-all", int(columns["size_bytes"][row]), fabric=fabric).total_s


@pytest.mark.large
@pytest.mark.parametrize("axis", [{"bandwidth": ["100Gbps", "400Gbps"]}, {"hop_delay": ["100ns", "2us"]}])
def test_what_other_pairs_have_may_vary(axis: dict[str, list[str]]) -> None:
    """The rate or the hop delay of pairs in no class, also where it is better than that of all classes."""
    (key, values), *_ = axis.items()
    settings = {"collective": "all-gather", "size": "1MiB", "gpus": 8, **PAIRS}
    del settings[key]
    columns = ll.sweep({"settings": settings, "axes": axis}).to_columns()
    for value, total_s in zip(values, columns["total_s"], strict=True):
        assert total_s == ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8, **{**PAIRS, key: value})).total_s


def test_a_problem_keeps_its_rates() -> None:
    problem = ll.Problem("all-gather", fabric=ll.Fabric(gpus=4, **MIXED[0]))
    with pytest.raises(InputError, match="bandwidth: another rate of circuits is not accepted"):
        problem.sweep("1MiB", "1us", bandwidths="100Gbps")


def test_wrong_rates_are_refused_in_a_line() -> None:
    for rates in ([], "800Gbps,fast", ["800Gbps"] * 3):
        settings = {"collective": "all-gather", "gpus": 4, "ports": 2, "bandwidth": rates}
        with pytest.raises(InputError, match="bandwidth") as raised:
            ll.sweep({"settings": settings, "axes": {"size": SIZES}})
        assert "\n" not in str(raised.value)
