//! The best sequence of topologies: a shortest path over (step, topology).
//!
//! For a fixed candidate set the optimum of HARVEST's eq. 4 is a shortest path whose nodes are
//! (step, candidate) and whose edges cost a reconfiguration where the candidate changes: O(s·|C|) for a
//! constant delay, because only the best predecessor matters, and O(s·|C|²) for any delay matrix.
//!
//! Flows are expensive and most pairs are never on the best path, so the search is lazy: it starts from a lower bound
//! on each pair, known without a flow, and looks closer only at the pairs on the path that it finds: first at bounds
//! from rounds of shortest paths, and at flows where those leave the path the best. Once every pair on that path is
//! exact, no other path can be shorter, since all others were undercounted at most. (Lazy shortest paths; Dellin and
//! Srinivasa 2016.)
//!
//! This holds where changes hide behind steps as well: a change of delay D in the background of a step of time t is
//! charged max(0, D − t), less where t is undercounted, but the two together take max(t, D), which is not.

use model::{Error, Fabric, HopDelays, Result};

use crate::shortest_path::{Before, ShortestPath};
use crate::{Charges, ProfileTable, Promise};

/// Seconds that hops and load cost in each step.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// α and the barrier, for each step.
    pub startup_s: f64,
    /// Per hop of the longest path, without the seconds that a candidate adds.
    pub hop_s: f64,
    /// Per unit of load, by step.
    pub load_s: Vec<f64>,
    /// By candidate, the seconds that are added to every hop, such as light in its longest fibre; empty where hops are
    /// alike.
    pub added_hops_s: Vec<f64>,
}

impl Rates {
    /// Rates on `fabric` of steps that are charged this many hop delays, with these bytes per transfer.
    pub fn new(fabric: &Fabric, steps: impl Iterator<Item = (HopDelays, f64)>) -> Self {
        let of_step =
            |(delays, bytes): (HopDelays, f64)| delays.hop_and_load_s(fabric.hop_delay_s, fabric.byte_s() * bytes);
        let (hops_s, load_s): (Vec<f64>, Vec<f64>) = steps.map(of_step).unzip();
        // One rule holds for all steps.
        Self {
            startup_s: fabric.per_step_s(),
            hop_s: hops_s.first().copied().unwrap_or_default(),
            load_s,
            added_hops_s: Vec::new(),
        }
    }

    /// Per hop of the longest path on a candidate.
    pub fn hop_on_s(&self, candidate: usize) -> f64 {
        self.hop_s + self.added_hops_s.get(candidate).copied().unwrap_or(0.0)
    }

    /// Seconds of a step with hops and a load on a candidate, whose lower bounds may be infinite at any rates.
    pub fn at_least(&self, step: usize, candidate: usize, hops: f64, load: f64) -> f64 {
        if !hops.is_finite() {
            return f64::INFINITY;
        }
        self.startup_s + self.hop_on_s(candidate) * hops + self.load_s[step] * load
    }

    /// Seconds of a step with these hops and this load on a candidate.
    pub fn of(&self, step: usize, candidate: usize, hops: u32, load: f64) -> f64 {
        self.startup_s + self.hop_on_s(candidate) * f64::from(hops) + self.load_s[step] * load
    }
}

/// The source of the cost of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CostSource {
    /// The estimate.
    Estimate,
    /// A sharper bound, or still the estimate if there is no sharper bound.
    Bound,
    /// The front.
    Exact,
}

/// Fronts computed before the path is looked for again. A constant, so that the number of threads does not
/// show, and no larger than keeps some of them busy.
const FRONTS_AT_ONCE: usize = 16;

/// The lazy search over one table, with the buffers that a sweep uses again and again.
pub struct StateSearch<'a> {
    table: &'a ProfileTable,
    costs: Vec<f64>,
    known: Vec<CostSource>,
    shortest: ShortestPath,
}

impl<'a> StateSearch<'a> {
    /// A search over the candidates of `table`.
    pub fn new(table: &'a ProfileTable) -> Self {
        let pairs = table.steps() * table.candidates();
        Self {
            table,
            costs: vec![0.0; pairs],
            known: vec![CostSource::Estimate; pairs],
            shortest: ShortestPath::default(),
        }
    }

    /// Completion time of the best sequence, which [`StateSearch::path`] then gives; `None` as soon as it is
    /// known to be above `limit_s`.
    ///
    /// `before` is what is in force before the first step. Ties go to staying, then to the lower index. Plain sums:
    /// infinity marks what is infeasible. Results of other searches do not enter, so the result does not depend on
    /// their order.
    ///
    /// # Errors
    /// When no sequence of candidates serves every step.
    pub fn run(&mut self, rates: &Rates, charges: &Charges, before: Before, limit_s: f64) -> Result<Option<f64>> {
        self.assume(rates);
        loop {
            let total_s = self.shortest.run(&self.costs, self.table.candidates(), charges, before);
            if total_s.is_infinite() {
                return Err(infeasible(self.table, &self.costs));
            }
            if total_s > limit_s {
                return Ok(None);
            }
            if !self.look_closer(rates) {
                return Ok(Some(total_s));
            }
        }
    }

    /// A lower bound on the time of every sequence, by estimates without flows, and the work on flows that the best
    /// sequence may need: for each pattern the most.
    pub fn promise(&mut self, rates: &Rates, charges: &Charges, before: Before) -> Promise {
        self.assume(rates);
        let (table, candidates) = (self.table, self.table.candidates());
        let least_s = self.shortest.run(&self.costs, candidates, charges, before);
        let costs = self.costs.clone();
        for (cost, known) in self.costs.iter_mut().zip(&self.known) {
            if *known != CostSource::Exact {
                *cost = f64::INFINITY;
            }
        }
        // The best sequence takes at most this.
        let most_s = self.shortest.run(&self.costs, candidates, charges, before);
        let least_of = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
        let sum_s: f64 = costs.chunks(candidates).map(least_of).sum();
        let mut works = vec![0; table.patterns().len()];
        for (step, row) in costs.chunks(candidates).enumerate() {
            interruption::check();
            let others_s = sum_s - least_of(row);
            let pattern = table.pattern_of_step(step);
            for (candidate, cost) in row.iter().enumerate() {
                let needs_flow = self.known[step * candidates + candidate] != CostSource::Exact;
                if needs_flow && others_s + cost < most_s {
                    works[pattern] = table.front_work(pattern, candidate).max(works[pattern]);
                }
            }
        }
        Promise { least_s, work: works.into_iter().fold(0, u64::saturating_add) }
    }

    /// Sharpens pairs on the path: all that are estimated, else some that are bounded. False when all are exact.
    fn look_closer(&mut self, rates: &Rates) -> bool {
        let table = self.table;
        let candidates = table.candidates();
        let on_path: Vec<(usize, usize)> = self.shortest.path().iter().copied().enumerate().collect();
        let pairs = |pairs: &[(usize, usize)]| -> Vec<(usize, usize)> {
            pairs.iter().map(|&(step, candidate)| (table.pattern_of_step(step), candidate)).collect()
        };
        let known_as = |search: &Self, known: CostSource| -> Vec<(usize, usize)> {
            let at = |(step, candidate): (usize, usize)| search.known[step * candidates + candidate];
            on_path.iter().copied().filter(|&pair| at(pair) == known).collect()
        };
        let estimated = known_as(self, CostSource::Estimate);
        table.compute_bounds(pairs(&estimated).into_iter());
        for &(step, candidate) in &estimated {
            let index = step * candidates + candidate;
            if let Some(bound) = table.load_bound(table.pattern_of_step(step), candidate) {
                let bound_s = rates.startup_s + bound.cheapest(rates.hop_on_s(candidate), rates.load_s[step]);
                self.costs[index] = self.costs[index].max(bound_s);
            }
            self.known[index] = CostSource::Bound;
        }
        if !estimated.is_empty() {
            return true;
        }
        let mut bounded = known_as(self, CostSource::Bound);
        bounded.truncate(FRONTS_AT_ONCE);
        table.compute_cheapest(bounded.iter().map(|&(step, candidate)| {
            (table.pattern_of_step(step), candidate, rates.hop_on_s(candidate), rates.load_s[step])
        }));
        for &(step, candidate) in &bounded {
            let index = step * candidates + candidate;
            let hop_s = rates.hop_on_s(candidate);
            let point = table.cheapest(table.pattern_of_step(step), candidate, hop_s, rates.load_s[step]);
            self.costs[index] = point.map_or(f64::INFINITY, |point| rates.of(step, candidate, point.hops, point.load));
            self.known[index] = CostSource::Exact;
        }
        !bounded.is_empty()
    }

    /// Sets every cost to what is known without flows.
    fn assume(&mut self, rates: &Rates) {
        let candidates = self.table.candidates();
        for step in 0..self.table.steps() {
            interruption::check();
            let row = step * candidates..(step + 1) * candidates;
            let known = self.table.estimates(self.table.pattern_of_step(step));
            let known_of = known.hops.iter().zip(known.loads).enumerate();
            for (cost, (candidate, (hops, load))) in self.costs[row.clone()].iter_mut().zip(known_of) {
                *cost = rates.at_least(step, candidate, *hops, *load);
            }
            for (state, &exact) in self.known[row].iter_mut().zip(known.exact) {
                *state = if exact { CostSource::Exact } else { CostSource::Estimate };
            }
        }
    }

    /// The candidate of every step in the sequence that was found last.
    pub fn path(&self) -> &[usize] {
        self.shortest.path()
    }
}

/// Why no sequence has a finite time, by `costs` row-major `[step][candidate]`.
pub(crate) fn infeasible(table: &ProfileTable, costs: &[f64]) -> Error {
    let candidates = table.candidates();
    let step = costs.chunks(candidates).position(|row| row.iter().all(|cost| cost.is_infinite()));
    let which = step.map_or("the steps".to_string(), |step| format!("step {}", step + 1));
    match (0..candidates).find_map(|candidate| table.refusal(candidate)) {
        None => {
            Error::infeasible("candidates", format!("no candidate topology has a path for every transfer of {which}"))
        }
        Some(refusal) => {
            let reason = "no candidate topology that the optical layer can hold has a path for every transfer of";
            Error::infeasible("candidates", format!("{reason} {which}; {}", refusal.reason()))
        }
    }
}
