"""The secret that the command and the agents share."""

from __future__ import annotations

import os
import secrets

from lightloom.base.errors import refuse

__all__ = ["SECRET", "checked_secret", "drawn_secret", "secret_told"]

# The environment variable that has it; options would show it in the list of processes.
SECRET = "LIGHTLOOM_SECRET"  # noqa: S105 (a name)
LEAST = 16


def secret_told() -> bytes:
    """The secret of the environment. Raises `InputError` that names the variable where it is missing or too short."""
    return checked_secret(SECRET, os.environ.get(SECRET, ""))


def checked_secret(place: str, told: str) -> bytes:
    """A secret that is told at a place. Raises `InputError` that names the place where it is too short."""
    if len(told) < LEAST:
        draws = "python -c 'import secrets; print(secrets.token_hex(32))'"
        raise refuse(place, f"it takes at least {LEAST} characters, the same on all hosts; {draws} draws them")
    return told.encode("utf-8", "surrogateescape")


def drawn_secret() -> bytes:
    """A new secret, in letters and digits."""
    return secrets.token_hex(32).encode()
