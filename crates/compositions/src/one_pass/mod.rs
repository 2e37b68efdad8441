//! AllReduce in one pass over fixed circuits: sums go on along walks, of which there is exactly one between any two
//! ranks.
//!
//! Where the circuits are the [graph of walks](walks) of k letters over a base of N vertices, a sum that every rank
//! passes on k times has been added up everywhere once, in k hops: on a de Bruijn graph (one vertex) of r^k ranks that
//! is all of an AllReduce, in the least hops that there are (Reddy, Pradhan and Kuhl 1980; line digraphs: Fiol, Yebra
//! and Alegre 1984). It moves the whole buffer in every hop. Less moves where every block is first collected by the
//! ranks that end at one vertex of the base, along a tree on the base, m·(1 − 1/N) bytes from every rank, and then
//! passed on k times by those only; the block is spread along a tree again. The first letters may scatter the blocks
//! further. Nothing is ever reconfigured. N = r^k' costs no more hops than a larger k: the letters, the base and the
//! number of letters that scatter are chosen by price, with the letters grouped in steps of several hops.

mod base;
mod grouping;
mod steps;
mod walks;

pub(crate) use walks::{NAME, Walks};

use std::ops::Range;

use model::{Chunks, Collective, Result};

use crate::composition::{Composition, MOST_EXECUTED};
use crate::cutoffs::one_pass::{MOST_SENT, WORTH_PRICING};
use crate::prices::Prices;
use grouping::Pass;
use steps::Steps;

/// The graphs of walks of this many ranks: for every number of letters that a rank's ports allow, every length and the
/// best bases.
pub(crate) fn graphs(ranks: u32, ports: u32) -> Vec<Walks> {
    let mut graphs = Vec::new();
    for letters in 2..=ports {
        let (mut length, mut vertices) = (0, ranks);
        while vertices.is_multiple_of(letters) {
            (length, vertices) = (length + 1, vertices / letters);
            let bases = base::bases(vertices, letters).into_iter();
            graphs.extend(bases.map(|base| Walks::new(base, length, ports / letters)));
        }
    }
    graphs
}

/// A pass over a graph of walks, and its steps.
struct Planned<'a> {
    seconds: f64,
    walks: &'a Walks,
    pass: Pass,
    groups: Vec<Range<u32>>,
}

/// The best passes that take less than `limit_s`, fastest first.
///
/// # Errors
/// The errors of [`model::Step::new`].
pub(crate) fn compose(graphs: &[Walks], prices: &Prices, ranks: u32, limit_s: f64) -> Result<Vec<Composition>> {
    let mut found: Vec<Planned> = Vec::new();
    for walks in graphs {
        let base = &walks.base;
        let vertices = f64::from(base.order);
        for scattered in 0..=walks.length {
            let parts = u64::from(base.order * base.parts) * u64::from(base.letters()).pow(scattered);
            if parts * u64::from(ranks) > MOST_SENT {
                break;
            }
            let chunks = Chunks::buffer(Collective::AllReduce, ranks, 0, parts as u32)?;
            if chunks.executed_bytes(ranks) > MOST_EXECUTED {
                break;
            }
            let (letters, circuits) = (base.letters(), walks.circuits);
            let pass = Pass { letters, circuits, length: walks.length, scattered };
            let fits = |reach: &u32| u64::from(ranks) * u64::from(letters).pow(*reach) <= MOST_SENT;
            let reach = (1..=pass.units()).take_while(fits).last().unwrap_or(1);
            let (along_s, groups) = pass.best(prices, f64::from(ranks) / vertices, reach);
            let seconds = prices.first_change_s() + 2.0 * base_s(walks, prices) + along_s;
            found.push(Planned { seconds, walks, pass, groups });
        }
    }
    found.retain(|planned| planned.seconds < limit_s);
    found.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let best = found.iter().take(WORTH_PRICING);
    best.map(|Planned { walks, pass, groups, .. }| Steps { walks, pass: *pass, groups }.composition()).collect()
}

/// Seconds to collect all blocks, or to spread them, one hop a step.
fn base_s(walks: &Walks, prices: &Prices) -> f64 {
    let block = f64::from(walks.ranks() / walks.base.order);
    let circuits = f64::from(walks.circuits);
    let step = |load: &f64| {
        let amount = load / circuits;
        prices.sums_s(&crate::relative::Sums { steps: 1, hops: 1.0, load: 1.0 / circuits, amount }, block)
    };
    walks.base.loads.iter().map(step).sum()
}

#[cfg(test)]
mod tests {
    use fronts::RoutingNetwork;
    use model::Routing;

    use super::*;

    /// The letters of a pass by single hops, and as many in a step as may be.
    fn groupings(pass: &Pass) -> Vec<Vec<Range<u32>>> {
        let all = pass.units();
        [1, 2, 3].map(|hops| (0..all).step_by(hops).map(|at| at..(at + hops as u32).min(all)).collect()).into()
    }

    /// Every sum has every contribution once, and costs what the program says, on graphs of 16 to 128 ranks, odd ones
    /// too.
    #[test]
    fn every_pass_is_executed_and_priced() {
        for (ranks, ports) in
            [(16, 2), (24, 2), (32, 3), (27, 3), (45, 3), (64, 2), (64, 4), (36, 6), (81, 3), (128, 2)]
        {
            for walks in graphs(ranks, ports) {
                let network = RoutingNetwork::of(walks.topology().unwrap());
                network.topology().check_ports(ports).unwrap();
                for scattered in 0..=walks.length {
                    let (letters, circuits) = (walks.base.letters(), walks.circuits);
                    let pass = Pass { letters, circuits, length: walks.length, scattered };
                    for groups in groupings(&pass) {
                        if u64::from(letters).pow(groups[0].end) * u64::from(ranks) > 1 << 11 {
                            continue;
                        }
                        let found = Steps { walks: &walks, pass, groups: &groups }.composition().unwrap();
                        let report = verify::schedule(&found.schedule);
                        assert!(
                            report.first_failure().is_none(),
                            "{ranks} {ports} {pass:?} {:?}",
                            report.first_failure()
                        );
                        let levels = walks.base.loads.len();
                        for (index, step) in found.schedule.steps().iter().enumerate() {
                            let front = network.front(step.traffic(), Routing::EqualSplit).unwrap();
                            let point = front.points()[0];
                            let carried = point.load * step.share();
                            let vertices = f64::from(walks.base.order);
                            let (hops, amount) = match index.checked_sub(levels) {
                                None => (1.0, walks.base.loads[levels - 1 - index] / f64::from(circuits)),
                                Some(at) if at < groups.len() => {
                                    let sums = pass.sums(&groups[at]);
                                    (sums.hops, sums.amount)
                                }
                                Some(at) => (1.0, walks.base.loads[at - groups.len()] / f64::from(circuits)),
                            };
                            assert!(f64::from(point.hops) <= hops);
                            // Over several hops some pairs have shorter ways than the walk, and these are not loaded
                            // evenly.
                            let more = if hops > 1.0 { 1.25 } else { 1.0 + 1e-9 };
                            assert!(carried <= amount / vertices * more, "{ranks} {ports} {pass:?} {groups:?} {index}");
                        }
                    }
                }
            }
        }
    }
}
