"""Optical circuit switches that are told to hold a plan's configurations, and changes of them that can be undone."""

from __future__ import annotations

from lightloom.switches.address import Address, parse_address
from lightloom.switches.circuits import Connections, Ports
from lightloom.switches.driver import Identity, SwitchDriver, driver_of
from lightloom.switches.failures import RejectedError, SwitchError
from lightloom.switches.sending import Applied, ChangeError, Switches, SwitchProgram, UnreadError, restorable
from lightloom.switches.state_file import load_state

__all__ = [
    "Address",
    "Applied",
    "ChangeError",
    "Connections",
    "Identity",
    "Ports",
    "RejectedError",
    "SwitchDriver",
    "SwitchError",
    "SwitchProgram",
    "Switches",
    "UnreadError",
    "driver_of",
    "load_state",
    "parse_address",
    "restorable",
]
