"""The formats of other tools: which are written, which are read, and what each cannot say.

The registry, and the only list of them. A format is a file in `exports/` with a function `export`, which makes its
files of a plan (`lightloom.exports.exported`), a file in `inputs/schedules/` with functions `recognises` and `read`,
which make a schedule or a sequence of topologies of its text, a file in `inputs/workloads/` with such functions, which
make a workload of it, or several of these; and its line here. Nothing is imported before it is needed.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FILE", "FOLDER", "FORMATS", "SIDE_SCHEMA", "Format"]

FILE, FOLDER = "file", "folder"
# Of the side files of exports.
SIDE_SCHEMA = "lightloom.exported-circuits/1"


class Format(NamedTuple):
    """A format of another tool.

    written: whether it is a `"file"` or a `"folder"`; empty where it is not written. read: what is made of it, a
    `"schedule"` or a `"sequence"` of topologies; empty where it is not read. cannot_say: what of a plan has no place in
    it. writer, reader: modules. takes: options of `export` that the writer takes. takes_several: whether several plans
    are written together. follows_links: whether each of its transfers crosses one link of the topology that it
    was made for. workload_reader: the module that reads workloads, empty where none are read.
    """

    name: str
    summary: str
    source: str
    cannot_say: str
    written: str = ""
    writer: str = ""
    takes: tuple[str, ...] = ()
    takes_several: bool = False
    read: str = ""
    reader: str = ""
    follows_links: bool = False
    workload_reader: str = ""

    @property
    def made_of_it(self) -> str:
        """What it is read as, for people."""
        made = [*([self.read] if self.read else []), *(["workload"] if self.workload_reader else [])]
        return " or ".join(f"as a {one}" for one in made) or "no"


FORMATS = (
    Format(
        "msccl-xml",
        "MSCCL's programs of thread blocks",
        "microsoft/msccl-tools, msccl/language/ir.py",
        "circuits, reconfigurations, barriers between steps, routes, times",
        written=FILE,
        writer="lightloom.exports.msccl_xml",
        takes=("sizes",),
        read="schedule",
        reader="lightloom.inputs.schedules.msccl",
    ),
    Format(
        "rccl",
        "MSCCL programs within the limits of RCCL, each for the sizes at which its plan is the fastest",
        "ROCm/rccl, src/misc/msccl/msccl_parser.cc and src/include/msccl",
        "circuits, reconfigurations, barriers between steps, routes, times",
        written=FOLDER,
        writer="lightloom.exports.rccl",
        takes=("sizes",),
        takes_several=True,
    ),
    Format(
        "mscclpp",
        "MSCCL++ execution plans",
        "microsoft/mscclpp, src/core/executor/execution_plan.cc",
        "circuits, reconfigurations, barriers between GPUs, routes, times",
        written=FILE,
        writer="lightloom.exports.mscclpp",
        takes=("sizes", "gpus_per_host"),
    ),
    Format(
        "teccl",
        "TE-CCL's schedules, flows by epoch",
        "microsoft/TE-CCL, schedule_output_file",
        "",
        read="schedule",
        reader="lightloom.inputs.schedules.teccl",
        follows_links=True,
    ),
    Format(
        "harvest",
        "HARVEST's collective.json and schedule.json, nanoseconds",
        "HARVEST's formats of collectives and schedules",
        "which chunks are sent, whether they are added, routes, terms of a step's time",
        written=FOLDER,
        writer="lightloom.exports.harvest",
        read="schedule",
        reader="lightloom.inputs.schedules.harvest",
    ),
    Format(
        "harvest-schedule",
        "HARVEST's schedule.json alone: the topology of every step and its stated cost; --sequence takes it",
        "HARVEST's formats of collectives and schedules",
        "what is sent, the number of GPUs, bandwidth, startup and hop delays",
        read="sequence",
        reader="lightloom.inputs.schedules.harvest_topologies",
    ),
    Format(
        "chakra",
        "Chakra execution traces, NAME.RANK.et for every rank: a send and a receive for every hop",
        "mlcommons/chakra, schema/protobuf/et_def.proto",
        "topologies and when they change, startup and hop delays",
        written=FOLDER,
        writer="lightloom.exports.chakra",
        read="schedule",
        reader="lightloom.inputs.schedules.chakra",
        workload_reader="lightloom.inputs.workloads.chakra",
    ),
    Format(
        "astra-sim",
        "ASTRA-sim's network, system and workload, with Chakra traces as the collective's algorithm",
        "astra-sim/astra-sim, examples; astra-sim/astra-network-analytical, common/network-parser",
        "when topologies change and what that takes, startup delays",
        written=FOLDER,
        writer="lightloom.exports.astra_sim",
        read="schedule",
        reader="lightloom.inputs.schedules.chakra",
    ),
    Format(
        "htsim",
        "htsim's connection matrix, .cm: flows and the triggers that start them",
        "Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp",
        "which chunks are sent, topologies and when they change, routes, delays",
        written=FILE,
        writer="lightloom.exports.htsim",
        read="schedule",
        reader="lightloom.inputs.schedules.htsim",
    ),
    Format(
        "graphml",
        "a GraphML graph for every topology; --topology FILE.graphml reads one",
        "NetworkX, readwrite.graphml",
        "steps, what is sent, routes and delays",
        written=FOLDER,
        writer="lightloom.exports.graphml",
    ),
    Format(
        "aicb",
        "AICB's and SimAI's text: computation and collectives of training, line by line",
        "aliyun/aicb, workload_generator; aliyun/SimAI, astra-sim/workload/Workload.cc",
        "",
        workload_reader="lightloom.inputs.workloads.aicb",
    ),
    Format(
        "topoopt",
        "TopoOpt's task graphs, .fbuf: computation, AllReduces and messages of training",
        "hipersys-team/TopoOpt, FlatBufTaskGraph",
        "",
        workload_reader="lightloom.inputs.workloads.topoopt",
    ),
)


def written_formats() -> dict[str, Format]:
    """Formats that plans are exported to, by name."""
    return {one.name: one for one in FORMATS if one.written}


def readable_schedules() -> tuple[Format, ...]:
    """Formats that schedules are read from, in the order in which they are tried."""
    return tuple(one for one in FORMATS if one.read == "schedule")


def format_rows() -> list[dict[str, str]]:
    """What `lightloom list formats` shows."""
    return [
        {
            "name": one.name,
            "written": one.written or "no",
            "read": one.made_of_it,
            "summary": one.summary,
            "cannot say": one.cannot_say,
            "source": one.source,
        }
        for one in FORMATS
    ]
