//! Topologies whose links are enumerated rank by rank, because their symmetry is small or not known.

use model::{Link, Rank, Result, Shape, Topology, Translations};

use crate::parameters::Parameters;

/// More links than this are refused, so that a spec cannot exhaust memory: 65 536 GPUs with 32 ports fit.
pub(crate) const MAX_LINKS: u64 = 1 << 21;

/// # Errors
/// When `shape` asks for more than [`MAX_LINKS`] links.
pub(crate) fn check_size(shape: &Shape, parameters: &Parameters) -> Result<()> {
    let (gpus, ports) = (shape.gpus(), shape.ports());
    if u64::from(gpus) * u64::from(ports) <= MAX_LINKS {
        return Ok(());
    }
    Err(parameters.refuse_shape(format!("{gpus} GPUs of {ports} ports are more than {MAX_LINKS} links")))
}

/// The topology in which each rank has a circuit to each of its `successors`. A rank among its own
/// successors is skipped and leaves a transmitter and a receiver of that rank unused; a successor named
/// twice has parallel circuits. Keeps the largest symmetry that can be found.
///
/// # Errors
/// As [`check_size`], or when no circuit remains.
pub(crate) fn enumerated<I: IntoIterator<Item = Rank>>(
    name: String,
    shape: &Shape,
    parameters: &Parameters,
    successors: impl Fn(Rank) -> I,
) -> Result<Topology> {
    check_size(shape, parameters)?;
    let links = (0..shape.gpus()).flat_map(|src| {
        successors(src).into_iter().filter(move |&dst| dst != src).map(move |dst| Link { src, dst, count: 1 })
    });
    Ok(Topology::new(name, Translations::trivial(shape.gpus()), links)?.with_found_symmetry())
}

/// [`enumerated`], where a rank among its own successors has a circuit to the one `ahead` of it among such ranks instead,
/// so that no port is unused where there are two of them.
///
/// # Errors
/// The errors of [`enumerated`].
pub(crate) fn enumerated_with_joined_loops<I: IntoIterator<Item = Rank>>(
    name: String,
    shape: &Shape,
    parameters: &Parameters,
    successors: impl Fn(Rank) -> I,
    ahead: i64,
) -> Result<Topology> {
    check_size(shape, parameters)?;
    let has_loop = |rank: &Rank| successors(*rank).into_iter().any(|dst| dst == *rank);
    let loops: Vec<Rank> = (0..shape.gpus()).filter(has_loop).collect();
    let place = |rank: Rank| loops.partition_point(|own| *own < rank) as i64 + ahead;
    let other = |rank: Rank| loops[place(rank).rem_euclid(loops.len() as i64) as usize];
    enumerated(name, shape, parameters, |rank| {
        successors(rank).into_iter().map(move |dst| if dst == rank { other(rank) } else { dst })
    })
}
