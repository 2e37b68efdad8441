"""Pictures of sweeps, checked through the data that their axes hold."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, QuadMesh

import lightloom as ll
from lightloom.views.pictures.sweep import MOST_CELLS, MOST_PANELS, sweep_figures

SETTINGS: dict[str, Any] = {"collective": "all-reduce", "gpus": 16, "algorithm": "recursive-doubling"}
SIZES = {"from": "1KiB", "to": "64MiB", "count": 17}
DELAYS = {"from": "100ns", "to": "1ms", "count": 9}


@pytest.fixture(scope="module")
def swept() -> ll.SweepResult:
    return ll.sweep(
        {
            "summary": "a title",
            "baseline": ["static", "bvn"],
            "settings": {**SETTINGS, "planner": "harvest"},
            # The delays fall here, and rise in the picture.
            "axes": {"reconfiguration-delay": [1e-3, 1e-5, 1e-6, 1e-7], "ports": [1, 2], "size": SIZES},
            "plots": [
                {
                    "kind": "heat",
                    "x": "size",
                    "y": "reconfiguration-delay",
                    "value": "ratio",
                    "regions": "reconfigurations",
                },
                {"kind": "lines", "x": "size", "lines": "reconfiguration_delay", "value": "time"},
                {"kind": "bars", "x": "reconfiguration-delay", "lines": "ports", "value": "reconfigurations"},
            ],
        }
    )


def test_heat_maps_hold_the_table(swept: ll.SweepResult) -> None:
    name, figure = next(iter(sweep_figures(swept)))
    assert name == "sweep-ratio"
    assert figure.get_suptitle().startswith("a title\ntimes faster than the best of static, bvn")
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == ["ports 1", "ports 2"]
    limits = set()
    for ports, axes in enumerate(panels, start=1):
        (mesh,) = (part for part in axes.collections if isinstance(part, QuadMesh))
        cells = np.asarray(mesh.get_array())
        assert cells.shape == (4, 17)
        for row, delay_s in enumerate([1e-7, 1e-6, 1e-5, 1e-3]):
            at = (swept["ports"] == ports) & (swept["reconfiguration_delay_s"] == delay_s)
            # Rows of the table go along the sizes.
            assert cells[row].tolist() == swept["ratio"][at].tolist()
        corners = np.asarray(mesh.get_coordinates())
        sizes = np.unique(swept["size_bytes"])
        assert np.all((corners[0, :-1, 0] < sizes) & (sizes < corners[0, 1:, 0]))
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("size", "" if ports > 1 else "reconfiguration delay")
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        # Panels next to each other share the first one's labels.
        assert ("100 ns" in [label.get_text() for label in axes.get_yticklabels()]) == (ports == 1)
        limits.add(mesh.norm.vmin)
        # A line for each pair of neighbours with other numbers of reconfigurations.
        (border,) = (part for part in axes.collections if isinstance(part, LineCollection))
        grid = swept.grid("reconfigurations")[ports - 1]
        between = np.count_nonzero(grid[1:] != grid[:-1]) + np.count_nonzero(grid[:, 1:] != grid[:, :-1])
        assert len(border.get_segments()) == between > 0
    assert len(limits) == 1


@pytest.mark.large
def test_lines_and_bars_hold_the_table(swept: ll.SweepResult) -> None:
    figures = dict(sweep_figures(swept))
    assert list(figures) == [
        "sweep-ratio",
        "sweep-time",
        *(f"sweep-reconfigurations{number}" for number in ("", "-2")),
    ]
    first, second = figures["sweep-time"].axes[:2]
    for ports, axes in ((1, first), (2, second)):
        lines = {str(line.get_label()): line for line in axes.get_lines()}
        assert list(lines) == ["1 ms", "10 µs", "1 µs", "100 ns"]
        at = (swept["ports"] == ports) & (swept["reconfiguration_delay_s"] == 1e-5)
        assert np.asarray(lines["10 µs"].get_xdata()).tolist() == swept["size_bytes"][at].tolist()
        assert np.asarray(lines["10 µs"].get_ydata()).tolist() == swept["total_s"][at].tolist()
    # Seventeen panels of sizes, on two figures.
    bars = figures["sweep-reconfigurations-2"].axes[17 - MOST_PANELS - 1]
    assert bars.get_title() == "size 64 MiB"
    drawn = {
        str(container.get_label()): [bar.get_height() for bar in container.patches]
        for container in bars.containers
        if hasattr(container, "patches")
    }
    for ports in (1, 2):
        at = (swept["ports"] == ports) & (swept["size_bytes"] == 64 << 20)
        assert drawn[str(ports)] == swept["reconfigurations"][at].tolist()


def test_large_maps_are_thinned_to_values_of_the_table() -> None:
    result = ll.sweep(
        {
            "settings": {**SETTINGS, "planner": "harvest", "ports": 1},
            "axes": {
                "size": {"from": "1KiB", "to": "1GiB", "count": 1000},
                "reconfiguration-delay": {"from": "10ns", "to": "10ms", "count": 30},
            },
            "metrics": ["time"],
        }
    )
    ((_, figure),) = sweep_figures(result)
    (mesh,) = (part for part in figure.axes[0].collections if isinstance(part, QuadMesh))
    cells = np.asarray(mesh.get_array())
    assert cells.shape == (30, MOST_CELLS)
    grid = result.grid("total_s").T
    assert cells[:, 0].tolist() == grid[:, 0].tolist()
    assert cells[:, -1].tolist() == grid[:, -1].tolist()
    assert np.isin(cells, grid).all()


def test_what_has_no_plan_is_left_white_or_said() -> None:
    result = ll.sweep(
        {
            "settings": {"collective": "all-reduce", "gpus": 12, "algorithm": "ring"},
            "axes": {"size": ["1KiB", "1MiB"], "planner": ["harvest", "short-circuit"]},
            "plots": [
                {"kind": "lines", "x": "size", "value": "time"},
                {"kind": "bars", "x": "planner", "value": "time"},
            ],
        }
    )
    assert np.isnan(result["total_s"]).tolist() == [False, False, True, True]
    lines, bars = (figure for _, figure in sweep_figures(result))
    assert [[text.get_text() for text in axes.texts] for axes in lines.axes] == [[], ["no plan"]]
    assert [axes.get_title() for axes in bars.axes] == ["size 1 KiB", "size 1 MiB"]


@pytest.mark.parametrize(
    "plots", [None, [{"kind": "heat", "x": "size", "y": "reconfiguration-delay", "value": "ratio"}]]
)
def test_a_map_of_the_best_planner_takes_the_least_time_in_every_cell(plots: list[dict[str, str]] | None) -> None:
    planners = ["bvn", "static", "harvest"]
    given = {} if plots is None else {"plots": [{**plot, "best": "planner"} for plot in plots]}
    result = ll.sweep(
        {
            "baseline": ["static"],
            "settings": SETTINGS,
            "axes": {"planner": planners, "size": SIZES, "reconfiguration-delay": DELAYS},
            **given,
        }
    )
    name, figure = next(iter(sweep_figures(result)))
    assert name == "sweep-best-planner"
    assert "lines: where the best planner changes" in figure.get_suptitle()
    (axes,) = (axes for axes in figure.axes if axes.get_xlabel() == "size")
    assert not axes.get_title()
    times = np.stack([result["total_s"][result["planner"] == planner].reshape(17, 9) for planner in planners])
    (mesh,) = (part for part in axes.collections if isinstance(part, QuadMesh))
    # The ratio of the fastest is the largest.
    np.testing.assert_allclose(np.asarray(mesh.get_array()), (times[1] / times.min(0)).T)
    # Equal ones take the first's name: bvn where all steps reconfigure, static where no step does, harvest between.
    best = np.argmax(times <= times.min(0) * (1 + 1e-9), 0).T
    assert set(np.unique(best)) == {0, 1, 2}
    (border,) = (part for part in axes.collections if isinstance(part, LineCollection))
    between = np.count_nonzero(best[1:] != best[:-1]) + np.count_nonzero(best[:, 1:] != best[:, :-1])
    assert len(border.get_segments()) == between
    assert {text.get_text() for text in axes.texts} == set(planners)


def test_regions_of_the_best_need_an_axis() -> None:
    plot = {"kind": "heat", "x": "size", "y": "reconfiguration-delay", "value": "time", "regions": "best"}
    with pytest.raises(ll.InputError, match=r"plots\[0\]\.regions: `best` takes an axis too"):
        ll.sweep({"settings": SETTINGS, "axes": {"size": SIZES, "reconfiguration-delay": DELAYS}, "plots": [plot]})


@pytest.mark.parametrize(("summary", "title"), [("", "all-reduce, 8 GPUs"), ("mine", "mine")])
def test_a_picture_without_a_summary_says_what_was_swept(summary: str, title: str) -> None:
    settings = {"collective": "all-reduce", "gpus": 8, "planner": "static", "algorithm": "ring"}
    axes = {"size": ["1MiB", "2MiB"], "reconfiguration-delay": ["316.228us", "1ms"]}
    plots = [{"kind": "lines", "x": "size", "value": "time"}]
    swept = ll.sweep({"summary": summary, "metrics": ["time"], "settings": settings, "axes": axes, "plots": plots})
    ((_, figure),) = sweep_figures(swept)
    assert figure.get_suptitle().splitlines()[0] == title
    # Measured values have the three digits that can be read, in titles too.
    assert [panel.get_title() for panel in figure.axes] == [
        "reconfiguration delay 316 µs",
        "reconfiguration delay 1 ms",
    ]
