"""Jobs that arrive at a fabric, read from TOML: when each arrives, what it runs, on how many GPUs, and how often."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, parse_toml, read_text
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import buffer_bytes
from lightloom.training.workload import Workload
from lightloom.training.workload_table import READING, described_workload

if TYPE_CHECKING:
    from typing import TypeAlias

    Source: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | tuple["Request", ...]

__all__ = ["Grant", "Request", "read_requests", "requests_of_text"]

COMMON = ("name", "arrival", "ranks", "iterations")
# A job runs one of these.
SUBJECTS = {
    "collective": (*COMMON, "collective", "size"),
    "model": (*COMMON, "model"),
    "workload": (*COMMON, "workload", *READING),
}
MOST_JOBS = 200
MOST_ITERATIONS = 10**9
MOST_NUMBERS_OF_RANKS = 8
MOST_NAME = 60


@dataclass(frozen=True)
class Grant:
    """A number of GPUs that a job accepts, with the number of iterations on them, and the workload of one iteration."""

    ranks: int
    iterations: int
    workload: Workload


@dataclass(frozen=True)
class Request:
    """A job that arrives: its name, when, s, and the numbers of GPUs that it accepts, the one that it prefers first."""

    name: str
    arrival_s: float
    grants: tuple[Grant, ...]


def read_requests(source: Source, gpus: int) -> tuple[Request, ...]:
    """The jobs of a TOML file, or of a mapping of its keys, in their order, or those that were read.

    gpus: of the fabric. Raises `InputError` that names `jobs` or the key, such as `job[0].ranks`.
    """
    if isinstance(source, tuple):
        return source
    folder = Path()
    if isinstance(source, Mapping):
        told: Mapping[str, Any] = source
    elif isinstance(source, (str, os.PathLike)):
        told = parse_toml("jobs", read_text("jobs", source, MIB), f"`{os.fspath(source)}`")
        folder = Path(source).parent
    else:
        raise refuse("jobs", f"`{shown(source)}` is not accepted; it takes a TOML file or a mapping of its keys")
    return _requests(told, gpus, folder)


def requests_of_text(text: str, gpus: int) -> tuple[Request, ...]:
    """The jobs of a TOML text that names no files, in their order: what they run are collectives and named models.

    Raises `InputError` as `read_requests` does, and for every file that it names.
    """
    return _requests(parse_toml("jobs", text, "the text"), gpus, None)


def _requests(told: Mapping[str, Any], gpus: int, folder: Path | None) -> tuple[Request, ...]:
    """folder: of the files that it names, None where it may name none."""
    for key in told:
        if key != "job":
            raise unknown_name("jobs", key, ("job",))
    listed = told.get("job")
    if not isinstance(listed, (list, tuple)) or not 1 <= len(listed) <= MOST_JOBS:
        found = len(listed) if isinstance(listed, (list, tuple)) else 0
        raise refuse("job", f"{found} jobs are not accepted; it takes 1 to {MOST_JOBS} of them, each [[job]]")
    read = tuple(_request(f"job[{index}]", one, gpus, folder) for index, one in enumerate(listed))
    names: set[str] = set()
    for index, one in enumerate(read):
        if one.name in names:
            raise refuse(f"job[{index}].name", f"`{one.name}` is the name of two jobs; every job takes a different one")
        names.add(one.name)
    return read


def _request(field: str, told: object, gpus: int, folder: Path | None) -> Request:
    if not isinstance(told, Mapping):
        raise refuse(field, f"`{shown(told)}` is not accepted; it takes a table with one of {', '.join(SUBJECTS)}")
    said = [key for key in SUBJECTS if key in told]
    if len(said) != 1:
        raise refuse(field, f"it has {' and '.join(said) or 'none of them'}; it takes one of {', '.join(SUBJECTS)}")
    for key in told:
        if key not in SUBJECTS[said[0]]:
            raise unknown_name(field, key, SUBJECTS[said[0]])
    if "iterations" not in told:
        raise refuse(f"{field}.iterations", f"missing; it takes a whole number from 1 to {MOST_ITERATIONS}")
    iterations = whole_number(f"{field}.iterations", told["iterations"], 1, MOST_ITERATIONS)
    arrival_s = seconds_of(f"{field}.arrival", told.get("arrival", 0.0))
    grants = _grants(field, said[0], told, iterations, gpus, folder)
    return Request(_name(field, told.get("name", f"job {field[4:-1]}")), arrival_s, grants)


def _name(field: str, value: object) -> str:
    text = text_of(f"{field}.name", value)
    if not 0 < len(text) <= MOST_NAME or not text.isprintable():
        accepts = f"a line of at most {MOST_NAME} characters"
        raise refuse(f"{field}.name", f"`{shown(text)}` is not accepted; it takes {accepts}")
    return text


def _grants(
    field: str, subject: str, told: Mapping[str, Any], iterations: int, gpus: int, folder: Path | None
) -> tuple[Grant, ...]:
    """The workload of the job on every number of GPUs that it accepts."""
    numbers = _numbers_of_ranks(field, told.get("ranks"), gpus)
    if len(numbers) > 1 and subject != "model":
        raise refuse(f"{field}.ranks", "several numbers are only for `model`, whose replicas share out its samples")
    if subject == "collective" and numbers[0] is None:
        raise refuse(f"{field}.ranks", f"missing; it takes a whole number from 2 to {gpus}, the fabric's GPUs")
    grants = []
    for ranks in numbers:
        if subject == "collective":
            workload = _collective(field, told, ranks or 0)
        else:
            workload = described_workload(field, subject, told, ranks, folder)
        if ranks not in (None, workload.ranks):
            raise refuse(f"{field}.ranks", f"it is {ranks}, and what it runs has {workload.ranks} ranks")
        if not 2 <= workload.ranks <= gpus:
            accepts = f"2 to {gpus}, the fabric's GPUs"
            raise refuse(f"{field}.ranks", f"{workload.ranks} is not accepted; a job takes {accepts}")
        # Replicas bring samples of their own: with fewer of them the same samples take more iterations.
        scaled = iterations if ranks is None else -(-iterations * (numbers[0] or 0) // ranks)
        grants.append(Grant(workload.ranks, scaled, workload))
    return tuple(grants)


def _numbers_of_ranks(field: str, value: object, gpus: int) -> list[int | None]:
    """The numbers that are told; None stands for the number that the workload has."""
    if value is None:
        return [None]
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    if not 1 <= len(items) <= MOST_NUMBERS_OF_RANKS:
        accepts = f"a whole number from 2 to {gpus}, or 1 to {MOST_NUMBERS_OF_RANKS} of them"
        raise refuse(f"{field}.ranks", f"{len(items)} numbers are not accepted; it takes {accepts}")
    return list(dict.fromkeys(whole_number(f"{field}.ranks", one, 2, gpus) for one in items))


def _collective(field: str, told: Mapping[str, Any], ranks: int) -> Workload:
    """A collective over all ranks, again and again."""
    known = [entry["name"] for entry in _core.registry()["collectives"]]
    collective = told["collective"]
    if collective not in known:
        raise unknown_name(f"{field}.collective", collective, known)
    if "size" not in told:
        raise refuse(f"{field}.size", "missing; it takes one rank's whole buffer, such as 64MiB")
    size_bytes = buffer_bytes(f"{field}.size", told["size"], collective, ranks)
    node = {"id": "0", "kind": "collective", "collective": collective, "axis": "all", "size_bytes": size_bytes}
    return Workload.of(
        {
            "schema": "lightloom.workload/1",
            "name": f"{collective} of {_core.show_size(size_bytes)}",
            "ranks": ranks,
            "mesh": {"all": ranks},
            "nodes": [{**node, "after": []}],
        }
    )
