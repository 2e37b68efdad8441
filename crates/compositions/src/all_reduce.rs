//! AllReduce composed of phases: a ReduceScatter along some coordinates, sums doubled along the others, an AllGather.
//!
//! With no coordinate for the middle it is a ReduceScatter and an AllGather, the least in bytes; with all of them it
//! is the least in steps.

use std::collections::{BTreeMap, BTreeSet};

use model::{Chunks, Collective, Rank, Result, Step, Transfer};

use crate::composition::Composition;
use crate::coordinates::{Coordinates, Placed};
use crate::cutoffs::all_reduce::WORTH_PRICING;
use crate::doubling::Doubling;
use crate::gather::{self, Start, Table, phases_s};
use crate::library::Library;
use crate::prices::Prices;
use crate::relative::Moved;

/// Doublings that multiply to each divisor, least first, and their time.
struct Middles {
    best: BTreeMap<u32, (f64, Option<Doubling>)>,
}

impl Middles {
    /// For ranks that hold `width` blocks, as many as they double over.
    fn new(library: &Library, prices: &Prices, width: u32) -> Self {
        let mut best = BTreeMap::from([(1, (0.0, None))]);
        for product in (2..=width).filter(|product| width.is_multiple_of(*product)) {
            let mut least = (f64::INFINITY, None);
            for span in library.spans().filter(|span| product.is_multiple_of(*span)) {
                interruption::check();
                let Some(&(rest_s, ref rest)) = best.get(&(product / span)) else { continue };
                let change_s = if rest.is_some() { prices.change_s } else { 0.0 };
                for phase in library.doublings(span) {
                    let total_s = rest_s + change_s + prices.sums_s(&phase.sums, f64::from(width));
                    if total_s < least.0 {
                        least = (total_s, Some(phase.clone()));
                    }
                }
            }
            best.insert(product, least);
        }
        Self { best }
    }

    fn seconds(&self, width: u32) -> f64 {
        self.best.get(&width).map_or(f64::INFINITY, |(seconds, _)| *seconds)
    }

    fn phases(&self, mut width: u32) -> Vec<Doubling> {
        let mut phases = Vec::new();
        while let Some((_, Some(phase))) = self.best.get(&width) {
            width /= phase.span;
            phases.push(phase.clone());
        }
        phases
    }
}

/// The parts of an AllReduce.
struct Parts {
    /// In the order of an AllGather.
    reduce: Vec<Placed>,
    middle: Vec<Doubling>,
    gather: Vec<Placed>,
}

/// The best parts for every width of the middle, fastest first.
fn parts(library: &Library, prices: &Prices, ranks: u32) -> Vec<(f64, Parts)> {
    let reduce = Table::new(library, prices, ranks, Start::Last);
    let gather = Table::new(library, prices, ranks, Start::Neither);
    let mut found = Vec::new();
    for width in std::iter::once(1).chain(library.spans()) {
        let middles = Middles::new(library, prices, width);
        let (there, back) = (reduce.phases(width), gather.phases(width));
        let apart_s = reduce.seconds(width) + middles.seconds(width) + gather.seconds(width);
        let middle = middles.phases(width);
        let changes = if width == ranks { 0.0 } else { f64::from(1 + u32::from(width > 1)) };
        let first_s = if width == ranks { prices.first_change_s() } else { 0.0 };
        if width == 1 {
            // The same phases back: the topology in the middle stays.
            let mirrored = Parts { reduce: there.clone(), middle: Vec::new(), gather: there.clone() };
            found.push((reduce.seconds(1) + phases_s(prices, &there, 1), mirrored));
        }
        let apart = Parts { reduce: there, middle, gather: back };
        found.push((apart_s + changes * prices.change_s + first_s, apart));
    }
    found.extend(staying(library, prices, ranks));
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// The best that stays on the ring in force before the first step, which nothing has to set up.
fn staying(library: &Library, prices: &Prices, ranks: u32) -> Option<(f64, Parts)> {
    let seconds = |phase: &Doubling| prices.sums_s(&phase.sums, f64::from(ranks));
    let on_it = library.doublings(ranks).iter().filter(|phase| prices.ring() == Some(&phase.circuits));
    let best = on_it.min_by(|a, b| seconds(a).total_cmp(&seconds(b)))?;
    Some((seconds(best), Parts { reduce: Vec::new(), middle: vec![best.clone()], gather: Vec::new() }))
}

fn steps(parts: &Parts, ranks: u32) -> Result<Composition> {
    let chunks = Chunks::even(Collective::AllReduce, ranks, 1)?;
    let width = parts.middle.iter().map(|phase| phase.span);
    let first = parts.middle.len();
    let dims = |phases: &[Placed]| -> Coordinates {
        Coordinates::new(width.clone().chain(phases.iter().map(|placed| placed.phase.span)).collect())
    };
    let (reduce_grid, gather_grid) = (dims(&parts.reduce), dims(&parts.gather));
    let (mut steps, mut topologies) = gather::steps(&reduce_grid, &parts.reduce, first, &chunks, true)?;
    for (index, phase) in parts.middle.iter().enumerate() {
        topologies.push(reduce_grid.topology(index, false, &phase.circuits)?);
        let owners = reduce_grid.fellows(0, |coordinate| coordinate < first);
        let ahead = |places: i64| reduce_grid.ahead(0, index, false, places);
        for moved in &phase.steps() {
            let transfers = moved.iter().map(|moved| Transfer {
                src: ahead(moved.from),
                dst: ahead(moved.from + moved.ahead),
                op: moved.op,
                chunks: sent(&reduce_grid, index, moved, &owners).map(|owner| chunks.owned(owner, 0)).collect(),
            });
            steps.push(Step::new(reduce_grid.symmetry(false), transfers, &chunks)?);
        }
    }
    let (back, back_topologies) = gather::steps(&gather_grid, &parts.gather, first, &chunks, false)?;
    steps.extend(back);
    topologies.extend(back_topologies);
    Composition::new(chunks, steps, topologies)
}

/// The ranks among `owners` whose parts are moved along the coordinate `index`.
fn sent(grid: &Coordinates, index: usize, moved: &Moved, owners: &[Rank]) -> impl Iterator<Item = Rank> {
    let window = i64::from(moved.window);
    let places: BTreeSet<i64> = moved.places.iter().map(|place| place.rem_euclid(window)).collect();
    owners.iter().copied().filter(move |owner| places.contains(&(i64::from(grid.place(*owner, index)) % window)))
}

/// The best compositions, and the seconds of the first.
pub(crate) fn compose(library: &Library, prices: &Prices, ranks: u32) -> Result<(f64, Vec<Composition>)> {
    let best = parts(library, prices, ranks);
    let least_s = best.first().map_or(f64::INFINITY, |(seconds, _)| *seconds);
    let compositions = best.iter().take(WORTH_PRICING).map(|(_, parts)| steps(parts, ranks));
    Ok((least_s, compositions.collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use fronts::RoutingNetwork;
    use model::Routing;

    use super::*;
    use crate::relative::Sums;

    /// The AllReduce that is this one phase along all ranks.
    fn along_all(ranks: u32, phase: &Doubling) -> Result<Composition> {
        steps(&Parts { reduce: Vec::new(), middle: vec![phase.clone()], gather: Vec::new() }, ranks)
    }

    /// Every rank ends with every contribution once, and the links carry what the sums say.
    #[test]
    fn every_way_is_executed_and_priced() {
        for (ranks, ports) in [(4, 1), (6, 2), (8, 1), (9, 2), (12, 1), (12, 4), (16, 2), (18, 2), (24, 1), (27, 1)] {
            let library = Library::new(ranks, ports, Routing::ConcurrentFlow);
            let all = library.doublings(ranks).iter().filter(|phase| phase.is_in_windows());
            let all: Vec<&Doubling> = all.collect();
            assert!(!all.is_empty());
            for phase in all {
                let found = along_all(ranks, phase).unwrap();
                let report = verify::schedule(&found.schedule);
                assert!(report.first_failure().is_none(), "{phase:?} {:?}", report.first_failure());
                let network = RoutingNetwork::new(&found.topologies[0]);
                let mut sums = Sums::default();
                for step in found.schedule.steps() {
                    let front = network.front(step.traffic(), Routing::EqualSplit).unwrap();
                    let point = front.points()[0];
                    sums.steps += 1;
                    sums.hops += f64::from(point.hops);
                    sums.amount += point.load * step.share();
                }
                assert_eq!((sums.steps, sums.hops), (phase.sums.steps, phase.sums.hops), "{phase:?}");
                // Halfway round a two-way ring a flow takes both ways.
                assert!(sums.amount <= phase.sums.amount * (1.0 + 1e-9), "{phase:?} {}", sums.amount);
                let halfway = phase.circuits.len() == 2;
                assert!(halfway || sums.amount >= phase.sums.amount * (1.0 - 1e-9), "{phase:?} {}", sums.amount);
            }
        }
    }
}
