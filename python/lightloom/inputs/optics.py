"""The optical layer under a fabric: a kind of switches, or a TOML file that also names the switches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightloom._core import registry
from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.base.whole_numbers import whole_number

__all__ = ["Optics"]

MOST_PORTS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Optics:
    """Switches, and the GPUs at their ports.

    kind: one of `lightloom list optics`, with its parameters after a colon: `"crossbar"`, `"islands:4x2"`.
    names: of the switches, one each; without names, their kind names them.
    switch_ports: ingress ports that a switch has, and as many egress ports; as many as are needed when left out.
    """

    kind: str = "crossbar"
    names: tuple[str, ...] = ()
    switch_ports: int | None = None

    def __post_init__(self) -> None:
        """Check every field. Raises `InputError` that names it."""
        text_of("optics", self.kind)
        listed = isinstance(self.names, (list, tuple)) and all(isinstance(name, str) for name in self.names)
        if not listed:
            raise refuse("names", f"`{shown(self.names)}` is not accepted; it takes a list of names of switches")
        object.__setattr__(self, "names", tuple(text_of("names", name) for name in self.names))
        if self.switch_ports is not None:
            object.__setattr__(self, "switch_ports", whole_number("switch_ports", self.switch_ports, 1, MOST_PORTS))

    @classmethod
    def load(cls, given: Optics | str | os.PathLike[str]) -> Optics:
        """A description, a kind, or a TOML file: its name ends in `.toml` or is more than a bare name.

        Raises `InputError` that names `optics` or the key.
        """
        if isinstance(given, Optics):
            return given
        if not isinstance(given, (str, os.PathLike)):
            raise refuse(
                "optics",
                f"`{shown(given)}` is not accepted; it takes a kind such as crossbar, a TOML file or an Optics",
            )
        text = os.fspath(given)
        if isinstance(text, str) and not text.endswith(".toml") and Path(text).name == text:
            return cls(kind=text)
        return cls.from_toml(given)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Optics:
        """The description in a TOML file whose keys are this class's arguments. Errors as for `load`."""
        values: dict[str, Any] = parse_toml("optics", read_text("optics", path, MIB), f"`{path}`")
        for key in values:
            if key not in cls.__dataclass_fields__:
                raise unknown_name("optics", key, cls.__dataclass_fields__)
        if "kind" not in values:
            kinds = ", ".join(entry["name"] for entry in registry()["optics"])
            raise refuse("kind", f"it is missing in `{path}`; it takes one of {kinds}")
        return cls(**values)
