//! One topology for the whole collective: HARVEST's *static* baseline (§6.1).

use model::{ChargeKind, Error, Overlap, Result};

use crate::pipeline::best_static;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, Promise, Rates, ties};

/// Patterns whose fronts are computed before the bound on the whole is looked at again.
const PATTERNS_AT_ONCE: usize = 16;

/// HARVEST's baseline *static*: the fastest single topology.
pub struct Static;

impl Planner for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    fn summary(&self) -> &'static str {
        "one topology throughout: the one named, or the best of a list (ring, tori, generalised Kautz)"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1, static baseline"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            knows_overlap: true,
            charges: ChargeKind::ALL,
            closes_cycles: true,
            others_forward: true,
            takes_static_topologies: true,
            least_sum: LeastSum::Always,
            keeps_one_topology: true,
            ..Capabilities::default()
        }
    }

    fn promise(&self, problem: &Problem) -> Option<Promise> {
        if problem.settings.overlap == Overlap::Pipelined {
            return None;
        }
        let promises = promises(problem, &problem.allowed());
        let (least_s, _) = *promises.first()?;
        // Candidates are tried in this order, up to the first whose promised time is exact.
        let works = promises.iter().map(|&(_, candidate)| flow_work(problem, candidate)).take_while(|&work| work > 0);
        Some(Promise { least_s, work: works.fold(0, u64::saturating_add) })
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let allowed = problem.allowed();
        // Cheapest promise first: a candidate whose lower bound is no better than the best so far needs no flows.
        let rates = problem.rates();
        let promises = promises(problem, &allowed);
        let mut best: Option<(f64, usize)> = None;
        if promises.iter().all(|(promised_s, _)| promised_s.is_infinite()) {
            return Err(refusal(problem, &allowed));
        }
        if problem.settings.overlap == Overlap::Pipelined {
            let best = best_static(problem, &allowed, limit_s)?;
            return Ok(best.map(|(candidate, total_s)| self.choice(problem, candidate, total_s)));
        }
        for (promised_s, candidate) in promises {
            let enough_s = best.map_or(limit_s, |(so_far, _)| so_far.min(limit_s));
            if !ties::within(promised_s, enough_s) {
                break;
            }
            if exceeds(problem, &rates, candidate, enough_s - first_change_s(problem, candidate)) {
                continue;
            }
            let total_s = problem.total_s(&vec![candidate; problem.table.steps()])?;
            if best.is_none_or(|so_far| ties::order((total_s, candidate), so_far).is_lt()) {
                best = Some((total_s, candidate));
            }
        }
        let best = best.filter(|(total_s, _)| *total_s <= limit_s);
        Ok(best.map(|(total_s, candidate)| self.choice(problem, candidate, total_s)))
    }
}

impl Static {
    fn choice(&self, problem: &Problem, candidate: usize, total_s: f64) -> Choice {
        let candidates = vec![candidate; problem.table.steps()];
        Choice { planner: self.name(), problem: problem.clone(), candidates, total_s, class_bound: None }
    }
}

/// Work on the fronts of a candidate that are not known without flows.
fn flow_work(problem: &Problem, candidate: usize) -> u64 {
    let needs_flow = |&pattern: &usize| !problem.table.estimates(pattern).exact[candidate];
    let patterns = (0..problem.table.patterns().len()).filter(needs_flow);
    patterns.map(|pattern| problem.table.front_work(pattern, candidate)).fold(0, u64::saturating_add)
}

/// Lower bounds on the completion times on these candidates, the least first.
fn promises(problem: &Problem, allowed: &[usize]) -> Vec<(f64, usize)> {
    let rates = problem.rates();
    let of = |&candidate: &usize| (first_change_s(problem, candidate) + promise(problem, &rates, candidate), candidate);
    let mut promises: Vec<(f64, usize)> = allowed.iter().map(of).collect();
    promises.sort_by(|a, b| a.0.total_cmp(&b.0));
    promises
}

/// The charge of the change from the start to a candidate.
fn first_change_s(problem: &Problem, candidate: usize) -> f64 {
    problem.charges_of(&[candidate], &[]).first().copied().unwrap_or(0.0)
}

/// A lower bound on the completion time on one candidate, from estimates without flows.
fn promise(problem: &Problem, rates: &Rates, candidate: usize) -> f64 {
    (0..problem.table.steps())
        .map(|step| {
            let known = problem.table.estimates(problem.table.pattern_of_step(step));
            rates.at_least(step, candidate, known.hops[candidate], known.loads[candidate])
        })
        .sum()
}

/// Whether the candidate is known to take longer than `limit_s`: sharpens the lower bounds of its patterns, then
/// replaces them by fronts, a few at a time, while the sum leaves a chance.
fn exceeds(problem: &Problem, rates: &Rates, candidate: usize, limit_s: f64) -> bool {
    let table = &problem.table;
    let patterns = table.patterns().len();
    let hop_s = rates.hop_on_s(candidate);
    let steps = || (0..table.steps()).map(|step| (step, table.pattern_of_step(step)));
    let mut costs: Vec<f64> = steps()
        .map(|(step, pattern)| {
            let known = table.estimates(pattern);
            rates.at_least(step, candidate, known.hops[candidate], known.loads[candidate])
        })
        .collect();
    // The margin keeps rounding from deciding what would be a tie.
    let too_long = |costs: &[f64]| costs.iter().sum::<f64>() > limit_s * (1.0 + 1e-12);
    table.compute_bounds((0..patterns).map(|pattern| (pattern, candidate)));
    for (step, pattern) in steps() {
        if let Some(bound) = table.load_bound(pattern, candidate) {
            costs[step] = costs[step].max(rates.startup_s + bound.cheapest(hop_s, rates.load_s[step]));
        }
    }
    for first in (0..patterns).step_by(PATTERNS_AT_ONCE) {
        if too_long(&costs) {
            return true;
        }
        let some = first..patterns.min(first + PATTERNS_AT_ONCE);
        table.compute_fronts(some.clone().map(|pattern| (pattern, candidate)));
        for (step, pattern) in steps().filter(|(_, pattern)| some.contains(pattern)) {
            if let Some(front) = table.front(pattern, candidate) {
                let point = front.cheapest(hop_s, rates.load_s[step]);
                costs[step] = rates.of(step, candidate, point.hops, point.load);
            }
        }
    }
    too_long(&costs)
}

/// Why none of the candidates serves.
fn refusal(problem: &Problem, allowed: &[usize]) -> Error {
    let without_path = |&candidate: &usize| {
        if let Some(refusal) = problem.table.refusal(candidate) {
            return Some(refusal.clone());
        }
        let serves =
            |step: &usize| problem.table.estimates(problem.table.pattern_of_step(*step)).hops[candidate].is_finite();
        let step = (0..problem.table.steps()).find(|step| !serves(step))?;
        let name = problem.table.candidate(candidate).name();
        Some(Error::refused("topology", name, format!("some transfer of step {} has no path on it", step + 1)))
    };
    allowed
        .iter()
        .find_map(without_path)
        .unwrap_or_else(|| Error::infeasible("topology", "no static topology was given"))
}
