"""Wrong types and wrong text, anywhere: `InputError` that names the argument, never anything else."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError, printable, shown
from lightloom.calibration.measurements import ScheduleOf
from lightloom.inputs.options import Settings
from tests.inputs.test_calibrate import EXAMPLE


class Hostile:
    """An object that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


PLAN = ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4), algorithm="ring", planner="harvest")
TOPOLOGY = ll.Topology.named("ring", 4, [4], 1)
JUNK: list[Any] = [
    None,
    5,
    -1,
    10**5000,
    1.5,
    float("nan"),
    float("inf"),
    True,
    "",
    "\udcff",
    "\ud800.csv",
    "x" * 100_000 + ".csv",
    "\x1b[31m",
    "x\0y",
    "$\\frac",
    b"bytes",
    [],
    [10**5000],
    ["\udcff"],
    (1, 2),
    {},
    {1},
    {"a": 1},
    object(),
    Hostile(),
    [Hostile()],
    np.zeros((2, 2)),
    np.array(["a"]),
    np.array([1, 2]),
    np.float32(2),
    print,
    Path("nowhere"),
    TOPOLOGY,
    PLAN,
    ll.Fabric(gpus=4),
]
ASK: dict[str, Any] = {"collective": "all-gather", "size": "1KiB", "fabric": ll.Fabric(gpus=4)}
SETTINGS = tuple(name for name in Settings.__annotations__ if name not in ASK)
SWEEP: dict[str, Any] = {
    "description": {"settings": {"collective": "all-gather", "gpus": 4, "algorithm": "ring"}, "axes": {"size": [1024]}}
}
FEW: dict[str, Any] = {"algorithm": "ring", "planner": "harvest", "candidates": "ring"}


def parameters(call: Callable[..., object], *left_out: str) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in inspect.signature(call).parameters.values() if p.kind in kinds and p.name not in left_out]


# Every public function with the arguments of a good call, and the names of those that are replaced.
CALLS: dict[str, tuple[Callable[..., object], dict[str, Any], tuple[str, ...]]] = {
    "plan": (ll.plan, {**ASK, **FEW}, (*parameters(ll.plan, "report"), *SETTINGS)),
    "compare": (ll.compare, {**ASK, **FEW}, (*ASK, *SETTINGS)),
    "bound": (ll.bound, ASK, (*ASK, *SETTINGS)),
    "Problem": (ll.Problem, {**ASK, **FEW}, (*ASK, *SETTINGS)),
    "exact_plan": (ll.exact_plan, {**ASK, "algorithm": "ring"}, ("budget", "invariant_under", "collective", "planner")),
    "sweep of a problem": (ll.Problem(**ASK, **FEW).sweep, {"sizes": 1e3, "delays": 1e-6}, ("sizes", "delays")),
    "Fabric": (lambda **given: ll.Fabric(**given).to_core(), {"gpus": 4}, tuple(ll.Fabric.__dataclass_fields__)),
    "Fabric.load": (ll.Fabric.load, {"name_or_path": "default"}, ("name_or_path", "gpus", "initial")),
    "simulate": (ll.simulate, {"plan": PLAN}, tuple(parameters(ll.simulate))),
    "verify": (ll.verify, {"subject": PLAN}, ("subject",)),
    "profile": (
        ll.profile,
        {"topology": TOPOLOGY, "traffic": [(0, 1, 1.0)]},
        ("topology", "traffic", "routing", "fabric"),
    ),
    "calibrate": (
        ll.calibrate,
        {"measurements": EXAMPLE},
        ("measurements", "errors", "confidence", "hop_delay", "routing", *ScheduleOf.__annotations__),
    ),
    "sweep": (ll.sweep, SWEEP, tuple(parameters(ll.sweep, "advance", "output", "restart"))),
    "sweep to a folder": (ll.sweep, SWEEP, ("output",)),
    "from_networkx": (
        ll.from_networkx,
        {"graph": ll.to_networkx(TOPOLOGY)},
        ("graph", "gpus", "name", "field"),
    ),
    "to_networkx": (ll.to_networkx, {"topology": TOPOLOGY}, ("topology",)),
    "Plan.from_json": (ll.Plan.from_json, {"text": PLAN.to_json()}, ("text",)),
    "Plan.load": (ll.Plan.load, {"path": "nowhere.json"}, ("path",)),
    "Plan.save": (PLAN.save, {"path": "plan.json"}, ("path",)),
    "Plan.plot": (PLAN.plot, {"path": "plan.png"}, ("path",)),
    "Simulation.trace": (ll.simulate(PLAN).trace, {"path": "trace.json"}, ("path",)),
    "Schedule.build": (
        ll.Schedule.build,
        {"algorithm": "ring", "collective": "all-gather", "gpus": 4},
        ("algorithm", "collective", "gpus", "dims", "ports", "radix", "root"),
    ),
    "Schedule.from_msccl": (ll.Schedule.from_msccl, {"xml": "<algo/>"}, ("xml",)),
    "Schedule.transfers": (ll.Schedule.build("ring", "all-gather", 4).transfers, {"step": 0}, ("step",)),
    "Topology.named": (
        ll.Topology.named,
        {"spec": "ring", "gpus": 4, "dims": [4], "ports": 1},
        ("spec", "gpus", "dims", "ports"),
    ),
    "Topology.from_links": (
        ll.Topology.from_links,
        {"name": "x", "gpus": 4, "links": [(0, 1, 1)]},
        ("name", "gpus", "links"),
    ),
}


@pytest.mark.large
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_an_input_error(in_tmp: Path, name: str) -> None:
    call, good, names = CALLS[name]
    before = {file.name for file in in_tmp.iterdir()}
    for argument in names:
        for junk in JUNK:
            try:
                call(**{**good, argument: junk})
            except InputError as error:
                assert error.field
                assert str(error).isprintable()
                assert len(str(error)) < 2000
            except Exception as error:
                raise AssertionError((name, argument, shown(junk))) from error
    written = {file.name for file in in_tmp.iterdir()} - before
    assert all(printable(name) for name in written)


TEXT = st.text(st.characters(categories=None), max_size=30)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXT)
def test_any_text_with_half_characters_is_an_input_error(text: str) -> None:
    for argument in ("collective", "size", "algorithm", "planner", "candidates", "routing", "convention", "overlap"):
        with pytest.raises(InputError) as raised:
            ll.plan(**{**ASK, **FEW, argument: f"\udcff{text}"})
        assert str(raised.value).isprintable()


@given(text=st.text(st.characters(categories=None)))
def test_what_is_shown_is_one_printable_line(text: str) -> None:
    assert printable(text).isprintable()
    assert str(InputError("field", text)).isprintable()
    assert len(shown(text)) <= 60
