"""Keys that a sweep can set or vary: the options of `plan` and `simulate`, or those of `train`; how values are read."""

from __future__ import annotations

from typing import NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.options import (
    ARGUMENTS,
    FABRIC,
    RESTING,
    SETTINGS,
    SIMULATION,
    TRAINING,
    Group,
    Kind,
    Option,
    by_name,
)
from lightloom.inputs.quantities import delay_text, rate_of, rates_text, seconds_of
from lightloom.inputs.requests import PER_PAIR

# Numbers in which points of one series may differ, in the order that the core takes them, with their columns.
NUMBERS = {
    "size": "size_bytes",
    "bandwidth": "bandwidth_bps",
    "startup": "startup_s",
    "hop_delay": "hop_delay_s",
    "reconfiguration_delay": "reconfiguration_delay_s",
}
# Name of the column of sizes of blocks between pairs, if a sweep has these.
PER_PAIR_COLUMN = "size_bytes_per_pair"
_PLANNED = by_name((*ARGUMENTS, *FABRIC, *SETTINGS))
# The engine is the level, and a plan is simulated with the barrier that it is planned with.
_SIMULATED = by_name(option for option in SIMULATION if option.name not in {"level", "barrier"})
# The argument of the verb `train`.
WORKLOAD = Option(
    name="workload",
    kind=Kind.FILE,
    group=Group.PROBLEM,
    meaning="A workload, a trace of one, or a model of `lightloom list models`.",
    verbs=(),
)
_ON_FABRIC = (option for option in (*ARGUMENTS, *FABRIC, *SETTINGS) if "train" in option.verbs)
_TRAINED = by_name((WORKLOAD, *_ON_FABRIC, *TRAINING, *RESTING))
_ROWS = {**_TRAINED, **_PLANNED, **_SIMULATED}
TRAINING_KEYS = tuple(_TRAINED)
# Policies of iterations, with the ideal, which may not be chosen; every iteration states the times of all.
POLICIES = tuple(name for name, *_ in _core.training_policies())
CHOSEN_POLICIES = tuple(name for name, *_, is_chosen in _core.training_policies() if is_chosen)
PLAN_KEYS = tuple(_PLANNED)
SIMULATION_KEYS = tuple(_SIMULATED)
# The unit that is written after a plain number.
UNITS = {Kind.SIZE: "B", Kind.TIME: "s", Kind.BARRIER: "s", Kind.WINDOW: "s"}

Value = str | int | bool


class Quantity(NamedTuple):
    """A number that points of one series may differ in.

    number: bytes, bit/s or seconds; varies: whether a reconfiguration delay depends on what changes, or ports have
    different rates; per_pair: whether a size is that of a block between a pair; name: of a technology, else empty;
    text: the full text of what varies, else empty.
    """

    number: float
    varies: bool = False
    per_pair: bool = False
    name: str = ""
    text: str = ""


def known_keys(engine: str) -> tuple[str, ...]:
    """Keys that a description for this engine may set or vary."""
    if engine == "train":
        return TRAINING_KEYS
    return PLAN_KEYS if engine == "model" else PLAN_KEYS + SIMULATION_KEYS


def key_of(field: str, text: object, known: tuple[str, ...]) -> str:
    """The key as Python writes it; dashes are underscores. Raises `InputError` for an unknown one."""
    key = text.replace("-", "_") if isinstance(text, str) else shown(text)
    if key not in known:
        raise unknown_name(field, key, known)
    return key


def quantity(field: str, key: str, value: object) -> Quantity:
    """The number of a key of `NUMBERS`, of text with a unit or a plain number. Raises `InputError` naming `field`."""
    if key == "bandwidth" and (isinstance(value, (list, tuple)) or (isinstance(value, str) and "," in value)):
        written, rates = rates_text(field, value)
        return Quantity(max(rates), varies=True, text=written)
    if key == "reconfiguration_delay" and isinstance(value, (list, tuple)):
        value = delay_text(field, value)
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes numbers or text with a unit")
    text = value.strip() if isinstance(value, str) else None
    if key == "size":
        per_pair = text is not None and text.endswith(PER_PAIR)
        amount = f"{shown(value)}B" if text is None else text.removesuffix(PER_PAIR)
        return Quantity(float(_core.parse_size(field, amount)), per_pair=per_pair)
    if key == "reconfiguration_delay" and text is not None:
        delay = _core.ReconfigurationDelay.parse(field, text)
        technologies = _core.registry()["technologies"]
        name = text if any(text in {entry["name"], entry["product"]} for entry in technologies) else ""
        varies = delay.scalar_s is None
        return Quantity(delay.fixed_s, varies, name=name, text=text if varies else "")
    return Quantity((rate_of if key == "bandwidth" else seconds_of)(field, value))


def option_of(key: str, known: tuple[str, ...]) -> Option:
    """The option of a key. `ranks` is a number of them for an iteration, GPUs such as `0-15,32-47` for a plan."""
    return (_TRAINED if known is TRAINING_KEYS else _ROWS)[key]


def plain_value(field: str, key: str, value: object, known: tuple[str, ...]) -> Value:
    """The value of any other key, checked as far as it can be without the others. Raises `InputError`."""
    option = option_of(key, known)
    if option.kind is Kind.WHOLE:
        return whole_number(field, value, option.least, option.most)
    if option.kind is Kind.YES_OR_NO:
        if not isinstance(value, bool):
            raise refuse(field, f"`{shown(value)}` is not accepted; it takes true or false")
        return value
    if option.kind is Kind.DIMS and isinstance(value, (list, tuple)):
        value = "x".join(shown(size) for size in value)
    elif option.kind in UNITS and isinstance(value, (int, float)) and not isinstance(value, bool):
        value = f"{shown(value)}{UNITS[option.kind]}"
    if not isinstance(value, str) or not value:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes text")
    value = text_of(field, value)
    if option.kind is Kind.NAME:
        entries = CHOSEN_POLICIES if key == "policy" else [entry["name"] for entry in _core.registry()[option.names]]
        choices = [*entries, *option.others]
        if value not in choices:
            raise unknown_name(field, value, choices)
    return value
