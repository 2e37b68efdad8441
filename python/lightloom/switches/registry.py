"""The drivers, by the scheme of a switch's address. Adding one is a file in `drivers/` and a line here."""

from __future__ import annotations

from typing import NamedTuple

from lightloom.switches.setting import FIRST_EGRESS, SETTLE, TIMEOUT, Form, Setting


class DriverKind(NamedTuple):
    """A driver: the scheme of its addresses, its module, the port that is taken where none is said, its settings."""

    scheme: str
    module: str
    port: int
    summary: str
    settings: tuple[Setting, ...]


DRIVERS = (
    DriverKind(
        "scpi",
        "lightloom.switches.drivers.scpi",
        5025,
        "SCPI commands over TCP, as Polatis switches take them",
        (TIMEOUT, SETTLE, FIRST_EGRESS),
    ),
    DriverKind(
        "restconf",
        "lightloom.switches.drivers.restconf",
        8008,
        "RESTCONF (RFC 8040) with the data model `optical-switch` of Polatis switches",
        (
            TIMEOUT,
            SETTLE,
            FIRST_EGRESS,
            Setting(
                "list",
                Form.CHOICE,
                "What the list of cross-connects is called; interfaces differ.",
                "pair",
                choices=("pair", "pairs"),
            ),
            Setting(
                "write",
                Form.CHOICE,
                "`all` writes all cross-connects in one request, which the switch makes whole or not at all; `each` a "
                "request for every circuit, which leaves alone what others change at the same time.",
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
)
