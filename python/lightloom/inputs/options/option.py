"""An option: a row of the table of options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lightloom.base.whole_numbers import LARGEST, WHOLE_RANGES

# Verbs that take a problem.
PLANNING = ("plan", "compare", "bound")
# Verbs that take a fabric.
ON_FABRIC = (*PLANNING, "train", "jobs", "robust")
# Files of pictures, as meanings name them.
PICTURES = "a .png, .pdf or .svg; without FILE a new one, named after the verb"
# Least values of whole numbers that the core takes, by the name of the option.
LEAST = {name: least for name, (least, _) in WHOLE_RANGES.items()}
MOST = {name: most for name, (_, most) in WHOLE_RANGES.items()}


class Kind(Enum):
    """The form of an option's value: its placeholder in `--help`, and its unit if it is a number."""

    TEXT = ("text", "TEXT", "")
    NAME = ("name", "NAME", "")
    CHOICE = ("choice", "", "")
    WHOLE = ("whole number", "N", "")
    NUMBER = ("number", "X", "")
    SIZE = ("size", "SIZE", "byte")
    TIME = ("time", "TIME", "s")
    RATE = ("rate", "RATE", "bit/s")
    DELAY = ("reconfiguration delay", "TIME", "s")
    BARRIER = ("barrier", "TIME|FILE", "s")
    POSITIONS = ("positions", "PLACES|FILE", "")
    PAIR_RATES = ("rates by pair of GPUs", "CLASSES|FILE", "")
    WINDOW = ("time before steps", "TIME", "s")
    DIMS = ("dimensions", "AxBxC", "")
    TOPOLOGY = ("topology", "NAME", "")
    TOPOLOGIES = ("topologies", "LIST", "")
    FABRIC = ("fabric", "FILE|NAME", "")
    OPTICS = ("optical layer", "FILE|KIND", "")
    MATRIX = ("matrix", "FILE|NAME", "")
    FILE = ("file", "FILE", "")
    PICTURE = ("picture", "[FILE]", "")
    FOLDER = ("folder", "FOLDER", "")
    FLAG = ("flag", "", "")
    YES_OR_NO = ("yes or no", "", "")

    def __init__(self, words: str, metavar: str, unit: str) -> None:
        self.words = words
        self.metavar = metavar
        self.unit = unit


class Group(Enum):
    """The section of `--help` that shows an option; sections come in this order."""

    PROBLEM = "Problem"
    LAYOUT = "Layout"
    FABRIC = "Fabric"
    PLANNER = "Planner"
    SIMULATION = "Simulation"
    MEASUREMENTS = "Measurements"
    RUN = "Run"
    SWITCHES = "Switches"
    SERVER = "Server"
    EXPERT = "Expert"
    OUTPUT = "Output"


@dataclass(frozen=True, kw_only=True)
class Option:
    """A row of the table.

    name: as Python, TOML files and sweeps write it; the command line has dashes for its underscores.
    meaning: its effect, a sentence or two, as `--help` and the reference page show it.
    verbs: of the command line, those that take it.
    default: the value where the option is left out; otherwise: the default in words, where it is not one value.
    names: the kind of `lightloom list` that the names of a `NAME` are of; others: accepted names outside of that list.
    choices: of a `CHOICE`. least, most: of a whole number.
    metavar: the placeholder of the value in `--help`, if the kind's own says too little.
    example: a value that goes with the examples of the other options.
    python: types that Python takes in addition to text and numbers.
    former: flags of the command line that it had and still takes.
    repeated: whether it may be given several times.
    """

    name: str
    kind: Kind
    group: Group
    meaning: str
    verbs: tuple[str, ...] = PLANNING
    default: str | int | float | bool | None = None
    otherwise: str = ""
    names: str = ""
    others: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    least: int = 1
    most: int = LARGEST
    metavar: str = ""
    example: str = ""
    python: str = ""
    former: tuple[str, ...] = ()
    repeated: bool = False

    @property
    def flag(self) -> str:
        """The option on the command line, such as `--hop-delay`."""
        return "--" + self.name.replace("_", "-")

    @property
    def shown_value(self) -> str:
        """The value as `--help` shows it; empty if the option takes no value."""
        return self.metavar or "|".join(self.choices) or self.kind.metavar

    @property
    def shown_default(self) -> str:
        """The value that is used if the option is not given; empty if there is no such value."""
        if self.kind is Kind.YES_OR_NO:
            return "yes" if self.default else "no"
        if self.otherwise:
            return self.otherwise
        return "" if self.default is None or self.kind is Kind.FLAG else str(self.default)
