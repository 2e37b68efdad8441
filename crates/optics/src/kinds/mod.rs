//! Kinds of optical layers. To add one, write its file and add its line to [`REGISTRY`].

mod awgr;
mod crossbar;
mod cubes;
mod islands;
mod mesh;
mod parallel;
mod wss;

use crate::kind::Kind;

/// All kinds; the first is the default.
pub const REGISTRY: &[&dyn Kind] = &[
    &crossbar::Crossbar,
    &parallel::Parallel,
    &islands::OfIslands,
    &mesh::OfMzis,
    &awgr::Awgr,
    &wss::Wss,
    &cubes::OfCubes,
];
