"""Whatever is planned, bounded, simulated and put on ports is as the schemas say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import lightloom as ll
from lightloom import _core
from lightloom.schemas import schema
from lightloom.views.documents import bound_document

pytestmark = pytest.mark.slow

COLLECTIVES = [entry["name"] for entry in _core.registry()["collectives"]]
PLANNERS = ["auto", *(entry["name"] for entry in _core.registry()["planners"] if entry["name"] != "exact")]
NUMBERED = {
    "reconfiguration_delay": ["10us", "20ns/port", "1us+20ns/port"],
    "startup": ["0s", "500ns"],
    "window": ["1us", "0s"],
}
VALIDATORS = {name: Draft202012Validator(schema(name)) for name in ("plan", "bounds", "simulation", "circuits")}


def _faults(name: str, document: Any) -> list[str]:
    return [f"{name}: {error.json_path}: {error.message[:200]}" for error in VALIDATORS[name].iter_errors(document)]


@pytest.mark.large
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    collective=st.sampled_from(COLLECTIVES),
    planner=st.sampled_from(PLANNERS),
    gpus=st.integers(2, 10),
    ports=st.integers(1, 3),
    size=st.integers(1, 1 << 24),
    settings_of_fabric=st.fixed_dictionaries({name: st.sampled_from(values) for name, values in NUMBERED.items()}),
    initial=st.sampled_from(["free", "dark", "ring"]),
    overlap=st.sampled_from(["additive", "pipelined"]),
)
def test_documents_are_as_their_schemas_say(
    collective: str,
    planner: str,
    gpus: int,
    ports: int,
    size: int,
    settings_of_fabric: dict[str, str],
    initial: str,
    overlap: str,
) -> None:
    fabric = ll.Fabric(gpus=gpus, ports=ports, initial=initial, **settings_of_fabric)  # type: ignore[arg-type]
    try:
        plan = ll.plan(collective, size, fabric=fabric, planner=planner, overlap=overlap)
    except ll.InputError:
        event("refused")  # by the planner
        return
    event("planned")
    assert _faults("plan", json.loads(plan.to_json())) == []
    assert _faults("bounds", bound_document(ll.bound(collective, size, fabric=fabric, overlap=overlap))) == []
    assert _faults("simulation", json.loads(ll.simulate(plan).to_json(links=True))) == []
    assert _faults("circuits", json.loads(ll.circuits(plan).to_json())) == []
