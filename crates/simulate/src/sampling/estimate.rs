//! Estimates of the mean and the quantiles of a completion time from samples.

use model::StepCost;
use strum::{IntoStaticStr, VariantArray};

/// Share of intervals that hold the true value.
const CONFIDENCE: f64 = 0.95;

/// The deviation from the mean within which a normal variable lies with that probability.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// An estimate with its 95 % confidence interval, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub seconds: f64,
    /// Lower end of the interval; `None` where the samples are too few to say.
    pub low_s: Option<f64>,
    /// Upper end of the interval; `None` where the samples are too few to say.
    pub high_s: Option<f64>,
}

/// Samples of a plan's completion time.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Completion times in the order in which they were drawn, s. Samples of equal index and seed share the slow GPUs
    /// and the values that are drawn once a run, for plans on the same fabric.
    pub totals_s: Vec<f64>,
    /// The terms, each added up over the steps, in the mean over all samples, s.
    pub terms: StepCost,
    /// Completion time where nothing is uncertain, s.
    pub nominal_s: f64,
    ascending_s: Vec<f64>,
}

impl Sampled {
    pub(super) fn new(totals_s: Vec<f64>, terms: StepCost, nominal_s: f64) -> Self {
        let mut ascending_s = totals_s.clone();
        ascending_s.sort_by(f64::total_cmp);
        Self { totals_s, terms, nominal_s, ascending_s }
    }

    /// Mean completion time; its interval is that of the normal approximation.
    pub fn mean(&self) -> Estimate {
        let mean_s = mean(&self.totals_s);
        let error_s = DEVIATIONS * self.deviation_s() / (self.totals_s.len() as f64).sqrt();
        let is_known = self.totals_s.len() > 1;
        let end = |seconds: f64| is_known.then_some(seconds);
        Estimate { seconds: mean_s, low_s: end(mean_s - error_s), high_s: end(mean_s + error_s) }
    }

    /// Standard deviation of completion times, s; 0 of a single sample.
    pub fn deviation_s(&self) -> f64 {
        let mean_s = mean(&self.totals_s);
        let squares: f64 = self.totals_s.iter().map(|total_s| (total_s - mean_s).powi(2)).sum();
        (squares / (self.totals_s.len().max(2) - 1) as f64).sqrt()
    }

    /// The least completion time of at least `probability` of the samples, 0 < `probability` < 1. The interval is
    /// between two order statistics and holds for any distribution: the number of samples below the quantile is
    /// binomial.
    pub fn quantile(&self, probability: f64) -> Estimate {
        let samples = self.ascending_s.len();
        let place = ((samples as f64 * probability).ceil() as usize).clamp(1, samples);
        let (low, high) = ranks(samples, probability);
        let at = |rank: usize| self.ascending_s.get(rank.checked_sub(1)?).copied();
        Estimate { seconds: self.ascending_s[place - 1], low_s: at(low), high_s: at(high) }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Ranks, from 1, of the samples that a quantile lies between with the given confidence: the largest l with
/// P(B < l) ≤ 2.5 %, 0 if there is none, and the least u with P(B < u) ≥ 97.5 %, where B of the samples are below it.
fn ranks(samples: usize, probability: f64) -> (usize, usize) {
    let outside = (1.0 - CONFIDENCE) / 2.0;
    let odds = (probability / (1.0 - probability)).ln();
    let mut logarithm = samples as f64 * (-probability).ln_1p();
    let (mut below, mut low) = (0.0, 0);
    for rank in 1..=samples {
        // P(B = rank − 1), added up to P(B < rank).
        below += logarithm.exp();
        if below <= outside {
            low = rank;
        }
        if below >= 1.0 - outside {
            return (low, rank);
        }
        logarithm += ((samples - rank + 1) as f64 / rank as f64).ln() + odds;
    }
    (low, samples + 1)
}

/// The statistic of the completion time by which a plan is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Objective {
    /// The time where nothing is uncertain.
    Nominal,
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The time that 95 % of the runs keep.
    P95,
    /// The time that 99 % of the runs keep.
    P99,
}

model::named! { Objective of "objective" }

impl Objective {
    /// The probability of the quantile, where the objective is one.
    pub fn probability(self) -> Option<f64> {
        match self {
            Self::Nominal | Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
        }
    }

    /// The value of the objective, s.
    pub fn of(self, sampled: &Sampled) -> f64 {
        match self {
            Self::Nominal => sampled.nominal_s,
            _ => self.probability().map_or_else(|| sampled.mean(), |of| sampled.quantile(of)).seconds,
        }
    }
}

/// Mean regret of every plan, s: how much longer it takes than the fastest of them, in the mean over samples that share
/// a seed, of which all plans have equally many.
pub fn regrets_s(plans: &[Sampled]) -> Vec<f64> {
    let samples = plans.iter().map(|plan| plan.totals_s.len()).min().unwrap_or(0);
    let least_s = |sample: usize| plans.iter().map(|plan| plan.totals_s[sample]).fold(f64::INFINITY, f64::min);
    let least_s: Vec<f64> = (0..samples).map(least_s).collect();
    let regret_s = |plan: &Sampled| {
        plan.totals_s.iter().zip(&least_s).map(|(total_s, least_s)| total_s - least_s).sum::<f64>() / samples as f64
    };
    plans.iter().map(regret_s).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of the intervals of the median in tables (Conover, "Practical Nonparametric Statistics", 3.2: n = 10 has
    /// the 2nd and 9th).
    #[test]
    fn intervals_of_the_median_are_those_of_tables() {
        assert_eq!(ranks(10, 0.5), (2, 9));
        assert_eq!(ranks(5, 0.5).0, 0);
        assert_eq!(ranks(100, 0.99).1, 101);
    }

    #[test]
    fn quantiles_are_order_statistics() {
        let sampled = Sampled::new((1..=100).rev().map(f64::from).collect(), StepCost::default(), 0.0);
        assert_eq!(sampled.quantile(0.5).seconds, 50.0);
        assert_eq!(sampled.quantile(0.99).seconds, 99.0);
        assert_eq!(sampled.quantile(0.99).high_s, None);
        assert_eq!(sampled.mean().seconds, 50.5);
        assert!((sampled.deviation_s() - (8332.5_f64 / 9.9).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn regret_is_against_the_best_of_each_sample() {
        let of = |totals_s: &[f64]| Sampled::new(totals_s.to_vec(), StepCost::default(), 0.0);
        assert_eq!(regrets_s(&[of(&[1.0, 4.0]), of(&[2.0, 2.0])]), [1.0, 0.5]);
    }
}
