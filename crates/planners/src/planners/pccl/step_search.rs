//! The shortest path over (step, topology in force), on costs that are lower bounds until they are needed.

use model::sum_seconds;

use crate::cutoffs::planners_pccl_step_search::LEAST_SIDE_BY_SIDE;
use crate::{Change, Problem, Rates};

/// The topologies that may be set up before a step: a standard topology, or the step's own circuits.
pub(super) struct Entries {
    pub(super) standard: Vec<usize>,
    /// By step.
    pub(super) own_circuits: Vec<usize>,
}

impl Entries {
    fn of(&self, step: usize) -> impl Iterator<Item = usize> {
        self.standard.iter().copied().chain([self.own_circuits[step]])
    }

    /// The first step that each of `topologies` can be in force in; `start` is before all.
    fn earliest(&self, topologies: usize, start: Option<usize>) -> Vec<usize> {
        let mut earliest = vec![usize::MAX; topologies];
        for (step, &own) in self.own_circuits.iter().enumerate() {
            earliest[own] = earliest[own].min(step);
        }
        self.standard.iter().copied().chain(start).for_each(|topology| earliest[topology] = 0);
        earliest
    }
}

/// The search over (step, topology in force), with the costs found so far.
pub(super) struct StepSearch<'a> {
    problem: &'a Problem,
    entries: &'a Entries,
    rates: Rates,
    change: Change,
    /// Row-major `[step][topology]`: infinite where the topology cannot be in force.
    costs: Vec<f64>,
    /// Row-major `[pattern][topology]`: whether the estimate that the costs are made of is what a routing attains.
    is_attained: Vec<bool>,
    /// Row-major `[step][topology]`: whether the cost is that of the front.
    is_priced: Vec<bool>,
    /// (step, topology entered before it, topology in force until then), by step.
    entered: Vec<(usize, usize, usize)>,
}

impl<'a> StepSearch<'a> {
    pub(super) fn new(problem: &'a Problem, entries: &'a Entries) -> Self {
        let table = &problem.table;
        let (steps, topologies) = (table.steps(), table.candidates());
        let earliest = entries.earliest(topologies, problem.start);
        let patterns = table.patterns().len();
        let mut latest = vec![0; patterns];
        (0..steps).for_each(|step| latest[table.pattern_of_step(step)] = step);
        // Pairs that never meet keep what is infinite.
        let mut estimates = vec![(f64::INFINITY, f64::INFINITY); patterns * topologies];
        let mut is_attained = vec![true; patterns * topologies];
        for (pattern, latest) in latest.into_iter().enumerate() {
            for topology in (0..topologies).filter(|&topology| earliest[topology] <= latest) {
                if let Some(estimate) = table.estimate(pattern, topology) {
                    let pair = pattern * topologies + topology;
                    estimates[pair] = (f64::from(estimate.hops), estimate.load);
                    is_attained[pair] = estimate.exact;
                }
            }
        }
        let rates = problem.rates();
        let mut costs = Vec::with_capacity(steps * topologies);
        for step in 0..steps {
            let row = table.pattern_of_step(step) * topologies;
            let known = estimates[row..row + topologies].iter().enumerate();
            costs.extend(known.map(|(topology, &(hops, load))| rates.at_least(step, topology, hops, load)));
        }
        let is_priced = vec![false; steps * topologies];
        Self { problem, entries, rates, change: problem.change(), costs, is_attained, is_priced, entered: Vec::new() }
    }

    /// The topology of every step in the best sequence, and its time; `None` as soon as it is known to be above
    /// `limit_s`. Every step of a path is made exact before it is believed, and others were undercounted at most.
    pub(super) fn cheapest_within(mut self, limit_s: f64) -> Option<(Vec<usize>, f64)> {
        loop {
            let (path, total_s) = self.shortest_path();
            if total_s > limit_s {
                return None;
            }
            if !self.price(&path) {
                let total_s = self.time_of(&path);
                return Some((path, total_s));
            }
        }
    }

    /// Replaces the lower bounds on the path by what the fronts say. False when there were none.
    fn price(&mut self, path: &[usize]) -> bool {
        let table = &self.problem.table;
        let topologies = table.candidates();
        let is_guessed = |&(step, topology): &(usize, usize)| {
            !self.is_attained[table.pattern_of_step(step) * topologies + topology]
                && !self.is_priced[step * topologies + topology]
        };
        let guessed: Vec<(usize, usize)> = path.iter().copied().enumerate().filter(is_guessed).collect();
        if self.problem.fabric.shape.gpus() >= LEAST_SIDE_BY_SIDE {
            table.compute_fronts(guessed.iter().map(|&(step, topology)| (table.pattern_of_step(step), topology)));
        }
        for &(step, topology) in &guessed {
            let front = table.front(table.pattern_of_step(step), topology);
            self.costs[step * topologies + topology] = front.map_or(f64::INFINITY, |front| {
                let point = front.cheapest(self.rates.hop_on_s(topology), self.rates.load_s[step]);
                self.rates.of(step, topology, point.hops, point.load)
            });
            self.is_priced[step * topologies + topology] = true;
        }
        !guessed.is_empty()
    }

    /// Ties go to staying, then to the earlier topology. O(steps · topologies) for a constant delay.
    fn shortest_path(&mut self) -> (Vec<usize>, f64) {
        let topologies = self.problem.table.candidates();
        let steps = self.entries.own_circuits.len();
        let mut value = vec![f64::INFINITY; topologies];
        if let Some(start) = self.problem.start {
            value[start] = 0.0;
        }
        self.entered.clear();
        // Topologies after it have not been in force yet.
        let mut known = self.problem.start.map_or(0, |start| start + 1);
        let mut arrivals: Vec<(usize, f64)> = Vec::new();
        for step in 0..steps {
            interruption::check();
            arrivals.clear();
            let best = cheapest_change(&value[..known], |_| match self.change {
                Change::Constant(delay_s) => delay_s,
                Change::Matrix(_) => 0.0,
            });
            for to in self.entries.of(step) {
                if step == 0 && self.problem.start.is_none() {
                    arrivals.push((to, 0.0));
                    continue;
                }
                let (arrival_s, from) = match self.change {
                    Change::Constant(_) => best,
                    Change::Matrix(_) => {
                        cheapest_change(&value[..known], |from| self.change.between(topologies, from, to))
                    }
                };
                if arrival_s < value[to] {
                    arrivals.push((to, arrival_s));
                    self.entered.push((step, to, from));
                }
            }
            for &(to, arrival_s) in &arrivals {
                value[to] = arrival_s;
                known = known.max(to + 1);
            }
            let costs = &self.costs[step * topologies..step * topologies + known];
            value.iter_mut().zip(costs).for_each(|(value, cost)| *value += cost);
        }
        let mut topology = (1..topologies).fold(0, |best, other| if value[other] < value[best] { other } else { best });
        let total_s = value[topology];
        let mut path = vec![topology; steps];
        let mut entered = self.entered.iter().rev().peekable();
        for step in (1..steps).rev() {
            let after = topology;
            while let Some((_, to, from)) = entered.next_if(|(at, ..)| *at == step) {
                if *to == after {
                    topology = *from;
                }
            }
            path[step - 1] = topology;
        }
        (path, total_s)
    }

    /// Completion time of a sequence whose costs are exact, s.
    fn time_of(&self, path: &[usize]) -> f64 {
        let topologies = self.problem.table.candidates();
        let before = self.problem.start.into_iter().chain(path.iter().copied());
        let after = before.clone().skip(1);
        let changes = before.zip(after).map(|(from, to)| self.change.between(topologies, from, to));
        let steps = path.iter().enumerate().map(|(step, &topology)| self.costs[step * topologies + topology]);
        sum_seconds(changes.chain(steps))
    }
}

/// The least `value` with the delay that a change costs, and where it is from, the first of equals.
fn cheapest_change(value: &[f64], delay_s: impl Fn(usize) -> f64) -> (f64, usize) {
    let mut best = (f64::INFINITY, 0);
    for (from, so_far_s) in value.iter().enumerate() {
        let arrival_s = so_far_s + delay_s(from);
        if arrival_s < best.0 {
            best = (arrival_s, from);
        }
    }
    best
}
