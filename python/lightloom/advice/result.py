"""Advice on switches, as people and programs hold it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lightloom._core import show_time
from lightloom.base.files import write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import picture

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

__all__ = ["FIXED", "SCHEMA", "Advice", "AdviceRow", "Limit", "Sensitivity"]

SCHEMA = "lightloom.advice/1"
# The row of circuits that never change, for which no switch is bought.
FIXED = "fixed circuits (patch panel)"


@dataclass(frozen=True, kw_only=True)
class AdviceRow:
    """A switch with a number of ports of a GPU; None stands for what is not known.

    switch: its name; the row `FIXED` has circuits that never change. technology, reconfiguration_delay_s, radix,
    insertion_loss_db, source: as the catalogue has them. ports: of a GPU, each on a switch of its own.
    total_s: time of one run of the mix. never_change_s: that of the best circuits that never change, None where none
    serve the mix. packet_switch_s: on an ideal packet switch. price, power_w: of one switch. switches: how many it
    takes. cost: price of all of them. energy_j: of one run. usable: whether it can be recommended; reason: why not.
    """

    switch: str
    technology: str | None
    reconfiguration_delay_s: float | None
    ports: int
    total_s: float | None
    never_change_s: float | None
    packet_switch_s: float
    price: float | None
    power_w: float | None
    radix: int | None
    insertion_loss_db: float | None
    switches: int
    cost: float | None
    energy_j: float | None
    usable: bool
    reason: str
    source: str | None

    @property
    def over_never_change(self) -> float | None:
        """The time of circuits that never change over that of the switch."""
        return self.never_change_s / self.total_s if self.never_change_s and self.total_s else None

    @property
    def over_packet_switch(self) -> float | None:
        """The time of the switch over that of an ideal packet switch."""
        return self.total_s / self.packet_switch_s if self.total_s and self.packet_switch_s else None


@dataclass(frozen=True)
class Limit:
    """The largest reconfiguration delay, s, up to which something holds with this many ports of a GPU.

    None where it holds at no delay; `unlimited` where it holds at every delay that was tried.
    """

    ports: int
    reconfiguration_delay_s: float | None
    unlimited: bool = False


@dataclass(frozen=True)
class Sensitivity:
    """The recommendation with one input changed; `changes` says whether it differs from that of the job."""

    input: str
    switch: str | None
    ports: int | None
    changes: bool


@dataclass(frozen=True)
class Advice(Table):
    """The switch that a job needs; immutable, seconds.

    job, gpus: name and number of GPUs. mix: labels of its entries with their counts. rows: by ports, the fastest
    technology first, circuits that never change last. recommended: name of a switch in `rows`, None where nothing
    serves the mix; recommended_ports: with this many ports of a GPU. break_even: by ports the largest delay at which
    changing circuits is faster than never changing them. equal_time: by ports the largest delay at which the mix takes
    no longer than on the recommended row. sensitivity: a line for each input. reasons: sentences.
    """

    job: str
    gpus: int
    mix: tuple[tuple[str, float], ...]
    rows: tuple[AdviceRow, ...]
    recommended: str | None
    recommended_ports: int | None
    break_even: tuple[Limit, ...]
    equal_time: tuple[Limit, ...]
    sensitivity: tuple[Sensitivity, ...]
    reasons: tuple[str, ...]

    @property
    def break_even_s(self) -> float | None:
        """The break-even delay with the recommended number of ports; None where there is none."""
        found = {one.ports: one for one in self.break_even}
        ports = self.recommended_ports
        return None if ports is None else found[ports].reconfiguration_delay_s

    @property
    def best(self) -> AdviceRow | None:
        """The row that is recommended."""
        chosen = self.recommended, self.recommended_ports
        return next((row for row in self.rows if (row.switch, row.ports) == chosen), None)

    def to_json(self) -> str:
        """The advice as JSON of schema `lightloom.advice/1`."""
        told = {
            "schema": SCHEMA,
            "job": self.job,
            "gpus": self.gpus,
            "mix": [{"entry": label, "count": count} for label, count in self.mix],
            "rows": [asdict(row) for row in self.rows],
            "recommended": self.recommended,
            "recommended_ports": self.recommended_ports,
            "break_even_s": self.break_even_s,
            "break_even": [asdict(one) for one in self.break_even],
            "equal_time": [asdict(one) for one in self.equal_time],
            "sensitivity": [asdict(one) for one in self.sensitivity],
            "reasons": list(self.reasons),
        }
        return json.dumps(told, indent=1, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The mix's time on every switch whose delay is known, a bar each; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Advice.plot", self, path)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a row."""
        names = AdviceRow.__dataclass_fields__
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def __repr__(self) -> str:
        best = self.best
        if best is None or best.total_s is None:
            return f"Advice({self.job}: nothing serves it)"
        return f"Advice({self.job}, {self.gpus} GPUs: {best.switch}, {show_time(best.total_s)})"
