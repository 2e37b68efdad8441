//! Steps that are invariant under one transitive group, on one topology of fractions of circuits.
//!
//! Let x_g be the circuits from u to u+g, averaged over the ranks u; they add up to d at most. The throughput θ_i of
//! step i is concave in x, so the least of Σ p_i/θ_i over all x ≥ 0 is a convex program, with the flows of one source
//! for each step: a second-order cone for each p_i/θ_i. (HARVEST appendix A, relaxed; averages over the group lose
//! nothing.)
//!
//! The solver is not trusted. The bound that its prices c_i,g ≥ 0 of capacity prove is computed anew: with D_i = Σ_a
//! w_a·dist(a) under the costs c_i,g of shifts g, the load of step i is at least D_i/(c_i·x) on every topology. This
//! bound is convex in x and falls as 1/x, so with F its sum weighted by p_i, and any x of sum d,
//!
//! Σ_i p_i·load_i ≥ 2·F(x) − d·max_g Σ_i p_i·D_i·c_i,g/(c_i·x)².

use crate::cutoffs::given_schedule_fractional::MOST_FLOWS;
pub(super) use crate::cutoffs::given_schedule_fractional::{MOST_INTERVALS, MOST_RANKS};
use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{NonnegativeConeT, SecondOrderConeT, ZeroConeT};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver};
use model::{Rank, TrafficEntry, Translations};

/// Lower bound on Σ price·load over patterns (arcs from rank 0, price) that share a topology with `ports` circuits per
/// rank; 0 where the program is too large or is not solved.
pub(super) fn least_load_seconds(patterns: &[(&[TrafficEntry], f64)], group: &Translations, ports: u32) -> f64 {
    let mut merged: Vec<(&[TrafficEntry], f64)> = Vec::new();
    for &(arcs, price) in patterns.iter().filter(|(_, price)| *price > 0.0) {
        match merged.iter_mut().find(|(other, _)| *other == arcs) {
            Some((_, sum)) => *sum += price,
            None => merged.push((arcs, price)),
        }
    }
    let ranks = group.order() as usize;
    if merged.is_empty() || merged.len() * (ranks - 1).pow(2) > MOST_FLOWS {
        return 0.0;
    }
    let Some((circuits, costs)) = solve(&merged, group, f64::from(ports)) else { return 0.0 };
    certified(&merged, group, f64::from(ports), circuits, &costs)
}

/// The solver's answer to the program: circuits by shift, and prices of capacity by pattern and shift.
fn solve(patterns: &[(&[TrafficEntry], f64)], group: &Translations, ports: f64) -> Option<(Vec<f64>, Vec<Vec<f64>>)> {
    let ranks = group.order() as usize;
    let shifts = ranks - 1;
    let dearest = patterns.iter().map(|(_, price)| *price).fold(0.0, f64::max);
    let per_pattern = 2 + shifts * shifts;
    let variables = shifts + patterns.len() * per_pattern;
    let mut rows = Rows::default();
    let mut objective = vec![0.0; variables];
    // Variables: circuits by shift; for each pattern its throughput, its inverse, and flows over every shift from every
    // rank but into the source.
    let of_pattern = |pattern: usize| shifts + pattern * per_pattern;
    let mut flows: Vec<(usize, Rank, Rank)> = Vec::with_capacity(shifts * shifts);
    for shift in 1..ranks as Rank {
        flows.extend((0..ranks as Rank).map(|from| (shift as usize - 1, from, group.apply(shift, from))));
    }
    flows.retain(|&(_, _, to)| to != 0);
    // Traffic that enters a rank and does not leave it is the traffic that the pattern sends there.
    for (index, (arcs, _)) in patterns.iter().enumerate() {
        interruption::check();
        let first = rows.next_block(shifts, 0.0);
        for (flow, &(_, from, to)) in flows.iter().enumerate() {
            rows.put(first + to as usize - 1, of_pattern(index) + 2 + flow, 1.0);
            if from != 0 {
                rows.put(first + from as usize - 1, of_pattern(index) + 2 + flow, -1.0);
            }
        }
        for arc in *arcs {
            rows.put(first + arc.dst as usize - 1, of_pattern(index), -arc.weight);
        }
    }
    let equalities = rows.count();
    let capacities = rows.count();
    for index in 0..patterns.len() {
        let first = rows.next_block(shifts, 0.0);
        for (flow, &(shift, ..)) in flows.iter().enumerate() {
            rows.put(first + shift, of_pattern(index) + 2 + flow, 1.0);
        }
        (0..shifts).for_each(|shift| rows.put(first + shift, shift, -1.0));
    }
    let degree = rows.next_block(1, ports);
    (0..shifts).for_each(|shift| rows.put(degree, shift, 1.0));
    let circuits = rows.next_block(shifts, 0.0);
    (0..shifts).for_each(|shift| rows.put(circuits + shift, shift, -1.0));
    for index in 0..patterns.len() {
        let first = rows.next_block(flows.len(), 0.0);
        (0..flows.len()).for_each(|flow| rows.put(first + flow, of_pattern(index) + 2 + flow, -1.0));
    }
    let inequalities = rows.count() - equalities;
    // throughput · inverse ≥ 1 as a cone.
    for (index, (_, price)) in patterns.iter().enumerate() {
        let (throughput, inverse) = (of_pattern(index), of_pattern(index) + 1);
        objective[inverse] = price / dearest;
        let first = rows.next_block(3, 0.0);
        rows.put(first, throughput, -1.0);
        rows.put(first, inverse, -1.0);
        rows.right[first + 1] = 2.0;
        rows.put(first + 2, throughput, 1.0);
        rows.put(first + 2, inverse, -1.0);
    }
    let mut cones = vec![ZeroConeT(equalities), NonnegativeConeT(inequalities)];
    cones.extend(patterns.iter().map(|_| SecondOrderConeT(3)));
    let matrix = CscMatrix::new_from_triplets(rows.count(), variables, rows.row, rows.column, rows.value);
    let quadratic = CscMatrix::zeros((variables, variables));
    let settings = DefaultSettings { verbose: false, max_iter: 60, ..DefaultSettings::default() };
    let mut solver = DefaultSolver::new(&quadratic, &objective, &matrix, &rows.right, &cones, settings).ok()?;
    solver.set_termination_callback(|_| {
        interruption::check();
        false
    });
    solver.solve();
    let prices = |index: usize| solver.solution.z[capacities + index * shifts..][..shifts].to_vec();
    Some((solver.solution.x[..shifts].to_vec(), (0..patterns.len()).map(prices).collect()))
}

/// Rows of the program's matrix, and its right side.
#[derive(Default)]
struct Rows {
    row: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
    right: Vec<f64>,
}

impl Rows {
    fn count(&self) -> usize {
        self.right.len()
    }

    /// Adds this many rows; returns the first.
    fn next_block(&mut self, rows: usize, right: f64) -> usize {
        self.right.resize(self.right.len() + rows, right);
        self.right.len() - rows
    }

    fn put(&mut self, row: usize, column: usize, value: f64) {
        self.row.push(row);
        self.column.push(column);
        self.value.push(value);
    }
}

/// The bound that any circuits and prices prove, as in the module's text.
fn certified(
    patterns: &[(&[TrafficEntry], f64)],
    group: &Translations,
    ports: f64,
    mut circuits: Vec<f64>,
    costs: &[Vec<f64>],
) -> f64 {
    circuits.iter_mut().for_each(|count| *count = count.max(0.0));
    let sum: f64 = circuits.iter().sum();
    circuits.iter_mut().for_each(|count| *count *= ports / sum);
    let (mut value, mut slopes) = (0.0, vec![0.0; circuits.len()]);
    for ((arcs, price), costs) in patterns.iter().zip(costs) {
        let costs: Vec<f64> = costs.iter().map(|cost| cost.max(0.0)).collect();
        let distance = distances(&costs, group);
        let demand: f64 = arcs.iter().map(|arc| arc.weight * distance[arc.dst as usize]).sum();
        let spent: f64 = costs.iter().zip(&circuits).map(|(cost, count)| cost * count).sum();
        if spent > 0.0 {
            value += price * demand / spent;
            slopes.iter_mut().zip(&costs).for_each(|(slope, cost)| *slope += price * demand * cost / (spent * spent));
        }
    }
    let bound = 2.0 * value - ports * slopes.into_iter().fold(0.0, f64::max);
    // Allowance for the rounding of the additions.
    if bound.is_finite() { bound.max(0.0) * (1.0 - 1e-11) } else { 0.0 }
}

/// Distances from rank 0 where a shift costs `costs[shift − 1]`. O(n²).
fn distances(costs: &[f64], group: &Translations) -> Vec<f64> {
    let ranks = costs.len() + 1;
    let (mut distance, mut done) = (vec![f64::INFINITY; ranks], vec![false; ranks]);
    distance[0] = 0.0;
    while let Some(nearest) =
        (0..ranks).filter(|&rank| !done[rank]).min_by(|&a, &b| distance[a].total_cmp(&distance[b]))
    {
        done[nearest] = true;
        for shift in 1..ranks {
            let to = group.apply(shift as Rank, nearest as Rank) as usize;
            distance[to] = distance[to].min(distance[nearest] + costs[shift - 1]);
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(shifts: &[Rank]) -> Vec<TrafficEntry> {
        shifts.iter().map(|&dst| TrafficEntry { src: 0, dst, weight: 1.0 }).collect()
    }

    #[test]
    fn one_shift_has_its_own_circuits() {
        let one = arcs(&[3]);
        for ports in 1..4 {
            let bound = least_load_seconds(&[(&one, 2.0)], &Translations::cyclic(8), ports);
            assert!((bound - 2.0 / f64::from(ports)).abs() < 1e-6, "{bound}");
        }
    }

    #[test]
    fn it_is_the_least_over_all_fractions() {
        // In Z_2² two circuits of the other shifts are the only other path: θ_a = x_a + min(x_b, x_c).
        let (a, b) = (arcs(&[1]), arcs(&[2]));
        let bound = least_load_seconds(&[(&a, 4.0), (&b, 1.0)], &Translations::xor(4), 1);
        let mut least = f64::INFINITY;
        for first in 0..=500 {
            for second in 0..=500 - first {
                let (x, y) = (f64::from(first) / 500.0, f64::from(second) / 500.0);
                let z = 1.0 - x - y;
                least = least.min(4.0 / (x + y.min(z)) + 1.0 / (y + x.min(z)));
            }
        }
        assert!(bound <= least && bound > least * (1.0 - 1e-4), "{bound} {least}");
    }

    #[test]
    fn wrong_prices_prove_less_not_more() {
        let (a, b) = (arcs(&[1]), arcs(&[3]));
        let (patterns, group) = ([(&a[..], 1.0), (&b[..], 2.0)], Translations::cyclic(8));
        let best = least_load_seconds(&patterns, &group, 2);
        for seed in 0..50_u64 {
            let number = |index: u64| ((seed * 7919 + index * 104_729) % 97) as f64;
            let circuits = (0..7).map(&number).collect();
            let costs: Vec<Vec<f64>> = (1..3).map(|step| (0..7).map(|g| number(step * 11 + g)).collect()).collect();
            assert!(certified(&patterns, &group, 2.0, circuits, &costs) <= best * (1.0 + 1e-6));
        }
    }
}
