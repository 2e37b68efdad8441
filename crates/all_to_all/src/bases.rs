//! The bases for more than one port, side by side (§4.2).

use model::{Result, Shape, Translations};

use crate::{Contractions, circulant};

/// Numbers of topologies in a row at which Kautz may cost no less than circulants before it is left: it pays
/// for few topologies and many ranks, if at all.
const PATIENCE: u32 = 4;

/// Flows without symmetry up to which the generalised Kautz base is packed, and flows times ranks over the square of the ports:
/// packing takes a minute for 512 ranks of two ports, where circulants of so many take a second.
const MOST_FLOWS: u64 = 1 << 18;
const MOST_PACKING: u64 = 1 << 23;

/// The generalised Kautz base (fig. 9) with its one-topology strategy in hand, 2 ≤ `ports` < `ranks`.
///
/// # Errors
/// None for such ports.
pub fn kautz(ranks: u32, ports: u32) -> Result<Contractions> {
    let base = topologies::build("kautz", &Shape::new(ranks, &[], ports)?)?;
    Contractions::new(base, Translations::trivial(ranks), ports)
}

/// Visits the strategies of both bases with one topology, two, and so on, until every flow has its own circuit
/// or `visit` says that topologies in such numbers are not worth it: it is given the strategies of both bases with
/// the same number of topologies. Kautz takes part up to 203 ranks times the ports^(2/3), and up to 512.
///
/// # Errors
/// None for 2 ≤ `ports` < `ranks`, or what `visit` returns.
pub(crate) fn every(ranks: u32, ports: u32, mut visit: impl FnMut(&[&Contractions]) -> Result<bool>) -> Result<()> {
    let mut circulants = circulant(ranks, ports)?;
    let flows = u64::from(ranks) * u64::from(ranks - 1);
    let is_small = flows <= MOST_FLOWS && flows * u64::from(ranks) / u64::from(ports).pow(2) <= MOST_PACKING;
    let mut kautz = if is_small { Some(kautz(ranks, ports)?) } else { None };
    let mut behind = 0;
    loop {
        let both: Vec<&Contractions> = [&circulants].into_iter().chain(&kautz).collect();
        if !visit(&both)? {
            break;
        }
        let ahead = kautz.as_ref().is_some_and(|kautz| kautz.hops() < circulants.hops());
        behind = if ahead { 0 } else { behind + 1 };
        // Circulants end with one hop for every flow in the fewest topologies: Kautz cannot go on to better.
        if !circulants.contract()? {
            break;
        }
        kautz = kautz.filter(|_| behind < PATIENCE);
        if let Some(sequence) = &mut kautz
            && !sequence.contract()?
        {
            kautz = None;
        }
    }
    Ok(())
}
