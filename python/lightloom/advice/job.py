"""A job: the mix of collectives, models and traces that a fabric is bought for, read from TOML."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.fabric import presets as fabric_presets
from lightloom.inputs.graphs import is_topology_file
from lightloom.inputs.quantities import number_of
from lightloom.inputs.requests import buffer_bytes
from lightloom.training.workload_table import READING, described_workload, is_json

if TYPE_CHECKING:
    from typing import TypeAlias

    from lightloom.base.errors import InputError
    from lightloom.training.workload import Workload

    Source: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | "Job"

__all__ = ["Entry", "Job", "port_counts"]

KEYS = ("name", "gpus", "ports", "fabric", "bandwidth", "startup", "hop_delay", "initial", "mix")
# An entry of the mix is one of these, and has a number.
SUBJECTS = ("collective", "model", "workload")
ENTRY_KEYS = {
    "collective": ("collective", "size", "count"),
    "model": ("model", "count"),
    "workload": ("workload", "count", *READING),
}
# Default start of a collective of the mix: it runs again and again, and every change is charged.
REPEATED = "repeated"
# Starts of collectives that are no topology, in which groups of a model could rest.
NO_TOPOLOGY = (REPEATED, "free")
MOST_ENTRIES = 100
MOST_PORTS_LISTED = 16
MOST_COUNT = 1e9
MOST_NAME = 100


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A part of the mix: a collective of `size_bytes`, or a training iteration, `count` times in one run of the mix.

    label: as tables name it. size_bytes: one rank's whole buffer. workload: None for a collective.
    """

    label: str
    count: float
    collective: str | None = None
    size_bytes: int = 0
    workload: Workload | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """The collectives, models and traces that a fabric is bought for; immutable and checked.

    name: of the job. gpus: how many run it. ports: counts of ports of a GPU that are compared. fabric: rates and
    delays; its ports and its reconfiguration delay are not used. entries: the mix.
    """

    name: str
    gpus: int
    ports: tuple[int, ...]
    fabric: Fabric
    entries: tuple[Entry, ...]

    @classmethod
    def load(cls, source: Source) -> Self:
        """The job in a TOML file or a mapping of the same keys, or one that was read.

        Raises `InputError` that names `job` or the key, such as `mix[0].size`.
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping):
            return cls._of(source, "job", Path())
        if not isinstance(source, (str, os.PathLike)):
            raise refuse("job", f"`{shown(source)}` is not accepted; it takes a TOML file or a mapping of its keys")
        told = parse_toml("job", read_text("job", source, MIB), f"`{os.fspath(source)}`")
        return cls._of(told, Path(source).stem, Path(source).parent)

    @classmethod
    def of_text(cls, text: str) -> Self:
        """The job in a TOML text that names no files: models and fabrics are those that have a name.

        Raises `InputError` as `load` does, and for every file that it names.
        """
        return cls._of(parse_toml("job", text, "the text"), "job", None)

    @classmethod
    def _of(cls, told: Mapping[str, object], name: str, folder: Path | None) -> Self:
        """folder: of the files that it names, None where it may name none."""
        for key in told:
            if key not in KEYS:
                raise unknown_name("job", key, KEYS)
        gpus = whole_number("gpus", _needed("gpus", told, "a number of GPUs"), *WHOLE_RANGES["gpus"])
        fabric = _fabric(told, gpus, folder)
        return cls(
            name=_name(told.get("name", name)),
            gpus=gpus,
            ports=port_counts(told.get("ports", fabric.ports)),
            fabric=fabric,
            entries=tuple(
                _entry(f"mix[{index}]", one, gpus, folder)
                for index, one in enumerate(_list_of(_needed("mix", told, "entries, each [[mix]]")))
            ),
        )


def port_counts(value: object) -> tuple[int, ...]:
    """Counts of ports: a whole number, a list of them, or a text such as `1,2,4`; rising, each once.

    Raises `InputError` that names `ports`.
    """
    items: list[Any]
    if isinstance(value, str):
        items = [int(part) if part.strip().isdecimal() and len(part) < 10 else part for part in value.split(",")]
    else:
        items = list(value) if isinstance(value, (list, tuple)) else [value]
    counts = sorted({whole_number("ports", item, *WHOLE_RANGES["ports"]) for item in items})
    if not 1 <= len(counts) <= MOST_PORTS_LISTED:
        raise refuse("ports", f"{len(counts)} counts are not accepted; it takes 1 to {MOST_PORTS_LISTED}")
    return tuple(counts)


def _needed(key: str, told: Mapping[str, object], accepts: str) -> object:
    if key not in told:
        raise refuse(key, f"missing; a job has {accepts}")
    return told[key]


def _list_of(value: object) -> list[object]:
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= MOST_ENTRIES:
        raise refuse("mix", f"`{shown(value)}` is not accepted; it takes 1 to {MOST_ENTRIES} entries, each [[mix]]")
    return list(value)


def _name(value: object) -> str:
    text = text_of("name", value)
    if not 0 < len(text) <= MOST_NAME or not text.isprintable():
        raise refuse("name", f"`{shown(text)}` is not accepted; it takes a line of at most {MOST_NAME} characters")
    return text


def _fabric(told: Mapping[str, object], gpus: int, folder: Path | None) -> Fabric:
    """The fabric of a job, whose collectives are repeated where nothing says how they start."""
    base: Any = text_of("fabric", told.get("fabric", "default"))
    if folder is None:
        _refuse_files(base, told.get("initial"))
    elif base.endswith(".toml"):
        base = folder / base
    if isinstance(rates := told.get("bandwidth"), (list, tuple)) or "," in str(rates):
        raise _several_rates(rates)
    given: dict[str, Any] = {key: told[key] for key in ("bandwidth", "startup", "hop_delay", "initial") if key in told}
    if folder is not None and isinstance(start := told.get("initial"), str) and is_topology_file(start):
        given["initial"] = os.fspath(folder / start)
    read = Fabric.load(base, **given, gpus=gpus)
    if len(read.rates_bps) > 1:
        raise _several_rates(read.bandwidth)
    fabric = read if read.initial is not None else Fabric.load(base, **{**given, "initial": REPEATED}, gpus=gpus)
    fabric.refuse_beyond_circuits("advice is given")
    fabric.to_core()
    return fabric


def _several_rates(rates: object) -> InputError:
    return refuse("bandwidth", f"`{shown(rates)}` is not accepted: advice is given for ports of one rate, as 800Gbps")


def _refuse_files(fabric: str, initial: object) -> None:
    """Refuse a fabric and a start that are files."""
    if fabric not in (known := [one["name"] for one in fabric_presets()]):
        raise unknown_name("fabric", fabric, known)
    if initial is not None and is_topology_file(text_of("initial", initial)):
        raise refuse("initial", f"`{shown(initial)}` is a file; a job that is pasted takes the name of a topology")


def _entry(field: str, told: object, gpus: int, folder: Path | None) -> Entry:
    if not isinstance(told, Mapping):
        raise refuse(field, f"`{shown(told)}` is not accepted; it takes a table with one of {', '.join(SUBJECTS)}")
    said = [key for key in SUBJECTS if key in told]
    if len(said) != 1:
        raise refuse(field, f"it has {' and '.join(said) or 'none of them'}; it takes one of {', '.join(SUBJECTS)}")
    for key in told:
        if key not in ENTRY_KEYS[said[0]]:
            raise unknown_name(field, key, ENTRY_KEYS[said[0]])
    count = _count(f"{field}.count", told.get("count", 1))
    if said[0] == "collective":
        return _collective(field, told, gpus, count)
    workload = described_workload(field, said[0], told, gpus, folder)
    if workload.ranks != gpus:
        raise refuse(f"{field}.{said[0]}", f"it has {workload.ranks} ranks and the job {gpus} GPUs; they must agree")
    label = "workload" if is_json(told[said[0]]) else str(told[said[0]])
    return Entry(label=workload.name or label, count=count, workload=workload)


def _collective(field: str, told: Mapping[str, Any], gpus: int, count: float) -> Entry:
    known = [entry["name"] for entry in _core.registry()["collectives"]]
    collective = told["collective"]
    if collective not in known:
        raise unknown_name(f"{field}.collective", collective, known)
    if "size" not in told:
        raise refuse(f"{field}.size", "missing; it takes one rank's whole buffer, such as 64MiB")
    size_bytes = buffer_bytes(f"{field}.size", told["size"], collective, gpus)
    label = f"{collective} of {_core.show_size(size_bytes)}"
    return Entry(label=label, count=count, collective=collective, size_bytes=size_bytes)


def _count(field: str, value: object) -> float:
    accepts = f"a number above 0 and up to {MOST_COUNT:g}: how often it runs in one run of the mix"
    number = number_of(field, value, accepts)
    if not 0 < number <= MOST_COUNT or math.isnan(number):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes {accepts}")
    return number
