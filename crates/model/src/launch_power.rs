//! The power that the lasers of a mesh launch: what receivers need, what lasers may give, and the energy of a plan.

use crate::cutoffs::launch_power::{LEAST_EFFICIENCY, MOST_DBM, MOST_MARGIN_DB, MOST_MW};
use crate::{Error, Result};

/// Power that a receiver needs, and budgets of the lasers; `docs/circuits.md` has the equations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchPower {
    /// The least power at which a receiver works, dBm.
    pub sensitivity_dbm: f64,
    /// Power above that which every circuit is given, dB.
    pub margin_db: f64,
    /// The most that the laser of a circuit launches, dBm; `None` without a limit.
    pub max_launch_dbm: Option<f64>,
    /// The most that all lasers of a tile launch at once, mW; `None` without a limit.
    pub max_tile_mw: Option<f64>,
    /// The most that all lasers of an interposer launch at once, mW; `None` without a limit.
    pub max_interposer_mw: Option<f64>,
    /// Light over electrical power of a laser, up to 1; `None` where it is not known.
    pub laser_efficiency: Option<f64>,
}

impl LaunchPower {
    /// The keys, as `--optics mesh:...` and files of circuits name them.
    pub const KEYS: [&'static str; 6] =
        ["sensitivity_dbm", "margin_db", "max_launch_dbm", "max_tile_mw", "max_interposer_mw", "laser_efficiency"];

    /// Receivers that need `sensitivity_dbm`, without a margin or budgets.
    pub fn of(sensitivity_dbm: f64) -> Self {
        Self {
            sensitivity_dbm,
            margin_db: 0.0,
            max_launch_dbm: None,
            max_tile_mw: None,
            max_interposer_mw: None,
            laser_efficiency: None,
        }
    }

    /// The values, in the order of [`Self::KEYS`].
    pub fn values(&self) -> [Option<f64>; 6] {
        let Self { sensitivity_dbm, margin_db, max_launch_dbm, max_tile_mw, max_interposer_mw, laser_efficiency } =
            *self;
        [Some(sensitivity_dbm), Some(margin_db), max_launch_dbm, max_tile_mw, max_interposer_mw, laser_efficiency]
    }

    /// # Errors
    /// A value out of range; names its key.
    pub fn check(&self) -> Result<()> {
        match self.fault() {
            Some((field, value, accepts)) => Err(Error::value(field, format!("{value:?}"), accepts)),
            None => Ok(()),
        }
    }

    /// Key and value of the first number out of range, and what is accepted.
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, String)> {
        let level = (-MOST_DBM, MOST_DBM, format!("a number of dBm from -{MOST_DBM} to {MOST_DBM}"));
        let margin = (0.0, MOST_MARGIN_DB, format!("a number of dB from 0 to {MOST_MARGIN_DB}"));
        let budget = (f64::MIN_POSITIVE, MOST_MW, format!("a number of mW above 0, up to {MOST_MW:e}"));
        let share = (LEAST_EFFICIENCY, 1.0, format!("light over electrical power, from {LEAST_EFFICIENCY} to 1"));
        let ranges = [level.clone(), margin, level, budget.clone(), budget, share];
        let named = Self::KEYS.into_iter().zip(self.values()).zip(ranges);
        named.into_iter().find_map(|((field, value), (least, most, accepts))| {
            value.filter(|value| !(least..=most).contains(value)).map(|value| (field, value, accepts))
        })
    }

    /// The most that a circuit may lose, dB: its laser's limit, or that of all numbers, less what arrives.
    pub fn max_loss_db(&self) -> f64 {
        self.max_launch_dbm.unwrap_or(MOST_DBM) - self.sensitivity_dbm - self.margin_db
    }

    /// The power that the laser of a circuit launches which loses `loss_db`, mW.
    pub fn launch_mw(&self, loss_db: f64) -> f64 {
        10_f64.powf((self.sensitivity_dbm + loss_db + self.margin_db) / 10.0)
    }
}

/// The electrical energy of the lasers of a plan's circuits.
#[derive(Debug, Clone, PartialEq)]
pub struct LaserEnergy {
    /// Energy of each step, with the change of circuits that the step is charged.
    pub steps_j: Vec<f64>,
    /// The part of `total_j` that is spent while circuits change.
    pub changes_j: f64,
    /// Energy of all steps.
    pub total_j: f64,
    /// Bits that GPUs send to each other, each counted once on however many circuits it travels.
    pub sent_bits: f64,
    /// Energy for each of those bits.
    pub picojoules_per_bit: f64,
}

impl LaserEnergy {
    /// # Errors
    /// A number that is no energy, with its place.
    pub(crate) fn check(&self, steps: usize) -> Result<()> {
        let refuse = |name: &str, reason: String| Err(Error::malformed(format!("circuits.energy.{name}"), reason));
        if self.steps_j.len() < steps {
            return refuse("steps_j", format!("{} are listed, and circuits are for {steps} steps", self.steps_j.len()));
        }
        let named = [
            ("changes_j", self.changes_j),
            ("total_j", self.total_j),
            ("sent_bits", self.sent_bits),
            ("picojoules_per_bit", self.picojoules_per_bit),
        ];
        for (name, value) in named.into_iter().chain(self.steps_j.iter().map(|&value| ("steps_j", value))) {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(name, format!("it is {value}; it must be a number, 0 or more"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_in_milliwatts_is_that_of_the_decibels() {
        let power = LaunchPower { margin_db: 3.0, ..LaunchPower::of(-13.0) };
        // -13 + 3 + 10 = 0 dBm is one milliwatt; 20 dB more are a hundred.
        assert!((power.launch_mw(10.0) - 1.0).abs() < 1e-12);
        assert!((power.launch_mw(30.0) - 100.0).abs() < 1e-9);
        let limited = LaunchPower { max_launch_dbm: Some(10.0), ..power };
        assert!((limited.max_loss_db() - 20.0).abs() < 1e-12);
    }

    #[test]
    fn what_no_laser_or_receiver_has_is_refused_by_name() {
        let good = LaunchPower::of(-8.0);
        assert!(good.check().is_ok());
        let named = |power: LaunchPower| power.check().unwrap_err().to_string();
        assert!(named(LaunchPower { sensitivity_dbm: f64::NAN, ..good }).starts_with("sensitivity_dbm: NaN"));
        assert!(named(LaunchPower { margin_db: -1.0, ..good }).starts_with("margin_db: -1.0"));
        assert!(named(LaunchPower { max_launch_dbm: Some(1e9), ..good }).starts_with("max_launch_dbm"));
        assert!(named(LaunchPower { max_tile_mw: Some(0.0), ..good }).starts_with("max_tile_mw"));
        assert!(named(LaunchPower { max_interposer_mw: Some(f64::INFINITY), ..good }).starts_with("max_interposer_mw"));
        assert!(named(LaunchPower { laser_efficiency: Some(1.5), ..good }).starts_with("laser_efficiency"));
    }
}
