//! AllReduce composed of phases: a ReduceScatter along some coordinates, sums doubled along the others, an AllGather.
//!
//! With no coordinate for the middle it is a ReduceScatter and an AllGather, the least in bytes; with all of them it
//! is the least in steps.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Op, Result, Step, Transfer};

use crate::composition::Composition;
use crate::coordinates::{Coordinates, Placed};
use crate::cutoffs::all_reduce::WORTH_PRICING;
use crate::doubling::{self, Doubling};
use crate::gather::{self, Start, Table, phases_s};
use crate::library::Library;
use crate::prices::Prices;

/// Doublings that multiply to each divisor, least first, and their time.
struct Middles {
    best: BTreeMap<u32, (f64, Option<Doubling>)>,
}

impl Middles {
    /// For ranks that hold `width` blocks, as many as they double over.
    fn new(phases: &BTreeMap<u32, Vec<Doubling>>, prices: &Prices, width: u32) -> Self {
        let mut best = BTreeMap::from([(1, (0.0, None))]);
        for product in (2..=width).filter(|product| width.is_multiple_of(*product)) {
            let mut least = (f64::INFINITY, None);
            for (span, phases) in phases.range(..=product).filter(|(span, _)| product.is_multiple_of(**span)) {
                interruption::check();
                let Some(&(rest_s, ref rest)) = best.get(&(product / span)) else { continue };
                let change_s = if rest.is_some() { prices.change_s } else { 0.0 };
                for phase in phases {
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
fn parts(library: &Library, prices: &Prices, ranks: u32, ports: u32) -> Vec<(f64, Parts)> {
    let reduce = Table::new(library, prices, ranks, Start::Last);
    let gather = Table::new(library, prices, ranks, Start::Neither);
    let doublings = library.spans().map(|span| (span, doubling::phases(library, span, ports))).collect();
    let mut found = Vec::new();
    for width in std::iter::once(1).chain(library.spans()) {
        let middles = Middles::new(&doublings, prices, width);
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
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
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
        let sent: Vec<u32> = owners.into_iter().map(|owner| chunks.owned(owner, 0)).collect();
        for places in &phase.steps() {
            let transfers = places.iter().map(|&ahead| Transfer {
                src: 0,
                dst: reduce_grid.ahead(0, index, false, ahead),
                op: Op::Reduce,
                chunks: sent.clone(),
            });
            steps.push(Step::new(reduce_grid.symmetry(false), transfers, &chunks)?);
        }
    }
    let (back, back_topologies) = gather::steps(&gather_grid, &parts.gather, first, &chunks, false)?;
    steps.extend(back);
    topologies.extend(back_topologies);
    Composition::new(chunks, steps, topologies)
}

/// The best compositions, and the seconds of the first.
pub(crate) fn compose(library: &Library, prices: &Prices, ranks: u32, ports: u32) -> Result<(f64, Vec<Composition>)> {
    let best = parts(library, prices, ranks, ports);
    let least_s = best.first().map_or(f64::INFINITY, |(seconds, _)| *seconds);
    let compositions = best.iter().take(WORTH_PRICING).map(|(_, parts)| steps(parts, ranks));
    Ok((least_s, compositions.collect::<Result<_>>()?))
}
