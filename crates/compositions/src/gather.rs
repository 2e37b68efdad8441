//! AllGather and ReduceScatter composed of phases.
//!
//! The phases' spans multiply to n. In an AllGather a phase whose ranks have P blocks each costs α for every step, δ
//! for every hop and β·(m/n)·P for every unit of its amount, and α_r to set up the next topology, so the best phases
//! for the rest do not depend on those before: a program over the divisors of n. ReduceScatter runs it backwards.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Op, Rank, Result, Step, Topology, Transfer};

use crate::composition::Composition;
use crate::coordinates::{Coordinates, Placed};
use crate::library::Library;
use crate::phase::Phase;
use crate::prices::Prices;

/// The end of an AllGather's phases that meets the topology in force at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Neither end: another part comes before.
    Neither,
    /// The first phase.
    First,
    /// The last phase: the AllGather will be run backwards.
    Last,
}

/// The best phases from every number of blocks on.
pub(crate) struct Table {
    ranks: u32,
    best: BTreeMap<u32, (f64, Option<Placed>)>,
}

impl Table {
    /// Choices for an AllGather of all ranks. O(divisors² · phases).
    pub(crate) fn new(library: &Library, prices: &Prices, ranks: u32, start: Start) -> Self {
        let mut table = Self { ranks, best: BTreeMap::from([(ranks, (0.0, None))]) };
        let mut blocks: Vec<u32> = library.spans().map(|span| ranks / span).collect();
        blocks.sort_unstable_by(|a, b| b.cmp(a));
        for held in blocks {
            let mut best = (f64::INFINITY, None);
            for span in library.spans().filter(|span| (ranks / held).is_multiple_of(*span)) {
                let Some((rest_s, _)) = table.best.get(&(held * span)) else { continue };
                let last = held * span == ranks;
                let then_s = if last { 0.0 } else { prices.change_s };
                let mut consider = |phase: &Phase, on_ring: bool, set_up_s: f64| {
                    let total_s = prices.phase_s(phase, f64::from(held)) + then_s + rest_s + set_up_s;
                    if total_s < best.0 {
                        best = (total_s, Some(Placed { phase: phase.clone(), on_ring }));
                    }
                };
                let meets = (last && start == Start::Last) || (held == 1 && start == Start::First);
                // A phase along all ranks can use the ring in force, if it serves the last coordinate.
                for phase in library.on_rings(span).iter().filter(|p| meets && last && prices.starts_on(p)) {
                    consider(phase, true, 0.0);
                }
                let set_up_s = if meets { prices.first_change_s() } else { 0.0 };
                library.phases(span).iter().for_each(|phase| consider(phase, false, set_up_s));
            }
            table.best.insert(held, best);
        }
        table
    }

    /// Seconds from `blocks` blocks on.
    pub(crate) fn seconds(&self, blocks: u32) -> f64 {
        self.best.get(&blocks).map_or(f64::INFINITY, |(seconds, _)| *seconds)
    }

    /// The phases from `blocks` blocks on, in order.
    pub(crate) fn phases(&self, mut blocks: u32) -> Vec<Placed> {
        let mut phases = Vec::new();
        while let Some((_, Some(placed))) = self.best.get(&blocks).filter(|_| blocks < self.ranks) {
            blocks *= placed.phase.span;
            phases.push(placed.clone());
        }
        phases
    }
}

/// Seconds of these phases as an AllGather from `blocks` blocks on, with the changes between them.
pub(crate) fn phases_s(prices: &Prices, phases: &[Placed], blocks: u32) -> f64 {
    let mut held = f64::from(blocks);
    let mut total_s = prices.change_s * (phases.len().max(1) - 1) as f64;
    for placed in phases {
        total_s += prices.phase_s(&placed.phase, held);
        held *= f64::from(placed.phase.span);
    }
    total_s
}

/// Steps of an AllGather by `phases` along the coordinates from `first` on, with their topologies. Before the phases, a
/// rank has the blocks of all ranks that differ from it only in the coordinates before `first`.
pub(crate) fn steps(
    coordinates: &Coordinates,
    phases: &[Placed],
    first: usize,
    chunks: &Chunks,
    backwards: bool,
) -> Result<(Vec<Step>, Vec<Topology>)> {
    let (mut steps, mut topologies) = (Vec::new(), Vec::new());
    for (index, placed) in (first..).zip(phases) {
        let on_ring = placed.on_ring;
        topologies.push(coordinates.topology(index, on_ring, &placed.phase.circuits)?);
        // Backwards in time and mirrored, so that transfers lead ahead again, as the circuits do.
        let ahead = |places: i64| coordinates.ahead(0, index, on_ring, if backwards { -places } else { places });
        // On a ring of all ranks the coordinate is the last, so that all others have been gathered.
        let had = |rank: Rank| coordinates.fellows(rank, |coordinate| coordinate < index);
        for sends in placed.phase.sends() {
            interruption::check();
            let transfers = sends.iter().map(|send| {
                let owners = send.behind.iter().flat_map(|behind| had(ahead(-behind)));
                let chunks = owners.map(|owner| chunks.owned(owner, 0)).collect();
                let (here, there) = (0, ahead(send.ahead));
                if backwards {
                    Transfer { src: there, dst: here, op: Op::Reduce, chunks }
                } else {
                    Transfer { src: here, dst: there, op: Op::Copy, chunks }
                }
            });
            steps.push(Step::new(coordinates.symmetry(on_ring), transfers, chunks)?);
        }
    }
    if backwards {
        steps.reverse();
        topologies.reverse();
    }
    Ok((steps, topologies))
}

/// The best composition.
pub(crate) fn compose(collective: Collective, library: &Library, prices: &Prices, ranks: u32) -> Result<Composition> {
    let backwards = collective == Collective::ReduceScatter;
    let start = if backwards { Start::Last } else { Start::First };
    let phases = Table::new(library, prices, ranks, start).phases(1);
    let coordinates = Coordinates::new(phases.iter().map(|placed| placed.phase.span).collect());
    let chunks = Chunks::even(collective, ranks, 1)?;
    let (steps, topologies) = steps(&coordinates, &phases, 0, &chunks, backwards)?;
    Composition::new(chunks, steps, topologies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Fabric, Initial, ReconfigurationPolicy, Routing, Shape};

    /// The least over every order of spans and every phase.
    fn least_s(library: &Library, prices: &Prices, ranks: u32, held: u32) -> f64 {
        if held == ranks {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for span in library.spans().filter(|span| (ranks / held).is_multiple_of(*span)) {
            let change_s = if held * span == ranks { 0.0 } else { prices.change_s };
            let rest_s = least_s(library, prices, ranks, held * span) + change_s;
            for phase in library.phases(span) {
                least = least.min(prices.phase_s(phase, f64::from(held)) + rest_s);
            }
        }
        least
    }

    #[test]
    fn the_program_finds_the_least_of_all_compositions() {
        for (ranks, ports) in [(12, 1), (24, 2), (36, 3), (64, 1)] {
            let library = Library::new(ranks, ports, Routing::ConcurrentFlow);
            for (size_bytes, change_s) in [(1 << 10, 1e-8), (1 << 20, 1e-6), (1 << 24, 1e-5), (1 << 30, 1e-3)] {
                let fabric = Fabric {
                    shape: Shape::new(ranks, &[], ports).unwrap(),
                    bandwidth_bps: 8e11,
                    startup_s: 1e-6,
                    barrier_s: 0.0,
                    hop_delay_s: 3e-7,
                    reconfiguration: ReconfigurationPolicy::constant(change_s),
                    initial: Initial::Free,
                    optics: None,
                    electrical: None,
                };
                let prices = Prices::new(&fabric, size_bytes);
                let table = Table::new(&library, &prices, ranks, Start::First);
                let expected = least_s(&library, &prices, ranks, 1);
                assert!((table.seconds(1) - expected).abs() < 1e-12 * expected);
                assert!((phases_s(&prices, &table.phases(1), 1) - expected).abs() < 1e-12 * expected);
            }
        }
    }
}
