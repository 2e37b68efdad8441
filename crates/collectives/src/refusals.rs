//! Checks that several algorithms share, each an error that says what would be taken.

use model::{Chunks, Collective, Error, Rank, Result, Shape};

use crate::Options;

/// # Errors
/// A radix below 2.
pub(crate) fn radix(options: &Options) -> Result<()> {
    match options.radix {
        Some(radix) if radix < 2 => Err(Error::value("radix", radix, "a whole number of at least 2")),
        _ => Ok(()),
    }
}

/// # Errors
/// A number of GPUs that is not a power of two.
pub(crate) fn power_of_two(name: &str, shape: &Shape) -> Result<()> {
    let n = shape.gpus();
    if n.is_power_of_two() {
        return Ok(());
    }
    let (below, above) = (1 << n.ilog2(), n.next_power_of_two());
    let reason = format!("it takes a number of GPUs that is a power of two, such as {below} or {above}, not {n}");
    Err(Error::refused("algorithm", name, reason))
}

/// # Errors
/// More pairs of ranks than there may be chunks.
pub(crate) fn pairs(name: &str, shape: &Shape) -> Result<()> {
    parts_of_pairs(name, shape, 1)
}

/// # Errors
/// More pairs of ranks, each with this many parts, than there may be chunks.
pub(crate) fn parts_of_pairs(name: &str, shape: &Shape, parts: u32) -> Result<()> {
    Chunks::even(Collective::AllToAll, shape.gpus(), parts).map(|_| ()).map_err(|error| {
        Error::refused("algorithm", name, format!("{} GPUs have too many blocks ({error})", shape.gpus()))
    })
}

/// # Errors
/// A root that is not a rank.
pub fn root(shape: &Shape, root: Rank) -> Result<()> {
    if root < shape.gpus() {
        return Ok(());
    }
    Err(Error::value("root", root, format!("a rank below {}", shape.gpus())))
}

fn shown(dims: &[u32]) -> String {
    dims.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

/// # Errors
/// A number of dimensions outside `allowed`, which `words` tells.
pub(crate) fn dimensions(
    name: &str,
    shape: &Shape,
    allowed: std::ops::RangeInclusive<usize>,
    words: &str,
) -> Result<()> {
    if allowed.contains(&shape.dims().len()) {
        return Ok(());
    }
    let reason = format!("it takes --dims with {words}, not {}", shown(shape.dims()));
    Err(Error::refused("algorithm", name, reason))
}

/// # Errors
/// A dimension that is not a power of two.
pub(crate) fn dimensions_powers_of_two(name: &str, shape: &Shape) -> Result<()> {
    if shape.dims().iter().all(|dim| dim.is_power_of_two()) {
        return Ok(());
    }
    let reason = format!("it takes dimensions that are powers of two, not {}", shown(shape.dims()));
    Err(Error::refused("algorithm", name, reason))
}
