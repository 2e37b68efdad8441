"""Packages that a plain installation leaves out, and what to say where one is missing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from lightloom.base.errors import InputError

# The extra of this distribution that brings each package, as in pyproject.toml.
EXTRAS = {
    "anywidget": "notebook",
    "distributed": "dask",
    "flatbuffers": "topoopt",
    "highspy": "exact",
    "mpi4py": "mpi",
    "protobuf": "chakra",
    "pyarrow": "sweep",
    "starlette": "page",
    "torch": "torch",
    "uvicorn": "page",
}


def missing(field: str, what: str, package: str) -> InputError:
    """The error for something that is asked for by `field` and needs a package that is not installed."""
    error = sys.exc_info()[1]
    if error is not None and isinstance(error.__cause__, KeyboardInterrupt):
        # An interrupt came during the import of compiled code, which then reports that it cannot be imported.
        raise error.__cause__
    return refuse(field, f"{what} needs the package `{package}`: pip install 'lightloom[{EXTRAS[package]}]'")
