"""What people ask for, turned into what the core takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from lightloom import _core
from lightloom.errors import refuse, shown, text_of
from lightloom.fabric import Fabric
from lightloom.files import MIB, read_text
from lightloom.graphs import is_topology_file, resolve
from lightloom.quantities import seconds_of
from lightloom.whole import whole_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lightloom.graphs import TopologyLike

    Topologies: TypeAlias = TopologyLike | Sequence[TopologyLike]

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
    matrix: an All-to-All matrix of bytes `[src][dst]`, as a CSV file, an NPY file or an array; or a generated one, of
        `lightloom list workloads`, such as `"zipf:0.4:7"`. The size is then that of the busiest GPU's buffer, or with
        `/pair` the mean of the pairs.
    chunk_size: bytes of the chunks in which All-to-All planners forward blocks, by index; whole blocks when left out.
    optical_ports: of the whole fabric, where there are fewer than its GPUs have (BRIDGE §3.7).
    overlap: `"additive"`, or `"pipelined"` to cost steps as packets take them: the closed form where there is one, the
        simulator elsewhere.
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
    chunk_size: str | float | None
    optical_ports: int | None
    overlap: str | None
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
    chunk_size: str | float | None = None,
    optical_ports: int | None = None,
    overlap: str | None = None,
    seed: int = 0,
    budget: str | float | None = None,
) -> _core.Request:
    """The core's request; arguments are those of `Settings`, and the time of planner `weave`'s local search.

    Raises `InputError` that names the argument.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    sizes: dict[str, int] = {}
    size_bytes, per_pair = _size("size", size)
    seed = whole_number("seed", seed, 0, MAX_SEED)
    values = None
    if isinstance(matrix, str) and _core.is_workload(matrix):
        if size_bytes is None:
            raise refuse("size", f"it must be given with the generated matrix `{matrix}`, such as 32MiB/pair")
        values = _core.workload_matrix(matrix, _gpus_of(fabric, matrix), float(size_bytes), seed)
        # The mean of the pairs is in the matrix; another size scales it.
        size_bytes, per_pair = (None, False) if per_pair else (size_bytes, False)
    elif matrix is not None:
        from lightloom.matrix import read_matrix

        values = read_matrix(matrix)
    if values is not None:
        sizes["matrix"] = len(values)
    if schedule is not None:
        schedule = read_schedule(schedule)
        sizes["schedule"] = schedule.gpus
    fabric = fabric.sized(**sizes)
    return _core.Request(
        fabric.to_core(),
        collective=collective,
        size_bytes=size_bytes,
        size_is_per_pair=per_pair,
        algorithm=_unless_auto("algorithm", algorithm),
        radix=None if radix is None else whole_number("radix", radix, 2),
        planner=_unless_auto("planner", planner),
        candidates=_topologies("candidates", candidates, fabric.gpus),
        topologies=_topologies("topology", topology, fabric.gpus),
        routing=routing,
        convention=convention,
        schedule=schedule,
        matrix=values,
        chunk_bytes=_size("chunk_size", chunk_size)[0],
        optical_ports=None if optical_ports is None else whole_number("optical_ports", optical_ports, 1),
        overlap=overlap,
        seed=seed,
        budget_s=None if budget is None else seconds_of("budget", budget),
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
    elif isinstance(value, Sequence):
        items = value
    else:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes names, files, graphs, or a list of them")
    if not items or any(isinstance(item, str) and not item for item in items):
        raise refuse(field, "there is an empty name; it takes names separated by commas (see `lightloom list`)")
    return [resolve(field, item, gpus) for item in items]


def _gpus_of(fabric: Fabric, matrix: str) -> int:
    gpus = fabric.sized().gpus
    if gpus is None:
        raise refuse("gpus", f"it must be given with the generated matrix `{matrix}`")
    return gpus


def _size(field: str, size: str | float | None) -> tuple[int | None, bool]:
    if size is None:
        return None, False
    if isinstance(size, str):
        text = size.strip()
        per_pair = field == "size" and text.endswith(PER_PAIR)
        return _core.parse_size(field, text.removesuffix(PER_PAIR) if per_pair else text), per_pair
    # The core's reader knows the limits; a number is bytes.
    return _core.parse_size(field, f"{shown(size)}B"), False


def buffer_bytes(size: str | float, gpus: int) -> int:
    """Bytes of one rank's whole buffer m: of a size as people write it, or of as many blocks as there are GPUs.

    Raises `InputError` that names `size`.
    """
    size_bytes, per_pair = _size("size", size)
    assert size_bytes is not None  # noqa: S101 (it is only where there is no size)
    return size_bytes * (gpus if per_pair else 1)


def _unless_auto(field: str, name: str | None) -> str | None:
    return None if name is None or text_of(field, name) == "auto" else name
