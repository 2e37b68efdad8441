"""RCCL: a folder of MSCCL programs within the limits of its interpreter, each for the sizes at which it is the fastest.

`algorithms/` has the programs and nothing else: at its start RCCL reads every file of the folder that `MSCCL_ALGO_DIR`
names, and does not start where one is no program. For a call it takes the first program of the collective and the
number of GPUs whose sizes the call is of, in the order of the directory (ROCm/rccl, src/misc/msccl/msccl_lifecycle.cc):
sizes of programs must not overlap. `circuits/` has a side file for each. MSCCL, whose limits are wider, takes up to
four of the programs by the list `MSCCL_XML_FILES`, with colons between them (microsoft/msccl, src/graph/topo.cc).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.formats.msccl_xml.program import Program
from lightloom.formats.msccl_xml.runtimes import RCCL
from lightloom.formats.msccl_xml.write import beyond, xml
from lightloom.formats.output import OUTPUT_NAME, Exported
from lightloom.formats.side_files import side_file
from lightloom.formats.size_range import ALL_SIZES, SizeRange, ranges_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.plans import Plan

__all__ = ["export"]

PROGRAMS, CIRCUITS = "algorithms", "circuits"
# Programs that MSCCL takes (microsoft/msccl, MSCCL_MAX_NUM_ALGOS).
MSCCL_PROGRAMS = 4


def export(plans: Sequence[Plan], sizes: SizeRange | None = None) -> Exported:
    """The programs of plans of different collectives or sizes; one for neighbours in size that send the same.

    sizes: as for `ranges_of`. Raises `InputError` that names `plan` where a program is beyond the limits of RCCL, where
    two plans are of one collective and size, or a plan cannot be an MSCCL program; and `sizes` as `ranges_of` does.
    """
    files: dict[str, bytes] = {}
    notes: list[str] = []
    for name, group in _by_name(plans).items():
        files |= _files(name, group, ranges_of(group, sizes), notes)
    environment = f"MSCCL_ALGO_DIR={OUTPUT_NAME}/{PROGRAMS}"
    notes.insert(0, f"run with {environment}, and RCCL_MSCCL_FORCE_ENABLE=1 where the GPUs are not MI300X")
    programs = [f"{OUTPUT_NAME}/{name}" for name in files if name.startswith(PROGRAMS)]
    listed = ":".join(programs[:MSCCL_PROGRAMS])
    others = f"; MSCCL takes {MSCCL_PROGRAMS} of the {len(programs)}" if len(programs) > MSCCL_PROGRAMS else ""
    notes.append(f"on MSCCL: NCCL_ALGO=MSCCL,RING,TREE MSCCL_XML_FILES={listed}{others}")
    circuits = [name for name in files if name.startswith(CIRCUITS)]
    return Exported(files, circuits[0] if len(circuits) == 1 else CIRCUITS, tuple(notes))


def _by_name(plans: Sequence[Plan]) -> dict[str, list[Plan]]:
    """The plans by what their programs are called, by size."""
    found: dict[str, list[Plan]] = {}
    for plan in sorted(plans, key=lambda plan: plan.size_bytes):
        group = found.setdefault(f"{plan.collective}-{plan.gpus}", [])
        if group and group[-1].size_bytes == plan.size_bytes:
            what = f"{plan.collective} on {plan.gpus} GPUs of {plan.size_bytes} B"
            raise refuse("plan", f"two plans are for {what}; give only one per collective and size")
        group.append(plan)
    return found


def _files(name: str, plans: list[Plan], ranges: list[SizeRange], notes: list[str]) -> dict[str, bytes]:
    """The files of plans of one collective, and notes on them."""
    made: list[tuple[tuple[object, ...], Program, SizeRange]] = []
    for plan, sizes in zip(plans, ranges, strict=True):
        program = _program(plan)
        circuits = [plan.topologies[step.topology_index].links.tolist() for step in plan.steps]
        key = xml(program, ALL_SIZES), circuits
        if made and made[-1][0] == key:
            made[-1] = (key, made[-1][1], SizeRange(made[-1][2].first_bytes, sizes.last_bytes))
        else:
            made.append((key, program, sizes))
    files: dict[str, bytes] = {}
    for _, program, sizes in made:
        stem = f"{name}-{sizes.first_bytes}-{sizes.last_bytes}" if sizes != ALL_SIZES else name
        files[f"{PROGRAMS}/{stem}.xml"] = xml(program, sizes).encode()
        files[f"{CIRCUITS}/{stem}.json"] = side_file(program.plan, "rccl")
    buffers = made[0][1].buffers
    where = "in place (one buffer)" if buffers.is_in_place else "out of place (two buffers)"
    chunks = sorted({program.buffers.per_buffer for _, program, _ in made})
    counts = ", ".join(map(str, chunks))
    only = f", where the number of elements is a multiple of {counts}" if chunks != [1] else ""
    whole = SizeRange(ranges[0].first_bytes, ranges[-1].last_bytes)
    notes.append(f"{name}: taken for {whole}, {where}{only}")
    if whole == ALL_SIZES:
        size = f"{plans[0].size_bytes} B"
        notes.append(
            f"{name}: the plan is for {size}; --sizes, or plans of other sizes, set the sizes for which it is taken"
        )
    if plans[0].collective == "broadcast":
        notes.append(f"{name}: RCCL ignores the root of a call; this program is for root {buffers.root}")
    return files


def _program(plan: Plan) -> Program:
    program = Program(plan, RCCL)
    limits = beyond(program)
    if limits:
        raise refuse("plan", f"{'; '.join(limits)}; plan with another algorithm, such as one with fewer peers or steps")
    return program
