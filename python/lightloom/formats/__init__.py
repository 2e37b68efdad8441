"""The formats of other tools: which are written, which are read, and facts that each cannot express.

The registry, and the only list of them. A format is a folder here, named after it, with some of three modules, and its
line below. `write` has a function `export`, which makes its files of a plan (`lightloom.formats.output`). `read` has
functions `recognises` and `read`, which make a schedule or a sequence of topologies of its text; `workload` has such
functions, which make a workload of it. Nothing is imported before it is needed.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FILE", "FOLDER", "FORMATS", "SIDE_SCHEMA", "Format"]

FILE, FOLDER = "file", "folder"
# Schema of the side files of exports.
SIDE_SCHEMA = "lightloom.exported-circuits/1"


class Format(NamedTuple):
    """A format of another tool.

    written: whether it is a `"file"` or a `"folder"`; empty where it is not written. read: the result of reading it, a
    `"schedule"` or a `"sequence"` of topologies; empty where it is not read. workload: whether workloads are read.
    cannot_say: facts of a plan that have no place in it. takes: options of `export` that the writer takes.
    takes_several: whether several plans are written together. follows_links: whether each of its transfers crosses one
    link of the topology that it was made for. writes_paths: whether the circuits that a transfer crosses are written.
    one_rate: of what all must have one rate, `"ports"` and `"pairs"` of GPUs; others are refused.
    """

    name: str
    summary: str
    source: str
    cannot_say: str
    written: str = ""
    takes: tuple[str, ...] = ()
    takes_several: bool = False
    read: str = ""
    follows_links: bool = False
    writes_paths: bool = False
    one_rate: tuple[str, ...] = ()
    workload: bool = False

    @property
    def writer(self) -> str:
        """The module that writes it; empty where it is not written."""
        return self._module("write") if self.written else ""

    @property
    def reader(self) -> str:
        """The module that reads schedules or sequences of it; empty where it is not read."""
        return self._module("read") if self.read else ""

    @property
    def workload_reader(self) -> str:
        """The module that reads workloads in this format; empty if there is no such reader."""
        return self._module("workload") if self.workload else ""

    def _module(self, name: str) -> str:
        return f"{__name__}.{self.name.replace('-', '_')}.{name}"

    @property
    def made_of_it(self) -> str:
        """The kinds of things that it is read as, in words."""
        made = [*([self.read] if self.read else []), *(["workload"] if self.workload else [])]
        return " or ".join(f"as a {one}" for one in made) or "no"


FORMATS = (
    Format(
        "msccl-xml",
        "MSCCL's programs of thread blocks",
        "microsoft/msccl-tools, msccl/language/ir.py",
        "circuits, reconfigurations, barriers between steps, routes, times",
        written=FILE,
        takes=("sizes",),
        read="schedule",
    ),
    Format(
        "rccl",
        "MSCCL programs within the limits of RCCL, each for the sizes at which its plan is the fastest",
        "ROCm/rccl, src/misc/msccl/msccl_parser.cc and src/include/msccl",
        "circuits, reconfigurations, barriers between steps, routes, times",
        written=FOLDER,
        takes=("sizes",),
        takes_several=True,
    ),
    Format(
        "mscclpp",
        "MSCCL++ execution plans",
        "microsoft/mscclpp, src/core/executor/execution_plan.cc",
        "circuits, reconfigurations, barriers between GPUs, routes, times",
        written=FILE,
        takes=("sizes", "gpus_per_host"),
    ),
    Format(
        "nccl-tuner",
        "a table for Lightloom's tuner plugin of NCCL: times of NCCL's own algorithms on the plan's topologies",
        "NVIDIA/nccl, src/include/plugin/tuner/tuner_v5.h",
        "steps, what is sent, routes, when circuits change",
        written=FILE,
        takes_several=True,
        writes_paths=True,
        one_rate=("ports", "pairs"),
    ),
    Format(
        "teccl",
        "TE-CCL's schedules, flows by epoch",
        "microsoft/TE-CCL, schedule_output_file",
        "",
        read="schedule",
        follows_links=True,
    ),
    Format(
        "harvest",
        "HARVEST's collective.json and schedule.json, nanoseconds",
        "HARVEST's formats of collectives and schedules",
        "which chunks are sent, whether they are added, routes, terms of a step's time",
        written=FOLDER,
        read="schedule",
    ),
    Format(
        "harvest-schedule",
        "only HARVEST's schedule.json: the topology of every step and its stated cost; --sequence takes it",
        "HARVEST's formats of collectives and schedules",
        "what is sent, the number of GPUs, bandwidth, startup and hop delays",
        read="sequence",
    ),
    Format(
        "chakra",
        "Chakra execution traces, NAME.RANK.et for every rank: a send and a receive for every hop",
        "mlcommons/chakra, schema/protobuf/et_def.proto",
        "topologies and when they change, startup and hop delays",
        written=FOLDER,
        writes_paths=True,
        read="schedule",
        workload=True,
    ),
    Format(
        "astra-sim",
        "ASTRA-sim's network, system and workload, with Chakra traces as the collective's algorithm",
        "astra-sim/astra-sim, examples; astra-sim/astra-network-analytical, common/network-parser",
        "times and delays of reconfigurations, startup delays",
        written=FOLDER,
        writes_paths=True,
        read="schedule",
    ),
    Format(
        "htsim",
        "htsim's connection matrix, .cm: flows and the triggers that start them",
        "Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp",
        "which chunks are sent, topologies and when they change, routes, delays",
        written=FILE,
        writes_paths=True,
        one_rate=("pairs",),
        read="schedule",
    ),
    Format(
        "openoptics",
        "OpenOptics' circuits by time slice, a slice for a step, as JSON for BaseNetwork.connect",
        "mpi-ncs/openoptics, openoptics/Toolbox.py",
        "what is sent, routes, how long each step takes, delays of reconfigurations",
        written=FILE,
        writes_paths=True,
        one_rate=("ports", "pairs"),
    ),
    Format(
        "graphml",
        "a GraphML graph for every topology; --topology FILE.graphml reads one",
        "NetworkX, readwrite.graphml",
        "steps, what is sent, routes and delays",
        written=FOLDER,
        writes_paths=True,
    ),
    Format(
        "kineto",
        "PyTorch's profiles, .json or .json.gz for every rank: kernels and collectives of GPUs with their times",
        "pytorch/kineto, libkineto/src/output_json.cpp; PyTorch, torch/csrc/distributed/c10d/ParamCommsUtils.hpp",
        "",
        workload=True,
    ),
    Format(
        "nccl-log",
        "NCCL's debug log, NCCL_DEBUG=INFO: the collectives and messages that each rank called, without times",
        "NVIDIA/nccl, src/enqueue.cc and src/init.cc",
        "",
        workload=True,
    ),
    Format(
        "aicb",
        "AICB's and SimAI's text: computation and collectives of training, line by line",
        "aliyun/aicb, workload_generator; aliyun/SimAI, astra-sim/workload/Workload.cc",
        "",
        workload=True,
    ),
    Format(
        "topoopt",
        "TopoOpt's task graphs, .fbuf: computation, AllReduces and messages of training",
        "hipersys-team/TopoOpt, FlatBufTaskGraph",
        "",
        workload=True,
    ),
)


def written_formats() -> dict[str, Format]:
    """Formats that plans are exported to, by name."""
    return {one.name: one for one in FORMATS if one.written}


def readable_schedules() -> tuple[Format, ...]:
    """Formats that schedules are read from, in the order in which they are tried."""
    return tuple(one for one in FORMATS if one.read == "schedule")


def format_rows() -> list[dict[str, str]]:
    """Rows of `lightloom list formats`."""
    return [
        {
            "name": one.name,
            "written": one.written or "no",
            "read": one.made_of_it,
            "summary": one.summary,
            "cannot say": one.cannot_say,
            "one rate for all": " and ".join(one.one_rate),
            "source": one.source,
        }
        for one in FORMATS
    ]
