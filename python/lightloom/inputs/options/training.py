"""Options of a training iteration: the arguments of `lightloom.train` other than the workload and the fabric."""

from __future__ import annotations

from lightloom.inputs.options.option import Group, Kind, Option

VERB = ("train",)

TRAINING = (
    Option(
        name="policy",
        kind=Kind.NAME,
        group=Group.PLANNER,
        meaning="The policy for when circuits change, one of `lightloom list policies`; joint, also called carry, "
        "plans all collectives together. The times of all other policies are shown for comparison.",
        verbs=VERB,
        default="carry",
        names="policies",
        metavar="joint|per-collective|pccl|best-fixed-circuits|fixed-tori",
    ),
    Option(
        name="comm_groups",
        kind=Kind.FILE,
        group=Group.PROBLEM,
        meaning="Chakra traces, profiles of PyTorch: JSON file with the list of ranks of every process group, by the "
        "group's name.",
        verbs=VERB,
    ),
    Option(
        name="comm_size",
        kind=Kind.CHOICE,
        group=Group.PROBLEM,
        meaning="Chakra traces: whether sizes are of a rank's input, of its output, or of the whole buffer m.",
        verbs=VERB,
        choices=("input", "output", "buffer"),
    ),
    Option(
        name="element_bytes",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Chakra traces: bytes of an element, where sizes count elements; 1 where they count bytes. Profiles of "
        "PyTorch: bytes of an element whose type they do not state.",
        verbs=VERB,
        most=1 << 20,
    ),
    Option(
        name="time_unit",
        kind=Kind.CHOICE,
        group=Group.PROBLEM,
        meaning="TopoOpt task graphs: the unit of run times.",
        verbs=VERB,
        choices=("us", "ms", "s"),
    ),
    Option(
        name="ranks",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Number of ranks, where a trace is of a single rank or a file does not state it; for a model, which "
        "then gets as many data-parallel replicas as that takes.",
        verbs=VERB,
        least=2,
        most=65536,
    ),
    Option(
        name="profile_step",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Profiles of PyTorch: N of the ProfilerStep#N that is one iteration; by default the last in which the "
        "GPUs of all ranks have work, or the whole profile where it has no steps.",
        verbs=VERB,
        least=0,
        most=999_999_999,
    ),
    Option(
        name="message_sizes",
        kind=Kind.FILE,
        group=Group.PROBLEM,
        meaning="Profiles of PyTorch: JSON file with the list of bytes, of the whole buffer, of each rank's "
        "collectives and messages whose size they do not state, in their order.",
        verbs=VERB,
    ),
    Option(
        name="compute_time",
        kind=Kind.TIME,
        group=Group.PROBLEM,
        meaning="Logs of NCCL, which have no times: how long each rank computes in the iteration, in equal parts, one "
        "before each call.",
        verbs=VERB,
    ),
)

# Options of the fabric as iterations take it: any change takes as long, and there is no start, since they repeat.
RESTING = (
    Option(
        name="reconfiguration_delay",
        kind=Kind.DELAY,
        group=Group.FABRIC,
        meaning="Time for which circuits are dark when the topology changes: 10us, or one of `lightloom list "
        "technologies`. One for every change: iterations are not planned for delays per port or of every port.",
        verbs=("train", "jobs"),
        default="10us",
        names="technologies",
        python="seconds",
    ),
    Option(
        name="initial",
        kind=Kind.TOPOLOGY,
        group=Group.FABRIC,
        meaning="Topology in which every group of ranks rests: policies that plan collectives one by one begin with "
        "it and return to it.",
        verbs=VERB,
        otherwise="ring",
    ),
)
