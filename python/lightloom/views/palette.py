"""Colours, markers and dashes by meaning: one meaning has one look in every picture."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "DIVERGING",
    "PALETTE",
    "REFERENCE",
    "RISING",
    "TERM_COLOURS",
    "Style",
    "planner_style",
    "ramp",
    "readable_on",
    "style_at",
    "styles",
]

# Okabe and Ito's colours, which people with any colour vision tell apart, with a darker yellow that is seen on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8F8600", "#000000")
MARKERS = "osD^vPX*"
DASHES = ("-", "--", "-.", ":")
# Diverging where a value has a centre, else rising in lightness; both are safe for any colour vision.
DIVERGING, RISING = "RdBu", "cividis"
# Terms of the cost; congestion is the part of the transmission that shared circuits add.
TERM_COLOURS = {
    "startup": "#56B4E9",
    "propagation": "#009E73",
    "transmission": "#0072B2",
    "congestion": "#CC79A7",
    "reconfiguration": "#D55E00",
}
# Work of ranks other than communication.
COMPUTATION = "#DFD3BC"
# References (a paper's numbers, limits, planned times), and marks without a meaning of their own.
REFERENCE, BACKGROUND = "#000000", "#B0B0B0"
# A colour map that rises in lightness, cut before the lightest, which would pass for an empty place.
RAMP, RAMP_END = "viridis", 0.88


class Style(NamedTuple):
    """Marks that tell a line or bar apart from others, also without its colour."""

    colour: str
    marker: str
    dash: str


def style_at(place: int) -> Style:
    """The look of the series at a place in a list; no two of the first 32 are alike."""
    return Style(
        PALETTE[place % len(PALETTE)],
        MARKERS[(place + place // len(PALETTE)) % len(MARKERS)],
        DASHES[(place // len(PALETTE)) % len(DASHES)],
    )


@cache
def _planners() -> dict[str, int]:
    return {entry["name"]: place for place, entry in enumerate(_core.registry()["planners"])}


def planner_style(name: str) -> Style | None:
    """The look of a planner, from its place in the registry; None for a name that is no planner's."""
    place = _planners().get(name)
    return None if place is None else style_at(place)


def ramp(count: int) -> list[str]:
    """Colours from dark to light, this many, for values in an order: ports, sizes, numbers of reconfigurations."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(shade) for shade in colormaps[RAMP](np.linspace(0, RAMP_END, count))]


def styles(names: Sequence[Any], *, ordered: bool = False) -> list[Style]:
    """A look for every series: a planner's own, else by its place; of ordered ones a colour from dark to light."""
    if ordered and len(names) > 1:
        return [style_at(place)._replace(colour=colour, dash="-") for place, colour in enumerate(ramp(len(names)))]
    known = [planner_style(str(name)) for name in names]
    if all(style is not None for style in known):
        return [style for style in known if style is not None]
    return [style_at(place) for place in range(len(names))]


def readable_on(colour: Any) -> str:
    """Black or white, whichever is read on a colour."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return "k" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "w"
