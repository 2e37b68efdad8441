//! Every way to put every topology on the switches, where these are few.

use model::{Rank, Topology};

use super::colouring::{Colouring, DARK};
use super::cost::{Cost, Judge};
use crate::cutoffs::parallel_exhaustive::MOST_CHANGES;

const TRIES: usize = 64;

/// The best assignment of all; `None` where there are too many. A shortest path over (topology, its assignments).
pub(super) fn best_of_all(topologies: &[&Topology], switches: usize, judge: &Judge) -> Option<Vec<Colouring>> {
    let limit = (MOST_CHANGES / topologies.len().max(1)).isqrt();
    let all: Vec<Vec<Colouring>> =
        topologies.iter().map(|topology| every_colouring(topology, switches, limit)).collect::<Option<_>>()?;
    let mut costs = vec![Cost { charge_s: 0.0, weighted: 0.0 }; all.first()?.len()];
    let mut came_from: Vec<Vec<usize>> = Vec::new();
    for place in 1..all.len() {
        let mut best = Vec::with_capacity(all[place].len());
        for after in &all[place] {
            interruption::check();
            let ways = all[place - 1].iter().zip(&costs).enumerate().map(|(from, (before, so_far))| {
                let cost = judge(place, before, after);
                let charge_s = so_far.charge_s + cost.charge_s;
                (Cost { charge_s, weighted: so_far.weighted + cost.weighted }, from)
            });
            best.push(ways.reduce(|one, other| if other.0 < one.0 { other } else { one })?);
        }
        came_from.push(best.iter().map(|&(_, from)| from).collect());
        costs = best.into_iter().map(|(cost, _)| cost).collect();
    }
    let mut at = (0..costs.len()).reduce(|one, other| if costs[other] < costs[one] { other } else { one })?;
    let mut chosen = vec![all[all.len() - 1][at].clone()];
    for (place, from) in came_from.iter().enumerate().rev() {
        at = from[at];
        chosen.push(all[place][at].clone());
    }
    chosen.reverse();
    Some(chosen)
}

/// Every assignment of a topology; `None` where there are more than `limit`.
fn every_colouring(topology: &Topology, switches: usize, limit: usize) -> Option<Vec<Colouring>> {
    let links = topology.expanded();
    let circuits: Vec<(Rank, Rank)> =
        links.iter().flat_map(|link| std::iter::repeat_n((link.src, link.dst), link.count as usize)).collect();
    let mut search =
        Search { colouring: Colouring::dark(switches, topology.ranks()), found: Vec::new(), limit, tries: 0 };
    search.extend(&circuits, 0).then_some(search.found)
}

struct Search {
    colouring: Colouring,
    found: Vec<Colouring>,
    limit: usize,
    tries: usize,
}

impl Search {
    /// Whether all assignments that begin with what there is were found within the limits. Each of parallel circuits is
    /// on a later switch than the one before: they are alike.
    fn extend(&mut self, left: &[(Rank, Rank)], from: usize) -> bool {
        let Some((&(src, dst), rest)) = left.split_first() else {
            self.found.push(self.colouring.clone());
            return self.found.len() <= self.limit;
        };
        for switch in from..self.colouring.out.len() {
            interruption::check();
            if self.colouring.out[switch][src as usize] != DARK || self.colouring.into[switch][dst as usize] != DARK {
                continue;
            }
            self.tries += 1;
            if self.tries > TRIES * self.limit {
                return false;
            }
            self.colouring.join(switch, src, dst);
            let next = if rest.first() == Some(&(src, dst)) { switch + 1 } else { 0 };
            let complete = self.extend(rest, next);
            self.colouring.part(switch, src, dst);
            if !complete {
                return false;
            }
        }
        true
    }
}
