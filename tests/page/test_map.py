"""When it pays: a map is the sweep of the command line, cell by cell."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.page.limits import Limits
from lightloom.page.work import map as map_work
from lightloom.page.work.map import described, map_of
from lightloom.page.work.say import Kind, PausedError
from lightloom.sweeps.engines import judge
from tests.page.served import Served
from tests.page.streams import events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.sweeps.description import SweepDescription
    from lightloom.sweeps.layout import Piece
    from lightloom.sweeps.parts import Judged

OPTIONS = {"collective": "all-reduce", "size": "1MiB", "gpus": 8}
SIZES = {"option": "size", "from": "1KiB", "to": "1GiB", "points": 5}
DELAYS = {"option": "reconfiguration-delay", "from": "10ns", "to": "10ms", "points": 4}
PORTS = {"option": "ports", "values": [1, 2]}


def circuits(plan: ll.Plan) -> str:
    """The first topologies of a plan in the order of its steps."""
    names = [name for name, _ in itertools.groupby(plan.topologies[step.topology_index].name for step in plan.steps)]
    return " → ".join([*names[:4], *(["…"] if len(names) > 4 else [])])


@pytest.mark.large
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
            "all-reduce", int(size) if isinstance(size, float) else size, fabric=fabric, planner="never-change",
        )  # fmt: skip
        assert cell["total_s"] == pytest.approx(plan.total_s, rel=1e-12)
        assert cell["against_s"] == pytest.approx(fixed.total_s, rel=1e-12)
        assert cell["speedup"] == pytest.approx(fixed.total_s / plan.total_s, rel=1e-12)
        assert cell["lower_bound_s"] == pytest.approx(plan.lower_bound_s, rel=1e-9)
        assert cell["gap"] >= 1 - 1e-9
        assert (cell["algorithm"], cell["against_algorithm"]) == (plan.algorithm, fixed.algorithm)
        assert cell["topologies"] == circuits(plan)
        assert cell["against_topologies"] == fixed.topologies[0].name


def test_cells_are_told_as_they_are_found(server: Served) -> None:
    asked = {"options": OPTIONS, "x": SIZES, "y": {**DELAYS, "points": 10}, "against": "bvn"}
    *told, (name, whole) = events(server, "map", asked)
    assert (name, whole["against"], len(whole["cells"])) == ("end", "bvn", 50)
    key = lambda cell: (cell["y_index"], cell["x_index"])  # noqa: E731
    assert sorted((row for name, row in told if name == "row"), key=key) == whole["cells"]
    progress = [row for name, row in told if name == "progress"]
    assert progress[-1] == {"done": 50, "of": 50}
    assert len(progress) > 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"electrical": "4:3600Gbps:100ns"}, "electrical"),
        ({"gpus": 12, "algorithm": "recursive-doubling"}, "algorithm"),
    ],
)
def test_what_fails_at_every_point_is_refused_before_a_first_cell(options: dict[str, Any], field: str) -> None:
    heard = Heard()
    with pytest.raises(InputError) as refused:
        map_of({"options": {**OPTIONS, **options}, "x": SIZES, "y": DELAYS}, Limits(), heard)
    assert (refused.value.field, heard.rows) == (field, [])


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


class Heard:
    """Rows are kept as JSON has them. The rows of one turn may be told to the next."""

    is_to_pause = False

    def __init__(self, told: Sequence[dict[str, Any]] = ()) -> None:
        self.told = told
        self.rows = list(told)

    def __call__(self, kind: Kind, row: dict[str, Any]) -> None:
        if kind is Kind.ROW:
            self.rows.append(json.loads(json.dumps(row)))


class Pausing(Heard):
    """Work is to pause after every piece."""

    is_to_pause = True


def coarseness(cell: dict[str, Any], axes: int) -> int:
    """The number of times that a place can be halved on both axes, of places below a number of at least 2."""
    halvings = range((axes - 1).bit_length() + 1)
    fine = max(k for k in halvings if 2**k < axes)
    return max(k for k in range(fine + 1) if cell["x_index"] % 2**k == cell["y_index"] % 2**k == 0)


@pytest.mark.large
@given(st.integers(2, 20), st.integers(2, 20))
def test_the_first_picture_is_of_few_plans_and_becomes_finer(columns: int, rows: int) -> None:
    options = {**OPTIONS, "gpus": 4, "planner": "static"}
    asked = {"options": options, "x": {**SIZES, "points": columns}, "y": {**DELAYS, "points": rows}, "against": None}
    say = Heard()
    # How many cells were told when each piece was begun, and how many plans it is of.
    begun: list[tuple[int, int]] = []

    def counted(made: SweepDescription, digest: str, piece: Piece) -> Judged:
        begun.append((len(say.rows), len(piece.rows)))
        return judge(made, digest, piece)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(map_work, "judge", counted)
        map_of(asked, Limits(), say)
    assert len(say.rows) == sum(plans for _, plans in begun) == columns * rows
    assert begun[0] == (0, 4)
    assert [told for told, _ in begun[1:]] == np.cumsum([plans for _, plans in begun])[:-1].tolist()
    # From coarse to fine, and the coarsest reach over more than half of the map.
    found = [coarseness(cell, max(columns, rows)) for cell in say.rows]
    assert found == sorted(found, reverse=True)
    axis = "x_index" if columns >= rows else "y_index"
    assert 2 * max(cell[axis] for cell in say.rows[:4]) >= max(columns, rows) - 1


@pytest.mark.large
@pytest.mark.parametrize("at_once", [1, 5, 32])
def test_a_map_that_is_paused_goes_on_from_its_rows(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    asked = {"options": OPTIONS, "x": {**SIZES, "points": 3}, "y": PORTS, "against": "bvn"}
    limits = Limits()
    whole = map_of(asked, limits)[1]
    for name in ("AT_FIRST", "AT_ONCE"):
        monkeypatch.setattr(map_work, name, at_once)
    say, turns = Pausing([]), 0
    while True:
        turns += 1
        try:
            found = map_of(asked, limits, say)[1]
            break
        except PausedError:
            assert len(say.rows) > len(say.told)
            say = Pausing(say.rows)
    assert found == whole
    # A piece is of one series, here of one number of ports.
    assert turns == 2 * -(-3 // at_once)


@pytest.mark.large
@pytest.mark.slow
def test_maps_of_two_clients_take_turns_and_are_right() -> None:
    server = Served.limited(workers=1)

    def asked(seed: int) -> dict[str, Any]:
        options = {"collective": "all-to-all", "gpus": 10, "matrix": "zipf:0.4", "seed": seed}
        return {"options": options, "x": {**SIZES, "points": 7}, "y": {**DELAYS, "points": 6}}

    def answer(seed: int) -> httpx.Response:
        # Addresses of the loopback are clients of their own.
        transport = httpx.HTTPTransport(local_address=f"127.0.0.{seed}")
        with httpx.Client(transport=transport, timeout=60) as client:
            return client.post(f"{server.address}/api/map", json=asked(seed))

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(answer, (2, 3)))
    assert [found.status_code for found in answers] == [200, 200]
    for seed, found in zip((2, 3), answers, strict=True):
        assert found.json()["cells"] == json.loads(json.dumps(map_of(asked(seed), Limits())[1]))
    assert server.end() == (0, "")


@pytest.mark.slow
@pytest.mark.large
def test_a_map_that_takes_too_long_sends_its_cells_and_goes_on_from_them() -> None:
    options = {"collective": "all-to-all", "gpus": 10, "matrix": "zipf:0.4"}
    asked = {"options": options, "x": {**SIZES, "points": 30}, "y": {**DELAYS, "points": 30}}
    server = Served.limited(workers=1, seconds=3.0)
    cells: list[dict[str, Any]] = []
    is_stream = False
    while True:
        if is_stream:
            *told, (name, answer) = events(server, "map", asked)
            status = 200 if name == "end" else answer["status"]
            rows = [row for name, row in told if name == "row"]
        else:
            response = server.post("map", **asked)
            status, answer = response.status_code, response.json()
            rows = answer.get("rows", [])
        if status == 200:
            break
        assert status == 504
        assert "3 s" in answer["error"]
        # The rows of before are there again, and more.
        assert rows[: len(cells)] == cells
        assert len(rows) > len(cells)
        cells, is_stream = rows, not is_stream
    assert cells
    assert answer["cells"] == json.loads(json.dumps(map_of(asked, Limits())[1]))
    assert server.end() == (0, "")
