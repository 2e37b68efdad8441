//! What options there are, and which of them are no plain texts.

/// Names of all options.
pub const NAMES: [&str; 24] = [
    "gpus",
    "dims",
    "ports",
    "bandwidth",
    "startup",
    "hop_delay",
    "reconfiguration_delay",
    "background_reconfiguration",
    "window",
    "initial",
    "optics",
    "algorithm",
    "radix",
    "root",
    "planner",
    "convention",
    "routing",
    "overlap",
    "candidates",
    "topology",
    "chunk_size",
    "optical_ports",
    "budget",
    "seed",
];
/// Those of yes or no.
pub const FLAGS: [&str; 1] = ["background_reconfiguration"];
/// Those of lists of names. All others but whole numbers are texts, with units where they are quantities.
pub const LISTS: [&str; 2] = ["candidates", "topology"];
