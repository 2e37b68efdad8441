"""Simulated switches, written from the interfaces' descriptions: nothing here is shared with the drivers.

`start_switch("scpi", ports=64)` is a switch that listens; its faults are settings, so that a person and the tests can
see the outcome of a change that is slow, refused, interrupted or half made.
"""

from __future__ import annotations

from lightloom.switches.simulated.crossbar import Crossbar
from lightloom.switches.simulated.faults import Faults
from lightloom.switches.simulated.server import SimulatedSwitch, start_switch

__all__ = ["Crossbar", "Faults", "SimulatedSwitch", "start_switch"]
