"""AICB's and SimAI's text: the lines of a model, each with computation and a collective in three phases.

Line 1 names the parallelism and the sizes of groups, line 2 the number of lines that follow, each of them: a name, an
unused number, then forward pass, input gradient and weight gradient, of each the nanoseconds of computation, a
collective and its bytes, and last the nanoseconds of the update. AICB writes it (aliyun/aicb,
workload_generator/AIOB_simAI_workload_generator.py), SimAI runs it (aliyun/SimAI, astra-sim/workload/Workload.cc and
astra-sim/system/MockNcclGroup.cc) as is done here:

- All ranks compute the same. The forward pass takes the lines in their order, a line's collective before the next line.
  Then the backward pass takes them in reverse: computes the input gradient, waits for its collective, computes the
  weight gradient, and goes on while the collective of that runs, on the stream `gradients`, one after another.
- Bytes are the whole buffer: what AllGather puts out, what ReduceScatter takes in, all blocks of an All-to-All.
- Collectives without suffix are of the tensor-parallel group in the first two phases and of the data-parallel group in
  the third. `_EP` names the expert-parallel group, `_DP_EP` the data-parallel group of experts.
- Axes from the fastest: `tp`, `ep`, `dp`, `pp`; SimAI has tensor- and expert-parallel groups in these places too. Where
  both `ep` and `dp` have more than one rank, a data-parallel group spans both and is a named group `dp-0`, `dp-1`, ...

Differences and omissions:

- With `model_parallel_NPU_group: 1` a collective of the first two phases has nobody to run with. AICB writes no such
  collective there; in workloads of DeepSpeed's ZeRO-3 they gather parameters, and are read as of the data-parallel
  group.
- Pipelines: SimAI estimates them apart from the lines, by `pp`, `vpp`, `ga` and `pp_comm`. Here every rank runs all
  lines, nothing is sent between stages, and `pp` is the slowest axis, of groups that run the same at once.
- The update's nanoseconds, which SimAI adds to the time of the weight gradient's collective: no computation waits for
  them.
- The next pass: SimAI lets its first lines wait for these gradients; here the iteration ends when all has ended.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse, shown
from lightloom.formats.workload_options import LEAST_RANKS, MOST_RANKS, Asked, missing

if TYPE_CHECKING:
    from lightloom.formats.source import Source

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"ranks"})
KIND = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
KINDS = re.compile(r"(?:HYBRID_[A-Z_]+|DATA|MODEL|MICRO|DISTRIBUTED_INFERENCE)(?:\s.*)?\r?\n\s*\d+\s")
NUMBER = re.compile(r"\d{1,18}")
COLLECTIVES = {
    "ALLREDUCE": "all-reduce",
    "ALLGATHER": "all-gather",
    "REDUCESCATTER": "reduce-scatter",
    "ALLTOALL": "all-to-all",
}
PHASES = ("forward", "input gradient", "weight gradient")
STREAM = "gradients"
# Columns of a line; most lines; most characters of a line and of its name.
COLUMNS, MOST_LINES, MOST_LINE, MOST_NAME = 12, 200_000, 4096, 200


class Phase(NamedTuple):
    """The work of a line in one phase; the collective is None if the phase has none."""

    compute_ns: int
    collective: str | None
    suffix: str
    size_bytes: int


class Groups(NamedTuple):
    """The axes of the ranks, and the name of the axis or groups of each kind of collective."""

    ranks: int
    mesh: dict[str, int]
    groups: dict[str, list[int]]
    tensor: str | list[str]
    data: str | list[str]


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return KINDS.match(source.text[:MOST_LINE]) is not None


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload. Raises `InputError` that names the line, or the option that is missing."""
    lines = _lines(source.field, source.text)
    kind, header = _header(source.field, lines[0])
    if kind != KIND:
        raise refuse(source.field, f"line 1 has kind {shown(kind)}; it takes {KIND}")
    rows = _rows(source.field, lines)
    suffixes = {phase.suffix for _, row in rows for phase in row if phase.collective}
    groups = _groups(source.field, header, asked, suffixes)
    nodes: list[dict[str, Any]] = []
    last: list[str] = []
    for index, (name, row) in enumerate(rows):
        last = _add(nodes, f"{index}.{name}", 0, row, groups, last)
    for index, (name, row) in reversed(list(enumerate(rows))):
        last = _add(nodes, f"{index}.{name}", 1, row, groups, last)
        last = _add(nodes, f"{index}.{name}", 2, row, groups, last)
    return {
        "schema": "lightloom.workload/1",
        "name": source.path.stem,
        "ranks": groups.ranks,
        "mesh": groups.mesh,
        "groups": groups.groups,
        "nodes": nodes,
    }


def _add(
    nodes: list[dict[str, Any]], label: str, number: int, row: tuple[Phase, ...], groups: Groups, last: list[str]
) -> list[str]:
    """Add a phase of a line that starts after `last`; the nodes that the next one starts after."""
    phase = row[number]
    name = f"{label} {PHASES[number]}"
    if phase.compute_ns:
        nodes.append({"id": name, "kind": "compute", "duration_s": phase.compute_ns / 1e9, "after": last})
        last = [name]
    where = _where(number, phase, groups)
    if where is None:
        return last
    node = {
        "id": f"{name} {phase.collective}",
        "kind": "collective",
        "collective": phase.collective,
        **where,
        "size_bytes": phase.size_bytes,
        "after": last,
    }
    nodes.append(node)
    if number < 2:
        return [node["id"]]
    node["stream"] = STREAM
    return last


def _where(number: int, phase: Phase, groups: Groups) -> dict[str, Any] | None:
    """The axis or groups of a phase's collective, None where it moves nothing."""
    if phase.collective is None or not phase.size_bytes:
        return None
    name = {"_EP": "ep", "_DP_EP": "dp"}.get(phase.suffix) or (groups.data if number == 2 else groups.tensor)
    if isinstance(name, list):
        return {"group": name}
    return {"axis": name} if name in groups.mesh else None


def _lines(field: str, text: str) -> list[str]:
    if text.count("\n") > 2 * MOST_LINES:
        raise refuse(field, f"it has more than {2 * MOST_LINES} lines; at most {MOST_LINES} of a model are read")
    lines = text.split("\n")
    longer = next((number for number, line in enumerate(lines, start=1) if len(line) > MOST_LINE), None)
    if longer is not None:
        raise refuse(field, f"line {longer} is longer than {MOST_LINE} characters")
    return lines


def _header(field: str, line: str) -> tuple[str, dict[str, int]]:
    """The kind of parallelism, and the numbers by their names."""
    kind, *words = line.split()
    found: dict[str, int] = {}
    for name, value in pairwise(words):
        key = name.removesuffix(":")
        if key in {"model_parallel_NPU_group", "ep", "pp", "all_gpus", "checkpoints", "checkpoint_initiates"}:
            if NUMBER.fullmatch(value) is None:
                raise refuse(field, f"line 1 has {key} `{shown(value)}`; it takes a whole number")
            found[key] = int(value)
    for key in ("checkpoints", "checkpoint_initiates"):
        if found.get(key):
            raise refuse(
                field,
                f"line 1 has {key}: {found[key]}; it takes 0, since iterations that compute layers twice are not read",
            )
    return kind, found


def _rows(field: str, lines: list[str]) -> list[tuple[str, tuple[Phase, ...]]]:
    stated = lines[1].strip() if len(lines) > 1 else ""
    if NUMBER.fullmatch(stated) is None or not 1 <= int(stated) <= MOST_LINES:
        raise refuse(field, f"line 2 is `{shown(stated)}`; it takes the number of lines that follow, 1 to {MOST_LINES}")
    rows = [
        _row(f"{field}.line[{number}]", line.split()) for number, line in enumerate(lines[2:], start=3) if line.strip()
    ]
    if len(rows) != int(stated):
        raise refuse(field, f"line 2 says that {int(stated)} lines follow; {len(rows)} do")
    return rows


def _row(field: str, words: list[str]) -> tuple[str, tuple[Phase, ...]]:
    if len(words) != COLUMNS:
        raise refuse(field, f"it has {len(words)} columns; it takes {COLUMNS}")
    if len(words[0]) > MOST_NAME:
        raise refuse(field, f"its name is longer than {MOST_NAME} characters")
    phases = []
    for compute, name, size in (words[2:5], words[5:8], words[8:11]):
        for value in (compute, size):
            if NUMBER.fullmatch(value) is None:
                raise refuse(field, f"`{shown(value)}` is not accepted; it takes a whole number from 0")
        plain = name.removesuffix("_EP").removesuffix("_DP")
        suffix = name[len(plain) :]
        if (plain not in COLLECTIVES and name != "NONE") or suffix == "_DP":
            known = ", ".join((*COLLECTIVES, "NONE"))
            raise refuse(
                field,
                f"`{shown(name)}` is not a collective; it takes {known}, with or without the suffix _EP or _DP_EP",
            )
        phases.append(Phase(int(compute), COLLECTIVES.get(plain), suffix, int(size)))
    return words[0], tuple(phases)


def _groups(field: str, header: dict[str, int], asked: Asked, suffixes: set[str]) -> Groups:
    """The axes, of as many ranks as the header says or the option; those of one rank are left out."""
    ranks = header.get("all_gpus", asked.ranks)
    if ranks is None:
        raise missing("ranks", "line 1 has no all_gpus", f"a whole number from {LEAST_RANKS} to {MOST_RANKS}")
    if asked.ranks is not None and asked.ranks != ranks:
        raise refuse(
            "ranks",
            f"{asked.ranks} differs from the number of ranks in line 1, all_gpus: {ranks}; leave the option out",
        )
    sizes = [header.get(key, 1) for key in ("model_parallel_NPU_group", "ep", "pp")]
    product = sizes[0] * sizes[1] * sizes[2]
    if not 1 <= ranks <= MOST_RANKS or product < 1 or ranks % product:
        stated = "model_parallel_NPU_group {} × ep {} × pp {}".format(*sizes)
        raise refuse(field, f"{ranks} ranks do not divide into {stated}; it takes a multiple, at most {MOST_RANKS}")
    if suffixes - {""} and "ep" not in header:
        raise refuse(
            field, "line 1 has no `ep`, the size of expert-parallel groups, and collectives run in such groups"
        )
    tensor, experts, stages = sizes
    if suffixes <= {""}:
        experts = 1  # no collective tells experts from the rest of the data-parallel group
    copies = ranks // (tensor * experts * stages)
    mesh = {axis: size for axis, size in {"tp": tensor, "ep": experts, "dp": copies, "pp": stages}.items() if size > 1}
    named: dict[str, list[int]] = {}
    if experts > 1 and copies > 1:
        width = tensor * experts * copies
        bases = [stage * width + rank for stage in range(stages) for rank in range(tensor)]
        named = {f"dp-{index}": list(range(base, base + width, tensor)) for index, base in enumerate(bases)}
    data: str | list[str] = list(named) if named else "ep" if experts > 1 else "dp"
    return Groups(ranks, mesh, named, "tp" if tensor > 1 else data, data)
