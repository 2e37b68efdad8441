//! Shortest paths over (step, candidate), given every cost.

use crate::charges::Hidden;
use crate::{Change, Charges};

/// The state before the first step of a sequence of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// No topology: the first one is not charged.
    Nothing,
    /// The candidate with this index.
    Candidate(usize),
    /// The candidate of the last step: the sequence is a cycle.
    Last,
}

/// Buffers of a shortest path over `steps` × `candidates`, kept from one call to the next.
#[derive(Debug, Default)]
pub struct ShortestPath {
    value: Vec<f64>,
    /// Where every change costs the same: whether the best way to each (step, candidate) stays.
    stayed: Vec<bool>,
    /// The candidate before each step where it changes, or, where `stayed` is empty, before each (step, candidate).
    before: Vec<usize>,
    path: Vec<usize>,
}

impl ShortestPath {
    /// Length of the shortest path over `costs` (row-major `[step][candidate]`), which [`ShortestPath::path`] then
    /// gives.
    ///
    /// A cycle is an open path from the candidate that it ends on. Candidates are tried as ends in the order of what a
    /// path from anywhere to them takes at least, up to the first of which that is no less than the best cycle.
    pub fn run(&mut self, costs: &[f64], candidates: usize, charges: &Charges, before: Before) -> f64 {
        let steps = costs.len() / candidates;
        let start = if let Before::Candidate(start) = before { Some(start) } else { None };
        self.open(costs, candidates, charges, start);
        if before != Before::Last {
            let end = least(&self.value);
            self.trace_back(steps, candidates, end);
            return self.value[end];
        }
        let mut ends: Vec<(f64, usize)> = self.value.iter().copied().zip(0..).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best_s = f64::INFINITY;
        for (least_s, end) in ends {
            if least_s >= best_s {
                break;
            }
            self.open(costs, candidates, charges, Some(end));
            if self.value[end] < best_s {
                best_s = self.value[end];
                self.trace_back(steps, candidates, end);
            }
        }
        best_s
    }

    /// The shortest ways to every candidate at the last step, by the fastest method that knows what changes are
    /// charged.
    fn open(&mut self, costs: &[f64], candidates: usize, charges: &Charges, start: Option<usize>) {
        match (&charges.hidden, &charges.change) {
            (Some(hidden), change) => self.hidden_delay(costs, candidates, change, hidden, start),
            (None, Change::Constant(delay_s)) => self.constant_delay(costs, candidates, *delay_s, start),
            (None, Change::Matrix(delays_s)) => self.any_delay(costs, candidates, delays_s, start),
        }
    }

    /// Shortest ways over `costs` (row-major `[step][candidate]`) when every change costs the same. O(steps ·
    /// candidates).
    fn constant_delay(&mut self, costs: &[f64], candidates: usize, delay_s: f64, start: Option<usize>) {
        let steps = costs.len() / candidates;
        self.value.clear();
        self.value.extend_from_slice(&costs[..candidates]);
        if let Some(start) = start {
            self.value.iter_mut().enumerate().filter(|(c, _)| *c != start).for_each(|(_, v)| *v += delay_s);
        }
        self.stayed.clear();
        self.stayed.resize(costs.len(), true);
        self.before.clear();
        self.before.resize(steps, 0);
        for step in 1..steps {
            interruption::check();
            let best = least(&self.value);
            self.before[step] = best;
            let switched = self.value[best] + delay_s;
            let row = step * candidates..(step + 1) * candidates;
            for ((value, stayed), cost) in self.value.iter_mut().zip(&mut self.stayed[row.clone()]).zip(&costs[row]) {
                *stayed = *value <= switched;
                *value = value.min(switched) + cost;
            }
        }
    }

    /// Shortest ways over `costs` for any matrix of delays, row-major `[from][to]`. O(steps · candidates²).
    fn any_delay(&mut self, costs: &[f64], candidates: usize, delays_s: &[f64], start: Option<usize>) {
        let steps = costs.len() / candidates;
        self.value.clear();
        self.value.extend_from_slice(&costs[..candidates]);
        if let Some(start) = start {
            self.value.iter_mut().enumerate().for_each(|(c, v)| *v += delays_s[start * candidates + c]);
        }
        self.stayed.clear();
        self.before.clear();
        self.before.resize(costs.len(), 0);
        for step in 1..steps {
            // Staying is tried first, so that it wins ties.
            let mut arrive: Vec<(f64, usize)> = self.value.iter().copied().zip(0..).collect();
            for (from, &so_far) in self.value.iter().enumerate().filter(|(_, so_far)| so_far.is_finite()) {
                interruption::check();
                let row = &delays_s[from * candidates..(from + 1) * candidates];
                for (arrival, delay_s) in arrive.iter_mut().zip(row) {
                    if so_far + delay_s < arrival.0 {
                        *arrival = (so_far + delay_s, from);
                    }
                }
            }
            for (candidate, (arrival, from)) in arrive.into_iter().enumerate() {
                self.before[step * candidates + candidate] = from;
                self.value[candidate] = arrival + costs[step * candidates + candidate];
            }
        }
    }

    /// Shortest ways over `costs` where changes are hidden: those that stop traffic behind the window before a step,
    /// those in the background also behind the step before. O(steps · (candidates + background changes)) where `change`
    /// is constant, O(steps · candidates²) where it is not.
    fn hidden_delay(
        &mut self,
        costs: &[f64],
        candidates: usize,
        change: &Change,
        hidden: &Hidden,
        start: Option<usize>,
    ) {
        let steps = costs.len() / candidates;
        self.value.clear();
        self.value.resize(candidates, if start.is_some() { f64::INFINITY } else { 0.0 });
        if let Some(start) = start {
            self.value[start] = 0.0;
        }
        self.stayed.clear();
        self.before.clear();
        self.before.resize(costs.len(), 0);
        // Nothing is before the first step that a change could hide behind.
        let nothing = vec![0.0; candidates];
        for step in 0..steps {
            interruption::check();
            let window_s = hidden.windows_s[step];
            let steps_s = if step == 0 { &nothing } else { &costs[(step - 1) * candidates..step * candidates] };
            // Staying is tried first, so that it wins ties.
            let mut arrive: Vec<(f64, usize)> = self.value.iter().copied().zip(0..).collect();
            let mut try_from = |from: usize, to: usize, left_s: f64| {
                let arrival_s = self.value[from] + (left_s - window_s).max(0.0);
                if arrival_s < arrive[to].0 {
                    arrive[to] = (arrival_s, from);
                }
            };
            match change {
                Change::Constant(delay_s) => {
                    let best = least(&self.value);
                    (0..candidates).for_each(|to| try_from(best, to, *delay_s));
                }
                Change::Matrix(delays_s) => {
                    for (pair, delay_s) in delays_s.iter().enumerate() {
                        try_from(pair / candidates, pair % candidates, *delay_s);
                    }
                }
            }
            for change in hidden.background.iter().filter(|change| self.value[change.from].is_finite()) {
                try_from(change.from, change.to, change.delay_s - steps_s[change.from]);
            }
            for (candidate, (arrival_s, from)) in arrive.into_iter().enumerate() {
                self.before[step * candidates + candidate] = from;
                self.value[candidate] = arrival_s + costs[step * candidates + candidate];
            }
        }
    }

    /// The shortest way to `end` at the last step, by what was before each candidate.
    fn trace_back(&mut self, steps: usize, candidates: usize, end: usize) {
        let mut candidate = end;
        self.path.clear();
        self.path.resize(steps, candidate);
        for step in (1..steps).rev() {
            let at = step * candidates + candidate;
            candidate = match self.stayed.get(at) {
                Some(true) => candidate,
                Some(false) => self.before[step],
                None => self.before[at],
            };
            self.path[step - 1] = candidate;
        }
    }

    /// The path that was found last: the candidate of every step.
    pub fn path(&self) -> &[usize] {
        &self.path
    }
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

    /// The time of a path, summed directly.
    fn price(path: &[usize], costs: &[f64], candidates: usize, delays_s: &[f64], before: Before) -> f64 {
        let mut in_force = match before {
            Before::Nothing => None,
            Before::Candidate(start) => Some(start),
            Before::Last => path.last().copied(),
        };
        let mut total = 0.0;
        for (step, &candidate) in path.iter().enumerate() {
            total += in_force.map_or(0.0, |from| delays_s[from * candidates + candidate]);
            total += costs[step * candidates + candidate];
            in_force = Some(candidate);
        }
        total
    }

    /// The least of every sequence.
    fn brute_force(costs: &[f64], candidates: usize, delays_s: &[f64], before: Before) -> f64 {
        let steps = costs.len() / candidates;
        let sequences = (0..candidates.pow(steps as u32))
            .map(|code| (0..steps).map(|step| code / candidates.pow(step as u32) % candidates).collect::<Vec<usize>>());
        sequences.map(|path| price(&path, costs, candidates, delays_s, before)).fold(f64::INFINITY, f64::min)
    }

    fn cost() -> impl Strategy<Value = f64> {
        prop_oneof![4 => (0u32..50).prop_map(f64::from), 1 => Just(f64::INFINITY)]
    }

    fn instance() -> impl Strategy<Value = (usize, Vec<f64>, Vec<f64>, Before)> {
        (1usize..5, 1usize..6).prop_flat_map(|(candidates, steps)| {
            (
                Just(candidates),
                prop::collection::vec(cost(), candidates * steps),
                prop::collection::vec((0u32..30).prop_map(f64::from), candidates * candidates),
                prop_oneof![Just(Before::Nothing), (0..candidates).prop_map(Before::Candidate), Just(Before::Last)],
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(900)))]

        #[test]
        fn any_delay_equals_brute_force((candidates, costs, mut delays, before) in instance()) {
            (0..candidates).for_each(|c| delays[c * candidates + c] = 0.0);
            let mut search = ShortestPath::default();
            let total = search.run(&costs, candidates, &Change::Matrix(delays.clone()).into(), before);
            prop_assert_eq!(total, brute_force(&costs, candidates, &delays, before));
            if total.is_finite() {
                prop_assert_eq!(total, price(search.path(), &costs, candidates, &delays, before));
            }
        }

        #[test]
        fn constant_delay_equals_brute_force((candidates, costs, _, before) in instance(), delay in 0u32..40) {
            let delay = f64::from(delay);
            let delays: Vec<f64> =
                (0..candidates * candidates).map(|i| if i % (candidates + 1) == 0 { 0.0 } else { delay }).collect();
            let mut search = ShortestPath::default();
            let total = search.run(&costs, candidates, &Change::Constant(delay).into(), before);
            prop_assert_eq!(total, brute_force(&costs, candidates, &delays, before));
            if total.is_finite() {
                prop_assert_eq!(total, price(search.path(), &costs, candidates, &delays, before));
            }
        }
    }
}
