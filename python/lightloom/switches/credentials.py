"""User and password of a switch: from the environment or a `.netrc` file, never from the command line."""

from __future__ import annotations

import netrc
import os
import stat
from pathlib import Path
from typing import NamedTuple

from lightloom.errors import InputError, refuse

USER, PASSWORD, NETRC = "LIGHTLOOM_SWITCH_USER", "LIGHTLOOM_SWITCH_PASSWORD", "NETRC"
# Bytes of a .netrc file that are read.
LARGEST = 1 << 20


class Credentials(NamedTuple):
    """A user and the password; its text does not show the password."""

    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.user!r}, ...)"


def credentials_of(host: str) -> Credentials | None:
    """Those of the environment, else of the host in the file that NETRC names or `~/.netrc`; None where there are none.

    Raises `InputError` for a file or variable that is not as it should be, without its content.
    """
    if os.environ.get(USER):
        return Credentials(_environment(USER), _environment(PASSWORD))
    named = os.environ.get(NETRC)
    try:
        file = Path(named) if named else Path.home() / ".netrc"
        if not named and not file.is_file():
            return None
        if not stat.S_ISREG(file.stat().st_mode):
            raise refuse(NETRC, f"`{file}` is not a regular file")
        if file.stat().st_size > LARGEST:
            raise refuse(NETRC, f"`{file}` is larger than {LARGEST >> 20} MiB")
        found = netrc.netrc(str(file)).authenticators(host)
    except InputError:
        raise
    except netrc.NetrcParseError as error:
        # Its message may hold a word of the file.
        raise refuse(NETRC, f"line {error.lineno} of `{file}` is not as in a .netrc file") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise refuse(NETRC, f"cannot read `{named or '~/.netrc'}`: {reason}") from None
    return None if found is None else Credentials(found[0], found[2] or "")


def _environment(name: str) -> str:
    """A variable's value, never shown. Raises `InputError` where it is no text."""
    value = os.environ.get(name, "")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise refuse(name, "it is not UTF-8 text")
    return value
