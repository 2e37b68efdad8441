"""The rows of an iteration in time: all of its events, nothing twice, circuits dark as long as it says."""

from __future__ import annotations

import json
from math import fsum

import pytest

import lightloom as ll
from lightloom.views.training_rows import COMPUTED, DARK, HIDDEN, MOST_LANES, placed, timeline, training_rows

MODELS: dict[str, dict[str, int | None]] = {
    "bert-pccl": {"ranks": 8, "ports": 1},
    "bert-pccl-overlapped": {"ranks": 8, "ports": 2},
    "mixtral-8x22b": {"ranks": None, "ports": 1},
    "llama-3-70b": {"ranks": None, "ports": 4},
}


@pytest.fixture(scope="module", params=MODELS)
def training(request: pytest.FixtureRequest) -> ll.Training:
    setting = MODELS[request.param]
    return ll.train(request.param, ranks=setting["ranks"], fabric=ll.Fabric(ports=setting["ports"] or 1))


@pytest.mark.large
def test_every_event_has_its_times_in_a_row(training: ll.Training) -> None:
    boxes = [box for row in training_rows(training) for box in row.boxes if not box.is_dark]
    assert {box.event for box in boxes} == set(range(len(training.events)))
    for box in boxes:
        event = training.events[box.event]
        assert (box.first_s, box.last_s) == (event.start_s, event.end_s)
        assert box.role == (COMPUTED if event.kind == "compute" else event.label)


@pytest.mark.large
def test_boxes_of_a_lane_are_beside_each_other(training: ll.Training) -> None:
    for row in training_rows(training):
        ends: dict[int, float] = {}
        for box, lane, lanes in placed(row):
            assert 0 <= lane < lanes <= MOST_LANES
            # The last lane takes what has no room elsewhere.
            if not box.is_dark and lane < MOST_LANES - 1:
                assert box.first_s >= ends.get(lane, 0.0) - 1e-9 * training.total_s
                ends[lane] = box.last_s


@pytest.mark.large
def test_circuits_are_dark_within_the_iteration_as_long_as_it_says(training: ll.Training) -> None:
    dark = [box for row in training_rows(training) for box in row.boxes if box.is_dark]
    assert all(0 <= box.first_s <= box.last_s <= training.total_s * (1 + 1e-12) for box in dark)
    if training.reconfigurations == 0:
        assert dark == []
    if training.reconfiguration_hidden_s:
        assert fsum(box.last_s - box.first_s for box in dark if box.role == HIDDEN) > 0
    if training.reconfiguration_exposed_s:
        assert fsum(box.last_s - box.first_s for box in dark if box.role == DARK) > 0


@pytest.mark.large
def test_the_timeline_is_the_rows_as_json(training: ll.Training) -> None:
    told = json.loads(json.dumps(timeline(training)))
    rows = training_rows(training)
    assert [row["name"] for row in told] == [row.name for row in rows]
    assert [len(row["boxes"]) for row in told] == [len(row.boxes) for row in rows]
    assert all(0 <= box["lane"] < row["lanes"] for row in told for box in row["boxes"])
