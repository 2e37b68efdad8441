//! The lengths of the fibres between interposers, and the time that light takes through them.

use crate::cutoffs::fibre_lengths::{MOST_M, MOST_NS_PER_M};
use crate::{Error, Result};

/// Positions of the rows and columns of interposers. A fibre between two neighbours is as long as they are apart.
#[derive(Debug, Clone, PartialEq)]
pub struct FibreLengths {
    /// Position of each row of interposers, m.
    pub row_positions_m: Vec<f64>,
    /// Position of each column of interposers, m.
    pub column_positions_m: Vec<f64>,
    /// Time that light takes through a metre of fibre, ns.
    pub delay_ns_per_m: f64,
}

impl FibreLengths {
    /// Time of light in glass: a group index of about 1.47 over the speed of light, ns/m (ITU-T G.652 fibres).
    pub const DELAY_NS_PER_M: f64 = 5.0;

    /// Greatest position, m.
    pub const MOST_M: f64 = MOST_M;

    /// Key and value of the first position or delay out of range, and what is accepted, for rows and columns of
    /// interposers.
    pub fn fault(&self, interposers: [u32; 2]) -> Option<(&'static str, String, String)> {
        let positions = [("row_positions_m", &self.row_positions_m), ("column_positions_m", &self.column_positions_m)];
        for ((field, positions), count) in positions.into_iter().zip(interposers) {
            if positions.len() != count as usize {
                let accepts = format!("{count}, one for each row or column of interposers");
                return Some((field, format!("{} positions", positions.len()), accepts));
            }
            if let Some(position) = positions.iter().find(|position| !(0.0..=MOST_M).contains(*position)) {
                return Some((field, format!("{position:?}"), format!("numbers of metres from 0 to {MOST_M}")));
            }
        }
        let delay = self.delay_ns_per_m;
        let accepts = || format!("a number of ns/m from 0 to {MOST_NS_PER_M}");
        (!(0.0..=MOST_NS_PER_M).contains(&delay)).then(|| ("fibre_delay_ns_per_m", format!("{delay:?}"), accepts()))
    }

    /// # Errors
    /// A position or delay out of range, or too many or few positions; names its key.
    pub fn check(&self, interposers: [u32; 2]) -> Result<()> {
        match self.fault(interposers) {
            Some((field, value, accepts)) => Err(Error::value(field, value, accepts)),
            None => Ok(()),
        }
    }

    /// Seconds that light takes through so many metres.
    pub fn delay_s(&self, metres: f64) -> f64 {
        metres * self.delay_ns_per_m * 1e-9
    }
}

/// The time that light takes through the fibres of a plan's circuits, which its hop delay does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct FibreDelay {
    /// For each step its hops times the delay of the circuit with the most fibre, s.
    pub steps_s: Vec<f64>,
    /// Sum over all steps, s.
    pub total_s: f64,
}

impl FibreDelay {
    /// # Errors
    /// A number that is no time, with its place, or fewer steps than there are circuits for.
    pub(crate) fn check(&self, steps: usize) -> Result<()> {
        let refuse = |name: &str, reason: String| Err(Error::malformed(format!("circuits.fibre_delay.{name}"), reason));
        if self.steps_s.len() < steps {
            return refuse("steps_s", format!("{} are listed, and circuits are for {steps} steps", self.steps_s.len()));
        }
        let all = self.steps_s.iter().map(|&value| ("steps_s", value)).chain([("total_s", self.total_s)]);
        for (name, value) in all {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(name, format!("it is {value}; it must be a number of seconds, 0 or more"));
            }
        }
        Ok(())
    }
}

/// # Errors
/// An order that does not name each of so many interposers once.
pub fn check_interposer_order(order: &[u32], interposers: [u32; 2]) -> std::result::Result<(), String> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let count = interposers[0] * interposers[1];
    if sorted.iter().copied().eq(0..count) {
        Ok(())
    } else {
        Err(format!("each interposer from 0 to {} once", count - 1))
    }
}
