"""A mesh of MZIs as a picture: its tiles, the waveguides between its MZIs, and the circuits on them."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom._core import counted
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import settle
from lightloom.views.palette import BACKGROUND, PALETTE

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.optics.mesh_layout import Mesh
    from lightloom.optics.meshes import MeshRouting

# Tiles with their numbers; MZIs that are drawn one by one.
MOST_NUMBERED, MOST_DOTS = 256, 4096
# Shares of the space between two MZIs: the lanes of both directions, and the gap at their middle.
LANES, GAP = 0.62, 0.08
TILE, NUMBER = "#EEF1F4", "#555555"


class Way(NamedTuple):
    """A circuit as it is drawn: its MZIs, the waveguides between them, its wavelength, its place among all."""

    mzis: NDArray[np.int64]
    waveguides: NDArray[np.int64]
    wavelength: int
    place: int


def plot_mesh(routing: MeshRouting, path: str | os.PathLike[str] | None, round_index: int) -> Figure:
    """The circuits of a round on their mesh, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot`.
    """
    ways = [
        Way(mzis, routing.lanes[index], int(routing.wavelengths[index]), index)
        for index, mzis in enumerate(routing.paths)
        if routing.round_of[index] == round_index and len(mzis) > 0
    ]
    return plot_ways(routing.mesh, [(_title(routing, round_index), ways)], path)


def plot_ways(
    mesh: Mesh,
    panels: Sequence[tuple[str, Sequence[Way]]],
    path: str | os.PathLike[str] | None,
    names: Mapping[int, str] | None = None,
    title: str = "",
) -> Figure:
    """Circuits on a mesh, a panel with a title each; `names` are those of tiles, their numbers without names.

    Light keeps to the right of its direction, so that circuits both ways lie next to each other. Colours tell
    wavelengths apart where there are several, else neighbouring circuits. Raises `InputError` that names `plot`.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    across = min(len(panels), 2)
    down = -(-len(panels) // across)
    size = max(4.5, min(11.0, 0.5 * max(mesh.rows, mesh.columns) + 1)) / (1 if across == 1 else 1.4)
    width = max(4.5, size * min(1.0, mesh.columns / mesh.rows) + 0.6)
    height = max(3.0, size * min(1.0, mesh.rows / mesh.columns) + 1.1)
    figure = Figure(figsize=(width * across, height * down), layout="constrained")
    for axes, panel in zip_longest(np.ravel(figure.subplots(down, across, squeeze=False)), panels):
        axes.axis("off")
        if panel is not None:
            _draw_tiles(axes, mesh, names)
            _draw_circuits(axes, mesh, panel[1])
            axes.set(xlim=(-0.6, mesh.columns - 0.4), ylim=(mesh.rows - 0.4, -0.6), aspect="equal")
            axes.set_title(panel[0], fontsize=10)
    if title:
        figure.suptitle(title, fontsize=10)
    _legend(figure, mesh, {way.wavelength for _, ways in panels for way in ways})
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _legend(figure: Figure, mesh: Mesh, wavelengths: Collection[int]) -> None:
    """The legend of circles, colours and dotted lines."""
    from matplotlib.lines import Line2D

    def mark(label: str, colour: str = "k", **look: Any) -> Line2D:
        return Line2D([], [], color=colour, label=label, **look)

    handles = [
        mark("a circuit's transmitter", marker="o", linestyle="", markersize=5),
        mark("its receiver", marker="o", linestyle="", markersize=5, markerfacecolor="white"),
    ]
    if mesh.wavelengths > 1:
        shown = sorted(wavelengths)[: len(PALETTE)]
        handles += [mark(f"wavelength {one}", PALETTE[one % len(PALETTE)]) for one in shown]
    if mesh.interposers != "1x1":
        handles.append(mark("between interposers", linestyle=":", linewidth=1.2))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), 4 if figure.get_figwidth() > 7 else 2),
        frameon=False,
        fontsize=8,
        title="light keeps to the right of its direction",
        title_fontsize=8,
    )


def _title(routing: MeshRouting, round_index: int) -> str:
    here = routing.round_of == round_index
    lit = here & (routing.wavelengths >= 0)
    routed = f"{np.count_nonzero(lit)} of {counted(int(np.count_nonzero(here)), 'circuit')}"
    of_rounds = f", round {round_index + 1} of {routing.rounds}" if routing.rounds > 1 else ""
    mesh = routing.mesh
    between = f" on {mesh.interposers} interposers" if mesh.interposers != "1x1" else ""
    wavelengths = counted(mesh.wavelengths, "wavelength")
    lines = [f"{routed} on {mesh.rows}x{mesh.columns} MZIs{between}{of_rounds}, {wavelengths}"]
    if lit.any():
        hops = [len(path) - 1 for path, on in zip(routing.paths, lit, strict=True) if on]
        lines.append(f"longest path {max(hops)} waveguides, largest loss {np.nanmax(routing.losses_db[lit]):.2f} dB")
    return "\n".join(lines)


def _draw_tiles(axes: Axes, mesh: Mesh, names: Mapping[int, str] | None) -> None:
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Rectangle

    tile_rows, tile_columns = (int(part) for part in (mesh.tiles or mesh.mzis).split("x"))
    down, across = (int(part) for part in mesh.interposers.split("x"))
    height, width = mesh.rows / (tile_rows * down), mesh.columns / (tile_columns * across)
    corners = [
        (column * width - 0.5, row * height - 0.5)
        for row in range(tile_rows * down)
        for column in range(tile_columns * across)
    ]
    inset = 0.03 * min(height, width)
    tiles = [Rectangle((x + inset, y + inset), width - 2 * inset, height - 2 * inset) for x, y in corners]
    axes.add_collection(PatchCollection(tiles, facecolor=TILE, edgecolor="none"))
    borders = [[(x, -0.5), (x, mesh.rows - 0.5)] for x in np.arange(1, across) * mesh.columns / across - 0.5]
    borders += [[(-0.5, y), (mesh.columns - 0.5, y)] for y in np.arange(1, down) * mesh.rows / down - 0.5]
    axes.add_collection(LineCollection(borders, colors="k", linewidths=1.2, linestyles=":"))
    if mesh.rows * mesh.columns <= MOST_DOTS:
        x, y = np.meshgrid(np.arange(mesh.columns), np.arange(mesh.rows))
        axes.plot(x.ravel(), y.ravel(), linestyle="", marker="s", markersize=1.6, color=BACKGROUND)
    if len(corners) <= MOST_NUMBERED:
        size = 7 if len(corners) <= MOST_NUMBERED // 4 else 4.5
        for tile, (left, top) in enumerate(corners):
            name = str(tile) if names is None else names.get(tile, "")
            axes.text(left + inset, top + inset, name, ha="left", va="top", fontsize=size, color="#555555")


def _draw_circuits(axes: Axes, mesh: Mesh, ways: Sequence[Way]) -> None:
    from matplotlib.collections import LineCollection

    step = (LANES / 2 - GAP) / (mesh.waveguides * mesh.wavelengths)
    lines, colours, ends = [], [], []
    for way in ways:
        shift = GAP + step * ((way.waveguides % mesh.waveguides) * mesh.wavelengths + way.wavelength)
        line = _beside(way.mzis, shift, mesh.columns)
        lines.append(line)
        colours.append(PALETTE[(way.wavelength if mesh.wavelengths > 1 else way.place) % len(PALETTE)])
        ends.append((line[0], line[-1]))
    width = max(0.5, min(1.6, 22 / max(mesh.rows, mesh.columns)))
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=width, alpha=0.9))
    if ends:
        starts, stops = np.array(ends).transpose(1, 0, 2)
        size = 9 * width
        axes.scatter(starts[:, 0], starts[:, 1], s=size, c=colours, zorder=3)
        axes.scatter(stops[:, 0], stops[:, 1], s=1.6 * size, c="white", edgecolors=colours, linewidths=width, zorder=3)


def _beside(path: NDArray[np.int64], shifts: NDArray[np.floating[Any]], columns: int) -> NDArray[np.float64]:
    """The line of a path, each step of it shifted to the right of its direction."""
    places = np.stack([path % columns, path // columns], axis=1).astype(float)
    steps = np.diff(places, axis=0)
    # Rows count downwards, so that the right of (dx, dy) is (-dy, dx).
    aside = np.stack([-steps[:, 1], steps[:, 0]], axis=1) * shifts[:, None]
    points = [places[0] + aside[0]]
    for at in range(1, len(path) - 1):
        turns = not np.array_equal(steps[at - 1], steps[at])
        # In a turn the two shifts are across each other and add up to the corner.
        points += (
            [places[at] + aside[at - 1] + aside[at]]
            if turns and steps[at - 1] @ steps[at] == 0
            else [
                places[at] + aside[at - 1],
                places[at] + aside[at],
            ]
        )
    points.append(places[-1] + aside[-1])
    return np.array(points)
