"""User and password of a switch: from the environment or a `.netrc` file, never from the command line.

They belong to hosts, so that an address from somewhere else, such as a file of `--restore`, leads them to nobody else.
Without encryption they go no further than this machine, unless that is asked for: in the environment, too, which no
address can change.
"""

from __future__ import annotations

import ipaddress
import netrc
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import read_bytes

if TYPE_CHECKING:
    from lightloom.switches.address import Address

USER, PASSWORD, NETRC = "LIGHTLOOM_SWITCH_USER", "LIGHTLOOM_SWITCH_PASSWORD", "NETRC"
# The hosts that user and password are for, separated by commas; and whether the two may be sent in clear.
HOSTS, CLEAR = "LIGHTLOOM_SWITCH_HOST", "LIGHTLOOM_SWITCH_CLEAR"
# Bytes of a .netrc file that are read.
LARGEST = 1 << 20


class Credentials(NamedTuple):
    """A user and the password; its text does not show the password."""

    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.user!r}, ...)"


def credentials_of(address: Address, *, is_encrypted: bool = False) -> Credentials | None:
    """The credentials of the address's host; None if there are none.

    They are those of the environment where LIGHTLOOM_SWITCH_HOST names the host, else those of the host in the file
    that NETRC names or `~/.netrc`. is_encrypted: whether nobody on the way reads them. Raises `InputError` for a file
    or variable that is not as it should be, without its content, and where they would be sent in clear.
    """
    found = _of_environment(address.host) or _of_file(address.host)
    if found is not None and not is_encrypted and not _is_here(address.host) and os.environ.get(CLEAR) != "yes":
        tls = "tls=yes in the address encrypts them; " if "tls" in address.settings else ""
        raise refuse(
            CLEAR,
            f"user and password of {address.host} would be sent in clear; {tls}{CLEAR}=yes in the environment sends "
            "them nevertheless",
        )
    return found


def _of_environment(host: str) -> Credentials | None:
    if not os.environ.get(USER):
        return None
    hosts = [name.strip().lower() for name in _environment(HOSTS).split(",") if name.strip()]
    if not hosts:
        raise refuse(HOSTS, f"missing; it names the hosts that {USER} is for, such as {HOSTS}={shown(host)}")
    return Credentials(_environment(USER), _environment(PASSWORD)) if host.lower() in hosts else None


def _of_file(host: str) -> Credentials | None:
    named = os.environ.get(NETRC)
    try:
        file = Path(named) if named else Path.home() / ".netrc"
        if not named and not file.is_file():
            return None
        # The library would wait for a pipe, and read a device without end.
        read_bytes(NETRC, file, LARGEST)
        found = netrc.netrc(str(file)).authenticators(host)
    except InputError:
        raise
    except netrc.NetrcParseError as error:
        # Its message may hold a word of the file.
        raise refuse(NETRC, f"line {error.lineno} of `{file}` is not in the form of a .netrc file") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise refuse(NETRC, f"cannot read `{named or '~/.netrc'}`: {reason}") from None
    return None if found is None else Credentials(found[0], found[2] or "")


def _is_here(host: str) -> bool:
    """Whether the host is this machine, decided without a name server."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _environment(name: str) -> str:
    """A variable's value, never shown. Raises `InputError` where it is no text."""
    value = os.environ.get(name, "")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise refuse(name, "it is not UTF-8 text")
    return value
