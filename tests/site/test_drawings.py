"""The drawn page agrees with the registries, and drawings show their titles' content."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from docs.generators.algorithms_page import FOLDER, PAGE, drawings, page
from docs.generators.drawings.animation import BAR_WIDTH, animation, plans, spans
from docs.generators.drawings.plans import doubling, search_of
from docs.generators.drawings.schedules import algorithm_drawing, names
from docs.generators.drawings.svg import GPU, Arrow, Panel, drawing, on_a_circle, on_a_grid

from lightloom import _core

ARROW = re.compile(
    r'<path class="(\w+)" d="M([\d.]+) ([\d.]+)Q[\d.]+ [\d.]+ [\d.]+ [\d.]+".*?'
    r'(?:<polygon points="([\d.]+),([\d.]+)|(?=\n))'
)
CIRCLE = re.compile(r'<circle cx="([\d.]+)" cy="([\d.]+)"')


def _arrows(panel: str) -> set[tuple[int, int, str]]:
    """Source, destination and kind of every arrow of a panel, read from where it begins and where its head is."""
    places = [(float(x), float(y)) for x, y in CIRCLE.findall(panel)]

    def at(x: str, y: str) -> int:
        far = [math.dist(place, (float(x), float(y))) for place in places]
        assert min(far) < GPU + 3, "an arrow ends at a GPU"
        return far.index(min(far))

    return {(at(x, y), at(to_x, to_y), kind) for kind, x, y, to_x, to_y in ARROW.findall(panel)}


def _panels(svg: str) -> list[set[tuple[int, int, str]]]:
    return [_arrows(part) for part in svg.split("<g transform=")[1:]]


def test_the_page_and_its_drawings_are_up_to_date() -> None:
    told = "run: python -m docs.generators.algorithms_page"
    assert page() == PAGE.read_text(), told
    assert {file.name: file.read_text() for file in FOLDER.iterdir()} == drawings(), told


def test_every_drawing_is_shown() -> None:
    pages = "".join((PAGE.parent / name).read_text() for name in (PAGE.name, "bounds.md", "../README.md"))
    assert set(re.findall(r"\((?:docs/)?drawings/([^)]+)\)", pages)) == {file.name for file in FOLDER.iterdir()}


@pytest.mark.parametrize("file", sorted(FOLDER.iterdir()), ids=lambda file: file.name)
def test_nothing_leaves_a_drawing(file: Path) -> None:
    root = fromstring(file.read_text())  # noqa: S314
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter():
        if element.tag.endswith("}text"):
            # DejaVu's letters are 0.6 of their size wide on average, bold ones a tenth more.
            letter = (0.66 if "font-weight" in element.attrib else 0.6) * float(element.attrib["font-size"])
            x, half = float(element.attrib["x"]), letter / 2 * len(element.text or "")
            left = x if element.attrib["text-anchor"] == "start" else x - half
            assert left >= 0, element.text
            assert left + 2 * half <= width, element.text
            assert float(element.attrib["y"]) <= height


def test_recursive_doubling_is_drawn_as_it_is_defined() -> None:
    sums = [{(u, (u + 2**step) % 8, "reduce") for u in range(8)} for step in range(3)]
    found = _panels(algorithm_drawing("recursive-doubling"))
    assert found[:3] == sums
    # Back by the same distances, the last first, to GPUs that keep what arrives.
    distances = [{(v - u) % 8 for u, v, _ in panel} for panel in found[3:]]
    assert {kind for panel in found[3:] for _, _, kind in panel} == {"copy"}
    assert [{min(far, 8 - far) for far in panel} for panel in distances] == [{4}, {2}, {1}]


def test_the_ring_is_two_panels() -> None:
    ahead = {(u, (u + 1) % 8) for u in range(8)}
    assert _panels(algorithm_drawing("ring")) == [{(*pair, kind) for pair in ahead} for kind in ("reduce", "copy")]


@pytest.mark.parametrize("name", names())
def test_every_gpu_receives_something(name: str) -> None:
    """Every GPU lacks something at first and receives it; the root of a Broadcast has all."""
    reached = {destination for panel in _panels(algorithm_drawing(name)) for _, destination, _ in panel}
    assert reached | {0} == set(range(8))


def test_arrows_can_be_read_back() -> None:
    places = on_a_grid(2, 4)
    pairs = [(u, v) for u in range(8) for v in range(8) if u != v]
    panels = [Panel("one", "pair", places, [Arrow(u, v, "copy")]) for u, v in pairs]
    assert _panels(drawing(panels, "pairs")) == [{(u, v, "copy")} for u, v in pairs]
    assert math.dist(*on_a_circle(8)[:2]) > 2 * GPU


def test_the_path_of_the_search_is_the_cheapest() -> None:
    search, plan = search_of(doubling()), doubling()
    paths = itertools.product(range(len(search.names)), repeat=len(search.chosen))

    def time_s(path: tuple[int, ...]) -> float:
        changes = sum(one != other for one, other in itertools.pairwise(path))
        return sum(costs[row] for costs, row in zip(search.costs_s, path, strict=True)) + changes * search.change_s

    assert min(map(time_s, paths)) == pytest.approx(plan.total_s, rel=1e-12)
    assert time_s(tuple(search.chosen)) == pytest.approx(plan.total_s, rel=1e-12)


def test_the_animation_shows_the_circuits_and_times_of_both_plans() -> None:
    svg = animation()
    best, stays = plans()
    for plan in (best, stays):
        assert sum(last_s - change_s for change_s, _, last_s, _ in spans(plan)) == pytest.approx(plan.total_s)
        assert svg.count(f">{_core.show_time(plan.total_s)}</text>") == 1
    assert svg.count(">circuits change</text>") == best.reconfigurations > 0 == stays.reconfigurations
    # One path of dashes for each run of steps on a topology, with every circuit of it.
    drawn = [path.count("L") for path in re.findall(r'<path class="flow lit" d="([^"]+)"', svg)]
    assert drawn == [len(run[0].topology.links) for plan in (best, stays) for *_, run in spans(plan)]
    # The bars have one scale: their segments are as wide as the times that they show.
    widths = [float(width) for width in re.findall(r'<rect x="[\d.]+" y="\d+" width="([\d.]+)" height="14"', svg)]
    assert sum(widths) == pytest.approx(BAR_WIDTH * (best.total_s + stays.total_s) / stays.total_s, abs=1)
