"""Colours, markers and dashes of the schemes in the papers: a planner's own, and one for each other scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.views.palette import TERM_COLOURS, Style, planner_style, style_at

if TYPE_CHECKING:
    from collections.abc import Iterable

# The papers' names of Lightloom's planners.
PLANNERS = {
    "HARVEST": "harvest",
    "BRIDGE": "bridge",
    "PCCL": "pccl",
    "PCCL, ports divided": "pccl-parallel",
    "ours": "reconfigure-all-to-all",
    "FAST": "fast",
    "DirectConnect (Kautz)": "direct-connect-kautz",
    "DirectConnect (circulant)": "direct-connect-circulant",
    "TopoOpt": "topo-opt",
    "MixNet": "mixnet",
}
# Algorithms on a topology that is given with them.
SCHEMES = {
    "Ring": Style("#E69F00", "s", "-"),
    "recursive doubling": Style("#009E73", "D", "-"),
    "RHD": Style("#009E73", "D", "-"),
    "R-HD": Style("#009E73", "D", "-"),
    "static HD": Style("#009E73", "d", "--"),
    "2D bucket": Style("#0072B2", "<", "--"),
    "3D bucket": Style("#000000", ">", "--"),
    "Swing": Style("#8F8600", "*", "-"),
    "DEX": Style("#000000", "X", "-"),
    "S-Bruck": Style("#0072B2", "o", "--"),
    "G-Bruck": Style("#D55E00", "P", "-"),
}
# The papers' words for the terms of the cost; PCCL separates the one hop that every round has from the dilation.
TERMS = {
    "startup": "startup",
    "per-hop delay": "propagation",
    "one hop a step": "startup",
    "dilation": "propagation",
}


def looks(names: Iterable[str]) -> list[Style]:
    """The look of each scheme, the same in every figure; of other names by their place."""
    return [
        SCHEMES.get(name) or planner_style(PLANNERS.get(name, name)) or style_at(place)
        for place, name in enumerate(names)
    ]


def term_looks(parts: Iterable[str]) -> list[Style]:
    """The look of each term of the cost, the same in every figure."""
    return [style_at(0)._replace(colour=TERM_COLOURS[TERMS.get(part, part)]) for part in parts]
