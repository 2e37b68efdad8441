"""Ports of switches as a picture: their connections in every configuration, and the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import counted, show_time
from lightloom.views.axis_units import plain
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import settle
from lightloom.views.palette import BACKGROUND, readable_on
from lightloom.views.pictures.circuit_matrices import (
    GONE,
    KEPT,
    MOST_SWITCHES,
    NEW,
    draw_matrices,
    drawn_configurations,
)
from lightloom.views.pictures.iteration_circuits import plot_iteration
from lightloom.views.pictures.mesh import Way, plot_ways

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.optics.mesh_layout import PlacedMesh
    from lightloom.optics.port_maps import Circuits, Configuration

# Up to this many ports, a line a connection for this many configurations, else a numbered cell a port and
# configuration; of more ports a matrix.
MOST_PORTS, MOST_PERMUTATIONS = 16, 8
# Configurations of a map.
MOST_COLUMNS = 24
# Configurations that are drawn on their mesh.
MOST_MESHES = 4
DARK = "#F2F2F2"
LABELS = {
    NEW: "set up for this configuration",
    KEPT: "kept from the one before",
    GONE: "disconnected, held in the configuration before",
    DARK: "dark",
}


def plot_circuits(circuits: Circuits, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of all switches, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if circuits.training is not None and len(circuits.configurations) > 1:
        return plot_iteration(circuits, circuits.training, path)
    if circuits.mesh is not None:
        return _plot_on_mesh(circuits, circuits.mesh, path)
    if path is not None:
        check_plot_path(path)
    ports = max(switch.ports for switch in circuits.switches)
    columns = min(len(circuits.configurations), MOST_COLUMNS)
    shown = min(len(circuits.switches), MOST_SWITCHES)
    keeps = any(switch.kept for configuration in circuits.configurations for switch in configuration.switches)
    looks = [NEW, KEPT] if keeps else [NEW]
    if ports > MOST_PORTS:
        columns = drawn_configurations(circuits)
        headings = [_heading(circuits, configuration) for configuration in circuits.configurations[:columns]]
        figure, looks = draw_matrices(circuits, headings)
    elif len(circuits.configurations) <= MOST_PERMUTATIONS:
        height = shown * max(2.4, 0.22 * ports) + 1.2
        figure = Figure(figsize=(max(6.5, 1.5 * columns + 1), height), layout="constrained")
        for index, axes in enumerate(np.ravel(figure.subplots(shown, columns, squeeze=False))):
            _draw_permutation(axes, circuits, index // columns, circuits.configurations[index % columns])
    else:
        width = shown * max(2.6, 0.42 * columns + 1) + 0.5
        figure = Figure(figsize=(max(6.5, width), max(4.5, 0.155 * ports + 1.8)), layout="constrained")
        for switch, axes in enumerate(np.ravel(figure.subplots(1, shown, squeeze=False))):
            _draw_map(axes, circuits, switch, columns)
        has_dark = any(
            len(setting.connections) < switch.ports
            for configuration in circuits.configurations
            for setting, switch in zip(configuration.switches, circuits.switches, strict=True)
        )
        looks += [DARK] if has_dark else []
    figure.suptitle(_title(circuits, columns), fontsize=10)
    _legend(figure, looks)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _plot_on_mesh(circuits: Circuits, placed: PlacedMesh, path: str | os.PathLike[str] | None) -> Figure:
    """The first configurations on their mesh, whose tiles have the numbers of their GPUs."""
    panels = []
    for configuration, paths in list(zip(circuits.configurations, circuits.light, strict=True))[:MOST_MESHES]:
        ways = [
            Way(np.array(one.mzis), np.array(one.waveguides), one.wavelength, index) for index, one in enumerate(paths)
        ]
        losses_db = [one.loss_db for one in paths]
        worst = f", at most {max(losses_db):.2f} dB" if losses_db else ""
        heading = _heading(circuits, configuration).replace("\n", ", ")
        panels.append((f"{heading}\n{counted(len(ways), 'circuit')}{worst}", ways))
    tile_of = {int(mzi): tile for tile, mzi in enumerate(placed.mesh.mzi_of_tile)}
    names = {tile_of[mzi]: str(gpu) for gpu, mzi in enumerate(placed.mzi_of_gpu)}
    return plot_ways(placed.mesh, panels, path, names, _title(circuits, len(panels)))


def _title(circuits: Circuits, columns: int) -> str:
    plan, training = circuits.plan, circuits.training
    of_plan = "" if plan is None else f"{plan.collective} on {plan.gpus} GPUs: "
    if training is not None:
        of_plan = f"{plain(training.name or 'an iteration')} on {training.ranks} ranks: "
    still = f"{circuits.still_ports} of {counted(circuits.lit_ports, 'used port')} never switched"
    drawn = [
        f"first {columns} of {len(circuits.configurations)} configurations"
        if columns < len(circuits.configurations)
        else "",
        f"first {MOST_SWITCHES} of {len(circuits.switches)} switches" if len(circuits.switches) > MOST_SWITCHES else "",
    ]
    parts = ", ".join(part for part in drawn if part)
    if len(circuits.configurations) == 1:
        said = f"one configuration of {counted(circuits.configurations[0].connects, 'connection')}"
    else:
        said = f"{counted(circuits.connects, 'connection')} set up after the first configuration\n{still}"
    return f"{of_plan}{said}" + (f" ({parts} drawn)" if parts else "")


def _legend(figure: Figure, looks: list[str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=colour, edgecolor=BACKGROUND, linewidth=0.5, label=LABELS[colour]) for colour in looks]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=8)


def _draw_permutation(axes: Axes, circuits: Circuits, place: int, configuration: Configuration) -> None:
    """Ingress ports on the left, egress ports on the right, a line for each connection."""
    switch, setting = circuits.switches[place], configuration.switches[place]
    new = {tuple(pair) for pair in setting.connect.tolist()}
    for ingress, egress in setting.connections.tolist():
        is_new = (ingress, egress) in new
        axes.plot([0, 1], [ingress, egress], color=NEW if is_new else KEPT, linewidth=1.2, zorder=2 if is_new else 1)
    ports = range(1, switch.ports + 1)
    for side, across in ((0, -0.08), (1, 1.08)):
        axes.plot([side] * switch.ports, ports, linestyle="", marker="o", markersize=2.5, color="k", zorder=3)
        for port in ports:
            axes.text(across, port, str(port), fontsize=6, ha="right" if side == 0 else "left", va="center")
    for side, name in ((0, "ingress"), (1, "egress")):
        axes.text(side, 0, name, fontsize=6, ha="center", va="center", color="#555555")
    axes.set(xlim=(-0.3, 1.3), ylim=(switch.ports + 0.7, -0.5))
    axes.axis("off")
    axes.set_title(_heading(circuits, configuration), fontsize=7)
    if configuration.index == 0 and len(circuits.switches) > 1:
        axes.text(-0.32, (switch.ports + 1) / 2, plain(switch.name), rotation=90, ha="right", va="center", fontsize=8)


def _draw_map(axes: Axes, circuits: Circuits, place: int, columns: int) -> None:
    """A row an ingress port, a column a configuration; the number is the egress port that it is joined to."""
    from matplotlib.colors import ListedColormap

    switch = circuits.switches[place]
    states: NDArray[np.int64] = np.zeros((switch.ports, columns), dtype=np.int64)
    peers = np.zeros_like(states)
    for column, configuration in enumerate(circuits.configurations[:columns]):
        setting = configuration.switches[place]
        states[setting.connections[:, 0].astype(np.int64) - 1, column] = 1
        states[setting.connect[:, 0].astype(np.int64) - 1, column] = 2
        peers[setting.connections[:, 0].astype(np.int64) - 1, column] = setting.connections[:, 1]
    axes.pcolormesh(
        np.arange(columns + 1) - 0.5,
        np.arange(switch.ports + 1) + 0.5,
        states,
        cmap=ListedColormap([DARK, KEPT, NEW]),
        vmin=0,
        vmax=2,
        edgecolors="w",
        linewidth=0.4,
    )
    for row, column in np.argwhere(peers > 0):
        colour = (DARK, KEPT, NEW)[states[row, column]]
        number = str(peers[row, column])
        axes.text(column, row + 1, number, fontsize=5.5, ha="center", va="center", color=readable_on(colour))
    numbers = [configuration.index + 1 for configuration in circuits.configurations[:columns]]
    every = -(-columns // 12)
    # The last column has its number, in place of one that is too near.
    places = [*range(0, columns - every, every), columns - 1]
    axes.set_xticks(places, [str(numbers[place]) for place in places], fontsize=7)
    rows = range(1, switch.ports + 1)
    axes.set_yticks(rows, map(str, rows), fontsize=7)
    axes.set_ylim(switch.ports + 0.5, 0.5)
    axes.set_xlabel("configuration")
    if place == 0:
        axes.set_ylabel("ingress port; in the cell its egress port")
    axes.set_title(plain(switch.name), fontsize=9)
    axes.tick_params(length=2)


def _heading(circuits: Circuits, configuration: Configuration) -> str:
    """Number, topology and time."""
    listed = () if circuits.plan is None else circuits.plan.topologies
    known = configuration.topology_index < len(listed)
    name = plain(listed[configuration.topology_index].name) if known else f"topology {configuration.topology_index}"
    return f"{configuration.index + 1}: {name}\n{show_time(configuration.time_s)}"
