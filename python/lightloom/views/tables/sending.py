"""Lines that the verb `circuits` prints about configurations that are sent to switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom._core import counted, show_time

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom.switches import Applied, Identity


def identity_line(name: str, address: str, identity: Identity) -> str:
    """`switch crossbar at scpi://127.0.0.1:5025: Polatis,I-OST-24x24-LU1-DMHNS,002414,6.5.2.18, 24 by 24 ports`."""
    size = f", {identity.ingress} by {identity.egress} ports" if identity.ingress and identity.egress else ""
    return f"switch {name} at {address}: {identity.words}{size}"


def applied_line(applied: Applied, configurations: int) -> str:
    """The outcome of a configuration or a restored state, and how long it took."""
    what = "restored" if applied.configuration is None else f"configuration {applied.configuration + 1}"
    of = "" if applied.configuration is None else f" of {configurations}"
    made, unmade = (sum(len(getattr(one, side)) for one in applied.changes) for side in ("made", "unmade"))
    ports = sum(change.changed_ports for change in applied.changes)
    counts = f"{counted(made, 'circuit')} made, {unmade} unmade, {counted(ports, 'port')} changed"
    return f"{what}{of}: {counts}, acknowledged in {show_time(applied.seconds)}"


def noted_lines(applied: Applied) -> list[str]:
    """Failures of switches that nevertheless hold the circuits that they are to hold."""
    return [
        f"switch {change.switch}: {change.report()}"
        for change in applied.changes
        if change.acknowledged and change.failure is not None
    ]


def state_line(state: Path) -> str:
    """The file of the switches' former circuits, and the command that restores them."""
    return f"what is there now is kept; to bring it back: lightloom circuits --restore {state}"


def applied_rows(applied: Applied) -> list[dict[str, Any]]:
    """A row for every switch: circuits made, missing and to be removed, errors.

    held: all circuits that it holds where it did not acknowledge; None where it did, and where it could not be read.
    """
    return [
        {
            "configuration": None if applied.configuration is None else applied.configuration + 1,
            "switch": change.switch,
            "acknowledged": change.acknowledged,
            "made": len(change.made),
            "unmade": len(change.unmade),
            "ports_changed": change.changed_ports,
            "time_s": change.seconds,
            "missing": sorted(change.missing),
            "should_be_gone": sorted(change.left_over),
            "held": sorted(change.held) if change.held is not None and not change.acknowledged else None,
            "failure": None if change.failure is None else str(change.failure),
        }
        for change in applied.changes
    ]
