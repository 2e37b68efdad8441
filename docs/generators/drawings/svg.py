"""Panels of GPUs and arrows between them, as SVG that is the same text each time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from lightloom.views.palette import PALETTE, TERM_COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

Place = tuple[float, float]

# Pixels: a panel, the circle of its GPUs, half of a square of them, and a GPU.
WIDTH, HEIGHT, RADIUS, GRID, GPU = 192, 200, 60, 54, 9
CENTRE: Place = (WIDTH / 2, 122)
ABREAST = 4
INK, FAINT = "#222222", "#666666"
# Whether the receiver copies or reduces; circuits below transfers.
COLOURS = {"copy": PALETTE[0], "reduce": PALETTE[1], "circuit": "#888888", "change": TERM_COLOURS["reconfiguration"]}


@dataclass(frozen=True)
class Arrow:
    """From one GPU to another, or both ways and then without heads; `kind` is a key of `COLOURS`, `width` in pixels."""

    source: int
    destination: int
    kind: str
    width: float = 1.6
    both_ways: bool = False


@dataclass(frozen=True)
class Panel:
    """GPUs at their places with arrows between them, below a title and a line of description."""

    title: str
    line: str
    places: Sequence[Place]
    arrows: Sequence[Arrow]
    changed: bool = False


def on_a_circle(gpus: int) -> list[Place]:
    """GPU 0 at the top, the others clockwise."""
    turns = [2 * math.pi * rank / gpus for rank in range(gpus)]
    return [(CENTRE[0] + RADIUS * math.sin(turn), CENTRE[1] - RADIUS * math.cos(turn)) for turn in turns]


def on_a_grid(rows: int, columns: int) -> list[Place]:
    """The last dimension runs to the right."""
    gap = 2 * GRID / (max(rows, columns) - 1)
    left, top = CENTRE[0] - gap * (columns - 1) / 2, CENTRE[1] - gap * (rows - 1) / 2
    return [(left + gap * column, top + gap * row) for row in range(rows) for column in range(columns)]


def drawing(panels: Sequence[Panel], title: str) -> str:
    """All panels, four abreast; `title` is for readers that do not see."""
    columns = min(len(panels), ABREAST)
    rows = math.ceil(len(panels) / ABREAST)
    body = [
        f'<g transform="translate({WIDTH * (index % ABREAST)} {HEIGHT * (index // ABREAST)})">\n{_panel(panel)}\n</g>'
        for index, panel in enumerate(panels)
    ]
    return document(WIDTH * columns, HEIGHT * rows, title, body)


def document(width: float, height: float, title: str, body: Sequence[str]) -> str:
    """A whole SVG file on white ground."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
        f' viewBox="0 0 {width:g} {height:g}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def text(
    place: Place, words: str, size: float = 11, *, colour: str = INK, anchor: str = "middle", bold: bool = False
) -> str:
    """Words at a place, on their base line."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" font-size="{size:g}" fill="{colour}"'
        f' text-anchor="{anchor}"{weight}>{escape(words)}</text>'
    )


def _panel(panel: Panel) -> str:
    title = f"* {panel.title}" if panel.changed else panel.title
    lines = [
        text((WIDTH / 2, 18), title, 11.5, bold=True, colour=COLOURS["change"] if panel.changed else INK),
        text((WIDTH / 2, 34), panel.line, 10.5, colour=FAINT),
        *(_arrow(panel.places, one) for one in panel.arrows),
    ]
    for rank, (x, y) in enumerate(panel.places):
        lines += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{GPU}" fill="#ffffff" stroke="{INK}"/>',
            text((x, y + 3.5), str(rank), 10),
        ]
    return "\n".join(lines)


def _arrow(places: Sequence[Place], one: Arrow) -> str:
    """A bent arrow between two circles, so that those there and back lie next to each other."""
    start, end = places[one.source], places[one.destination]
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down)
    bend = length * _bend(places, one)
    middle = (start[0] + across / 2 + bend * down / length, start[1] + down / 2 - bend * across / length)
    first, last = _towards(start, middle, GPU), _towards(end, middle, GPU)
    head = ""
    if not one.both_ways:
        tip = _towards(last, middle, 1.5)
        head = _head(middle, tip, 4 + one.width, one)
        last = _towards(tip, middle, 3 + one.width / 2)
    return (
        f'<path class="{one.kind}" d="M{first[0]:.1f} {first[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} '
        f'{last[0]:.1f} {last[1]:.1f}" fill="none" stroke="{COLOURS[one.kind]}" stroke-width="{one.width:g}"/>{head}'
    )


def _bend(places: Sequence[Place], one: Arrow) -> float:
    """The distance of an arrow from the straight line, over its length: much around ranks on the line, else little."""
    start, end = places[one.source], places[one.destination]
    others = [place for rank, place in enumerate(places) if rank not in {one.source, one.destination}]
    nearest = min((_distance(place, start, end) for place in others), default=math.inf)
    if nearest < GPU:
        return 0.3
    if one.both_ways:
        return 0
    return 0.07 if nearest < 2 * GPU else 0.14


def _distance(place: Place, start: Place, end: Place) -> float:
    """Distance of a place from the line between two others."""
    across, down = end[0] - start[0], end[1] - start[1]
    along = ((place[0] - start[0]) * across + (place[1] - start[1]) * down) / (across**2 + down**2)
    along = min(max(along, 0), 1)
    return math.hypot(start[0] + along * across - place[0], start[1] + along * down - place[1])


def _head(behind: Place, tip: Place, size: float, one: Arrow) -> str:
    turn = math.atan2(tip[1] - behind[1], tip[0] - behind[0])
    corners = [tip] + [
        (tip[0] - size * math.cos(turn + side), tip[1] - size * math.sin(turn + side)) for side in (-0.45, 0.45)
    ]
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}" fill="{COLOURS[one.kind]}"/>'


def _towards(start: Place, end: Place, far: float) -> Place:
    length = math.hypot(end[0] - start[0], end[1] - start[1])
    return start[0] + far * (end[0] - start[0]) / length, start[1] + far * (end[1] - start[1]) / length
