//! The program of the restricted master by a primal-dual method, for programs whose basis would be large.
//!
//! ```text
//! min over x, max over y of  Σ_p x_p·Σ_o a_op·y_o      shares x ≥ 0 of an arc add up to 1, prices y ≥ 0 to 1
//! ```
//!
//! The primal-dual hybrid gradient method (Chambolle and Pock 2011) takes a step with each side in turn and projects
//! it back onto the simplices; a step costs one pass over the entries of the columns. Restarts from the average of the
//! steps make it converge linearly on linear programs (Applegate, Hinder, Lu and Lubin 2023), and step length and the
//! weight between the two sides adapt (Applegate et al. 2021, PDLP, §3). Whatever it has reached, the shares are a
//! routing and the prices prove a bound, so that every result says how far it may be from the optimum.

mod layout;
mod simplex_projection;

use crate::restricted_master::Column;
use layout::Layout;
use simplex_projection::project;

/// Steps between looks at the gap.
const STEPS_PER_LOOK: usize = 40;
/// A restart is due when the gap is this part of what it was at the restart before, ...
const SHRUNK: f64 = 0.3;
/// ... or when this part of all steps was made since.
const LONG: f64 = 0.4;
/// The share of a new ratio of movements in the weight between the two sides, in logarithms.
const SMOOTHING: f64 = 0.5;

/// Loads of a routing and of the bound that prices prove against the paths at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides {
    /// Load of the busiest link orbit.
    pub(crate) load: f64,
    /// Lower bound on the load of any shares of the paths at hand.
    pub(crate) bound: f64,
}

impl Sides {
    fn gap(self) -> f64 {
        self.load - self.bound
    }
}

/// Shares and prices with everything that was multiplied with them.
#[derive(Debug, Clone)]
struct Iterate {
    /// By place in the layout.
    shares: Vec<f64>,
    prices: Vec<f64>,
    /// Loads of the link orbits under the shares.
    loads: Vec<f64>,
}

/// The method in hand.
#[derive(Debug)]
pub(crate) struct PrimalDual {
    columns: Vec<Column>,
    /// The layout of the columns that take part.
    layout: Layout,
    current: Iterate,
    /// Sums of the iterates since the last restart, each times its step, and of the steps.
    sums: Iterate,
    weight_of_sums: f64,
    /// The shares and prices of the last restart.
    origin: Iterate,
    gap_at_restart: f64,
    steps: usize,
    steps_at_restart: usize,
    /// Length of a step of shares and prices, and the ratio between the two.
    step: f64,
    ratio: f64,
    /// The entries of columns that were read and written in all.
    work: usize,
    next: Iterate,
    lengths: Vec<f64>,
}

impl PrimalDual {
    /// Starts with one column for each arc, which has it all, and equal prices.
    pub(crate) fn new(rows: usize, columns: Vec<Column>) -> Self {
        let layout = Layout::new(columns.len(), &columns);
        let shares = vec![1.0; columns.len()];
        let loads = layout.loads(&shares, rows);
        let current = Iterate { shares, prices: vec![1.0 / rows as f64; rows], loads };
        Self {
            step: 1.0 / layout.largest_entry(),
            lengths: vec![0.0; layout.columns()],
            sums: current.clone(),
            origin: current.clone(),
            next: current.clone(),
            columns,
            layout,
            current,
            weight_of_sums: 0.0,
            gap_at_restart: f64::INFINITY,
            steps: 0,
            steps_at_restart: 0,
            ratio: 1.0,
            work: 0,
        }
    }

    /// Adds a column, which takes part from the next [`PrimalDual::join`] on.
    pub(crate) fn add(&mut self, column: Column) {
        self.columns.push(column);
    }

    /// The columns that were added join, with no share.
    pub(crate) fn join(&mut self) {
        let by_column = self.layout.by_column(&self.current.shares, self.columns.len());
        self.layout = Layout::new(self.layout.arcs(), &self.columns);
        self.current.shares = self.layout.placed(&by_column);
        self.next.shares.resize(self.columns.len(), 0.0);
        self.lengths.resize(self.columns.len(), 0.0);
        self.restart_at_current(f64::INFINITY);
    }

    /// Goes on from these prices and from `shares` of all columns, if their load is below that of the shares at hand.
    pub(crate) fn start_from(&mut self, shares: &[f64], prices: Vec<f64>) {
        self.join();
        let largest = |loads: &[f64]| loads.iter().copied().fold(0.0, f64::max);
        let placed = self.layout.placed(shares);
        let loads = self.layout.loads(&placed, prices.len());
        if largest(&loads) < largest(&self.current.loads) {
            (self.current.shares, self.current.loads) = (placed, loads);
        }
        self.current.prices = prices;
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        self.ratio = norm(&self.current.prices) / norm(&self.current.shares);
        self.step = 1.0 / self.layout.largest_entry();
        (self.steps, self.steps_at_restart) = (0, 0);
        self.restart_at_current(f64::INFINITY);
    }

    /// Entries of columns that were passed over so far: what the method has cost.
    pub(crate) fn work(&self) -> usize {
        self.work
    }

    /// Prices of link orbits, not negative, sum 1.
    pub(crate) fn prices(&self) -> &[f64] {
        &self.current.prices
    }

    /// Length of the shortest column of each arc under the prices.
    pub(crate) fn shortest(&self) -> Vec<f64> {
        self.layout.shortest(&self.current.prices)
    }

    /// Shares by column.
    pub(crate) fn shares(&self) -> Vec<f64> {
        self.layout.by_column(&self.current.shares, self.layout.columns())
    }

    /// Improves shares and prices until the two sides are within `gap` of each other over the columns at hand, or until
    /// about this many entries were passed over. Their result is that of [`PrimalDual::shares`] and
    /// [`PrimalDual::prices`].
    pub(crate) fn improve(&mut self, gap: f64, work: usize) -> Sides {
        let limit = self.work + work;
        loop {
            for _ in 0..STEPS_PER_LOOK {
                self.advance();
            }
            let average = self.average();
            let (of_average, of_current) = (self.sides(&average), self.sides(&self.current));
            let averaged = of_average.gap() < of_current.gap();
            let best = if averaged { of_average } else { of_current };
            let since = self.steps - self.steps_at_restart;
            let ends = best.gap() <= gap || self.work >= limit;
            if ends || best.gap() <= SHRUNK * self.gap_at_restart || since as f64 >= LONG * self.steps as f64 {
                if averaged {
                    self.current = average;
                }
                self.reweigh();
                self.restart_at_current(best.gap());
                if ends {
                    return best;
                }
            }
        }
    }

    /// One step of both sides, shortened until it is sure to lead nearer.
    fn advance(&mut self) {
        self.layout.lengths(&self.current.prices, &mut self.lengths);
        loop {
            interruption::check();
            self.steps += 1;
            self.work += 2 * self.layout.entries() + self.layout.columns() + 8 * self.current.prices.len();
            let (of_shares, of_prices) = (self.step / self.ratio, self.step * self.ratio);
            let places = self.next.shares.iter_mut().zip(&self.current.shares).zip(&self.lengths);
            for ((next, share), length) in places {
                *next = share - of_shares * length;
            }
            for places in self.layout.places() {
                project(&mut self.next.shares[places]);
            }
            self.layout.set_loads(&self.next.shares, &mut self.next.loads);
            let rows = self.next.prices.iter_mut().zip(&self.current.prices);
            for ((next, price), (after, before)) in rows.zip(self.next.loads.iter().zip(&self.current.loads)) {
                *next = price + of_prices * (2.0 * after - before);
            }
            project(&mut self.next.prices);
            let longest = self.longest_step();
            let count = self.steps as f64 + 1.0;
            let tried = self.step;
            self.step = ((1.0 - count.powf(-0.3)) * longest).min((1.0 + count.powf(-0.6)) * tried);
            if tried <= longest {
                std::mem::swap(&mut self.current, &mut self.next);
                self.add_to_sums(tried);
                return;
            }
        }
    }

    /// The longest step for which the movement from current to next is sure to lead nearer.
    fn longest_step(&self) -> f64 {
        let moved = |after: &[f64], before: &[f64]| -> f64 {
            after.iter().zip(before).map(|(after, before)| (after - before) * (after - before)).sum()
        };
        let movement = self.ratio * moved(&self.next.shares, &self.current.shares)
            + moved(&self.next.prices, &self.current.prices) / self.ratio;
        let prices = self.next.prices.iter().zip(&self.current.prices);
        let loads = self.next.loads.iter().zip(&self.current.loads);
        let interaction: f64 =
            prices.zip(loads).map(|((y, y_before), (load, before))| (y - y_before) * (load - before)).sum();
        if interaction == 0.0 { f64::INFINITY } else { movement / (2.0 * interaction.abs()) }
    }

    fn add_to_sums(&mut self, weight: f64) {
        self.weight_of_sums += weight;
        let pairs = |sums: &mut [f64], values: &[f64]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        };
        pairs(&mut self.sums.shares, &self.current.shares);
        pairs(&mut self.sums.prices, &self.current.prices);
    }

    /// The average since the last restart, its sums of shares and prices exactly 1 but for rounding.
    fn average(&self) -> Iterate {
        let part = |sums: &[f64]| -> Vec<f64> { sums.iter().map(|sum| sum / self.weight_of_sums).collect() };
        let (mut shares, mut prices) = (part(&self.sums.shares), part(&self.sums.prices));
        for places in self.layout.places() {
            normalise(&mut shares[places]);
        }
        normalise(&mut prices);
        let loads = self.layout.loads(&shares, prices.len());
        Iterate { shares, prices, loads }
    }

    fn sides(&self, iterate: &Iterate) -> Sides {
        let load = iterate.loads.iter().copied().fold(0.0, f64::max);
        Sides { load, bound: self.layout.shortest(&iterate.prices).iter().sum() }
    }

    /// The weight between the two sides follows what each moved since the last restart.
    fn reweigh(&mut self) {
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let shares = distance(&self.current.shares, &self.origin.shares);
        let prices = distance(&self.current.prices, &self.origin.prices);
        if shares > f64::EPSILON && prices > f64::EPSILON {
            self.ratio = (SMOOTHING * (prices / shares).ln() + (1.0 - SMOOTHING) * self.ratio.ln()).exp();
        }
    }

    fn restart_at_current(&mut self, gap: f64) {
        self.origin.clone_from(&self.current);
        self.sums.shares.clear();
        self.sums.shares.resize(self.current.shares.len(), 0.0);
        self.sums.prices.fill(0.0);
        self.weight_of_sums = 0.0;
        self.gap_at_restart = gap;
        self.steps_at_restart = self.steps;
    }
}

fn normalise(values: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_and_prices_prove_each_other_optimal(
            rows in 1u32..9, arcs in 1u32..9, later in prop::bool::ANY,
            entries in prop::collection::vec(prop::collection::btree_map(0u32..9, 1u32..65, 1..4), 8..48),
        ) {
            let of = |(index, entries): (usize, &std::collections::BTreeMap<u32, u32>)| {
                let within: std::collections::BTreeMap<u32, u32> =
                    entries.iter().map(|(row, &load)| (row % rows, load)).collect();
                let entries = within.into_iter().map(|(row, load)| (row, f64::from(load) / 16.0)).collect();
                Column { arc: index as u32 % arcs, entries }
            };
            let columns: Vec<Column> = entries.iter().enumerate().map(of).collect();
            let copies: Vec<Column> = entries.iter().enumerate().map(of).collect();
            let mut first = columns;
            let added = first.split_off(arcs as usize);
            let mut method = PrimalDual::new(rows as usize, first);
            if later {
                method.improve(0.1, 1000);
            }
            added.into_iter().for_each(|column| method.add(column));
            method.join();
            let sides = method.improve(1e-8, 1 << 24);
            prop_assert!(sides.load - sides.bound <= 1e-8, "{sides:?}");
            let (shares, prices) = (method.shares(), method.prices());
            let mut loads = vec![0.0; rows as usize];
            let mut of_arc = vec![(0.0, f64::INFINITY); arcs as usize];
            for (column, share) in copies.iter().zip(&shares) {
                prop_assert!(*share >= 0.0);
                let length: f64 = column.entries.iter().map(|&(row, load)| prices[row as usize] * load).sum();
                let (sum, shortest) = of_arc[column.arc as usize];
                of_arc[column.arc as usize] = (sum + share, f64::min(shortest, length));
                column.entries.iter().for_each(|&(row, load)| loads[row as usize] += share * load);
            }
            prop_assert!(of_arc.iter().all(|(sum, _)| (sum - 1.0).abs() < 1e-12));
            prop_assert!(prices.iter().all(|&price| price >= 0.0) && (prices.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let bound: f64 = of_arc.iter().map(|(_, shortest)| shortest).sum();
            let load = loads.into_iter().fold(0.0, f64::max);
            prop_assert!((load - sides.load).abs() < 1e-12 && (bound - sides.bound).abs() < 1e-12);
        }
    }
}
