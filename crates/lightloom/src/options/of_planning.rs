//! Rows of the options that say what is planned on a fabric, and how.

use super::defaults::OPEN;
use super::option::{Kind, Part, PlanningOption};

/// The rows, in the order in which they are shown.
pub(super) const ROWS: &[PlanningOption] = &[
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
        meaning: "With ranks and an initial topology: GPUs that do not take part also forward data, over the circuits \
            that they have at the start. Planners harvest, static, never-change and weave, up to 64 GPUs.",
        default: Some("false"),
        verbs: &["plan"],
        ..OPEN
    },
    PlanningOption {
        name: "root",
        kind: Kind::Whole,
        part: Part::Setting,
        group: "Problem",
        meaning: "Broadcast, scatter: the rank that sends all data; reduce, gather: the rank that receives them.",
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
            list overlaps`. In `plan` also `asynchronous`: every switch turns on a clock of its own, while others carry.",
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
        meaning: "Time limit of planner weave's local search, which runs only with a budget, for plans of up to 32 \
            steps routed by concurrent flow; of its search for unequal All-to-Alls among 48 GPUs and more, which \
            otherwise ends by itself; or of planner exact's proof (60s by default).",
        verbs: &["plan"],
        ..OPEN
    },
];
