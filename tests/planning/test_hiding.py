"""What is hidden of reconfigurations, through the package, fabric files and the command line."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.conftest import RunCli

PLAN = ["plan", "--collective", "reduce-scatter", "--algorithm", "recursive-doubling", "--size", "1MiB", "--gpus", "64"]
PLAN += ["--ports", "2", "--planner", "harvest"]


def _plan(size: int = 1 << 20, **fabric: object) -> ll.Plan:
    known = ll.Fabric(gpus=16, ports=2, **fabric)  # type: ignore[arg-type]
    return ll.plan("reduce-scatter", size, fabric=known, algorithm="recursive-doubling", planner="harvest")


def _charges(plan: ll.Plan, delay_s: float, *, background: bool) -> list[float]:
    """The charges of circulants, from only the circuits of GPU 0; every GPU has the same."""
    found = [0.0]
    for before, step in zip(plan.steps, plan.steps[1:], strict=False):
        had, has = (_from_first(plan, it.topology_name) for it in (before, step))
        new = sum(max(0, count - had.get(dst, 0)) for dst, count in has.items())
        if had == has:
            found.append(0.0)
        elif background and new <= 1 and sum(had.values()) + new <= plan.ports:
            left = delay_s - (before.total_s - before.reconfiguration_s) if new else 0.0
            found.append(max(0.0, left))
        else:
            found.append(delay_s)
    return found


def _from_first(plan: ll.Plan, name: str) -> dict[int, int]:
    document = json.loads(plan.to_json())
    [links] = [topology["links"] for topology in document["topologies"] if topology["name"] == name]
    return {dst: count for src, dst, count in links if src == 0}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(12, 24),
    st.floats(1e-7, 2e-5),
    st.lists(st.just(0.0) | st.floats(1e-15, 1e-5), max_size=2),
)
def test_hiding_more_never_takes_longer(log_size: int, delay_s: float, windows: list[float]) -> None:
    last_s = float("inf")
    for window in [0.0, *sorted(windows)]:
        plans = [
            _plan(1 << log_size, reconfiguration_delay=delay_s, window=window, background_reconfiguration=background)
            for background in (False, True)
        ]
        assert plans[1].total_s <= plans[0].total_s * (1 + 1e-12)
        assert plans[1].total_s <= last_s * (1 + 1e-12)
        last_s = plans[1].total_s


@settings(max_examples=25, deadline=None)
@given(st.integers(12, 24), st.floats(1e-7, 2e-5), st.booleans())
def test_charges_follow_from_the_circuits_of_one_gpu(log_size: int, delay_s: float, background: bool) -> None:
    known = ll.Fabric(gpus=16, ports=2, reconfiguration_delay=delay_s, background_reconfiguration=background)
    candidates = "shifted-rings,one-port-dark" if background else "shifted-rings"
    names = [
        topology.name
        for topology in ll.Problem("all-gather", fabric=known, algorithm="ring", candidates=candidates).candidates
    ]
    circulants = ";".join(name for name in names if name.startswith(("ring", "shifted-ring", "circulant")))
    plan = ll.plan(
        "all-reduce",
        1 << log_size,
        fabric=known,
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=circulants,
    )
    stated = [step.reconfiguration_s for step in plan.steps]
    assert stated == pytest.approx(_charges(plan, delay_s, background=background), rel=1e-9, abs=1e-18)


@pytest.mark.large
def test_it_wins_and_the_file_keeps_it(cli: RunCli, in_tmp: Path) -> None:
    plain = cli(*PLAN, "--format", "json")
    hidden = cli(*PLAN, "--background-reconfiguration", "--output", "hidden.json")
    assert "reconfiguration delay 10.00 µs (hidden behind the step before)" in " ".join(hidden.out.split())
    document = json.loads((in_tmp / "hidden.json").read_text())
    assert document["fabric"]["background_reconfiguration"] is True
    assert document["total_s"] < 0.95 * json.loads(plain.out)["total_s"]
    ran = cli("verify", "hidden.json")
    assert ran.status == 0, ran.out
    for step in document["steps"]:
        step["reconfiguration_s"] = 0.0
    document["total_s"] = sum(
        step[term] for step in document["steps"] for term in ("startup_s", "propagation_s", "transmission_s")
    )
    (in_tmp / "less.json").write_text(json.dumps(document))
    ran = cli("verify", "less.json", "--format", "json")
    assert ran.status == 1
    (judged,) = json.loads(ran.out)["files"]
    assert "reconfiguration" in [check["name"] for check in judged["checks"] if not check["passed"]]


@pytest.mark.large
def test_a_file_says_it_and_an_option_overrides_it(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "lab.toml").write_text('background_reconfiguration = true\nwindow = "2=1us"\n')
    arguments = [*PLAN, "--fabric", "lab.toml", "--format", "json"]
    fabric = json.loads(cli(*arguments).out)["fabric"]
    assert (fabric["background_reconfiguration"], fabric["window_s"], fabric["windows_s"]) == (True, 0.0, [[1, 1e-6]])
    ran = cli(*arguments, "--no-background-reconfiguration", "--window", "3us")
    fabric = json.loads(ran.out)["fabric"]
    assert (fabric["background_reconfiguration"], fabric["window_s"], fabric["windows_s"]) == (False, 3e-6, [])


def test_a_window_as_long_as_the_delay_leaves_nothing() -> None:
    free = _plan(reconfiguration_delay=0.0)
    assert _plan(reconfiguration_delay="10us", window="10us").total_s == free.total_s
    assert _plan(reconfiguration_delay="10us", window=1e-5).total_s == free.total_s
    # Only the change before the second step is hidden.
    some = _plan(reconfiguration_delay="10us", window="2=10us")
    assert free.total_s < some.total_s < _plan(reconfiguration_delay="10us").total_s


def test_a_hidden_change_is_simulated_as_planned() -> None:
    fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay="3us", background_reconfiguration=True)
    plan = ll.plan(
        "reduce-scatter",
        "256KiB",
        fabric=fabric,
        algorithm="recursive-doubling",
        planner="harvest",
        overlap="pipelined",
    )
    assert any(step.reconfigured and step.reconfiguration_s < 3e-6 for step in plan.steps)
    assert ll.simulate(plan).total_s == pytest.approx(plan.total_s, rel=1e-9)
    # No rank waits longer if every rank goes on independently.
    assert ll.simulate(plan, sync="dataflow", reconfiguration="ports").total_s <= plan.total_s * (1 + 1e-9)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("background_reconfiguration", {"background_reconfiguration": "yes"}),
        ("background_reconfiguration", {"background_reconfiguration": 1}),
        ("window", {"window": "20"}),
        ("window", {"window": "0=1us"}),
        ("window", {"window": "1=1us,1=2us"}),
        ("window", {"window": -1.0}),
        ("window", {"window": float("nan")}),
        ("window", {"window": None}),
    ],
)
def test_what_is_refused_names_its_field(field: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ll.InputError, match=f"^{field}: ") as caught:
        ll.Fabric(gpus=8, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_command_line_refuses_in_one_line(cli: RunCli) -> None:
    ran = cli(*PLAN, "--window", "1us,2us")
    assert ran.status == 2
    assert ran.err.startswith("error: window: `1us,2us` is not accepted")
    assert ran.err.count("\n") == 1
