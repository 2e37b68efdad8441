//! Letters grouped into steps: the fewest seconds for a scatter of the first letters, sums doubled over the others, and
//! a gather of as many letters as were scattered.
//!
//! With g letters in a step every rank reaches the ranks g letters on by g hops. Scattering divides what a rank has
//! by the letters, doubling and gathering send all of it to each of them.

use std::ops::Range;

use crate::prices::Prices;
use crate::relative::Sums;

/// Letters of one pass: `scattered` of them, doubled, and gathered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pass {
    pub(crate) letters: u32,
    pub(crate) circuits: u32,
    /// Letters of a walk.
    pub(crate) length: u32,
    /// The number of these that divide the buffer.
    pub(crate) scattered: u32,
}

impl Pass {
    /// Letters over which something is sent.
    pub(crate) fn units(&self) -> u32 {
        self.length + self.scattered
    }

    /// The numbers of the letters `units` that scatter, and that do not.
    pub(crate) fn split(&self, units: &Range<u32>) -> (u32, u32) {
        let scattering = units.end.min(self.scattered).saturating_sub(units.start);
        (scattering, units.end - units.start - scattering)
    }

    /// The data that a rank has before the letter `unit`, over its data before the first.
    pub(crate) fn held(&self, unit: u32) -> f64 {
        let gathered = unit.saturating_sub(self.length);
        f64::from(self.letters).powi(gathered as i32 - unit.min(self.scattered) as i32)
    }

    /// One step for these letters; amounts in units of what a rank has before the first.
    pub(crate) fn sums(&self, units: &Range<u32>) -> Sums {
        let (scattering, copying) = self.split(units);
        let letters = f64::from(self.letters);
        let held = self.held(units.start);
        let hops = f64::from(units.end - units.start);
        let sent = held * letters.powi(copying as i32);
        let amount = hops * sent / (letters * f64::from(self.circuits));
        Sums { steps: 1, hops, load: amount / (held / letters.powi(scattering as i32)), amount }
    }

    /// The steps of least seconds, where a rank has `blocks` blocks before the first; at most `reach` letters in one.
    /// O(letters · reach).
    pub(crate) fn best(&self, prices: &Prices, blocks: f64, reach: u32) -> (f64, Vec<Range<u32>>) {
        let mut best: Vec<(f64, u32)> = vec![(0.0, 0)];
        for end in 1..=self.units() {
            interruption::check();
            let seconds = |begin: u32| best[begin as usize].0 + prices.sums_s(&self.sums(&(begin..end)), blocks);
            let choices = (end.saturating_sub(reach)..end).map(|begin| (seconds(begin), begin));
            best.push(choices.min_by(|a, b| a.0.total_cmp(&b.0)).expect("one letter at least"));
        }
        let (mut steps, mut end) = (Vec::new(), self.units());
        while end > 0 {
            let begin = best[end as usize].1;
            steps.push(begin..end);
            end = begin;
        }
        steps.reverse();
        (best[self.units() as usize].0, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Fabric, Initial, ReconfigurationPolicy, Shape};

    fn prices(size_bytes: u64) -> Prices {
        let fabric = Fabric {
            shape: Shape::new(64, &[], 2).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 5e-7,
            barrier_s: 0.0,
            hop_delay_s: 5e-7,
            reconfiguration: ReconfigurationPolicy::constant(1e-5),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        };
        Prices::new(&fabric, size_bytes)
    }

    /// Every cut into steps.
    fn least_s(pass: &Pass, prices: &Prices, begin: u32) -> f64 {
        if begin == pass.units() {
            return 0.0;
        }
        let first = |end: u32| prices.sums_s(&pass.sums(&(begin..end)), 64.0) + least_s(pass, prices, end);
        (begin + 1..=pass.units()).map(first).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn the_program_finds_the_least_of_all_cuts() {
        for log_size in [10, 14, 18, 22] {
            for scattered in 0..=4 {
                let pass = Pass { letters: 2, circuits: 1, length: 4, scattered };
                let prices = prices(1 << log_size);
                let (found, steps) = pass.best(&prices, 64.0, 8);
                assert!((found - least_s(&pass, &prices, 0)).abs() < 1e-12 * found);
                assert_eq!(steps.iter().map(|step| step.end - step.start).sum::<u32>(), 4 + scattered);
            }
        }
    }

    /// Two ports, walks of 6 letters of 2: 3 + 3 hops carry 24 buffers, 6 single hops 6; scattering one letter 3.5.
    #[test]
    fn amounts_by_hand() {
        let pass = Pass { letters: 2, circuits: 1, length: 6, scattered: 0 };
        assert_eq!(pass.sums(&(0..3)), Sums { steps: 1, hops: 3.0, load: 12.0, amount: 12.0 });
        let total = |pass: Pass| (0..pass.units()).map(|unit| pass.sums(&(unit..unit + 1)).amount).sum::<f64>();
        assert_eq!(total(pass), 6.0);
        assert_eq!(total(Pass { scattered: 1, ..pass }), 3.5);
        assert_eq!(total(Pass { scattered: 6, ..pass }), 2.0 * (1.0 - 1.0 / 64.0));
    }
}
