"""Outputs of a command, checked before it works: where each file goes, and that no two files are the same."""

from __future__ import annotations

import os
import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lightloom.base.files import check_distinct
from lightloom.base.output_files import outputs_promised

if TYPE_CHECKING:
    from collections.abc import Iterator

# Options that name a file to write; all others may name files to read.
OUTPUTS = ("output", "trace", "plot", "break_even", "layouts", "state", "calibrate")
# The value of an option of pictures that is given without a file: no argument of a program can be this one.
UNNAMED = "\0"
# Output options whose existing file is also read.
ALSO_READ = ("state",)


def check_outputs() -> None:
    """Refuse outputs of this command that cannot be written, are one file by two names, or are a file that it reads.

    A file that an input names is refused when it is to be read, before anything is written.

    Raises `InputError` that names the option.
    """
    context = click.get_current_context()
    given = context.params
    outputs = {name: given[name] for name in OUTPUTS if given.get(name) is not None}
    if outputs:
        check_distinct(outputs, dict(_inputs(given)))
        context.with_resource(outputs_promised({name: outputs[name] for name in outputs if name not in ALSO_READ}))


def _inputs(given: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Every option value that may be a file's name, by option; an option may have several."""
    for name, value in given.items():
        if name not in OUTPUTS and isinstance(value, str):
            for index, item in enumerate(dict.fromkeys([value, *re.split("[,;]", value)])):
                yield (f"{name}[{index - 1}]" if index else name), item.strip()


def own_name(option: str, context: click.Context) -> str:
    """A file that does not exist yet, for a picture without a name: `plan.png`, `plan-2.png` and so on.

    Where the picture was written, its name is said on standard error when the verb ends.
    """
    stem = str(context.info_name) + ("" if option == "plot" else f"-{option.replace('_', '-')}")
    names = (f"{stem}-{number}.png" if number > 1 else f"{stem}.png" for number in count(1))
    name = next(name for name in names if not os.path.lexists(name))
    context.call_on_close(lambda: click.echo(f"picture: {name}", err=True) if Path(name).is_file() else None)
    return name


def give_up_standard_output() -> None:
    """Send to nowhere what could not be printed, which would be tried again at the end of the program."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (a descriptor is wanted)
        os.dup2(nowhere.fileno(), 1)
