"""The address of a switch: `SCHEME://HOST[:PORT][?SETTING=VALUE&...]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.switches.registry import DRIVERS, DriverKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightloom.switches.setting import Value

# Characters of an address that are read.
LONGEST = 2000
HOST = re.compile(r"[A-Za-z0-9._:%-]{1,253}")


@dataclass(frozen=True)
class Address:
    """The address and protocol of a switch; `text` is the address as it was given."""

    text: str
    kind: DriverKind
    host: str
    port: int
    settings: Mapping[str, Value]

    @property
    def place(self) -> str:
        """Host and port as messages name them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def seconds(self, name: str) -> float:
        """A setting that is a time."""
        value = self.settings[name]
        assert isinstance(value, float)  # noqa: S101 (the registry says that it is a time with a default)
        return value


def parse_address(field: str, text: str) -> Address:
    """The address that a text is, with all settings of its driver.

    Raises `InputError` that names `field` for an unknown scheme or setting, a value that a setting does not take, and
    for a password, which would be seen in the list of processes; it is not repeated.
    """
    text_of(field, text)
    kinds = {kind.scheme: kind for kind in DRIVERS}
    # The parser of addresses would drop line ends and tabs, and so read another address.
    if not text.isprintable() or " " in text.partition("?")[0]:
        raise refuse(
            field,
            f"`{_without_secrets(text)}` is not an address: it contains a space, a line end or a control character",
        )
    scheme, separator, rest = text.partition("://")
    if len(text) > LONGEST or not separator:
        raise refuse(field, f"`{_without_secrets(text)}` is not an address; it takes {_forms()}")
    if scheme not in kinds:
        raise unknown_name(field, scheme, kinds)
    if "@" in rest.partition("?")[0]:
        raise refuse(
            field,
            "an address takes no user and password, which others see in the list of processes; they are read from "
            "LIGHTLOOM_SWITCH_USER and LIGHTLOOM_SWITCH_PASSWORD, for the host of LIGHTLOOM_SWITCH_HOST, or from a "
            ".netrc file",
        )
    kind = kinds[scheme]
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), max_num_fields=64)
    except ValueError as error:
        raise refuse(field, f"`{shown(text)}` is not an address: {error}; it takes {_form(kind)}") from error
    if not host or not HOST.fullmatch(host) or parts.path not in {"", "/"} or parts.fragment:
        raise refuse(field, f"`{shown(text)}` is not an address; it takes {_form(kind)}")
    try:
        host.encode("idna")
    except UnicodeError as error:
        raise refuse(
            field, f"`{shown(text)}` is not an address: every part of a host name has 1 to 63 characters"
        ) from error
    return Address(text, kind, host, kind.port if port is None else port, _settings(field, kind, given))


def _settings(field: str, kind: DriverKind, given: list[tuple[str, str]]) -> dict[str, Value]:
    known = {setting.name: setting for setting in kind.settings}
    texts = {setting.name: setting.default for setting in kind.settings}
    seen: set[str] = set()
    for name, value in given:
        if name not in known:
            raise unknown_name(f"{field}: setting of {kind.scheme}", name, known)
        if name in seen:
            raise refuse(field, f"{name} is given twice")
        seen.add(name)
        texts[name] = value
    return {name: None if text is None else known[name].value_of(field, text) for name, text in texts.items()}


def _form(kind: DriverKind) -> str:
    return f"{kind.scheme}://HOST[:{kind.port}][?SETTING=VALUE&...]"


def _forms() -> str:
    return " or ".join(f"{kind.scheme}://HOST[:{kind.port}]" for kind in DRIVERS)


def _without_secrets(text: str) -> str:
    """The text without what may be a password: all before the last @."""
    return shown(text.rpartition("@")[2])
