"""BRIDGE table 2: reconfiguration times and ports of switches; and the subtori of §5, which need many ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom import Fabric, plan
from lightloom.inputs.catalogue import catalogue
from lightloom.views.axis_units import time_label
from lightloom.views.charts import lines
from lightloom_papers.bridge.schemes import HOP_DELAY_S, MB, STARTUP_S
from lightloom_papers.claims import OF_NUMBER, Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from lightloom_papers.figure import Setting


class Row(NamedTuple):
    """A row of the table.

    elsewhere: the switch of the catalogue for which another publication has figures of the same maker; None for none;
    grid: the largest torus of two dimensions that has so many ports, four for each GPU where the paper's ring has two.
    """

    technology: str
    time_s: float
    ports: int
    elsewhere: str | None
    grid: str


ROWS = (
    Row("sip", 7e-6, 32, "lightpath", "2x4"),
    Row("rotornet", 1e-5, 128, None, "4x8"),
    Row("mems-3d", 15e-3, 320, "calient-bulk", "8x10"),
    Row("piezo", 25e-3, 576, None, "12x12"),
)
SIZES = (MB, 16 * MB, 128 * MB)
COLLECTIVES = ("all-to-all", "all-reduce")
# A gain that counts.
LEAST_GAIN = 1.1
# The catalogue's other publications.
OF_THE_TABLE = "BRIDGE"


def make(_setting: Setting) -> Outcome:
    """The gain of subtori over circuits that never change with each switch."""
    gains = {row: [_gain(row, collective, size) for collective in COLLECTIVES for size in SIZES] for row in ROWS}

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6, 3.8)
        axes = picture.subplots()
        largest = {"largest gain of subtori over never-change": [max(gains[row]) for row in ROWS]}
        lines(axes, [row.time_s for row in ROWS], largest, x_kind="time", y_kind="ratio")
        axes.set(xlabel="reconfiguration time of the switch", ylabel="gain")
        for row in ROWS:
            # The two slowest are next to each other.
            left = row.technology == "mems-3d"
            axes.annotate(
                f"{row.technology}, {row.grid}",
                (row.time_s, max(gains[row])),
                xytext=(-4 if left else 4, 4),
                textcoords="offset points",
                ha="right" if left else "left",
                fontsize=8,
            )

    points = [(collective, size) for collective in COLLECTIVES for size in SIZES]
    return Outcome(
        {
            "switch": [row.technology for row in ROWS for _ in points],
            "reconfiguration_s": [row.time_s for row in ROWS for _ in points],
            "ports": [row.ports for row in ROWS for _ in points],
            "grid": [row.grid for row in ROWS for _ in points],
            "collective": [collective for _ in ROWS for collective, _ in points],
            "size_bytes": [size for _ in ROWS for _, size in points],
            "gain": [gain for row in ROWS for gain in gains[row]],
        },
        draw,
        (_figures(), _ports(), _subtori(gains)),
        "Gains: the best algorithm on a torus that never changes (never-change) over planner bridge with bruck-torus "
        "from that torus, with two ports, 1.7 µs of startup and 1 µs a hop as in §4.1; 1, 16 and 128 MB. The paper "
        "names subtori as an extension and has no schedule for them. A torus of two dimensions takes four ports of the "
        "switch for each GPU, so each switch has the largest network that it can hold.",
    )


def _gain(row: Row, collective: str, size: int) -> float:
    fabric = Fabric(
        dims=row.grid,
        ports=2,
        startup=STARTUP_S,
        hop_delay=HOP_DELAY_S,
        reconfiguration_delay=row.technology,
        initial="torus",
    )
    never = plan(collective, size, fabric=fabric, planner="never-change")
    return never.total_s / plan(collective, size, fabric=fabric, algorithm="bruck-torus", planner="bridge").total_s


def _figures() -> Claim:
    """The table against other publications of the catalogue."""
    known = {switch.name: switch for switch in catalogue()}
    found = [(row, known[row.elsewhere]) for row in ROWS if row.elsewhere]
    holds = all(
        switch.reconfiguration_delay_s is not None
        and abs(switch.reconfiguration_delay_s / row.time_s - 1) <= OF_NUMBER
        and switch.radix in {None, row.ports}
        for row, switch in found
    )
    shown = [
        f"{switch.name} {time_label(switch.reconfiguration_delay_s or 0)}"
        + (f" and {switch.radix}" if switch.radix else "")
        for _, switch in found
    ]
    return Claim.fact(
        "Reconfiguration times and ports of switches: 7 µs and 32, 10 µs and 128, 15 ms and 320, 25 ms and 576",
        "table 2",
        paper="7 µs to 25 ms",
        ours=", ".join(shown),
        rule="times and ports that another publication states for the same maker's switch within 5 %",
        holds=holds,
        why="; ".join(f"{switch.name}: {switch.source}" for _, switch in found)
        + ". Ports agree, times are of other operations; for RotorNet and Polatis the catalogue has no publication but "
        "the table",
    )


def _ports() -> Claim:
    """Delays by ports, of the switches that other publications describe."""
    others = [switch for switch in catalogue() if not (switch.source or "").startswith(OF_THE_TABLE)]
    known = sorted(
        (one.radix, one.reconfiguration_delay_s) for one in others if one.radix and one.reconfiguration_delay_s
    )
    delays_s = [delay_s for _, delay_s in known]
    return Claim.fact(
        "Switches with more ports tend to have longer delays",
        "§4.1, §5",
        paper="longer with more ports",
        ours=", ".join(f"{ports} ports: {time_label(delay_s)}" for ports, delay_s in known),
        rule="no shorter with more ports, for the catalogue's switches of other publications that state both",
        holds=len(known) > 1 and delays_s == sorted(delays_s),
    )


def _subtori(gains: dict[Row, list[float]]) -> Claim:
    pays = [max(gains[row]) >= LEAST_GAIN for row in ROWS]
    return Claim.fact(
        "Growing tori of several dimensions out of subrings pays only in small networks",
        "§5",
        paper="small networks",
        ours=", ".join(f"{row.grid} with {row.technology}: up to {max(gains[row]):.2f}×" for row in ROWS),
        rule="1.1× or more at some size with the switches of up to 128 ports, with no larger one",
        holds=pays == [True, True, False, False],
    )


FIGURE = Figure("bridge-table-2", "switches, and the tori that they can hold", "BRIDGE table 2, §4.1, §5", make)
