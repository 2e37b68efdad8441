"""HARVEST's collectives: `collective.json`, demands in bytes step by step (see `lightloom.formats.harvest.write`).

Its generator calls them `collective-NAME-….json`, states `schema` and `units`, leaves `dims` out where ranks are in a
line, and names a collective with its algorithm (`all-reduce-swing-nd`, `bruckalltoall-r2-p1`).

Demands do not say which chunks are sent. Where Lightloom wrote the folder, `circuits.json` next to the file does, and
its transfers must make up the demands. Else the algorithm is sought whose steps have these demands: those of `lightloom
list algorithms`, on the ports and bases that are tried. An All-to-All of one step is read as its matrix.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import MIB, read_text
from lightloom.formats import SIDE_SCHEMA
from lightloom.formats.source import Source, json_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = [
    "FILE",
    "MAX_SIDE_BYTES",
    "MOST_DEMANDS",
    "MOST_GPUS",
    "MOST_STEPS",
    "SCHEMA",
    "SIDE",
    "Demand",
    "collective_in",
    "collective_of",
    "demands_of",
    "read",
    "recognises",
    "size_of",
]

FILE, SIDE = "collective.json", "circuits.json"
SCHEMA = "collective_pattern/v1"
MAX_SIDE_BYTES = 256 * MIB
MOST_GPUS, MOST_STEPS, MOST_DEMANDS = 4096, 100_000, 2_000_000
# Ports and bases of algorithms that are tried, those by default first.
PORTS, RADICES = (1, 2, 3, 4, 6, 8), (None, 3, 4, 5, 6, 7, 8)
TOLERANCE = 1e-9
# Additions of HARVEST's generator to the name of a collective: an algorithm before or after it, dimensions, radix and
# ports.
NAME = "(?:bruck|binomial|binary)?({})(?:rd|swing|ring)?(?:nd)?(?:r[0-9]+)?(?:p[0-9]+)?"
FILE_NAME = re.compile(r"collective-(.+?)-[0-9].*\.json")

Demand = dict[tuple[int, int], float]


def recognises(source: Source) -> bool:
    """Whether the source is a file of this format, or a folder with one."""
    if source.is_folder:
        return (source.path / FILE).is_file()

    def has(key: str, value: str = "") -> bool:
        return re.search(rf'"{key}"\s*:\s*{value}', source.text) is not None

    if has("schema"):
        return has("schema", f'"{re.escape(SCHEMA)}"')
    named = has("collective") or FILE_NAME.fullmatch(source.path.name) is not None
    return has("steps") and named and (has("n") or has("demand"))


def read(source: Source) -> _core.Schedule:
    """The schedule whose steps have the demands. Raises `InputError` that names the place in the file."""
    file = Source(source.field, source.path / FILE) if source.is_folder else source
    document = json_object("schedule", file.text)
    gpus = _whole(document, "n", 2, MOST_GPUS)
    dims = _dims(document, gpus)
    collective = collective_in(file, document)
    demands = _demands(document, gpus)
    side = file.path.with_name(SIDE)
    if side.is_file():
        stated = _stated(side, collective, gpus, demands)
        if stated is not None:
            return stated
    return _found(collective, gpus, dims, demands)


def collective_of(field: str, collective: Any) -> str:
    """The collective that either file names. Raises `InputError` that names the place under `field`."""
    known = [one["name"] for one in _core.registry()["collectives"]]
    names = {name.replace("-", ""): name for name in known}
    plain = collective.lower().replace("-", "").replace("_", "") if isinstance(collective, str) else ""
    found = re.fullmatch(NAME.format("|".join(names)), plain)
    if found is None:
        raise refuse(
            f"{field}.collective",
            f"`{shown(collective)}` is not a collective; it takes {', '.join(known)}, with or without the name of an "
            "algorithm as HARVEST writes it",
        )
    return names[found[1]]


def collective_in(source: Source, document: dict[str, Any]) -> str:
    """The collective of a file of demands: the name in it, or else in the name of the file. Raises `InputError`."""
    named = FILE_NAME.fullmatch(source.path.name)
    return collective_of("schedule", document.get("collective", named and named[1]))


def demands_of(source: Source) -> list[Demand]:
    """The demands of every step, in bytes. Raises `InputError` that names the place in the file."""
    document = json_object("schedule", source.text)
    return _demands(document, _whole(document, "n", 2, MOST_GPUS))


def size_of(schedule: _core.Schedule, demands: list[Demand]) -> int:
    """The bytes of a rank's whole buffer, of a schedule that has the demands."""
    return max(1, round(max(demands[0].values()) / float(schedule.shares[0])))


def _whole(document: dict[str, Any], key: str, least: int, most: int) -> int:
    value = document.get(key)
    if type(value) is not int or not least <= value <= most:
        raise refuse(f"schedule.{key}", f"`{shown(value)}` is not a whole number from {least} to {most}")
    return value


def _dims(document: dict[str, Any], gpus: int) -> list[int]:
    value = document.get("dims", [gpus])
    sizes: list[Any] = value if isinstance(value, list) else [value]
    product = 1
    for size in sizes:
        # Each size is compared with the remaining quotient before it is multiplied: outside integers have no limit.
        if type(size) is not int or not 0 < size <= gpus // product:
            product = 0
            break
        product *= size
    if not sizes or product != gpus:
        raise refuse("schedule.dims", f"`{shown(value)}` is not a list of sizes whose product is {gpus}")
    return [size for size in sizes if size > 1] if len(sizes) > 1 else []


def _demands(document: dict[str, Any], gpus: int) -> list[Demand]:
    if document.get("units", "bytes") != "bytes":
        raise refuse(
            "schedule.units", f"`{shown(document['units'])}` is not accepted; it takes `bytes`, the unit of demands"
        )
    steps = document.get("steps")
    if not isinstance(steps, list) or not 0 < len(steps) <= MOST_STEPS:
        raise refuse("schedule.steps", f"it is not a list of 1 to {MOST_STEPS} steps")
    count = 0
    found: list[Demand] = []
    for index, step in enumerate(steps):
        place = f"schedule.steps[{index}].demand"
        entries = step.get("demand") if isinstance(step, dict) else None
        if not isinstance(entries, list) or not entries:
            raise refuse(place, "it is not a list of demands")
        count += len(entries)
        if count > MOST_DEMANDS:
            raise refuse(place, f"there are more than {MOST_DEMANDS} demands")
        demand: Demand = defaultdict(float)
        for number, entry in enumerate(entries):
            source, destination, size = _entry(entry, f"{place}[{number}]", gpus)
            demand[source, destination] += size
        found.append(dict(demand))
    return found


def _entry(entry: Any, place: str, gpus: int) -> tuple[int, int, float]:
    if not isinstance(entry, list) or len(entry) != 3:
        raise refuse(place, f"`{shown(entry)}` is not [source, destination, bytes]")
    source, destination, size = entry
    for gpu in (source, destination):
        if type(gpu) is not int or not 0 <= gpu < gpus:
            raise refuse(place, f"`{shown(gpu)}` is not a GPU; GPUs are 0 to {gpus - 1}")
    if source == destination:
        raise refuse(place, f"GPU {source} sends to itself")
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 < size < 1e18:
        raise refuse(place, f"`{shown(size)}` is not a number of bytes above 0")
    return source, destination, float(size)


def _stated(side: Path, collective: str, gpus: int, demands: list[Demand]) -> _core.Schedule | None:
    """The schedule that a side file states, which must have the demands; None where the file is another's."""
    try:
        document = json_object("schedule", read_text("schedule", side, MAX_SIDE_BYTES))
    except InputError as error:
        raise InputError("schedule", f"{error} (in `{side}`)") from error
    if document.get("schema") != SIDE_SCHEMA:
        return None
    chunks, steps = document.get("chunks"), document.get("steps")
    try:
        assert isinstance(chunks, dict)  # noqa: S101
        assert isinstance(steps, list)  # noqa: S101
        transfers = [[tuple(one) for one in step["transfers"]] for step in steps]
        pieces = None if chunks["pieces"] is None else [tuple(piece) for piece in chunks["pieces"]]
        schedule = _core.Schedule.from_transfers(
            str(document["algorithm"]),
            collective,
            gpus,
            chunks["parts"],
            transfers,
            whole_buffer=collective == "all-reduce",
            root=chunks["root"],
            pieces=pieces,
        )
    except InputError as error:
        raise refuse("schedule", f"{error} (in `{side}`)") from error
    except (AssertionError, KeyError, TypeError) as error:
        raise refuse("schedule", f"`{side}` does not say which chunks are sent") from error
    weights = None if pieces is None else [float(share) for _, _, share in pieces]
    if len(schedule.shares) != len(demands) or not _has(schedule, demands, weights):
        raise refuse("schedule.steps", f"their demands differ from the transfers in `{side}`")
    return schedule


def _found(collective: str, gpus: int, dims: list[int], demands: list[Demand]) -> _core.Schedule:
    """A schedule of some algorithm that has the demands."""
    _check_receivers(collective, gpus, demands)
    for schedule in _candidates(collective, gpus, dims, len(demands)):
        if _has(schedule, demands):
            return schedule
    if collective == "all-to-all" and len(demands) == 1:
        return _one_step(gpus, demands[0])
    raise refuse(
        "schedule.steps",
        f"their demands are those of no algorithm for {collective} (`lightloom list algorithms`), and no `{SIDE}` "
        "next to the file says which chunks are sent",
    )


def _check_receivers(collective: str, gpus: int, demands: list[Demand]) -> None:
    """Refuse demands that no algorithm has: each sends something to every GPU, or from it, but for the root."""
    if collective == "all-to-all":  # blocks may be unequal, and empty
        return
    sends = collective in {"reduce", "gather"}
    found = {pair[0 if sends else 1] for demand in demands for pair in demand}
    roots = sends or collective in {"broadcast", "scatter"}
    if len(found) + roots < gpus:
        idle = next(gpu for gpu in range(roots, gpus) if gpu not in found)
        does = "sends" if sends else "receives"
        raise refuse("schedule.steps", f"GPU {idle} {does} nothing in any step; in {collective} every GPU {does} data")


def _one_step(gpus: int, demand: Demand) -> _core.Schedule:
    """The All-to-All of these demands, all at once; the buffer is that of the GPU that sends or receives most."""
    sent, received = [0.0] * gpus, [0.0] * gpus
    for (source, destination), size in demand.items():
        sent[source] += size
        received[destination] += size
    most = max(*sent, *received)
    pieces = [(*pair, size / most) for pair, size in demand.items()]
    transfers = [(*pair, "copy", [number]) for number, pair in enumerate(demand)]
    return _core.Schedule.from_transfers("harvest", "all-to-all", gpus, 1, [transfers], pieces=pieces)


def _candidates(collective: str, gpus: int, dims: list[int], steps: int) -> Iterator[_core.Schedule]:
    """Schedules of this many steps, each once; only those are built."""
    seen: set[tuple[str, tuple[float, ...]]] = set()
    for radix in RADICES:
        for ports in PORTS:
            named = _core.algorithms_of_steps(collective, gpus, dims, ports, radix, steps)
            # Algorithms that take radix 1 ignore the radix, and were tried without one.
            tried = [] if radix is None else _core.algorithms_of_steps(collective, gpus, dims, ports, 1, steps)
            for name in named:
                if name in tried:
                    continue
                try:
                    schedule = _core.Schedule.build(name, collective, gpus, dims, ports, radix)
                except InputError:  # one that is too large to build is not the one
                    continue
                key = name, (*schedule.shares.tolist(), float(ports if dims else 0), float(radix or 2))
                if key not in seen:
                    seen.add(key)
                    yield schedule


def _has(schedule: _core.Schedule, demands: list[Demand], weights: Sequence[float] | None = None) -> bool:
    """Whether the schedule's steps have these demands, for some size of the buffer.

    weights: of chunks over the buffer, where they are not equal.
    """
    scale = 0.0
    for step, demand in enumerate(demands):
        shares: Demand = defaultdict(float)
        for source, destination, _, chunks in schedule.transfers(step):
            sent = len(chunks) if weights is None else sum(weights[chunk] for chunk in chunks)
            shares[source, destination] += sent
        if shares.keys() != demand.keys():
            return False
        # Chunks are equal, and the largest transfer of a step is its share of the buffer.
        chunk = float(schedule.shares[step]) / max(shares.values())
        for pair, size in demand.items():
            ratio = size / (shares[pair] * chunk)
            scale = scale or ratio
            if abs(ratio - scale) > TOLERANCE * scale:
                return False
    return True
