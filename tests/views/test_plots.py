"""Pictures of plans: everything is drawn, nothing is left behind."""

from pathlib import Path

import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import lightloom as ll
from lightloom.views.charts import SUFFIXES
from lightloom.views.pictures.topology import draw_topology
from tests.conftest import RunCli

PLAN = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1us"), algorithm="swing")
MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.large
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pictures_are_of_their_kind(cli: RunCli, in_tmp: Path, suffix: str) -> None:
    ran = cli("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 8, "--plot", f"plan{suffix}")
    assert ran.status == 0, ran.err
    assert [file.name for file in in_tmp.iterdir()] == [f"plan{suffix}"]
    assert (in_tmp / f"plan{suffix}").read_bytes().startswith(MAGIC[suffix])


def test_bars_are_as_high_as_the_terms() -> None:
    figure = PLAN.plot()
    costs = figure.axes[-1]
    heights = [[bar.get_height() for bar in container] for container in costs.containers]
    assert [sum(step) for step in zip(*heights, strict=True)] == pytest.approx([step.total_s for step in PLAN.steps])


@pytest.mark.large
def test_every_topology_is_drawn_once_with_its_steps() -> None:
    figure = PLAN.plot()
    used = list(dict.fromkeys(step.topology_index for step in PLAN.steps))
    assert len(figure.axes) - 1 == len(used)
    for axes, topology in zip(figure.axes, used, strict=False):
        numbers = [step.index + 1 for step in PLAN.steps if step.topology_index == topology]
        assert axes.get_title().startswith(f"step{'s' if len(numbers) > 1 else ''} {numbers[0]}")
        links = {(source, end) for source, end, _ in PLAN.topologies[topology].links.tolist()}
        # A circuit each way is one chord, one way a chord with a head.
        chords = {frozenset(pair) for pair in links}
        assert len(axes.collections[0].get_paths()) == len(chords)
        assert len(axes.collections[1].get_paths()) == sum((end, source) not in links for source, end in links)


def test_a_run_of_equal_steps_is_one_bar() -> None:
    fabric = ll.Fabric(gpus=64)
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="ring", planner="static", topology="ring")
    costs = plan.plot().axes[-1]
    assert [label.get_text() for label in costs.get_xticklabels()] == ["1–126\n×126"]
    heights = [container[0].get_height() for container in costs.containers]
    assert sum(heights) == pytest.approx(plan.steps[0].total_s)


@pytest.mark.parametrize(
    ("topology", "ports", "said"),
    [
        ("ring:one-way", 1, "every GPU u → u + 1: 1 ring of 256"),
        ("shifted-ring:64,one-way", 1, "every GPU u → u + 64: 64 rings of 4; blue: one"),
        ("circulant:1,16", 2, "every GPU u → u + 1, u + 16; blue: their orbits of GPU 0"),
        ("ring:two-way", 2, "every GPU u → u ± 1: 1 ring of 256"),
        ("random-regular", 3, "blue: the circuits of GPU 0"),
    ],
)
def test_a_large_topology_is_said_by_its_generators(topology: str, ports: int, said: str) -> None:
    figure = Figure()
    axes = figure.subplots()
    drawn = ll.Topology.named(topology, 256, (), ports)
    assert draw_topology(axes, drawn) == said
    # The circuits that stand for all are a part of them, from GPU 0 on.
    circuits = [len(part.get_paths()) for part in axes.collections if isinstance(part, LineCollection)]
    assert len(circuits) == 2
    assert circuits[1] <= circuits[0] <= 1024


@pytest.mark.large
def test_only_circuits_that_repeat_round_the_circle_are_said_to() -> None:
    fabric = ll.Fabric(gpus=256, ports=4, dims=(16, 16), initial="torus")
    used = ll.plan("all-reduce", size="16MiB", fabric=fabric).topologies[-1]
    lift = ll.Topology.named("random-lift", 256, (), 4)
    # GPUs of a block are alike on a Cayley graph of Z_32 ⋊ Z_8; the lift's circuits repeat.
    assert used.name.startswith("metacyclic:32x8,")
    assert used.symmetry_order == lift.symmetry_order == 32
    said = [draw_topology(Figure().subplots(), topology) for topology in (used, lift)]
    assert said == ["blue: the circuits of GPU 0", "blue: of GPUs 0 to 7; repeats every 8"]


@pytest.mark.parametrize(("gpus", "topologies"), [(4, 1), (4, 2), (8, 3), (16, 4)])
def test_diagrams_leave_no_half_of_a_plans_picture_blank(gpus: int, topologies: int) -> None:
    delay = "1s" if topologies == 1 else "1ns"
    fabric = ll.Fabric(gpus=gpus, reconfiguration_delay=delay)
    plan = ll.plan("all-reduce", "64MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    *diagrams, costs = plan.plot().axes
    assert len(diagrams) == topologies
    panels = [panel for axes in (*diagrams, costs) if (panel := axes.get_subplotspec()) is not None]
    grid = panels[0].get_gridspec()
    used = {(row, column) for panel in panels for row in panel.rowspan for column in panel.colspan}
    assert used == {(row, column) for row in range(grid.nrows) for column in range(grid.ncols)}
