"""The drivers, by the scheme of an address. Adding one is two files, it and its simulated switch, and a line here."""

from __future__ import annotations

from typing import NamedTuple

from lightloom.switches.setting import FIRST_EGRESS, SETTLE, TIMEOUT, Form, Setting


class DriverKind(NamedTuple):
    """A driver: the scheme of its addresses, its module, the default port, its settings.

    simulated: the module of the simulated switch that has its interface, with which the driver shares no code.
    source: of its commands; decision 11 has more.
    """

    scheme: str
    module: str
    simulated: str
    port: int
    summary: str
    source: str
    settings: tuple[Setting, ...]


DRIVERS = (
    DriverKind(
        "scpi",
        "lightloom.switches.drivers.scpi",
        "lightloom.switches.simulated.scpi",
        5025,
        "SCPI commands over TCP, as Polatis switches take them",
        "SCPI 1999; public programs that use such switches",
        (TIMEOUT, SETTLE, FIRST_EGRESS),
    ),
    DriverKind(
        "restconf",
        "lightloom.switches.drivers.restconf",
        "lightloom.switches.simulated.restconf",
        8008,
        "RESTCONF with the data model `optical-switch` of Polatis switches",
        "RFC 8040; public programs that use such switches",
        (
            TIMEOUT,
            SETTLE,
            FIRST_EGRESS,
            Setting(
                "list",
                Form.CHOICE,
                "Name of the list of cross-connects; interfaces differ.",
                "pair",
                choices=("pair", "pairs"),
            ),
            Setting(
                "write",
                Form.CHOICE,
                "`all` writes all cross-connects in one request, which the switch makes whole or not at all; `each` a "
                "request for every circuit, which does not touch changes of others at the same time.",
                "all",
                choices=("all", "each"),
            ),
            Setting("tls", Form.YES_OR_NO, "Whether the switch is spoken to by https.", "no"),
            Setting(
                "ca",
                Form.FILE,
                "The certificate, or those of its authorities, that the switch must have (PEM); with tls=yes.",
                otherwise="the authorities that this machine trusts",
            ),
        ),
    ),
    DriverKind(
        "sonic",
        "lightloom.switches.drivers.sonic",
        "lightloom.switches.simulated.sonic",
        6379,
        "the databases of SONiC's optical circuit switch, by the protocol of Redis",
        "design documents of SONiC's working group on optical circuit switches",
        (TIMEOUT, SETTLE),
    ),
)


def driver_rows() -> list[dict[str, str]]:
    """Rows of `lightloom list drivers`."""
    return [{"name": kind.scheme, "summary": kind.summary, "source": kind.source} for kind in DRIVERS]
