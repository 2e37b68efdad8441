//! The topologies that a bound holds for, in words.

use model::{Islands, counted};

/// Any topology of this many ports, and of islands that share some where there are islands.
pub(crate) fn any_topology(ports: u32, islands: Option<Islands>) -> String {
    let of_degree = format!("any topology of degree at most {ports}");
    let Some(Islands { gpus, ports }) = islands else { return of_degree };
    let (circuits, gpus) = (counted(u64::from(ports), "circuit"), counted(u64::from(gpus), "GPU"));
    format!("{of_degree} with at most {circuits} out of and into each island of {gpus}")
}
