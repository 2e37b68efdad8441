//! The table of planning options: one row for each, from which every way to say them derives.
//!
//! The command line, keys of fabric files and sweeps, Python's keyword arguments, the page's form, the library for C
//! and the reference pages all come from these rows. Options that are no part of a request, such as where a verb writes
//! its output, are rows of Python's own in `python/lightloom/inputs/options/`.

use std::sync::LazyLock;

use super::defaults::{ON_FABRIC, OPEN};
use super::option::{Kind, Part, PlanningOption};
use super::{of_fabrics, of_planning};

/// The row of an option.
pub fn find(name: &str) -> Option<&'static PlanningOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

/// Every planning option, in the order in which they are shown.
pub static OPTIONS: LazyLock<Vec<PlanningOption>> =
    LazyLock::new(|| [ARGUMENTS, of_fabrics::ROWS, of_planning::ROWS].concat());

/// The problem to plan and the fabric to plan it on.
const ARGUMENTS: &[PlanningOption] = &[
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
];
