"""When it pays: a map is the sweep of the command line, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.errors import InputError
from lightloom.page.limits import Limits
from lightloom.page.work.map import described
from tests.page.streams import events

if TYPE_CHECKING:
    from tests.page.served import Served

OPTIONS = {"collective": "all-reduce", "size": "1MiB", "gpus": 8}
SIZES = {"option": "size", "from": "1KiB", "to": "1GiB", "points": 5}
DELAYS = {"option": "reconfiguration-delay", "from": "10ns", "to": "10ms", "points": 4}
PORTS = {"option": "ports", "values": [1, 2]}


@pytest.mark.parametrize(("x", "y"), [(SIZES, DELAYS), (PORTS, DELAYS), (SIZES, PORTS)])
def test_every_cell_is_what_plan_says(server: Served, x: dict[str, Any], y: dict[str, Any]) -> None:
    told = server.post("map", options=OPTIONS, x=x, y=y).json()
    shape = len(told["x"]["values"]), len(told["y"]["values"])
    assert [(cell["y_index"], cell["x_index"]) for cell in told["cells"]] == list(np.ndindex(shape[::-1]))
    for cell in told["cells"]:
        own: dict[str, Any] = {**OPTIONS, told["x"]["option"]: cell["x"], told["y"]["option"]: cell["y"]}
        size = own.pop("size")
        fabric = ll.Fabric(**{key: value for key, value in own.items() if key != "collective"})
        plan = ll.plan("all-reduce", int(size) if isinstance(size, float) else size, fabric=fabric)
        fixed = ll.plan(
            "all-reduce", int(size) if isinstance(size, float) else size, fabric=fabric, planner="static",
            convention="harvest",
        )  # fmt: skip
        assert cell["total_s"] == pytest.approx(plan.total_s, rel=1e-12)
        assert cell["against_s"] == pytest.approx(fixed.total_s, rel=1e-12)
        assert cell["speedup"] == pytest.approx(fixed.total_s / plan.total_s, rel=1e-12)
        assert cell["lower_bound_s"] == pytest.approx(plan.lower_bound_s, rel=1e-9)
        assert cell["gap"] >= 1 - 1e-9


def test_cells_are_told_as_they_are_found(server: Served) -> None:
    asked = {"options": OPTIONS, "x": SIZES, "y": {**DELAYS, "points": 10}, "against": "bvn"}
    *told, (name, whole) = events(server, "map", asked)
    assert (name, whole["against"], len(whole["cells"])) == ("end", "bvn", 50)
    key = lambda cell: (cell["y_index"], cell["x_index"])  # noqa: E731
    assert sorted((row for name, row in told if name == "row"), key=key) == whole["cells"]
    # A coarse map comes first.
    first = [(row["x_index"] % 4, row["y_index"] % 4) for name, row in told if name == "row"][:6]
    assert first == [(0, 0)] * 6
    progress = [row for name, row in told if name == "progress"]
    assert progress[-1] == {"done": 50, "of": 50}
    assert len(progress) > 1


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"x": None}, "x"),
        ({"x": DELAYS}, "y"),
        ({"x": {**SIZES, "points": 1}}, "x.points"),
        ({"x": {**SIZES, "points": 5.5}}, "x.points"),
        ({"x": {**SIZES, "points": 10**9}}, "x.points"),
        ({"x": {**SIZES, "points": 100_000}}, "points"),
        ({"x": {"option": "size", "from": "1KiB"}}, "x"),
        ({"x": {"option": "output", "values": ["a"]}}, "x.option"),
        ({"x": {"option": "schedule", "values": ["a.xml"]}}, "x.option"),
        ({"x": {"option": "fabric", "values": ["/etc/passwd"]}}, "fabric"),
        ({"x": {"option": "matrix", "values": ["a.csv"]}}, "matrix"),
        ({"x": {"option": "gpus", "values": [8, 10_000]}}, "gpus"),
        ({"x": {"option": "collective", "values": ["all-reduce", "none"]}}, "collective"),
        ({"against": "nobody"}, "against.planner"),
        ({"against": {"schedule": "a"}}, "schedule"),
        ({"against": {}}, "against"),
        ({"options": {"gpus": 8}}, "collective"),
        ({"options": {**OPTIONS, "matrix": [[0, 1], [1, 0]]}}, "matrix"),
        ({"more": 1}, "option"),
    ],
)
def test_what_is_wrong_is_named(server: Served, changed: dict[str, Any], field: str) -> None:
    answer = server.post("map", **{"options": OPTIONS, "x": SIZES, "y": DELAYS, **changed})
    assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text


ANY = {"collective": "all-reduce", "size": "1MiB"}


@pytest.mark.parametrize(
    ("options", "x", "field"),
    [
        ({**ANY, "gpus": 17}, PORTS, "gpus"),
        ({**ANY, "dims": "17x2"}, PORTS, "dims"),
        ({**ANY, "dims": [17, 2]}, PORTS, "dims"),
        ({**ANY, "fabric": "short-circuiting-rings"}, PORTS, "fabric"),
        (ANY, {"option": "gpus", "values": [8, 17]}, "gpus"),
        (ANY, {"option": "gpus", "from": 8, "to": 32, "points": 2}, "gpus"),
        (ANY, {"option": "dims", "values": ["4x2", "17x2"]}, "dims"),
        (ANY, {"option": "fabric", "values": ["harvest-testbed", "short-circuiting-rings"]}, "fabric"),
    ],
)
def test_gpus_are_limited_whatever_says_how_many(options: dict[str, Any], x: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match="more than the 16 GPUs") as refused:
        described({"options": options, "x": x, "y": SIZES}, Limits(gpus=16))
    assert refused.value.field == field
    described(
        {"options": {**options, "gpus": 16} if "fabric" in options else options, "x": x, "y": SIZES}, Limits(gpus=34)
    )
