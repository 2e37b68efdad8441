//! A choice's time as a function of the numbers: linear in α, δ, β·m and α_r.

use model::{ChargeKind, Overlap, Result, sum_seconds};

use crate::{Choice, OperatingPoint};

/// The time of one sequence of topologies as a function of the fabric's numbers. For costs that add up and delays that
/// nothing hides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearCost {
    /// Multiples of α, δ, β·m and α_r, in the order of [`OperatingPoint::coordinates`].
    multiples: [f64; 4],
    /// The time of changes in addition to α_r.
    constant_s: f64,
}

impl LinearCost {
    /// The cost of a choice, on the points of the hops-load fronts that are best at the numbers of its problem.
    ///
    /// # Errors
    /// When a step has no path on its topology, which a choice with a finite time never has.
    pub fn of(choice: &Choice) -> Result<Self> {
        let problem = &choice.problem;
        let reconfiguration = &problem.fabric.reconfiguration;
        let beside_s = reconfiguration.delay().with_fixed_s(0.0);
        debug_assert!(problem.settings.overlap == Overlap::Additive);
        debug_assert!(reconfiguration.charge_kind() != ChargeKind::Overlapping);
        let (mut hops, mut loads) = (Vec::new(), Vec::new());
        for (step, &candidate) in choice.candidates.iter().enumerate() {
            let (_, longest, load) = problem.step_point(step, candidate)?;
            hops.push(problem.hop_delays(step).count(longest, load));
            loads.push(problem.schedule().steps()[step].share() * load);
        }
        let (mut changes, mut constant_s) = (0.0, 0.0);
        for (from, to) in problem.changes_of(&choice.candidates) {
            let (from, to) = (problem.table.candidate(from), problem.table.candidate(to));
            if from.same_links(to) {
                continue;
            }
            changes += 1.0;
            constant_s += beside_s.constant_s().unwrap_or_else(|| beside_s.between_s(from, to));
        }
        let steps = choice.candidates.len() as f64;
        Ok(Self { multiples: [steps, rounded(sum_seconds(hops)), rounded(sum_seconds(loads)), changes], constant_s })
    }

    /// Seconds at the coordinates of a point.
    pub fn time_s(&self, [startup_s, hop_s, buffer_s, change_s]: [f64; 4]) -> f64 {
        let [startups, hops, load, changes] = self.multiples;
        (startups * startup_s + hops * hop_s) + load * buffer_s + changes * change_s + self.constant_s
    }

    /// Charged changes.
    pub fn changes(&self) -> f64 {
        self.multiples[3]
    }

    /// Planes of the same bits are the same.
    pub(crate) fn bits(&self) -> [u64; 5] {
        let [startups, hops, load, changes] = self.multiples;
        [startups, hops, load, changes, self.constant_s].map(f64::to_bits)
    }
}

impl OperatingPoint {
    /// α, δ, β·m and α_r, s.
    #[inline]
    pub fn coordinates(&self) -> [f64; 4] {
        [self.startup_s, self.hop_delay_s, self.buffer_s(), self.reconfiguration_delay_s]
    }

    /// β·m: what a buffer takes on one circuit.
    #[inline]
    fn buffer_s(&self) -> f64 {
        8.0 / self.bandwidth_bps * self.size_bytes as f64
    }

    /// A coordinate by its dimension: startup, hop delay, β·m or reconfiguration delay.
    #[inline]
    pub(crate) fn coordinate(&self, dimension: usize) -> f64 {
        match dimension {
            0 => self.startup_s,
            1 => self.hop_delay_s,
            2 => self.buffer_s(),
            _ => self.reconfiguration_delay_s,
        }
    }
}

/// To 45 significant bits, 1.5e-14 relatively: equal loads that were added up in different orders differ in less.
fn rounded(value: f64) -> f64 {
    const DROPPED: u32 = 8;
    let half = 1 << (DROPPED - 1);
    f64::from_bits((value.to_bits() + half) & !((1 << DROPPED) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_hides_the_last_bits_alone() {
        assert_eq!(rounded(12.0), 12.0);
        assert_eq!(rounded(0.0), 0.0);
        assert_eq!(rounded(0.1 + 0.2), rounded(0.3));
        assert_ne!(rounded(1.0 + 1e-12), 1.0);
        assert!((rounded(1.0 / 3.0) * 3.0 - 1.0).abs() < 2e-14);
    }
}
