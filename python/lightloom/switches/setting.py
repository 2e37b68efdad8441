"""Settings of a switch's address, such as the `timeout` of `scpi://host:5025?timeout=2s`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.base.whole_numbers import whole_of_text
from lightloom.inputs.quantities import seconds_of

Value = str | int | float | bool | None

# Times of an address are those that a person may wait for.
LONGEST_S = 3600.0
YES_OR_NO = {"yes": True, "no": False}


class Form(Enum):
    """The form of a setting's value."""

    TIME = "a time"
    WHOLE = "a whole number"
    CHOICE = "a name"
    YES_OR_NO = "yes or no"
    FILE = "a file"


class Setting(NamedTuple):
    """A setting that an address may have: its name, how its value is written, its default.

    otherwise: in words, the value taken without a default. choices: of a `CHOICE`. most: of a `WHOLE`, from 1.
    """

    name: str
    form: Form
    meaning: str
    default: str | None = None
    otherwise: str = ""
    choices: tuple[str, ...] = ()
    most: int = 1 << 20

    def value_of(self, field: str, text: str) -> Value:
        """The value of the text. Raises `InputError` that names `field` with the setting."""
        name = f"{field}: {self.name}"
        if self.form is Form.TIME:
            seconds = seconds_of(name, text)
            if not 0 < seconds <= LONGEST_S:
                raise refuse(name, f"`{shown(text)}` is not accepted; it takes a time above 0 up to 1 h")
            return seconds
        if self.form is Form.WHOLE:
            return whole_of_text(name, text, 1, self.most)
        if self.form is Form.YES_OR_NO:
            if text not in YES_OR_NO:
                raise refuse(name, f"`{shown(text)}` is not accepted; it takes yes or no")
            return YES_OR_NO[text]
        if self.form is Form.CHOICE and text not in self.choices:
            raise unknown_name(name, text, self.choices)
        return text


TIMEOUT = Setting("timeout", Form.TIME, "How long the switch may take to be reached, and for each answer.", "5s")
SETTLE = Setting(
    "settle", Form.TIME, "How long a change may take until what is read back is equal to what was asked for.", "10s"
)
FIRST_EGRESS = Setting(
    "first-egress",
    Form.WHOLE,
    "The switch's own number of the first egress port; 1 where both sides are numbered from 1.",
    otherwise="the one after the last ingress port, as the switch says how many it has",
)
