"""Descriptions of sweeps: values are read as written, and a wrong one is named in one line."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.sweeps.description import SweepDescription
from lightloom.sweeps.layout import QUICK_POINTS, SEARCHED_POINTS, Layout
from tests.conftest import ROOT
from tests.draws import cases

EXAMPLES = sorted((ROOT / "examples" / "sweeps").glob("*.toml"))
SETTINGS = {"collective": "all-reduce", "gpus": 8, "algorithm": "swing", "planner": "harvest"}
AXES: dict[str, Any] = {"size": ["1KiB", "1MiB"], "reconfiguration-delay": ["1us", "10us"]}


def described(**changes: Any) -> SweepDescription:
    return SweepDescription.of({"settings": SETTINGS, "axes": AXES, **changes})


def values_of(key: str, given: object) -> tuple[object, ...]:
    (axis,) = SweepDescription.of({"axes": {key: given}}).axes
    return axis.values


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_read(path: Any) -> None:
    made = SweepDescription.load(path)
    assert made.name == path.stem
    assert made.pictures
    assert Layout(made).rows(Layout(made).chunks - 1).stop == made.points


def test_units_and_plain_numbers_mean_the_same() -> None:
    assert values_of("size", ["1KiB", 2048]) == (1024.0, 2048.0)
    assert values_of("reconfiguration-delay", ["1us", 2e-6]) == (1e-6, 2e-6)
    assert values_of("bandwidth", ["800Gbps", 4e11]) == (8e11, 4e11)
    assert values_of("dims", ["4x4", [2, 8]]) == ("4x4", "2x8")


def test_ranges() -> None:
    assert values_of("size", {"from": "1KiB", "to": "1MiB", "count": 11}) == tuple(1024.0 * 2**k for k in range(11))
    assert values_of("size", {"from": "1KiB", "to": "1MiB", "factor": 4}) == tuple(1024.0 * 4**k for k in range(6))
    assert values_of("startup", {"from": 0, "to": "1us", "step": "250ns"}) == pytest.approx(
        [0, 250e-9, 500e-9, 750e-9, 1e-6], abs=1e-15
    )
    assert values_of("ports", {"from": 1, "to": 4}) == (1, 2, 3, 4)
    assert values_of("gpus", {"from": 8, "to": 64, "factor": 2}) == (8, 16, 32, 64)
    assert values_of("gpus", {"from": 8, "to": 11}) == (8, 9, 10, 11)
    assert values_of("radix", {"from": 2, "to": 4, "step": 1}) == (2, 3, 4)
    delays = values_of("reconfiguration-delay", {"from": "10ns", "to": "10ms", "count": 7})
    assert delays == pytest.approx([10.0**power for power in range(-8, -1)], rel=1e-12)
    assert (delays[0], delays[-1]) == (1e-8, 1e-2)


@given(
    low=st.integers(1, 1 << 40),
    times=st.floats(2, 9e5),
    count=st.integers(2, 50),
)
def test_ranges_rise_in_equal_ratios_between_their_ends(low: int, times: float, count: int) -> None:
    low_s, high_s = low * 1e-12, low * 1e-12 * times
    delays = values_of("hop-delay", {"from": low_s, "to": high_s, "count": count})
    assert len(delays) == count
    assert (delays[0], delays[-1]) == (low_s, high_s)
    logs = [math.log(delay) for delay in delays if isinstance(delay, float)]
    assert [after - before for before, after in pairwise(logs)] == pytest.approx(
        [math.log(times) / (count - 1)] * (count - 1), rel=1e-6
    )


def test_technologies_keep_their_names_and_share_a_series() -> None:
    made = SweepDescription.of({"axes": {"reconfiguration-delay": ["passage", "mems-3d"]}})
    assert made.axes[0].values == (3.7e-6, 15e-3)
    assert made.axes[0].labels == ("passage", "mems-3d")
    assert Layout(made).structural == ()


def test_delays_per_port_are_problems_of_their_own() -> None:
    made = SweepDescription.of({"axes": {"reconfiguration-delay": ["20ns/port", "5us"]}})
    assert made.axes[0].values == ("20ns/port", "5us")
    assert Layout(made).structural == made.axes


def test_delays_that_no_number_says_are_told_apart_by_what_is_written() -> None:
    written = ["20ns/port", "30ns/port", "1us,2us", "1us,3us", ["1us", "4us"], [1e-6, "5us"], 2e-6]
    values = ("20ns/port", "30ns/port", "1us,2us", "1us,3us", "1us,4us", "1e-06s,5us", "2e-06s")
    assert SweepDescription.of({"axes": {"reconfiguration-delay": written}}).axes[0].values == values
    settings = {"reconfiguration-delay": ["1us", 3e-3]}
    made = SweepDescription.of({"settings": settings, "axes": {"size": ["1MiB"]}})
    assert made.settings == (("reconfiguration_delay", "1us,0.003s"),)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"axes": {}}, "axes", "at least one"),
        ({"axis": {}}, "description", "did you mean `axes`"),
        ({"axes": {"sizes": ["1KiB"]}}, "axes", "did you mean `size`"),
        ({"axes": {"size": []}}, "axes.size", "no values"),
        ({"axes": {"size": "1KiB"}}, "axes.size", "a list"),
        ({"axes": {"size": ["1KiB", 1024]}}, "axes.size", "twice"),
        ({"axes": {"reconfiguration-delay": ["1us,2us", "1us,2us"]}}, "axes.reconfiguration-delay", "twice"),
        ({"axes": {"size": ["1KiB", "1KiB/pair"]}}, "axes.size", "give only one kind"),
        ({"axes": {"size": ["1XB"]}}, "axes.size", "1XB"),
        ({"axes": {"size": {"from": "1MiB", "to": "1KiB", "count": 3}}}, "axes.size", "above"),
        ({"axes": {"size": {"from": "1KiB", "count": 3}}}, "axes.size", "no `to`"),
        ({"axes": {"size": {"from": "1KiB", "to": "1MiB"}}}, "axes.size", "no `count`"),
        ({"axes": {"size": {"from": "1KiB", "to": "1MiB", "count": 3, "step": 1}}}, "axes.size", "one of them"),
        ({"axes": {"size": {"from": "1KiB", "to": "1MiB", "counts": 3}}}, "axes.size", "did you mean `count`"),
        ({"axes": {"size": {"from": 1, "to": 4, "count": 31}}}, "axes.size", "twice"),
        ({"axes": {"startup": {"from": 0, "to": "1us", "count": 3}}}, "axes.startup", "zero"),
        ({"axes": {"startup": {"from": "1ns", "to": "1us", "factor": 1}}}, "axes.startup.factor", "above 1"),
        ({"axes": {"startup": {"from": "1ns", "to": "1us", "count": True}}}, "axes.startup.count", "whole"),
        ({"axes": {"ports": [0]}}, "axes.ports", "0"),
        ({"axes": {"planner": ["harvset"]}}, "axes.planner", "did you mean `harvest`"),
        ({"axes": {"planner": {"from": 1, "to": 2}}}, "axes.planner", "list of names"),
        ({"axes": {"gpus": [8]}}, "axes.gpus", "settings.gpus"),
        ({"axes": {"hop-delay": [1e-6], "hop_delay": [2e-6]}}, "axes.hop_delay", "twice"),
        ({"settings": {"gpus": 8, "budget": "1s"}}, "settings", "budget"),
        ({"settings": {"sync": "dataflow"}}, "settings", "sync"),
        ({"engine": "packets"}, "engine", "did you mean `packet`"),
        ({"metrics": ["speed"]}, "metrics", "speed"),
        ({"metrics": ["ratio"], "baseline": []}, "baseline", "needs it"),
        ({"metrics": ["simulated"]}, "metrics", "flow and packet"),
        ({"metrics": []}, "metrics", "not empty"),
        ({"metrics": ["time"], "baseline": ["static"]}, "baseline", "not among"),
        ({"baseline": ["statik"]}, "baseline[0].planner", "did you mean `static`"),
        ({"baseline": ["static", "static"]}, "baseline[1]", "twice"),
        ({"baseline": [{"size": "1KiB"}]}, "baseline[0]", "size"),
        ({"name": "../up"}, "name", "../up"),
        ({"plots": [{"kind": "heat", "x": "size", "value": "time"}]}, "plots[0]", "no `y`"),
        ({"plots": [{"kind": "heat", "x": "size", "y": "size", "value": "time"}]}, "plots[0]", "different"),
        ({"plots": [{"kind": "heat", "x": "ports", "y": "size", "value": "time"}]}, "plots[0].x", "ports"),
        (
            {
                "metrics": ["time"],
                "plots": [
                    {
                        "kind": "heat",
                        "x": "size",
                        "y": "reconfiguration-delay",
                        "value": "time",
                        "regions": "reconfigurations",
                    }
                ],
            },
            "plots[0].regions",
            "not among",
        ),
        ({"plots": [{"kind": "map"}]}, "plots[0].kind", "map"),
        ({"plots": [{"kind": "lines", "x": "size", "value": "gap"}]}, "plots[0].value", "gap"),
        ({"plots": [{"kind": "lines", "x": "size", "y": "size", "value": "time"}]}, "plots[0]", "y"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        described(**changes)
    assert str(raised.value).startswith(f"{field}: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_too_many_points_are_counted() -> None:
    many = {"from": "1ns", "to": "1s", "count": 20_000}
    with pytest.raises(InputError, match=r"400,000,000 points \(20000 x 20000\)"):
        described(axes={"startup": many, "hop-delay": many})
    some = {"from": "1ns", "to": "1s", "count": 2_000}
    with pytest.raises(InputError, match="engine packet takes at most 1,000,000"):
        described(engine="packet", axes={"startup": some, "hop-delay": some})
    assert described(axes={"startup": some, "hop-delay": some}).points == 4_000_000


def test_packets_that_are_followed_one_by_one_are_counted() -> None:
    changes: dict[str, Any] = {"engine": "packet", "axes": {"size": ["1MiB", "1TiB"]}}
    with pytest.raises(InputError, match=r"^size: the largest size is 268,435,456 packets of 4096 bytes"):
        described(settings={**SETTINGS, "injection": "paced"}, **changes)
    with pytest.raises(InputError, match="engine flow"):
        described(settings={**SETTINGS, "buffer": "64KiB"}, **changes)
    assert described(settings={**SETTINGS, "injection": "paced", "packet-size": "1MiB"}, **changes).points == 2
    assert described(**changes).points == 2


def test_too_many_panels_are_refused_or_not_drawn() -> None:
    axes = {"startup": {"from": "1ns", "to": "1us", "count": 300}, "planner": ["harvest"], "size": ["1KiB", "1MiB"]}
    plots = [{"kind": "lines", "x": "size", "value": "time"}]
    settings = {"collective": "all-reduce", "gpus": 8}
    with pytest.raises(InputError, match="300 panels"):
        described(axes=axes, settings=settings, plots=plots)
    assert described(axes=axes, settings=settings, plots=[]).pictures == ()


def test_pictures_suit_the_axes() -> None:
    (heat, *_) = described().pictures
    assert (heat.kind, heat.x, heat.y) == ("heat", "size", "reconfiguration_delay")
    (line, *_) = described(axes={"size": [1, 2], "planner": ["harvest", "static"]}, settings={"gpus": 8}).pictures
    assert (line.kind, line.x, line.lines) == ("lines", "size", "planner")
    (bar, *_) = described(axes={"algorithm": ["ring", "swing"]}, settings={"gpus": 8}).pictures
    assert (bar.kind, bar.x, bar.lines) == ("bars", "algorithm", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["axes", "settings", "metrics", "baseline", "plots", "engine", "name", "summary"])
INNER = st.sampled_from(["size", "ports", "planner", "dims", "fabric", "startup", "matrix", "from", "to", "kind", "x"])


@settings(max_examples=cases(150), deadline=None)
@given(
    st.dictionaries(KEYS, JSON | st.dictionaries(INNER, JSON | st.dictionaries(INNER, JSON, max_size=3), max_size=3)),
    st.booleans(),
)
def test_anything_is_read_or_refused_in_one_line(given_: dict[str, Any], with_axes: bool) -> None:
    if with_axes:
        given_ = {"axes": AXES, **given_}
    try:
        made = SweepDescription.of(given_)
    except InputError as error:
        assert error.field
        assert "\n" not in str(error)
        assert str(error).startswith(error.field)
    else:
        assert made.points >= 1


@settings(max_examples=cases(100), deadline=None)
@given(
    sizes=st.integers(1, 6),
    delays=st.integers(1, 6),
    ports=st.integers(1, 3),
    engine=st.sampled_from(["model", "packet"]),
    planner=st.sampled_from(["harvest", "auto"]),
)
def test_chunks_cover_every_row_once_and_pieces_every_point_of_their_series(
    sizes: int, delays: int, ports: int, engine: str, planner: str
) -> None:
    made = SweepDescription.of(
        {
            "engine": engine,
            "settings": {"gpus": 8, "planner": planner},
            "axes": {
                "size": list(range(1, sizes + 1)),
                "ports": {"from": 1, "to": ports},
                "reconfiguration-delay": [1e-6 * (index + 1) for index in range(delays)],
            },
        }
    )
    layout = Layout(made)
    seen = []
    for chunk in range(layout.chunks):
        rows = layout.rows(chunk)
        pieces = list(layout.pieces(chunk))
        assert [row for piece in pieces for row in piece.rows] == list(rows)
        for piece in pieces:
            for index, row in enumerate(piece.rows):
                at = dict(piece.settings)["ports"], piece.numbers["size"][index]
                seen.append((row, *at, piece.numbers["reconfiguration_delay"][index]))
    # The structural axis first, then the numbers in the order of writing, the last one fastest.
    expected = [
        (port, size, 1e-6 * (delay + 1))
        for port in range(1, ports + 1)
        for size in range(1, sizes + 1)
        for delay in range(delays)
    ]
    assert seen == [(row, *point) for row, point in enumerate(expected)]


OPEN = {key: value for key, value in SETTINGS.items() if key != "planner"}


@pytest.mark.parametrize(
    ("changes", "points"),
    [
        ({"baseline": []}, QUICK_POINTS),
        # The plan that never changes is the best of all algorithms, a search, and the default baseline.
        ({}, SEARCHED_POINTS),
        ({"baseline": {"planner": "static"}}, QUICK_POINTS),
        ({"settings": OPEN}, SEARCHED_POINTS),
        # A quick baseline makes no search of its points quick.
        ({"settings": OPEN, "baseline": {"planner": "static"}}, SEARCHED_POINTS),
        ({"settings": {**SETTINGS, "planner": "auto"}, "baseline": {"planner": "static"}}, SEARCHED_POINTS),
        ({"settings": OPEN, "axes": {**AXES, "planner": ["harvest", "static"]}, "baseline": []}, QUICK_POINTS),
        ({"settings": OPEN, "axes": {**AXES, "planner": ["harvest", "weave"]}}, SEARCHED_POINTS),
        ({"baseline": {"planner": "weave"}}, SEARCHED_POINTS),
        ({"metrics": ["time", "gap"]}, SEARCHED_POINTS),
    ],
)
def test_chunks_are_long_where_no_point_is_a_search(changes: dict[str, Any], points: int) -> None:
    assert Layout(described(**changes)).chunk_points == points
