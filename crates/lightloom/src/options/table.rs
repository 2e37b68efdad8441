//! The table of planning options: one row for each, from which every way to say them derives.
//!
//! The command line, keys of fabric files and sweeps, Python's keyword arguments, the page's form, the library for C
//! and the reference pages all come from these rows. Options that are no part of a request, such as where a verb writes
//! its output, are rows of Python's own in `python/lightloom/inputs/options/`.

use super::option::{Kind, Part, PlanningOption};

/// The row of an option.
pub fn find(name: &str) -> Option<&'static PlanningOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

const PLANNING: &[&str] = &["plan", "compare", "bound"];
const ON_FABRIC: &[&str] = &["plan", "compare", "bound", "train", "jobs", "robust"];
const OF_COLLECTIVES: &[&str] = &["plan", "compare", "bound", "robust"];

/// The defaults of a row.
const OPEN: PlanningOption = PlanningOption {
    name: "",
    kind: Kind::Name,
    part: Part::Setting,
    group: "",
    meaning: "",
    verbs: PLANNING,
    default: None,
    otherwise: "",
    names: "",
    others: &[],
    metavar: "",
    example: "",
    python: "",
};

/// Every planning option, in the order in which they are shown.
pub const OPTIONS: &[PlanningOption] = &[
    PlanningOption {
        name: "collective",
        kind: Kind::Name,
        part: Part::Argument,
        group: "Problem",
        meaning: "Collective to plan: all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, \
            reduce, gather or scatter.",
        names: "collectives",
        example: "all-reduce",
        ..OPEN
    },
    PlanningOption {
        name: "size",
        kind: Kind::Size,
        part: Part::Argument,
        group: "Problem",
        meaning: "Size of one rank's whole buffer, such as 64MiB or 1KB; for all-to-all also of the block of every \
            pair, \
            such as 32MiB/pair.",
        example: "64MiB",
        python: "bytes",
        ..OPEN
    },
    PlanningOption {
        name: "fabric",
        kind: Kind::Fabric,
        part: Part::Argument,
        group: "Fabric",
        meaning: "Fabric: a TOML file, or one of `lightloom list fabrics`; the options below override it.",
        verbs: ON_FABRIC,
        default: Some("default"),
        names: "fabrics",
        python: "a Fabric",
        ..OPEN
    },
    PlanningOption {
        name: "gpus",
        kind: Kind::Whole,
        part: Part::Fabric,
        group: "Problem",
        meaning: "Number of GPUs.",
        otherwise: "the number that dims, matrix, schedule or fabric gives",
        example: "64",
        verbs: OF_COLLECTIVES,
        ..OPEN
    },
    PlanningOption {
        name: "dims",
        kind: Kind::Dims,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Grid of the GPUs, such as 4x4x4; ranks count along the last dimension first.",
        otherwise: "one dimension",
        python: "a list of whole numbers",
        verbs: OF_COLLECTIVES,
        ..OPEN
    },
    PlanningOption {
        name: "ports",
        kind: Kind::Whole,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Ports of one GPU: circuits out of it, and as many into it.",
        verbs: ON_FABRIC,
        default: Some("1"),
        ..OPEN
    },
    PlanningOption {
        name: "bandwidth",
        kind: Kind::Rate,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Rate of one circuit.",
        verbs: ON_FABRIC,
        default: Some("800Gbps"),
        python: "bit/s",
        ..OPEN
    },
    PlanningOption {
        name: "startup",
        kind: Kind::Time,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Startup latency of a step.",
        verbs: ON_FABRIC,
        default: Some("500ns"),
        python: "seconds",
        ..OPEN
    },
    PlanningOption {
        name: "barrier",
        kind: Kind::Barrier,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Time that a barrier of all GPUs before a step takes: 5us; harvest (as HARVEST measured it on 2 to \
            256 GPUs); by number of GPUs, 8=4us,64=20us; or the JSON file of `run --barriers`, with the barrier's name \
            where it has several: costs.json:flags.",
        default: Some("0s"),
        python: "seconds",
        ..OPEN
    },
    PlanningOption {
        name: "hop_delay",
        kind: Kind::Time,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Delay of one hop.",
        verbs: ON_FABRIC,
        default: Some("500ns"),
        python: "seconds",
        ..OPEN
    },
    PlanningOption {
        name: "reconfiguration_delay",
        kind: Kind::Delay,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Time for which circuits are dark when the topology changes: 10us, 20ns/port, 5us+20ns/port, one of \
            `lightloom list technologies`, these with the time of each of ceil(log2 n) rounds in which the GPUs signal \
            to each other that they are ready (tunable-laser+500ns/round), or a list with the delay of every port, each on a switch of its own: \
            10us,10us,3ms,3ms.",
        verbs: OF_COLLECTIVES,
        default: Some("10us"),
        names: "technologies",
        python: "seconds, a list by port",
        ..OPEN
    },
    PlanningOption {
        name: "initial",
        kind: Kind::Topology,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Topology before the first step: free (the first topology is not charged), repeated (that of the last \
            step: the plan runs again and again, and every change is charged), the name of a topology, or a file.",
        otherwise: "free, or what the convention has",
        python: "a graph or a Topology",
        verbs: OF_COLLECTIVES,
        ..OPEN
    },
    PlanningOption {
        name: "optics",
        kind: Kind::Optics,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Optical switches that limit the topologies: islands:4x2 (4 GPUs behind 2 ports), mesh:16x16 (MZIs, \
            through which every circuit needs a path), or a TOML file; see `lightloom list \
            optics`.",
        otherwise: "any topology that fits the ports",
        names: "optics",
        python: "Optics",
        verbs: ON_FABRIC,
        ..OPEN
    },
    PlanningOption {
        name: "failed",
        kind: Kind::Text,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Parts that do not work, with commas between them, numbers from 0: gpu:3 (it takes no part), port:5.1 \
            (the transmitter of port 1 of GPU 5), receiver:6.0, link:0-7 (no circuit between the two, either way), \
            link:0>7 (one way), switch:1 (port 1 of every GPU).",
        otherwise: "everything works",
        metavar: "LIST",
        python: "a list of texts",
        ..OPEN
    },
    PlanningOption {
        name: "electrical",
        kind: Kind::Text,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Electrical switches inside islands of GPUs, next to the ports: GPUs of an island, rate of a GPU inside \
            it and delay of a hop, such as 8:3600Gbps:100ns. Planner auto uses both tiers, planners named use circuits \
            alone.",
        otherwise: "all data goes over circuits",
        verbs: &["plan", "bound"],
        ..OPEN
    },
    PlanningOption {
        name: "background_reconfiguration",
        kind: Kind::YesOrNo,
        part: Part::Fabric,
        group: "Expert",
        meaning: "Every port is on a switch of its own: a port that is idle during a step is reconfigured during that \
            step.",
        default: Some("false"),
        ..OPEN
    },
    PlanningOption {
        name: "window",
        kind: Kind::Window,
        part: Part::Fabric,
        group: "Expert",
        meaning: "Time of computation before a step, which hides a reconfiguration: 20us for every step; \
            1=20us,5=3us for steps 1 and 5.",
        otherwise: "none",
        python: "seconds",
        verbs: OF_COLLECTIVES,
        ..OPEN
    },
    PlanningOption {
        name: "ranks",
        kind: Kind::Text,
        part: Part::Setting,
        group: "Problem",
        meaning: "GPUs of the fabric that take part, in the order of ranks: 0-15,32-47. They may use all of their \
            ports; circuits between other GPUs stay.",
        otherwise: "all GPUs",
        metavar: "LIST",
        python: "a list of whole numbers",
        ..OPEN
    },
    PlanningOption {
        name: "others_forward",
        kind: Kind::YesOrNo,
        part: Part::Setting,
        group: "Expert",
        meaning: "With ranks and an initial topology: GPUs that do not take part forward, over the circuits that they \
            have at the start. Planners harvest, static, never-change and weave, up to 64 GPUs.",
        default: Some("false"),
        verbs: &["plan"],
        ..OPEN
    },
    PlanningOption {
        name: "root",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Problem",
        meaning: "Broadcast, scatter: the rank that all is sent from; reduce, gather: the rank that it comes to.",
        otherwise: "0",
        metavar: "RANK",
        ..OPEN
    },
    PlanningOption {
        name: "matrix",
        kind: Kind::Matrix,
        part: Part::Setting,
        group: "Problem",
        meaning: "All-to-All: matrix of bytes, row = source, column = destination, a CSV, NPY or Parquet file; or one \
            of `lightloom list workloads`, such as zipf:0.4. The size given with a matrix is that of the busiest GPU's \
            buffer, or with /pair the mean over all pairs.",
        names: "workloads",
        python: "an array",
        ..OPEN
    },
    PlanningOption {
        name: "schedule",
        kind: Kind::File,
        part: Part::Setting,
        group: "Problem",
        meaning: "Schedule whose steps are planned, in place of an algorithm: a file of MSCCL XML, or of another format \
            that is read (`lightloom list formats`).",
        python: "a Schedule",
        ..OPEN
    },
    PlanningOption {
        name: "algorithm",
        kind: Kind::Name,
        part: Part::Setting,
        group: "Planner",
        meaning: "Algorithm: one of `lightloom list algorithms`, or auto, the fastest.",
        default: Some("auto"),
        names: "algorithms",
        others: &["auto"],
        ..OPEN
    },
    PlanningOption {
        name: "planner",
        kind: Kind::Name,
        part: Part::Setting,
        group: "Planner",
        meaning: "Planner: one of `lightloom list planners`; auto, the fastest of all; or auto-given, the fastest of \
            those that are given an algorithm.",
        default: Some("auto"),
        names: "planners",
        others: &["auto", "auto-given"],
        ..OPEN
    },
    PlanningOption {
        name: "candidates",
        kind: Kind::Topologies,
        part: Part::Setting,
        group: "Planner",
        meaning: "Topologies that the planner may use: names of `lightloom list candidates` or `lightloom list \
            topologies`, or files.",
        otherwise: "all families",
        python: "a graph, a Topology, or a list of any of these",
        ..OPEN
    },
    PlanningOption {
        name: "topology",
        kind: Kind::Topologies,
        part: Part::Setting,
        group: "Planner",
        meaning: "Topologies of which the static planner takes the best: names of `lightloom list topologies`, or files \
            (.edgelist, .csv and .txt with `src dst [count]` in every line, .graphml).",
        otherwise: "static-baselines",
        python: "a graph, a Topology, or a list of any of these",
        ..OPEN
    },
    PlanningOption {
        name: "routing",
        kind: Kind::Name,
        part: Part::Setting,
        group: "Expert",
        meaning: "How traffic is put on paths: one of `lightloom list routings`.",
        otherwise: "concurrent-flow",
        names: "routings",
        ..OPEN
    },
    PlanningOption {
        name: "convention",
        kind: Kind::Name,
        part: Part::Setting,
        group: "Expert",
        meaning: "A paper's routing and initial topology where none are given: one of `lightloom list conventions`.",
        otherwise: "harvest, or that of the planner's name",
        names: "conventions",
        ..OPEN
    },
    PlanningOption {
        name: "overlap",
        kind: Kind::Name,
        part: Part::Setting,
        group: "Expert",
        meaning: "Whether the hop delays of a step add to its transmission time, or overlap with it: one of `lightloom \
            list overlaps`.",
        otherwise: "additive",
        names: "overlaps",
        ..OPEN
    },
    PlanningOption {
        name: "radix",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Expert",
        meaning: "Radix (base) of the algorithms that have one.",
        otherwise: "2",
        metavar: "R",
        ..OPEN
    },
    PlanningOption {
        name: "aggregation",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Expert",
        meaning: "Blocks that one message of the algorithm pat joins at most, a power of two.",
        otherwise: "half of the GPUs, up to a power of two",
        metavar: "A",
        ..OPEN
    },
    PlanningOption {
        name: "chunk_size",
        kind: Kind::Size,
        part: Part::Setting,
        group: "Expert",
        meaning: "Size of the chunks in which All-to-All planners forward blocks, such as 4MB.",
        otherwise: "whole blocks",
        python: "bytes",
        ..OPEN
    },
    PlanningOption {
        name: "optical_ports",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Expert",
        meaning: "Planner bridge: optical ports of the whole fabric, counting both directions, if fewer than two \
            per GPU.",
        otherwise: "two per GPU",
        ..OPEN
    },
    PlanningOption {
        name: "seed",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Expert",
        meaning: "Seed of everything random.",
        default: Some("0"),
        ..OPEN
    },
    PlanningOption {
        name: "budget",
        kind: Kind::Time,
        part: Part::Plan,
        group: "Expert",
        meaning: "Time limit: of planner weave's local search, which is off by default and for plans of up to 32 steps \
            routed by concurrent flow, and of its search for unequal All-to-Alls among 48 GPUs and more, which else \
            ends by itself; or of planner exact's proof, 60s by default.",
        verbs: &["plan"],
        ..OPEN
    },
];
