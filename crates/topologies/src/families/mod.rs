//! The families and their registry.

mod block_ring;
mod circulant;
mod complete;
mod dark;
mod de_bruijn;
mod grid;
mod hypercube;
mod kautz;
mod random_lift;
mod random_regular;
mod rewired_de_bruijn;
mod rewired_kautz;
mod ring;
mod shifted_ring;
mod shifted_torus;
mod torus;
mod twisted_torus;

use model::{Result, Shape, Topology, unknown_name};

use crate::Family;
use crate::parameters::shown;

/// Every family, in the order in which they are listed to people.
pub static REGISTRY: &[&dyn Family] = &[
    &ring::Ring,
    &shifted_ring::ShiftedRing,
    &block_ring::BlockRing,
    &circulant::Circulant,
    &torus::Torus,
    &shifted_torus::ShiftedTorus,
    &twisted_torus::TwistedTorus,
    &grid::Grid,
    &hypercube::Hypercube,
    &kautz::Kautz,
    &rewired_kautz::RewiredKautz,
    &de_bruijn::DeBruijn,
    &rewired_de_bruijn::RewiredDeBruijn,
    &random_regular::RandomRegular,
    &random_lift::RandomLift,
    &complete::Complete,
    &dark::Dark,
];

/// The topology that `spec` names, such as `ring`, `shifted-ring:3` or `torus:4x4x4`, on the ranks, grid
/// and ports of `shape`. Complexity: the number of links per orbit of the family's symmetry, O(d) for
/// everything but `grid`, `kautz`, `rewired-kautz`, `de-bruijn`, `rewired-de-bruijn` and `random-regular`, which are O(n·d·log).
///
/// # Errors
/// An unknown name, parameters that the family does not take, a shape that it cannot serve, or more
/// circuits per GPU than ports. The error names `topology`.
pub fn build(spec: &str, shape: &Shape) -> Result<Topology> {
    let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
    let family = REGISTRY
        .iter()
        .find(|family| family.name() == name.trim())
        .ok_or_else(|| unknown_name("topology", &shown(name), REGISTRY.iter().map(|family| family.name())))?;
    let topology = family.build(shape, parameters)?;
    topology.check_ports(shape.ports())?;
    Ok(topology)
}
