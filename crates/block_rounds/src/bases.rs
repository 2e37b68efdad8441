//! The bases for more than one port, side by side (§4.2).

use model::{Result, Shape, Translations};

use crate::cutoffs::bases::{MOST_FLOWS, MOST_PACKED, MOST_PACKING};
use crate::{Contractions, circulant};

/// Numbers of topologies in a row at which Kautz may cost no less than circulants before it is left: it pays
/// for few topologies and many ranks, if at all.
const PATIENCE: u32 = 4;

/// Topologies of the longest sequence on a generalised Kautz base that is made for these ranks and ports, for the
/// effort that it takes; `None` where no limit is set.
fn most_kautz_topologies(ranks: u32, ports: u32) -> Option<u64> {
    let flows = u64::from(ranks) * u64::from(ranks - 1);
    if flows > MOST_FLOWS {
        return Some(0);
    }
    let packed_until = |topologies: u64| flows * topologies * (topologies + 1) / 2;
    let is_limited = flows * u64::from(ranks) / u64::from(ports).pow(2) > MOST_PACKING;
    is_limited.then(|| (1..).take_while(|&topologies| packed_until(topologies) <= MOST_PACKED).last().unwrap_or(0))
}

/// Strategies for this many ranks and ports that are not looked at, for the effort that they take, in words.
pub fn left_out(ranks: u32, ports: u32) -> Option<String> {
    // One port has shifts, and ranks that are all a hop apart need one topology.
    let most = most_kautz_topologies(ranks, ports).filter(|_| ports > 1 && ports + 1 < ranks)?;
    Some(match most {
        0 => "sequences that begin with a generalised Kautz graph, which are not searched for this many GPUs".into(),
        _ => format!(
            "sequences of more than {most} topologies that begin with a generalised Kautz graph, which take too long \
            to search"
        ),
    })
}

/// The generalised Kautz base (fig. 9) with its one-topology strategy in hand, 2 ≤ `ports` < `ranks`.
///
/// # Errors
/// No error for such ports.
pub fn kautz(ranks: u32, ports: u32) -> Result<Contractions> {
    let base = topologies::build("kautz", &Shape::new(ranks, &[], ports)?)?;
    Contractions::new(base, Translations::trivial(ranks), ports)
}

/// Visits the strategies of both bases with one topology, two, and so on, until every flow has its own circuit
/// or `visit` says that topologies in such numbers are not worth it: it is given the strategies of both bases with
/// the same number of topologies. Kautz takes part as far as [`left_out`] does not say otherwise.
///
/// # Errors
/// No error for 2 ≤ `ports` < `ranks`, but the errors of `visit`.
pub(crate) fn every(ranks: u32, ports: u32, mut visit: impl FnMut(&[&Contractions]) -> Result<bool>) -> Result<()> {
    let mut circulants = circulant(ranks, ports)?;
    let most_kautz = most_kautz_topologies(ranks, ports).unwrap_or(u64::MAX);
    let mut kautz = if most_kautz > 0 { Some(kautz(ranks, ports)?) } else { None };
    let mut behind = 0;
    loop {
        let both: Vec<&Contractions> = [&circulants].into_iter().chain(&kautz).collect();
        if !visit(&both)? {
            break;
        }
        let ahead = kautz.as_ref().is_some_and(|kautz| kautz.hops() < circulants.hops());
        behind = if ahead { 0 } else { behind + 1 };
        // Circulants end with one hop for every flow in the fewest topologies, which Kautz graphs cannot improve on.
        if !circulants.contract()? {
            break;
        }
        kautz = kautz.filter(|kautz| behind < PATIENCE && (kautz.topologies() as u64) < most_kautz);
        if let Some(sequence) = &mut kautz
            && !sequence.contract()?
        {
            kautz = None;
        }
    }
    Ok(())
}
