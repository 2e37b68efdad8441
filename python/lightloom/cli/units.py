"""The unit that the entries of a matrix are taken to have, where the user does not state it."""

from __future__ import annotations

from pathlib import Path

import click

from lightloom.inputs.requests import is_generated

__all__ = ["say_tokens"]


def say_tokens(field: str, source: object, size: object) -> None:
    """Say on standard error that tokens by expert are planned as bytes, one for each token, if `--size` is not given.

    field, source: the option and what it was given, a file or a folder of them, or a name; size: the option `--size`.
    """
    if size is not None or not isinstance(source, str) or is_generated(source):
        return
    from lightloom.inputs.matrices import rows_and_columns

    found = rows_and_columns(Path(source))
    if found is None or found[0] >= found[1] or found[1] % found[0]:
        return
    rows, columns = found
    click.echo(
        f"{field}: {columns} columns for {rows} rows are tokens by expert, each taken as one byte; --size says what "
        "they amount to",
        err=True,
    )
