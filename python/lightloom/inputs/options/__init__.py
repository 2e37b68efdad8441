"""The table of options: one row for each, from which everything that takes options derives.

The command line makes its options, its help and its completion from it, fabric files and sweeps their keys, Python its
typed keyword arguments, the documentation its reference page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.inputs.options.adaptation import ADAPTING
from lightloom.inputs.options.advice import ADVICE
from lightloom.inputs.options.calibration import CALIBRATION, SCHEDULE_OF
from lightloom.inputs.options.circuits import CIRCUITS
from lightloom.inputs.options.exports import EXPORT
from lightloom.inputs.options.jobs import JOBS
from lightloom.inputs.options.option import Group, Kind, Option
from lightloom.inputs.options.outputs import OUTPUT
from lightloom.inputs.options.planning import ARGUMENTS, FABRIC, OF_PLAN, SETTINGS
from lightloom.inputs.options.robust import ROBUST
from lightloom.inputs.options.running import INSTEAD, RUNNING
from lightloom.inputs.options.server import SERVING
from lightloom.inputs.options.settings import Settings
from lightloom.inputs.options.simulation import SIMULATION
from lightloom.inputs.options.switches import SENDING, SIMULATED_SWITCH
from lightloom.inputs.options.training import RESTING, TRAINING
from lightloom.inputs.options.uncertain import UNCERTAIN
from lightloom.inputs.options.verbs import LISTED, LOOKED_UP, SWEEP, VERIFIED

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ADAPTING",
    "ADVICE",
    "ARGUMENTS",
    "CALIBRATION",
    "CIRCUITS",
    "EXPORT",
    "FABRIC",
    "FABRIC_KEYS",
    "INSTEAD",
    "LISTED",
    "LOOKED_UP",
    "OF_PLAN",
    "OPTIONS",
    "OUTPUT",
    "RESTING",
    "ROBUST",
    "RUNNING",
    "SCHEDULE_OF",
    "SENDING",
    "SERVING",
    "SETTINGS",
    "SIMULATED_SWITCH",
    "SIMULATION",
    "SWEEP",
    "TRAINING",
    "UNCERTAIN",
    "VERIFIED",
    "Group",
    "Kind",
    "Option",
    "Settings",
    "by_name",
    "options_of",
]

OPTIONS = (
    *ARGUMENTS,
    *FABRIC,
    *SETTINGS,
    *OF_PLAN,
    *SIMULATION,
    *UNCERTAIN,
    *RUNNING,
    *INSTEAD,
    *CIRCUITS,
    *SENDING,
    *SIMULATED_SWITCH,
    *CALIBRATION,
    *SCHEDULE_OF,
    *SWEEP,
    *TRAINING,
    *RESTING,
    *ADVICE,
    *ADAPTING,
    *JOBS,
    *ROBUST,
    *LISTED,
    *VERIFIED,
    *LOOKED_UP,
    *EXPORT,
    *SERVING,
    *OUTPUT,
)
FABRIC_KEYS = tuple(option.name for option in FABRIC)


def options_of(verb: str) -> list[Option]:
    """The options of a verb, by group and in the order of the table."""
    order = list(Group)
    return sorted((option for option in OPTIONS if verb in option.verbs), key=lambda option: order.index(option.group))


def by_name(options: Iterable[Option]) -> dict[str, Option]:
    """Options of which no two have one name, by name."""
    return {option.name: option for option in options}
