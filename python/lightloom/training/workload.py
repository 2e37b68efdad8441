"""A training iteration's graph: computation, collectives over groups or axes of a mesh, and messages."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse, shown
from lightloom.base.files import write_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

__all__ = ["Workload"]


class Workload:
    """Computation and messages of ranks in one iteration, with their dependencies; immutable and checked.

    Made by `Workload.read`, `Workload.from_json` or `Workload.of`. docs/reference/workloads.md has a document's keys.
    """

    def __init__(self, core: _core.Workload) -> None:
        self.core = core

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Workload:
        """The workload of a document of schema `lightloom.workload/1`. Raises `InputError` that names the fault."""
        try:
            text = json.dumps(told)
        except (TypeError, ValueError, RecursionError) as error:
            raise refuse("workload", f"it cannot be written as JSON: {str(error)[:200]}") from error
        return cls(_core.Workload.from_json(text))

    @classmethod
    def from_json(cls, text: str) -> Workload:
        """The workload that `to_json` wrote. Raises `InputError` that names the path of the fault."""
        return cls(_core.Workload.from_json(text))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        comm_groups: str | os.PathLike[str] | None = None,
        comm_size: str | None = None,
        element_bytes: int | None = None,
        time_unit: str | None = None,
        ranks: int | None = None,
        profile_step: int | None = None,
        message_sizes: str | os.PathLike[str] | None = None,
        compute_time: str | float | None = None,
    ) -> Workload:
        """The workload in a file or folder, or a model by the name that `lightloom list models` has.

        path: workload JSON, a model's TOML description, a Chakra trace, PyTorch's profile, NCCL's log, AICB's text,
        TopoOpt's task graph, or a name. comm_groups: file of the process groups of a trace or profile. comm_size: the
        data that a trace's sizes count, `"input"`, `"output"` or `"buffer"`; element_bytes: in units of this many
        bytes. time_unit: of run times, `"us"`, `"ms"` or `"s"`. ranks: how many, where the format leaves it open.
        profile_step: N of the `ProfilerStep#N` of a profile; message_sizes: JSON file of the bytes of collectives of
        which a profile states no sizes. compute_time: seconds, or text such as `"20ms"`, that each rank of a log
        computes.

        Raises `InputError` that names `workload`, a place in it, or the option that is missing, wrong or of no use.
        """
        from lightloom.inputs.workloads.files import read_workload
        from lightloom.inputs.workloads.model import preset_workload, presets

        if not isinstance(path, (str, Path)) and not hasattr(path, "__fspath__"):
            raise refuse("workload", f"`{shown(path)}` is not accepted; it takes a path or the name of a model")
        others: dict[str, Any] = {
            "comm_groups": comm_groups,
            "comm_size": comm_size,
            "element_bytes": element_bytes,
            "time_unit": time_unit,
            "profile_step": profile_step,
            "message_sizes": message_sizes,
            "compute_time": compute_time,
        }
        if isinstance(path, str) and path in presets() and not Path(path).exists():
            for field, value in others.items():
                if value is not None:
                    raise refuse(field, f"it is only for traces, and `{path}` is a model")
            return cls.of(preset_workload(path, ranks=ranks))
        return cls.of(read_workload(path, ranks=ranks, **others))

    def to_json(self) -> str:
        """The workload as JSON of schema `lightloom.workload/1`."""
        return self.core.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, self.to_json().encode())

    @cached_property
    def _told(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.to_json())
        return told

    @property
    def name(self) -> str | None:
        """The workload's name; None where it has none."""
        said = self._told.get("name")
        return None if said is None else str(said)

    @property
    def ranks(self) -> int:
        """Number of ranks, each a GPU."""
        return self.core.ranks

    @property
    def mesh(self) -> dict[str, int]:
        """Size of every axis of the mesh of ranks; the first varies fastest."""
        return dict(self._told["mesh"])

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The ranks of every group that has a name."""
        return {name: tuple(ranks) for name, ranks in self._told["groups"].items()}

    @property
    def same_bits(self) -> bool:
        """Whether AllReduces end with the same bits at every rank."""
        return bool(self._told.get("same_bits", False))

    @property
    def nodes(self) -> tuple[dict[str, Any], ...]:
        """The nodes, as they are in the document."""
        return tuple(self._told["nodes"])

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Workload) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        nodes = _core.counted(len(self._told["nodes"]), "node")
        return f"Workload({self.name or 'unnamed'}, {self.ranks} ranks, {nodes})"
