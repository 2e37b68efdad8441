//! A plan's completion time where the fabric's times are uncertain: samples of it, with mean and quantiles.
//!
//! | holds | file |
//! |---|---|
//! | which quantities are uncertain, and how that is written | `uncertainty`, `quantity`, `spread` |
//! | quantiles of the normal distribution | `normal` |
//! | the times of a plan's steps, and who draws them | `steps`, `groups` |
//! | mean, quantiles and their intervals, regret | `estimate` |
//!
//! A step waits for the slowest of its parts. The largest of N independent values is one draw: it is below x with
//! probability F(x)^N, so that a step of many GPUs costs what one of few does.

mod estimate;
mod groups;
mod normal;
mod quantity;
mod spread;
mod steps;
mod uncertainty;

use interruption::Interruptible;
use model::{Error, Plan, Rank, Reconfiguration, Result, StepCost};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::cutoffs::sampling::{IN_A_ROW, LEAST_RATE, MOST_SAMPLES};
use groups::{Counter, Group, Groups};
use quantity::{Quantity, Scope};
use spread::Tail;
use steps::{Change, Step};

pub use estimate::{Estimate, Objective, Sampled, regrets_s};
pub use steps::Basis;
pub use uncertainty::{KeptNumbers, Uncertainty};

/// Draws `samples` completion times of `plan`; deterministic by `seed`, whatever the number of threads.
///
/// A step takes, in seconds, the largest of its GPUs' startups, plus its propagation, plus the largest transmission of
/// its circuits, plus its barrier and what the change before it is charged for the slowest of its switches or ports.
/// Values are drawn anew in every step, but for those of scope `run` and for which GPUs are slow.
///
/// O(steps · (loads · samples + circuits)).
///
/// # Errors
/// A number of samples that is not from 1 to 10 million, and the errors of [`crate::simulate`] where times are taken
/// from a simulation.
pub fn sample(plan: &Plan, uncertainty: &Uncertainty, basis: Basis, samples: u64, seed: u64) -> Result<Sampled> {
    if !(1..=MOST_SAMPLES).contains(&samples) {
        return Err(Error::value("samples", samples, format!("a whole number from 1 to {MOST_SAMPLES}")));
    }
    if plan.fabric.electrical.is_some() && plan.steps.iter().any(|step| step.electrical_load > 0.0) {
        let accepts = "no plan that uses electrical islands: its rates are those of two tiers";
        return Err(Error::value("uncertain", "a plan on two tiers", accepts));
    }
    if let Some((_, unlike)) = plan.fabric.shape.unlike_rates() {
        return Err(Error::value("uncertain", format!("a plan for {unlike}"), "plans for circuits of one rate"));
    }
    let mut groups = Groups::default();
    let steps = steps::steps_of(plan, basis, &mut groups)?;
    let sampler = Sampler { plan, uncertainty, steps, groups: groups.into_groups() };
    let nothing = Uncertainty::default();
    let nominal = Sampler { uncertainty: &nothing, ..sampler };
    let nominal_s = nominal.in_a_row(0, 1, seed).0[0];
    let sampler = Sampler { uncertainty, ..nominal };
    let rows = (0..samples.div_ceil(IN_A_ROW)).into_par_iter().interruptible();
    let rows = rows.map(|row| sampler.in_a_row(row, IN_A_ROW.min(samples - row * IN_A_ROW), seed));
    let rows: Vec<(Vec<f64>, StepCost)> = rows.collect();
    let terms = StepCost::sum(rows.iter().map(|(_, terms)| terms));
    let totals_s: Vec<f64> = rows.into_iter().flat_map(|(totals_s, _)| totals_s).collect();
    let mean = |sum_s: f64| sum_s / samples as f64;
    let terms = StepCost {
        startup_s: mean(terms.startup_s),
        propagation_s: mean(terms.propagation_s),
        transmission_s: mean(terms.transmission_s),
        reconfiguration_s: mean(terms.reconfiguration_s),
        barrier_s: mean(terms.barrier_s),
    };
    Ok(Sampled::new(totals_s, terms, nominal_s))
}

/// All that samples are drawn from.
struct Sampler<'a> {
    plan: &'a Plan,
    uncertainty: &'a Uncertainty,
    steps: Vec<Step>,
    groups: Vec<Group>,
}

/// The values that are drawn once for a sample.
struct Drawn {
    /// By quantity, its point of the distribution where all of a run share one.
    run: [Tail; Quantity::ALL.len()],
    /// By group, how many of its parts belong to slow GPUs.
    slow_parts: Vec<u64>,
}

impl Sampler<'_> {
    /// Completion times of `count` samples, and their terms added up. Slow GPUs and values for a whole run come from a
    /// stream of random numbers of their own, so that all plans meet the same.
    fn in_a_row(&self, row: u64, count: u64, seed: u64) -> (Vec<f64>, StepCost) {
        let stream = |number: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(number);
            random
        };
        let (mut of_run, mut of_step) = (stream(2 * row), stream(2 * row + 1));
        let mut counter = Counter::new(&self.groups);
        let mut sum = StepCost::default();
        let totals_s = (0..count).map(|_| {
            interruption::check();
            let run = std::array::from_fn(|_| Tail::largest_of(1, uniform(&mut of_run)));
            let slow = self.slow_gpus(&mut of_run);
            let slow_parts = self.groups.iter().map(|group| counter.slow_parts(group, &slow)).collect();
            let terms = self.run(&Drawn { run, slow_parts }, &mut of_step);
            sum = StepCost::sum([&sum, &terms].into_iter());
            terms.total_s()
        });
        (totals_s.collect(), sum)
    }

    /// The GPUs that are slow, ascending: the distances between them are geometric.
    fn slow_gpus(&self, random: &mut ChaCha8Rng) -> Vec<Rank> {
        let Some(straggler) = self.uncertainty.straggler else { return Vec::new() };
        let gpus = f64::from(self.plan.fabric.shape.gpus());
        let stay = (-straggler.probability).ln_1p();
        let mut slow = Vec::new();
        let mut next = 0.0;
        loop {
            next += (uniform(random).ln() / stay).floor();
            // With probability 0 no GPU is: the distance is infinite.
            if next.is_nan() || next >= gpus {
                return slow;
            }
            slow.push(next as Rank);
            next += 1.0;
        }
    }

    /// The terms of one run, added up over its steps.
    fn run(&self, drawn: &Drawn, random: &mut ChaCha8Rng) -> StepCost {
        let mut sum = StepCost::default();
        let mut before_s = 0.0;
        for (index, step) in self.steps.iter().enumerate() {
            let mut draw = Draw { uncertainty: self.uncertainty, drawn, groups: &self.groups, random };
            let reconfiguration_s = step.change.as_ref().map_or(0.0, |change| {
                let delay_s = draw.change_s(change);
                let change = Reconfiguration { delay_s, in_background: change.in_background };
                self.plan.fabric.reconfiguration.charge_s(change, index, before_s)
            });
            let barrier_s = draw.one_s(Quantity::Barrier, step.barrier_s);
            let startup_s = draw.startup_s(step);
            let transmission_s = draw.transmission_s(step, self.plan.fabric.bandwidth_bps);
            before_s = barrier_s + startup_s + step.propagation_s + transmission_s;
            sum.barrier_s += barrier_s;
            sum.startup_s += startup_s;
            sum.propagation_s += step.propagation_s;
            sum.transmission_s += transmission_s;
            sum.reconfiguration_s += reconfiguration_s;
        }
        sum
    }
}

/// Draws the times of one step.
struct Draw<'a> {
    uncertainty: &'a Uncertainty,
    drawn: &'a Drawn,
    groups: &'a [Group],
    random: &'a mut ChaCha8Rng,
}

impl Draw<'_> {
    /// The point of the distribution that all parts share, where they share one.
    fn shared(&mut self, quantity: Quantity, scope: Scope) -> Option<Tail> {
        match scope {
            Scope::Run => Some(self.drawn.run[quantity as usize]),
            Scope::Step => Some(Tail::largest_of(1, uniform(self.random))),
            Scope::Switch | Scope::Port | Scope::Gpu | Scope::Circuit => None,
        }
    }

    /// A value that the whole fabric shares.
    fn one_s(&mut self, quantity: Quantity, nominal_s: f64) -> f64 {
        let Some(chance) = self.uncertainty.of(quantity) else { return nominal_s };
        let tail = self.shared(quantity, chance.scope).unwrap_or_else(|| Tail::largest_of(1, uniform(self.random)));
        chance.spread.at(nominal_s, tail)
    }

    /// Time of a change: that of its slowest switch or port, after what the control plane takes.
    fn change_s(&mut self, change: &Change) -> f64 {
        let control_s = self.one_s(Quantity::Control, 0.0);
        let nominal_s = || change.switches.iter().map(|of| of.delay_s).fold(0.0, f64::max);
        let Some(chance) = self.uncertainty.of(Quantity::ReconfigurationDelay) else {
            return control_s + nominal_s();
        };
        let delay_s = match self.shared(Quantity::ReconfigurationDelay, chance.scope) {
            Some(tail) => chance.spread.at(nominal_s(), tail),
            None => change.switches.iter().fold(0.0, |slowest_s: f64, of| {
                let parts = if chance.scope == Scope::Port { of.ports } else { of.switches };
                slowest_s.max(chance.spread.at(of.delay_s, Tail::largest_of(parts, uniform(self.random))))
            }),
        };
        control_s + delay_s
    }

    /// The largest startup of the step's GPUs.
    fn startup_s(&mut self, step: &Step) -> f64 {
        let Some(chance) = self.uncertainty.of(Quantity::Startup) else {
            return self.slowest_of(step.gpus, |_, _| step.startup_s);
        };
        let shared = self.shared(Quantity::Startup, chance.scope);
        self.slowest_of(step.gpus, |parts, random| {
            let tail = shared.unwrap_or_else(|| Tail::largest_of(parts, uniform(random)));
            chance.spread.at(step.startup_s, tail)
        })
    }

    /// The longest transmission of the step's circuits.
    fn transmission_s(&mut self, step: &Step, bandwidth_bps: f64) -> f64 {
        let chance = self.uncertainty.of(Quantity::Bandwidth);
        let shared = chance.and_then(|chance| self.shared(Quantity::Bandwidth, chance.scope));
        let mut longest_s: f64 = 0.0;
        for &(nominal_s, group) in &step.transmissions {
            let transmission_s = self.slowest_of(group, |parts, random| {
                let Some(chance) = chance else { return nominal_s };
                let tail = shared.unwrap_or_else(|| Tail::least_of(parts, uniform(random)));
                let rate_bps = chance.spread.at(bandwidth_bps, tail).max(LEAST_RATE * bandwidth_bps);
                nominal_s * (bandwidth_bps / rate_bps)
            });
            longest_s = longest_s.max(transmission_s);
        }
        longest_s
    }

    /// The largest value of a group's parts, of which those of slow GPUs take longer by their factor; `largest` gives
    /// that of so many parts as the others are.
    fn slowest_of(&mut self, group: usize, largest: impl Fn(u64, &mut ChaCha8Rng) -> f64) -> f64 {
        let slow = self.drawn.slow_parts[group];
        let others = self.groups[group].parts - slow;
        let of_others = if others > 0 { largest(others, self.random) } else { 0.0 };
        match self.uncertainty.straggler {
            Some(straggler) if slow > 0 => (straggler.factor * largest(slow, self.random)).max(of_others),
            _ => of_others,
        }
    }
}

/// A number between 0 and 1, neither of which it is.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.random_range(0_u64..1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64
}
