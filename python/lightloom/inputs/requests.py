"""Requests of users, turned into requests of the core."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown, text_of, unknown_name
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.graphs import resolve
from lightloom.inputs.options import SETTINGS, Kind
from lightloom.inputs.quantities import size_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightloom.inputs.options import Settings
    from lightloom.inputs.options.settings import Topologies, TopologyLike

PER_PAIR = "/pair"
# Arguments of a request in addition to the collective, the size and the fabric.
_NAMES = (*(option.name for option in SETTINGS), "budget")
_LISTS = tuple(option.name for option in SETTINGS if option.kind is Kind.TOPOLOGIES)


def build_request(
    collective: str | None,
    size: str | float | None,
    fabric: Fabric | str | os.PathLike[str] | None,
    *,
    budget: str | float | None = None,
    cache: _core.Cache | None = None,
    **settings: Unpack[Settings],
) -> _core.Request:
    """The core's request; `budget` is the time of a local search, `cache` what requests share, by default the fabric's.

    Raises `InputError` that names the argument, or all that are missing.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    cache = fabric.cache if cache is None else cache
    given: dict[str, object] = {**settings, "budget": budget}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given.keys() - set(_NAMES):
        raise TypeError(str(unknown_name("argument", name, _NAMES)))
    missing = missing_inputs(collective, size, fabric, given)
    if missing:
        example = 'lightloom.plan("all-reduce", "64MiB", fabric=lightloom.Fabric(gpus=64))'
        raise InputError(missing[0], f"{', '.join(missing)}: missing; such as {example}")
    sizes: dict[str, int] = {}
    matrix = given.get("matrix")
    if matrix is not None and not is_generated(matrix):
        from lightloom.inputs.matrix import read_matrix

        given["matrix"] = values = read_matrix(matrix)  # type: ignore[arg-type]  # whatever it is, it is checked
        sizes["matrix"] = len(values)
    if "schedule" in given:
        from lightloom.formats.schedules import read_schedule

        found = read_schedule(given["schedule"])  # type: ignore[arg-type]
        given["schedule"], sizes["schedule"] = found.schedule, found.schedule.gpus
    if "ranks" in given:
        # A matrix, a schedule and topologies to choose from have the GPUs that take part.
        given["ranks"] = ranks = _core.rank_list("ranks", given["ranks"])
        fabric, gpus = fabric.sized(), len(ranks)
        for origin, known in sizes.items():
            if known != gpus:
                raise refuse(origin, f"it is for {known} GPUs and `ranks` names {gpus}; they must agree")
    else:
        fabric = fabric.sized(**sizes)
        gpus = fabric.gpus or 0
    lists = {name: _topologies(name, given[name], gpus) for name in _LISTS if name in given}
    if "schedule" in given and found.format is not None and found.format.follows_links:
        _check_static_topologies(found.schedule, given.get("planner"), lists.get("topology", []), fabric)
    return _core.Request(fabric.to_core(), collective, size, cache, **{**given, **lists})


def is_generated(matrix: object) -> bool:
    """Whether it is the name of a generated matrix."""
    return isinstance(matrix, str) and _core.is_workload(text_of("matrix", matrix))


def _check_static_topologies(
    schedule: _core.Schedule, planner: object, topologies: list[str | _core.Topology], fabric: Fabric
) -> None:
    """Refuse a schedule of links on a fixed topology that lacks one of them.

    Such a schedule was made for the links of one topology. On another topology its transfers would take several hops,
    which contradicts the schedule. Planners that choose topologies may still do that.
    """
    if planner != "static":
        return
    from lightloom.formats.links import check_links

    families = {entry["name"] for entry in _core.registry()["candidates"]}
    for topology in topologies:
        if isinstance(topology, _core.Topology):
            check_links(schedule, topology)
        elif topology.partition(":")[0] not in families:
            check_links(schedule, _core.Topology.named(topology, schedule.gpus, fabric.dimensions, fabric.ports))


def missing_inputs(
    collective: str | None, size: str | float | None, fabric: Fabric, settings: Mapping[str, object]
) -> tuple[str, ...]:
    """The names among `collective`, `size` and `gpus` that no argument states, directly or through a file."""
    matrix = settings.get("matrix")
    says_all = matrix is not None and not is_generated(matrix)
    has_schedule = settings.get("schedule") is not None
    said = {
        "collective": collective is not None or has_schedule or matrix is not None,
        "size": size is not None or says_all,
        "gpus": fabric.gpus is not None
        or fabric.dims is not None
        or ((has_schedule or says_all) and settings.get("ranks") is None),
    }
    return tuple(name for name, is_said in said.items() if not is_said)


def _topologies(field: str, value: Topologies, gpus: int | None) -> list[str | _core.Topology]:
    """Names as they are; files and graphs read. The core refuses other values."""
    if isinstance(value, str):
        items: Sequence[TopologyLike] = _core.split_names(text_of(field, value))
    elif isinstance(value, (os.PathLike, _core.Topology)) or hasattr(value, "edges"):
        items = [value]
    elif isinstance(value, Sequence):
        items = value
    else:
        raise refuse(
            field, f"`{shown(value)}` is not accepted; it takes names of topologies, files, graphs, or a list of these"
        )
    return [resolve(field, item, gpus) for item in items]


def _size(field: str, size: str | float) -> tuple[int, bool]:
    text = size_text(field, size).strip()
    per_pair = text.endswith(PER_PAIR)
    return _core.parse_size(field, text.removesuffix(PER_PAIR)), per_pair


def buffer_bytes(field: str, size: str | float, collective: str, gpus: int) -> int:
    """Bytes of one rank's whole buffer m: of a size as people write it, or of as many blocks as there are GPUs.

    Raises `InputError` that names `field`, for blocks of another collective than All-to-All too.
    """
    size_bytes, per_pair = _size(field, size)
    if per_pair and collective != "all-to-all":
        raise refuse(
            field,
            f"a size per pair for {collective} is not accepted; it takes the whole buffer; only all-to-all has pairs",
        )
    return size_bytes * (gpus if per_pair else 1)
