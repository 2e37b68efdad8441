"""What people ask for, turned into what the core takes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from lightloom import _core
from lightloom.errors import refuse
from lightloom.fabric import Fabric
from lightloom.files import MIB, read_text
from lightloom.graphs import is_topology_file, resolve
from lightloom.whole import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lightloom.graphs import TopologyLike

    Topologies: TypeAlias = str | os.PathLike[str] | Sequence[TopologyLike]

PER_PAIR = "/pair"
MAX_SCHEDULE_BYTES = 64 * MIB
MAX_SEED = (1 << 64) - 1


class Settings(TypedDict, total=False):
    """What `plan`, `compare` and `Problem` take beside the collective, the size and the fabric.

    algorithm: a name of `lightloom list algorithms`; `auto` or None compares those that accept the problem.
    radix: base of the algorithms that have one, at least 2.
    planner: a name of `lightloom list planners`, or `auto`.
    candidates: topologies that the planner may use: candidate families, topology names, files, graphs, or a list of
        them.
    topology: the topologies of which the static planner takes the best; as `candidates`.
    routing: how traffic is put on paths; convention: a paper's assumptions. Names of `lightloom list`.
    schedule: an MSCCL XML file or a Schedule, in place of an algorithm.
    matrix: an All-to-All matrix of bytes `[src][dst]`, as a CSV file, an NPY file or an array.
    seed: of everything random, 0 to 2^64 - 1.
    """

    algorithm: str | None
    radix: int | None
    planner: str | None
    candidates: Topologies | None
    topology: Topologies | None
    routing: str | None
    convention: str | None
    schedule: str | os.PathLike[str] | _core.Schedule | None
    matrix: str | os.PathLike[str] | ArrayLike | None
    seed: int


def build_request(
    collective: str | None,
    size: str | float | None,
    fabric: Fabric | str | os.PathLike[str] | None,
    *,
    algorithm: str | None = None,
    radix: int | None = None,
    planner: str | None = None,
    candidates: Topologies | None = None,
    topology: Topologies | None = None,
    routing: str | None = None,
    convention: str | None = None,
    schedule: str | os.PathLike[str] | _core.Schedule | None = None,
    matrix: str | os.PathLike[str] | ArrayLike | None = None,
    seed: int = 0,
) -> _core.Request:
    """The core's request; arguments are those of `Settings`. Raises `InputError` that names the argument."""
    if fabric is None or isinstance(fabric, (str, os.PathLike)):
        fabric = Fabric.load("default" if fabric is None else fabric)
    sizes: dict[str, int] = {}
    values = None
    if matrix is not None:
        from lightloom.matrix import read_matrix

        values = read_matrix(matrix)
        sizes["matrix"] = len(values)
    if schedule is not None:
        schedule = read_schedule(schedule)
        sizes["schedule"] = schedule.gpus
    fabric = fabric.sized(**sizes)
    size_bytes, per_pair = _size(size)
    return _core.Request(
        fabric.to_core(),
        collective=collective,
        size_bytes=size_bytes,
        size_is_per_pair=per_pair,
        algorithm=_unless_auto(algorithm),
        radix=None if radix is None else whole_number("radix", radix, 2),
        planner=_unless_auto(planner),
        candidates=_topologies("candidates", candidates, fabric.gpus),
        topologies=_topologies("topology", topology, fabric.gpus),
        routing=routing,
        convention=convention,
        schedule=schedule,
        matrix=values,
        seed=whole_number("seed", seed, 0, MAX_SEED),
    )


def read_schedule(source: str | os.PathLike[str] | _core.Schedule) -> _core.Schedule:
    """A Schedule as it is, or the one in an MSCCL XML file. Raises `InputError` that names `schedule`."""
    if isinstance(source, _core.Schedule):
        return source
    return _core.Schedule.from_msccl(read_text("schedule", source, MAX_SCHEDULE_BYTES))


def split_names(text: str) -> list[str]:
    """The items of a list such as `ring,circulant:1,5,torus:4x4`.

    Commas separate items and also a topology's parameters: a part that is no topology, no candidate family and no file
    belongs to the parameters before it. Semicolons always separate.
    """
    if ";" in text:
        return [item.strip() for item in text.split(";")]
    registry = _core.registry()
    known = {entry["name"] for kind in ("topologies", "candidates") for entry in registry[kind]}
    items: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        starts_item = part.partition(":")[0] in known or is_topology_file(part)
        if items and ":" in items[-1] and not starts_item:
            items[-1] += f",{part}"
        else:
            items.append(part)
    return items


def _topologies(field: str, value: Topologies | None, gpus: int | None) -> list[str | _core.Topology] | None:
    if value is None:
        return None
    if isinstance(value, str):
        items: Sequence[TopologyLike] = split_names(value)
    elif isinstance(value, (os.PathLike, _core.Topology)) or hasattr(value, "edges"):
        items = [value]
    else:
        items = list(value)
    if not items or any(isinstance(item, str) and not item for item in items):
        raise refuse(field, "there is an empty name; it takes names separated by commas (see `lightloom list`)")
    return [resolve(field, item, gpus) for item in items]


def _size(size: str | float | None) -> tuple[int | None, bool]:
    if size is None:
        return None, False
    if isinstance(size, str):
        text = size.strip()
        return _core.parse_size("size", text.removesuffix(PER_PAIR)), text.endswith(PER_PAIR)
    # The core's reader knows the limits; a number is bytes.
    return _core.parse_size("size", f"{size}B"), False


def _unless_auto(name: str | None) -> str | None:
    return None if name == "auto" else name
