//! The shortest path over (round, topology in force), on costs that are lower bounds until they are needed.

use model::sum_seconds;

use crate::{Change, Problem, Rates};

/// GPUs from which the fronts of a path are computed side by side; below it a front takes microseconds.
const LEAST_SIDE_BY_SIDE: u32 = 1024;

/// What may be set up before a round: a standard topology, or the round's own circuits.
pub(super) struct Entries {
    pub(super) standard: Vec<usize>,
    /// By round.
    pub(super) own_circuits: Vec<usize>,
}

impl Entries {
    fn of(&self, round: usize) -> impl Iterator<Item = usize> {
        self.standard.iter().copied().chain([self.own_circuits[round]])
    }

    /// The first round that each of `topologies` can be in force in; `start` is before all.
    fn earliest(&self, topologies: usize, start: Option<usize>) -> Vec<usize> {
        let mut earliest = vec![usize::MAX; topologies];
        for (round, &own) in self.own_circuits.iter().enumerate() {
            earliest[own] = earliest[own].min(round);
        }
        self.standard.iter().copied().chain(start).for_each(|topology| earliest[topology] = 0);
        earliest
    }
}

/// The search over (step, topology in force), with the costs found so far.
pub(super) struct Rounds<'a> {
    problem: &'a Problem,
    entries: &'a Entries,
    rates: Rates,
    change: Change,
    /// Row-major `[round][topology]`: infinite where the topology cannot be in force.
    costs: Vec<f64>,
    /// Row-major `[pattern][topology]`: whether the estimate that the costs are made of is what a routing attains.
    is_attained: Vec<bool>,
    /// Row-major `[round][topology]`: whether the cost is that of the front.
    is_priced: Vec<bool>,
    /// (round, topology entered before it, topology in force until then), by round.
    entered: Vec<(usize, usize, usize)>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(problem: &'a Problem, entries: &'a Entries) -> Self {
        let table = &problem.table;
        let (rounds, topologies) = (table.steps(), table.candidates());
        let earliest = entries.earliest(topologies, problem.start);
        let patterns = table.patterns().len();
        let mut latest = vec![0; patterns];
        (0..rounds).for_each(|round| latest[table.pattern_of_step(round)] = round);
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
        let mut costs = Vec::with_capacity(rounds * topologies);
        for round in 0..rounds {
            let row = table.pattern_of_step(round) * topologies;
            costs
                .extend(estimates[row..row + topologies].iter().map(|&(hops, load)| rates.at_least(round, hops, load)));
        }
        let is_priced = vec![false; rounds * topologies];
        Self { problem, entries, rates, change: problem.change(), costs, is_attained, is_priced, entered: Vec::new() }
    }

    /// The topology of every round in the best sequence, and its time; `None` as soon as it is known to be above
    /// `limit_s`. Every round of a path is made exact before it is believed, and others were undercounted at most.
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
        let is_guessed = |&(round, topology): &(usize, usize)| {
            !self.is_attained[table.pattern_of_step(round) * topologies + topology]
                && !self.is_priced[round * topologies + topology]
        };
        let guessed: Vec<(usize, usize)> = path.iter().copied().enumerate().filter(is_guessed).collect();
        if self.problem.fabric.shape.gpus() >= LEAST_SIDE_BY_SIDE {
            table.compute_fronts(guessed.iter().map(|&(round, topology)| (table.pattern_of_step(round), topology)));
        }
        for &(round, topology) in &guessed {
            let front = table.front(table.pattern_of_step(round), topology);
            self.costs[round * topologies + topology] = front.map_or(f64::INFINITY, |front| {
                let point = front.cheapest(self.rates.hop_s, self.rates.load_s[round]);
                self.rates.of(round, point.hops, point.load)
            });
            self.is_priced[round * topologies + topology] = true;
        }
        !guessed.is_empty()
    }

    /// Ties go to staying, then to the earlier topology. O(rounds · topologies) for a constant delay.
    fn shortest_path(&mut self) -> (Vec<usize>, f64) {
        let topologies = self.problem.table.candidates();
        let rounds = self.entries.own_circuits.len();
        let mut value = vec![f64::INFINITY; topologies];
        if let Some(start) = self.problem.start {
            value[start] = 0.0;
        }
        self.entered.clear();
        // Those after it have not been in force yet.
        let mut known = self.problem.start.map_or(0, |start| start + 1);
        let mut arrivals: Vec<(usize, f64)> = Vec::new();
        for round in 0..rounds {
            arrivals.clear();
            let best = cheapest_change(&value[..known], |_| match self.change {
                Change::Constant(delay_s) => delay_s,
                Change::Matrix(_) => 0.0,
            });
            for to in self.entries.of(round) {
                if round == 0 && self.problem.start.is_none() {
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
                    self.entered.push((round, to, from));
                }
            }
            for &(to, arrival_s) in &arrivals {
                value[to] = arrival_s;
                known = known.max(to + 1);
            }
            let costs = &self.costs[round * topologies..round * topologies + known];
            value.iter_mut().zip(costs).for_each(|(value, cost)| *value += cost);
        }
        let mut topology = (1..topologies).fold(0, |best, other| if value[other] < value[best] { other } else { best });
        let total_s = value[topology];
        let mut path = vec![topology; rounds];
        let mut entered = self.entered.iter().rev().peekable();
        for round in (1..rounds).rev() {
            let after = topology;
            while let Some((_, to, from)) = entered.next_if(|(at, ..)| *at == round) {
                if *to == after {
                    topology = *from;
                }
            }
            path[round - 1] = topology;
        }
        (path, total_s)
    }

    /// Completion time of a sequence whose costs are exact, s.
    fn time_of(&self, path: &[usize]) -> f64 {
        let topologies = self.problem.table.candidates();
        let before = self.problem.start.into_iter().chain(path.iter().copied());
        let after = before.clone().skip(1);
        let changes = before.zip(after).map(|(from, to)| self.change.between(topologies, from, to));
        let rounds = path.iter().enumerate().map(|(round, &topology)| self.costs[round * topologies + topology]);
        sum_seconds(changes.chain(rounds))
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
