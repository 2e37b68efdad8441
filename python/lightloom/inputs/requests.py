"""What people ask for, turned into what the core takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from lightloom import _core
from lightloom.errors import InputError, refuse, shown, text_of, unknown_name
from lightloom.files import MIB
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.graphs import is_topology_file, resolve
from lightloom.inputs.options import OF_PLAN, SETTINGS, Kind, by_name
from lightloom.inputs.quantities import seconds_of, size_text
from lightloom.inputs.validation import WHOLE_RANGES, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightloom.inputs.graphs import TopologyLike
    from lightloom.inputs.options import Option, Settings
    from lightloom.inputs.options.problem import Topologies

PER_PAIR = "/pair"
# What a request takes beside the collective, the size and the fabric.
_ROWS = by_name((*SETTINGS, *(option for option in OF_PLAN if option.name == "budget")))


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
    for name in given.keys() - _ROWS.keys():
        raise TypeError(str(unknown_name("argument", name, _ROWS)))
    missing = missing_inputs(collective, size, fabric, given)
    if missing:
        example = 'lightloom.plan("all-reduce", "64MiB", fabric=lightloom.Fabric(gpus=64))'
        raise InputError(missing[0], f"{', '.join(missing)}: missing; such as {example}")
    size_bytes, per_pair = _size("size", size, takes_pairs=True)
    sizes: dict[str, int] = {}
    matrix = given.pop("matrix", None)
    if isinstance(matrix, str) and _core.is_workload(matrix):
        assert size_bytes is not None  # noqa: S101 (it is missing otherwise)
        gpus = fabric.sized().gpus
        assert gpus is not None  # noqa: S101 (sized() has it)
        seed = whole_number("seed", given.get("seed", 0), *WHOLE_RANGES["seed"])
        # The mean of the pairs is in the matrix. A whole buffer scales a matrix that is the same at every size, so that
        # problems of many sizes round as those of one do.
        mean_bytes = float(size_bytes) if per_pair else float(MIB)
        given["matrix"] = _core.workload_matrix(matrix, gpus, mean_bytes, seed)
        size_bytes, per_pair = (None, False) if per_pair else (size_bytes, False)
    elif matrix is not None:
        from lightloom.inputs.matrix import read_matrix

        values = read_matrix(matrix)  # type: ignore[arg-type]  # whatever it is, it is checked
        given["matrix"], sizes["matrix"] = values, len(values)
    if "schedule" in given:
        from lightloom.inputs.schedules.reading import read_schedule

        found = read_schedule(given["schedule"])  # type: ignore[arg-type]
        given["schedule"], sizes["schedule"] = found.schedule, found.schedule.gpus
    fabric = fabric.sized(**sizes)
    options = {name: _core_value(_ROWS[name], value, fabric.gpus) for name, value in given.items()}
    if "schedule" in given and found.format is not None and found.format.follows_links:
        _check_static_topologies(found.schedule, options, fabric)
    options = {name: value for name, value in options.items() if value is not None}
    return _core.Request(fabric.to_core(), collective, size_bytes, per_pair, cache, **options)


def _check_static_topologies(schedule: _core.Schedule, options: dict[str, object], fabric: Fabric) -> None:
    """Refuse a schedule of links on a fixed topology that lacks one of them.

    It was made for the links of a topology. On another topology its transfers would take several hops, which is not
    what it says; planners that choose topologies may do that.
    """
    topologies = options.get("topology")
    if options.get("planner") != "static" or not isinstance(topologies, list):
        return
    from lightloom.inputs.schedules.links import check_links

    families = {entry["name"] for entry in _core.registry()["candidates"]}
    for topology in topologies:
        if isinstance(topology, _core.Topology):
            check_links(schedule, topology)
        elif topology.partition(":")[0] not in families:
            check_links(schedule, _core.Topology.named(topology, schedule.gpus, fabric.dimensions, fabric.ports))


def missing_inputs(
    collective: str | None, size: str | float | None, fabric: Fabric, settings: Mapping[str, object]
) -> tuple[str, ...]:
    """Which of `collective`, `size` and `gpus` nothing says, be it in the place of another."""
    matrix = settings.get("matrix")
    is_generated = isinstance(matrix, str) and _core.is_workload(matrix)
    says_all = matrix is not None and not is_generated
    has_schedule = settings.get("schedule") is not None
    said = {
        "collective": collective is not None or has_schedule or matrix is not None,
        "size": size is not None or says_all,
        "gpus": fabric.gpus is not None or fabric.dims is not None or has_schedule or says_all,
    }
    return tuple(name for name, is_said in said.items() if not is_said)


def _core_value(option: Option, value: object, gpus: int | None) -> object:
    """What the core takes for a setting, by its kind; None for what leaves it open."""
    match option.kind:
        case Kind.WHOLE:
            return whole_number(option.name, value, option.least, option.most)
        case Kind.SIZE:
            return _size(option.name, value)[0]  # type: ignore[arg-type]
        case Kind.TIME:
            return seconds_of(option.name, value)  # type: ignore[arg-type]
        case Kind.TOPOLOGIES:
            return _topologies(option.name, value, gpus)
        case Kind.NAME if "auto" in option.others and text_of(option.name, value) == "auto":
            return None
        case _:
            return value


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
        # One that is named again would be searched again.
        items: Sequence[TopologyLike] = list(dict.fromkeys(split_names(value)))
    elif isinstance(value, (os.PathLike, _core.Topology)) or hasattr(value, "edges"):
        items = [value]
    elif isinstance(value, Sequence):
        items = value
    else:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes names, files, graphs, or a list of them")
    if not items or any(isinstance(item, str) and not item for item in items):
        raise refuse(field, "there is an empty name; it takes names separated by commas (see `lightloom list`)")
    return [resolve(field, item, gpus) for item in items]


def _size(field: str, size: str | float | None, *, takes_pairs: bool = False) -> tuple[int | None, bool]:
    if size is None:
        return None, False
    text = size_text(field, size).strip()
    per_pair = takes_pairs and text.endswith(PER_PAIR)
    return _core.parse_size(field, text.removesuffix(PER_PAIR) if per_pair else text), per_pair


def buffer_bytes(field: str, size: str | float, collective: str, gpus: int) -> int:
    """Bytes of one rank's whole buffer m: of a size as people write it, or of as many blocks as there are GPUs.

    Raises `InputError` that names `field`, for blocks of another collective than All-to-All too.
    """
    size_bytes, per_pair = _size(field, size, takes_pairs=True)
    if size_bytes is None:
        raise refuse(field, "there is none; it takes a size such as 64MiB")
    if per_pair and collective != "all-to-all":
        raise refuse(
            field,
            f"a size per pair for {collective} is not accepted; it takes the whole buffer; only all-to-all has pairs",
        )
    return size_bytes * (gpus if per_pair else 1)
