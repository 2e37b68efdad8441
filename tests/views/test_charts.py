"""Charts show the given numbers, in natural units."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import BoundaryNorm, LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lightloom.base.errors import InputError
from lightloom.views.axis_units import (
    distinct_labels,
    even_range,
    log_range,
    natural_label,
    place_ticks,
    rate_label,
    size_label,
    time_label,
)
from lightloom.views.chart_regions import roomiest
from lightloom.views.charts import bars, colour_bar, heat_map, lines, save
from lightloom.views.colour_norms import ratio_norm, rising_norm, whole_numbers
from lightloom.views.palette import planner_style, style_at


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        (size_label(32), "32 B"),
        (size_label(1000), "1 KB"),
        (size_label(1024), "1 KiB"),
        (size_label(10**6), "1 MB"),
        (size_label(3 << 20), "3 MiB"),
        (size_label(1 << 30), "1 GiB"),
        (time_label(1e-8), "10 ns"),
        (time_label(3.7e-6), "3.7 µs"),
        (time_label(1e-3), "1 ms"),
        (time_label(0), "0"),
        (time_label(1166), "1166 s"),
        (rate_label(8e11), "800 Gbit/s"),
        (natural_label("ratio", 2.5), "2.5×"),
        (natural_label("name", "harvest"), "harvest"),
    ],
)
def test_labels_are_as_people_write_them(label: str, shown: str) -> None:
    assert label == shown


@given(st.floats(1, 1e15), st.floats(1.0, 1e9))
def test_ticks_of_places_have_both_ends_and_are_few(low: float, factor: float) -> None:
    for kind in ("size", "time", "ratio"):
        values = np.geomspace(low, low * factor, 30).tolist()
        ticks = place_ticks(kind, values)
        assert (ticks[0], ticks[-1]) == (min(values), max(values))
        assert len(ticks) <= 14
        assert ticks == sorted(ticks)


@given(st.floats(1e-9, 1e15), st.floats(1.001, 1e9))
def test_ticks_of_a_range_enclose_it_and_are_few(low: float, factor: float) -> None:
    high = low * factor
    for ticks in (*(log_range(kind, low, high) for kind in ("size", "time", "ratio")), even_range(low, high)):
        assert ticks[0] <= low * (1 + 1e-6)
        assert ticks[-1] >= high * (1 - 1e-6)
        assert 2 <= len(ticks) <= 10
        # None is further out than need be.
        assert len(ticks) == 2 or (ticks[1] > low * (1 - 1e-6) and ticks[-2] < high * (1 + 1e-6))


def test_ticks_are_numbers_as_people_write_them() -> None:
    decimal = [1000.0 * 2**power for power in range(10)] + [1e6 * 2**power for power in range(9)]
    assert [size_label(tick) for tick in place_ticks("size", decimal)] == [
        *(f"{4**power} KB" for power in range(5)),
        *(f"{4**power} MB" for power in range(5)),
    ]
    assert place_ticks("size", [32, 1024, 4 << 20]) == [32, 1024, 4 << 20]
    assert place_ticks("time", np.geomspace(1e-8, 1e-2, 61).tolist()) == pytest.approx([10.0**p for p in range(-8, -1)])
    assert log_range("ratio", 1.01, 1.21) == pytest.approx([1, 1.05, 1.1, 1.15, 1.2, 1.25])
    assert log_range("ratio", 0.033, 4.97) == pytest.approx([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5])
    assert log_range("time", 5e-5, 0.09) == pytest.approx([3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1])
    assert even_range(0, 4.9e-3) == pytest.approx([0, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3])


def test_ticks_an_even_step_apart_are_labelled_so() -> None:
    assert distinct_labels("time", [0.82, 0.8225, 0.825]) == ["820 ms", "822.5 ms", "825 ms"]
    assert distinct_labels("time", [0.0, 1e-3, 3.7321e-3]) == ["0", "1 ms", "3.73 ms"]


def test_a_heat_map_shows_every_cell_where_its_axes_say() -> None:
    sizes, delays = [1024, 4096, 65536], [1e-8, 1e-6]
    cells = np.array([[0.5, 1.0, 4.0], [2.0, math.nan, 8.0]])
    figure = Figure()
    axes = figure.subplots()
    mesh = heat_map(axes, sizes, delays, cells, centre=1.0)
    shown: NDArray[np.float64] = np.ma.filled(np.ma.asarray(mesh.get_array()), math.nan).reshape(2, 3)
    np.testing.assert_array_equal(shown, cells)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1 KiB", "4 KiB", "64 KiB"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["10 ns", "1 µs"]
    corners: NDArray[np.float64] = np.asarray(mesh.get_coordinates())
    for row, delay in enumerate(delays):
        for column, size in enumerate(sizes):
            assert corners[row, column, 0] < size < corners[row, column + 1, 0]
            assert corners[row, column, 1] < delay < corners[row + 1, column, 1]
    # Every finite cell has its number, inside it.
    numbers = {text.get_text() for text in axes.texts}
    assert numbers == {"0.50", "1.00", "4.00", "2.00", "8.00"}
    # As many shades above 1 as below.
    assert isinstance(mesh.norm, LogNorm)
    assert mesh.norm(1.0) == pytest.approx(0.5)


def test_boundaries_run_between_cells_of_different_regions() -> None:
    regions = np.array([["a", "a", "b"], ["a", "b", "b"]])
    figure = Figure()
    axes = figure.subplots()
    mesh = heat_map(axes, [1, 10, 100], [1, 10], np.ones((2, 3)), x_kind="time", regions=regions)
    (borders,) = [part for part in axes.collections if part is not mesh]
    corners: NDArray[np.float64] = np.asarray(mesh.get_coordinates())
    x, y = corners[0, :, 0], corners[:, 0, 1]
    drawn = {tuple((x, y) for x, y in np.asarray(path.vertices).tolist()) for path in borders.get_paths()}
    assert drawn == {
        ((x[2], y[0]), (x[2], y[1])),
        ((x[1], y[1]), (x[1], y[2])),
        ((x[1], y[1]), (x[2], y[1])),
    }
    assert {"a", "b"} <= {text.get_text() for text in axes.texts}


def test_a_label_stands_where_its_region_has_most_room() -> None:
    mask = np.zeros((9, 20), dtype=bool)
    mask[2:7, 1:6] = True
    mask[4, 6:20] = True
    assert roomiest(mask) in {(4, 3), (4, 4)}


def test_norms_take_what_is_not_finite() -> None:
    norm = ratio_norm([math.nan, 4.0, 0.5, math.inf])
    assert (norm.vmin, norm.vmax) == (0.25, 4.0)
    assert rising_norm([math.nan]).vmax == 1.0
    assert isinstance(rising_norm([1.0, 100.0]), LogNorm)
    assert (ratio_norm([1e9]).vmax, ratio_norm([]).vmax) == (100.0, 2.0)


def test_the_colour_bar_ends_where_the_values_end() -> None:
    figure = Figure()
    axes = figure.subplots()
    mesh = heat_map(axes, [1, 2], [1, 2], [[1.0, 1.5], [2.0, 8.0]], centre=1.0)
    colour_bar(figure, mesh, axes, "ratio", "ratio")
    assert figure.axes[-1].get_ylim() == pytest.approx((1.0, 8.0))
    assert [tick.get_text() for tick in figure.axes[-1].get_yticklabels()] == ["1×", "1.5×", "2×", "3×", "5×", "8×"]


def test_whole_numbers_have_a_colour_and_a_tick_each() -> None:
    figure = Figure()
    axes = figure.subplots()
    mesh = heat_map(axes, [1, 2], [1, 2], [[0.0, 1.0], [2.0, 5.0]], cell_kind="count")
    colour_bar(figure, mesh, axes, "reconfigurations", "count")
    assert [tick.get_text() for tick in figure.axes[-1].get_yticklabels()] == ["0", "1", "2", "3", "4", "5"]
    assert len({tuple(colour) for colour in mesh.to_rgba(np.array([0.0, 1.0, 2.0, 5.0])).tolist()}) == 4


def test_a_line_under_others_is_wider() -> None:
    figure = Figure()
    axes = figure.subplots()
    lines(axes, [1024, 2048, 4096], {"a": [1, 2, 3], "b": [1, 2, 3], "c": [2, 4, 6]}, y_kind="number")
    first, second, third = (line.get_linewidth() for line in axes.get_lines())
    assert first > second == third


def test_a_planner_has_one_look_everywhere() -> None:
    figure = Figure()
    axes = figure.subplots()
    lines(axes, [1, 2], {"bridge": [1, 2], "static": [2, 4]}, x_kind="count")
    found = {str(line.get_label()): line.get_color() for line in axes.get_lines()}
    assert found == {name: style.colour for name in found if (style := planner_style(name))}
    assert len({style_at(place) for place in range(32)}) == 32


def test_lines_and_bars_are_as_high_as_their_values(tmp_path: Path) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    lines(left, [1024, 2048], {"a": [1e-6, 2e-6], "b": [3e-6, math.nan]})
    assert [line.get_ydata().tolist()[0] for line in left.lines] == [1e-6, 3e-6]
    assert len({(line.get_color(), line.get_marker()) for line in left.lines}) == 2
    bars(right, ["x", "y"], {"a": [1.0, 2.0], "b": [3.0, 4.0]}, y_kind="number", stacked=True)
    assert [bar.get_y() for bar in right.containers[1]] == [1.0, 2.0]
    save(figure, tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text().startswith("<?xml")
    with pytest.raises(InputError, match=r"plot: .*\.png, \.pdf, \.svg"):
        save(figure, tmp_path / "chart.jpg")


def test_counts_that_lie_apart_have_a_colour_each() -> None:
    counts = [0.0, 1.0, 2.0, 5.0, 62.0]
    norm = rising_norm(counts, "count")
    assert isinstance(norm, BoundaryNorm)
    assert len({float(norm(count)) for count in counts}) == len(counts)
    assert [words for _, words in whole_numbers(norm, counts)] == ["0", "1", "2", "5", "62"]
    # A colour for every number up to the largest where there is room for it; runs of them where too many occur.
    near = rising_norm([3.0, 5.0], "count")
    assert isinstance(near, BoundaryNorm)
    assert [words for _, words in whole_numbers(near, [3.0, 5.0])] == ["3", "4", "5"]
    many = [float(count) for count in range(100)]
    runs = rising_norm(many, "count")
    assert isinstance(runs, BoundaryNorm)
    assert [words for _, words in whole_numbers(runs, many)][:2] == ["0–4", "5–9"]
