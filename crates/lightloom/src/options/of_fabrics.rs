//! Rows of the options that describe a fabric.

use super::defaults::{OF_COLLECTIVES, ON_FABRIC, OPEN};
use super::option::{Kind, Part, PlanningOption};

/// The rows, in the order in which they are shown.
pub(super) const ROWS: &[PlanningOption] = &[
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
        meaning: "Rate of one circuit; where ports differ, that of each port: 800Gbps,800Gbps,400Gbps,400Gbps.",
        verbs: ON_FABRIC,
        default: Some("800Gbps"),
        python: "bit/s, or a list of these by port",
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
        meaning: "Time for which circuits are dark when the topology changes: 10us, 20ns/port, 5us+20ns/port or one of \
            `lightloom list technologies`. A time per round, as in tunable-laser+500ns/round, is added for each of the \
            ceil(log2 n) rounds in which the GPUs signal to each other that they are ready. A list has the delay of \
            every port, each on a switch of its own: 10us,10us,3ms,3ms.",
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
        meaning: "Optical switches that limit the topologies: crossbar (one for all ports), parallel (one for each \
            port of the GPUs), islands:4x2 (4 GPUs behind 2 ports), mesh:16x16 (MZIs, through which every circuit \
            needs a path), or a TOML file; see `lightloom list optics`.",
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
            link:0>7 (one way), switch:1 (port 1 of every GPU). In plan and compare also any-gpu, any-port, any-receiver, \
            any-link and any-switch: each single fault of that kind; in compare any-two:100, pairs of these.",
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
            it and delay of a hop, such as 8:3600Gbps:100ns. Planner auto uses both tiers; a planner, an algorithm or a \
            topology that is named, a schedule and a matrix use circuits alone.",
        otherwise: "all data goes over circuits",
        metavar: "GPUS:RATE[:DELAY]",
        verbs: &["plan", "bound"],
        ..OPEN
    },
    PlanningOption {
        name: "positions",
        kind: Kind::Positions,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Where the GPUs are, in metres, so that each hop takes the light in the longest fibre of its topology in \
            addition: a CSV file with columns gpu, x, y and z; 0:0,3:0 with x:y or x:y:z of each GPU; or grid:4x4:8:3 (4 \
            rows of 4 servers of 8 GPUs, 3 m apart). After it, switch=middle or switch=x:y where all circuits go through \
            a switch there, and ns_per_m=5.",
        otherwise: "fibres take no time",
        verbs: &["plan", "compare", "bound"],
        ..OPEN
    },
    PlanningOption {
        name: "pair_rates",
        kind: Kind::PairRates,
        part: Part::Fabric,
        group: "Fabric",
        meaning: "Rate and hop delay of circuits by the pair of GPUs that they join, both ways: a CSV file with \
            columns gpu, peer, bandwidth and hop_delay; a TOML file with a list `pairs` of tables with these keys; or \
            inside:8:3600Gbps:100ns for pairs in one group of 8 GPUs, 0-7:8-15:400Gbps:1us for pairs between these, \
            with commas between them. The last class of a pair counts. A hop takes the largest delay of its topology's \
            circuits.",
        otherwise: "circuits have the rate and the hop delay of the fabric",
        verbs: &["plan", "compare", "bound"],
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
];
