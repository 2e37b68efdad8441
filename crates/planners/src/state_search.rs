//! The best sequence of topologies: a shortest path over (step, topology).
//!
//! For a fixed candidate set the optimum of HARVEST's eq. 4 is a shortest path whose nodes are
//! (step, candidate) and whose edges cost a reconfiguration where the candidate changes: O(s·|C|) for a
//! constant delay, because only the best predecessor matters, and O(s·|C|²) for any delay matrix.
//!
//! Flows are expensive and most pairs are never on the best path, so the search is lazy: it starts from
//! what is known of each pair without a flow, a lower bound, and solves flows only for the pairs on the
//! path that it finds. Once every pair on that path is exact, no other path can be shorter, since all
//! others were undercounted at most. (Lazy shortest paths; Dellin and Srinivasa 2016.)

use model::{Error, Fabric, Propagation, Result};
use profile::Point;

use crate::ProfileTable;

/// Seconds that hops and load cost in each step.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// α, for each step.
    pub startup_s: f64,
    /// Per hop of the longest path.
    pub hop_s: f64,
    /// Per unit of load, by step.
    pub load_s: Vec<f64>,
}

impl Rates {
    /// Rates on `fabric` of steps with these bytes per transfer.
    pub fn new(fabric: &Fabric, propagation: Propagation, transfer_bytes: impl Iterator<Item = f64>) -> Self {
        let (hop_s, extra_s) = match propagation {
            Propagation::Hops => (fabric.hop_delay_s, 0.0),
            Propagation::InverseThroughput => (0.0, fabric.hop_delay_s * f64::from(fabric.shape.ports())),
        };
        let load_s = transfer_bytes.map(|bytes| fabric.byte_s() * bytes + extra_s).collect();
        Self { startup_s: fabric.startup_s, hop_s, load_s }
    }

    fn of(&self, step: usize, hops: u32, load: f64) -> f64 {
        self.startup_s + self.hop_s * f64::from(hops) + self.load_s[step] * load
    }
}

/// Seconds that a change of topology costs.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The same for every change.
    Constant(f64),
    /// Row-major `[from][to]`, zero on the diagonal.
    Matrix(Vec<f64>),
}

impl Change {
    /// Seconds to change from one of `candidates` to another; nothing when they are the same.
    pub fn between(&self, candidates: usize, from: usize, to: usize) -> f64 {
        match self {
            _ if from == to => 0.0,
            Self::Constant(delay_s) => *delay_s,
            Self::Matrix(delays_s) => delays_s[from * candidates + to],
        }
    }
}

/// The cheapest candidate of every step, and the completion time.
///
/// `start` is the candidate in force before the first step; `None` means that the first topology is free.
/// Ties go to staying, then to the lower index. Plain sums: infinity marks what is infeasible.
///
/// # Errors
/// When no sequence of candidates serves every step.
pub fn search(table: &ProfileTable, rates: &Rates, change: &Change, start: Option<usize>) -> Result<(Vec<usize>, f64)> {
    let (steps, candidates) = (table.steps(), table.candidates());
    let mut costs = vec![f64::INFINITY; steps * candidates];
    let mut exact = vec![true; steps * candidates];
    for step in 0..steps {
        let pattern = table.pattern_of_step(step);
        for candidate in 0..candidates {
            let index = step * candidates + candidate;
            if let Some(front) = table.known_front(pattern, candidate) {
                costs[index] = front.map_or(f64::INFINITY, |front| cheapest(front, rates, step));
            } else if let Some(estimate) = table.estimate(pattern, candidate) {
                costs[index] = rates.of(step, estimate.hops, estimate.load);
                exact[index] = estimate.exact;
            }
        }
    }
    loop {
        let (path, total_s) = match change {
            Change::Constant(delay_s) => constant_delay(&costs, candidates, *delay_s, start),
            Change::Matrix(delays_s) => any_delay(&costs, candidates, delays_s, start),
        };
        if total_s.is_infinite() {
            let step = (0..steps)
                .find(|step| costs[step * candidates..(step + 1) * candidates].iter().all(|cost| cost.is_infinite()));
            let which = step.map_or("the steps".to_string(), |step| format!("step {}", step + 1));
            return Err(Error::infeasible(
                "candidates",
                format!("no candidate topology has a path for every transfer of {which}"),
            ));
        }
        let mut settled = true;
        for (step, &candidate) in path.iter().enumerate() {
            let index = step * candidates + candidate;
            if !exact[index] {
                let front = table.front(table.pattern_of_step(step), candidate);
                costs[index] = front.map_or(f64::INFINITY, |front| cheapest(front, rates, step));
                exact[index] = true;
                settled = false;
            }
        }
        if settled {
            return Ok((path, total_s));
        }
    }
}

fn cheapest(front: &profile::Front, rates: &Rates, step: usize) -> f64 {
    let Point { hops, load, .. } = front.cheapest(rates.hop_s, rates.load_s[step]);
    rates.of(step, hops, load)
}

/// Path over `costs` (row-major `[step][candidate]`) when every change costs the same.
fn constant_delay(costs: &[f64], candidates: usize, delay_s: f64, start: Option<usize>) -> (Vec<usize>, f64) {
    let steps = costs.len() / candidates;
    let mut value: Vec<f64> = costs[..candidates].to_vec();
    if let Some(start) = start {
        value.iter_mut().enumerate().filter(|(candidate, _)| *candidate != start).for_each(|(_, v)| *v += delay_s);
    }
    let mut stayed = vec![true; steps * candidates];
    let mut best_before = vec![0; steps];
    for step in 1..steps {
        let best = least(&value);
        best_before[step] = best;
        let switched = value[best] + delay_s;
        let row = &costs[step * candidates..(step + 1) * candidates];
        for ((value, stayed), cost) in value.iter_mut().zip(&mut stayed[step * candidates..]).zip(row) {
            *stayed = *value <= switched;
            *value = value.min(switched) + cost;
        }
    }
    let mut candidate = least(&value);
    let total_s = value[candidate];
    let mut path = vec![candidate; steps];
    for step in (1..steps).rev() {
        if !stayed[step * candidates + candidate] {
            candidate = best_before[step];
        }
        path[step - 1] = candidate;
    }
    (path, total_s)
}

/// Path over `costs` for any matrix of delays.
fn any_delay(costs: &[f64], candidates: usize, delays_s: &[f64], start: Option<usize>) -> (Vec<usize>, f64) {
    let steps = costs.len() / candidates;
    let mut value: Vec<f64> = costs[..candidates].to_vec();
    if let Some(start) = start {
        value.iter_mut().enumerate().for_each(|(candidate, v)| *v += delays_s[start * candidates + candidate]);
    }
    let mut before = vec![0; steps * candidates];
    for step in 1..steps {
        // Staying is tried first, so that it wins ties.
        let mut arrive: Vec<(f64, usize)> = value.iter().copied().zip(0..).collect();
        for (from, &so_far) in value.iter().enumerate().filter(|(_, so_far)| so_far.is_finite()) {
            let row = &delays_s[from * candidates..(from + 1) * candidates];
            for (arrival, delay_s) in arrive.iter_mut().zip(row) {
                if so_far + delay_s < arrival.0 {
                    *arrival = (so_far + delay_s, from);
                }
            }
        }
        for (candidate, (arrival, from)) in arrive.into_iter().enumerate() {
            before[step * candidates + candidate] = from;
            value[candidate] = arrival + costs[step * candidates + candidate];
        }
    }
    let mut candidate = least(&value);
    let total_s = value[candidate];
    let mut path = vec![candidate; steps];
    for step in (1..steps).rev() {
        candidate = before[step * candidates + candidate];
        path[step - 1] = candidate;
    }
    (path, total_s)
}

/// Index of the least value, the first of equals.
fn least(values: &[f64]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value < values[best] {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every sequence, summed directly.
    fn brute_force(costs: &[f64], candidates: usize, delays_s: &[f64], start: Option<usize>) -> f64 {
        let steps = costs.len() / candidates;
        let mut best = f64::INFINITY;
        for code in 0..candidates.pow(steps as u32) {
            let (mut rest, mut in_force, mut total) = (code, start, 0.0);
            for step in 0..steps {
                let candidate = rest % candidates;
                rest /= candidates;
                if let Some(from) = in_force {
                    total += delays_s[from * candidates + candidate];
                }
                total += costs[step * candidates + candidate];
                in_force = Some(candidate);
            }
            best = best.min(total);
        }
        best
    }

    fn cost() -> impl Strategy<Value = f64> {
        prop_oneof![4 => (0u32..50).prop_map(f64::from), 1 => Just(f64::INFINITY)]
    }

    fn instance() -> impl Strategy<Value = (usize, Vec<f64>, Vec<f64>, Option<usize>)> {
        (1usize..5, 1usize..6).prop_flat_map(|(candidates, steps)| {
            (
                Just(candidates),
                prop::collection::vec(cost(), candidates * steps),
                prop::collection::vec((0u32..30).prop_map(f64::from), candidates * candidates),
                prop::option::of(0..candidates),
            )
        })
    }

    fn price(path: &[usize], costs: &[f64], candidates: usize, delays_s: &[f64], start: Option<usize>) -> f64 {
        let mut in_force = start;
        let mut total = 0.0;
        for (step, &candidate) in path.iter().enumerate() {
            total += in_force.map_or(0.0, |from| delays_s[from * candidates + candidate]);
            total += costs[step * candidates + candidate];
            in_force = Some(candidate);
        }
        total
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn any_delay_equals_brute_force((candidates, costs, mut delays, start) in instance()) {
            (0..candidates).for_each(|c| delays[c * candidates + c] = 0.0);
            let (path, total) = any_delay(&costs, candidates, &delays, start);
            prop_assert_eq!(total, brute_force(&costs, candidates, &delays, start));
            if total.is_finite() {
                prop_assert_eq!(total, price(&path, &costs, candidates, &delays, start));
            }
        }

        #[test]
        fn constant_delay_equals_brute_force((candidates, costs, _, start) in instance(), delay in 0u32..40) {
            let delay = f64::from(delay);
            let delays: Vec<f64> =
                (0..candidates * candidates).map(|i| if i % (candidates + 1) == 0 { 0.0 } else { delay }).collect();
            let (path, total) = constant_delay(&costs, candidates, delay, start);
            prop_assert_eq!(total, brute_force(&costs, candidates, &delays, start));
            if total.is_finite() {
                prop_assert_eq!(total, price(&path, &costs, candidates, &delays, start));
            }
        }
    }
}
