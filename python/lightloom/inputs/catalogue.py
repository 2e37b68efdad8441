"""The catalogue of optical circuit switches: those that come with Lightloom, and users' own, in TOML."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.quantities import delay_text, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "UNKNOWN",
    "Switch",
    "catalogue",
    "catalogue_rows",
    "find_switches",
    "named_switches",
    "read_switches",
    "switches_of_text",
]

UNKNOWN = "unknown"
# Every switch of the catalogue, where names are listed.
ALL = "all"
FIELD = "switches"
MOST_SWITCHES = 100
NAME = re.compile(r"\w[\w .+-]{0,59}")
MOST_CHARACTERS = 300
MOST_RADIX = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Switch:
    """A switch that can be bought; None stands for a value that no source states.

    name: by which it is chosen. technology: what moves or steers the light. reconfiguration_delay_s: dark time of a
    change, s. radix: GPUs that it joins, each by one transmitter and one receiver. insertion_loss_db: of a circuit, dB.
    price: of a switch, in one currency for all. power_w: of a switch, W. source: publication that states the values.
    """

    name: str
    technology: str | None = None
    reconfiguration_delay_s: float | None = None
    radix: int | None = None
    insertion_loss_db: float | None = None
    price: float | None = None
    power_w: float | None = None
    source: str | None = None


def catalogue() -> tuple[Switch, ...]:
    """The switches that come with Lightloom, in the order of the file."""
    return _own()


def catalogue_rows() -> list[dict[str, str]]:
    """The switches that come with Lightloom as `lightloom list switches` shows them."""
    return [
        {
            "name": one.name,
            "technology": one.technology or UNKNOWN,
            "delay": UNKNOWN if one.reconfiguration_delay_s is None else _core.show_time(one.reconfiguration_delay_s),
            "radix": _said(one.radix),
            "loss_db": _said(one.insertion_loss_db),
            "price": _said(one.price),
            "power_w": _said(one.power_w),
            "source": one.source or UNKNOWN,
        }
        for one in catalogue()
    ]


def read_switches(path: str | os.PathLike[str]) -> tuple[Switch, ...]:
    """The switches of a TOML file: a table for each switch, which gives its name.

    Raises `InputError` that names `switches` or the key, such as `switches.mine.radix`.
    """
    return switches_of_text(read_text(FIELD, path, MIB), f"`{os.fspath(path)}`")


def find_switches(
    asked: str | os.PathLike[str] | Iterable[Switch | str | os.PathLike[str]] | None,
) -> tuple[Switch, ...]:
    """The switches that are asked for, each name once; all of the catalogue where none is named.

    asked: names of `lightloom list switches`, `all`, files that end in `.toml`, and Switches; one, a list, or a text of
    several with commas. A switch of a file wins over one of the catalogue that has its name.

    Raises `InputError` that names `switches`.
    """
    if asked is None:
        return catalogue()
    if isinstance(asked, str):
        asked = [part.strip() for part in asked.split(",")]
    elif isinstance(asked, (os.PathLike, Switch)):
        asked = [asked]
    try:
        items = list(asked)
    except TypeError as error:
        raise refuse(FIELD, f"`{shown(asked)}` is not accepted; it takes names of switches or TOML files") from error
    found: dict[str, Switch] = {}
    for item in items:
        found |= {one.name: one for one in _of_item(item)}
    if not 1 <= len(found) <= MOST_SWITCHES:
        raise refuse(FIELD, f"{len(found)} switches are not accepted; it takes 1 to {MOST_SWITCHES}")
    return tuple(found.values())


def _of_item(item: object) -> tuple[Switch, ...]:
    if isinstance(item, Switch):
        given = {key: getattr(item, name) for key, (name, _) in READERS.items()}
        values = {key: UNKNOWN if value is None else value for key, value in given.items()}
        return (_switch(item.name, values, "the list"),)
    if isinstance(item, os.PathLike) or (isinstance(item, str) and (item.endswith(".toml") or os.sep in item)):
        return read_switches(item)
    return _of_name(item)


def named_switches(text: str) -> tuple[Switch, ...]:
    """The switches of the catalogue that a text names, with commas; no file is read.

    Raises `InputError` that names `switches`.
    """
    return tuple(one for part in text.split(",") for one in _of_name(part.strip()))


def _of_name(name: object) -> tuple[Switch, ...]:
    known = {one.name: one for one in catalogue()}
    if name == ALL and isinstance(name, str):
        return catalogue()
    if not isinstance(name, str) or name not in known:
        raise unknown_name(FIELD, name, [ALL, *known])
    return (known[name],)


@cache
def _own() -> tuple[Switch, ...]:
    text = resources.files("lightloom.inputs").joinpath("catalogue.toml").read_text("utf-8")
    return switches_of_text(text, "the catalogue")


def switches_of_text(text: str, where: str = "the text") -> tuple[Switch, ...]:
    """The switches of a TOML text; where: what errors call it. Errors as for `read_switches`."""
    tables = parse_toml(FIELD, text, where)
    if not 1 <= len(tables) <= MOST_SWITCHES:
        raise refuse(FIELD, f"{where} has {len(tables)} switches; it takes 1 to {MOST_SWITCHES}, a table each")
    return tuple(_switch(name, values, where) for name, values in tables.items())


def _switch(name: str, values: object, where: str) -> Switch:
    if not isinstance(values, dict):
        raise refuse(FIELD, f"`{shown(name)}` of {where} is no table; a switch is `[NAME]` with its keys below")
    if not NAME.fullmatch(name) or name.endswith(".toml"):
        accepts = "letters, digits, spaces and . + - _, at most 60"
        raise refuse(FIELD, f"`{shown(name)}` of {where} is no name of a switch; it takes {accepts}")
    field = f"{FIELD}.{name}"
    for key in values:
        if key not in READERS:
            raise unknown_name(field, key, READERS)
    if "reconfiguration_delay" not in values:
        raise refuse(f"{field}.reconfiguration_delay", "missing; it takes a time such as 10us, or unknown")
    read = {name: _value(f"{field}.{key}", key, values) for key, (name, _) in READERS.items()}
    return Switch(name=name, **read)


def _value(field: str, key: str, values: Mapping[str, object]) -> Any:
    value = values.get(key, UNKNOWN)
    return None if value == UNKNOWN else READERS[key][1](field, value)


def _delay(field: str, value: object) -> float:
    """Seconds of a time, or of a technology; a delay that depends on the ports is no value of a switch."""
    seconds = _core.ReconfigurationDelay.parse(field, delay_text(field, value)).scalar_s
    if seconds is None:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes one time, such as 10us, or unknown")
    return seconds


def _text(field: str, value: object) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= MOST_CHARACTERS:
        raise refuse(
            field, f"`{shown(value)}` is not accepted; it takes a line of at most {MOST_CHARACTERS} characters"
        )
    return value


def _positive(field: str, value: object) -> float:
    accepts = f"a number from 0 to 1e15, or {UNKNOWN}"
    number = number_of(field, value, accepts)
    if not 0 <= number <= 1e15:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes {accepts}")
    return number


def _radix(field: str, value: object) -> int:
    return whole_number(field, value, 2, MOST_RADIX)


# By key of a file, the field of `Switch` and the reader of its value.
READERS = {
    "technology": ("technology", _text),
    "reconfiguration_delay": ("reconfiguration_delay_s", _delay),
    "radix": ("radix", _radix),
    "insertion_loss_db": ("insertion_loss_db", _positive),
    "price": ("price", _positive),
    "power_w": ("power_w", _positive),
    "source": ("source", _text),
}


def _said(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:g}"
