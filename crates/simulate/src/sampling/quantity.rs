//! The quantities of a fabric that may be uncertain, and what draws a value of its own.

use model::{Error, Result, ranges, units};
use strum::{IntoStaticStr, VariantArray};

/// Field of errors.
pub(super) const FIELD: &str = "uncertain";

/// A quantity of a fabric that may be uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Quantity {
    /// Time of a change of topology.
    ReconfigurationDelay,
    /// Startup latency of a step.
    Startup,
    /// Rate of a circuit.
    Bandwidth,
    /// Barrier before a step.
    Barrier,
    /// Time that the control plane takes before a change, nominally zero.
    Control,
}

/// The parts of the fabric that draw a value of their own each; a step waits for the slowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Scope {
    /// Every switch whose circuits change: one for each port of a GPU where delays are by port, else one for all.
    Switch,
    /// Every port whose circuit changes.
    Port,
    /// Every GPU that sends or receives in a step.
    Gpu,
    /// Every circuit that carries something in a step.
    Circuit,
    /// Every step, for the whole fabric.
    Step,
    /// Every run, for the whole fabric and all of its steps.
    Run,
}

model::named! {
    Quantity of "uncertain",
    Scope of "uncertain",
}

impl Quantity {
    /// The scopes that it takes, the default first.
    pub(super) fn scopes(self) -> &'static [Scope] {
        match self {
            Self::ReconfigurationDelay => &[Scope::Switch, Scope::Port, Scope::Step, Scope::Run],
            Self::Startup => &[Scope::Gpu, Scope::Step, Scope::Run],
            Self::Bandwidth => &[Scope::Circuit, Scope::Step, Scope::Run],
            Self::Barrier | Self::Control => &[Scope::Step, Scope::Run],
        }
    }

    /// The factor of a column's unit, if the column is of this quantity: `startup_us`, `bandwidth_Gbps`; `delay_us` is
    /// a reconfiguration delay.
    pub(super) fn unit_of(self, column: &str) -> Option<f64> {
        let (name, unit) = column.rsplit_once('_')?;
        if !(name == self.name() || (name == "delay" && self == Self::ReconfigurationDelay)) {
            return None;
        }
        match (self, unit) {
            (Self::Bandwidth, "bps") => Some(1.0),
            (Self::Bandwidth, "Gbps") => Some(1e9),
            (Self::Bandwidth, _) => None,
            (_, "s") => Some(1.0),
            (_, "ms") => Some(1e-3),
            (_, "us") => Some(1e-6),
            (_, "ns") => Some(1e-9),
            _ => None,
        }
    }

    /// The columns of a file of samples, for messages.
    pub(super) fn columns(self) -> String {
        let units = if self == Self::Bandwidth { "_bps or _Gbps" } else { "_s, _ms, _us or _ns" };
        format!("`factor`, or `{}` with its unit {units}", self.name())
    }

    /// # Errors
    /// A value outside the range of times, or of rates.
    pub(super) fn check(self, value: f64) -> Result<f64> {
        match self {
            Self::Bandwidth => units::rate_from_f64(FIELD, value).map_err(|_| Self::outside(ranges::RATE.accepts)),
            _ => units::time_from_f64(FIELD, value).map_err(|_| Self::outside(ranges::TIME.accepts)),
        }
    }

    fn outside(accepts: &str) -> Error {
        Error::malformed(FIELD, accepts)
    }
}

/// A text as a message shows it.
pub(super) fn shown(text: &str) -> String {
    text.trim().chars().take(60).collect()
}
