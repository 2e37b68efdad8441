"""Descriptions of models, TOML (docs/reference/models.md), as a format of workloads among the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.inputs.workloads.model import model_workload

if TYPE_CHECKING:
    from lightloom.formats.source import Source
    from lightloom.formats.workload_options import Asked

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"ranks"})


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return not source.is_folder and source.path.suffix == ".toml"


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload, of as many ranks as were asked for; errors as for `lightloom.inputs.workloads.model`."""
    return model_workload(source.path, ranks=asked.ranks)
