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
const ON_FABRIC: &[&str] = &["plan", "compare", "bound", "train"];

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
        meaning: "all-reduce, reduce-scatter, all-gather, all-to-all or broadcast.",
        names: "collectives",
        example: "all-reduce",
        ..OPEN
    },
    PlanningOption {
        name: "size",
        kind: Kind::Size,
        part: Part::Argument,
        group: "Problem",
        meaning: "One rank's whole buffer, such as 64MiB or 1KB; 32MiB/pair for all-to-all.",
        example: "64MiB",
        python: "bytes",
        ..OPEN
    },
    PlanningOption {
        name: "fabric",
        kind: Kind::Fabric,
        part: Part::Argument,
        group: "Fabric",
        meaning: "TOML file, or one of `lightloom list fabrics`; the options below override it.",
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
        meaning: "GPUs.",
        otherwise: "the number that dims, matrix, schedule or fabric gives",
        example: "64",
        ..OPEN
    },
    PlanningOption {
        name: "dims",
        kind: Kind::Dims,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Grid of the GPUs, such as 4x4x4; last dimension fastest.",
        otherwise: "one dimension",
        python: "a list of whole numbers",
        ..OPEN
    },
    PlanningOption {
        name: "ports",
        kind: Kind::Whole,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Circuits out of and into one GPU.",
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
        meaning: "Such as 10us, 20ns/port, 5us+20ns/port, one of `lightloom list technologies`, or by port, each on a \
            switch of its own: 10us,10us,3ms,3ms.",
        verbs: ON_FABRIC,
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
        meaning: "Topology before the first step: free (the first is not charged), repeated (that of the last step: \
            the plan runs again and again, every change is charged), a name or a file.",
        otherwise: "free, or what the convention has",
        python: "a graph or a Topology",
        ..OPEN
    },
    PlanningOption {
        name: "optics",
        kind: Kind::Optics,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "What switches there are, where they limit topologies: islands:4x2 (4 GPUs behind 2 ports), \
            mesh:16x16 (MZIs; every circuit needs a way), or a TOML file; see `lightloom list optics`.",
        otherwise: "any topology within the ports",
        names: "optics",
        python: "Optics",
        ..OPEN
    },
    PlanningOption {
        name: "background_reconfiguration",
        kind: Kind::YesOrNo,
        part: Part::Fabric,
        group: "Expert",
        meaning: "Every port is on a switch of its own: a port that is idle during a step is reconfigured during it.",
        default: Some("false"),
        ..OPEN
    },
    PlanningOption {
        name: "window",
        kind: Kind::Window,
        part: Part::Fabric,
        group: "Expert",
        meaning: "Computation before a step, which hides a reconfiguration: 20us for every step; 1=20us,5=3us for \
            steps 1 and 5.",
        otherwise: "none",
        python: "seconds",
        ..OPEN
    },
    PlanningOption {
        name: "root",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Problem",
        meaning: "Broadcast: the rank whose buffer is sent to all.",
        otherwise: "0",
        metavar: "RANK",
        ..OPEN
    },
    PlanningOption {
        name: "matrix",
        kind: Kind::Matrix,
        part: Part::Setting,
        group: "Problem",
        meaning: "All-to-All matrix of bytes, row = source, column = destination: CSV or NPY; or one of `lightloom \
            list workloads`, such as zipf:0.4. The size is then that of the busiest GPU's buffer, or with /pair the \
            mean of the pairs.",
        names: "workloads",
        python: "an array",
        ..OPEN
    },
    PlanningOption {
        name: "schedule",
        kind: Kind::File,
        part: Part::Setting,
        group: "Problem",
        meaning: "Schedule whose steps are planned, in place of an algorithm: MSCCL XML, or what else `lightloom list \
            formats` reads.",
        python: "a Schedule",
        ..OPEN
    },
    PlanningOption {
        name: "algorithm",
        kind: Kind::Name,
        part: Part::Setting,
        group: "Planner",
        meaning: "One of `lightloom list algorithms`, or auto: the fastest.",
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
        meaning: "One of `lightloom list planners`; auto: the fastest of all; auto-given: the fastest of those that \
            are given an algorithm.",
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
        meaning: "Topologies that the planner may use: of `lightloom list candidates` and `topologies`, or files.",
        otherwise: "all families",
        python: "a graph, a Topology, or a list of any of these",
        ..OPEN
    },
    PlanningOption {
        name: "topology",
        kind: Kind::Topologies,
        part: Part::Setting,
        group: "Planner",
        meaning: "Topologies of which the static planner takes the best: of `lightloom list topologies`, or files \
            (.edgelist, .csv and .txt with `src dst [count]` a line, .graphml).",
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
        meaning: "Whether packets overlap hop delays: one of `lightloom list overlaps`.",
        otherwise: "additive",
        names: "overlaps",
        ..OPEN
    },
    PlanningOption {
        name: "radix",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Expert",
        meaning: "Base of the algorithms that have one.",
        otherwise: "2",
        metavar: "R",
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
        otherwise: "every GPU has its own",
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
        meaning: "Time limit. Planner weave: local search, off by default, for plans of up to 32 steps routed by \
            concurrent flow. Planner exact: proof, by default 60s.",
        verbs: &["plan"],
        ..OPEN
    },
];
