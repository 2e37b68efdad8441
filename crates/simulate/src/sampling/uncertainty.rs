//! The uncertainty of a fabric's times: the distributions of its quantities, and GPUs that are slow.

use model::{Error, Fabric, Result};

use super::quantity::{FIELD, Quantity, Scope, shown};
use super::spread::{Spread, Tail};
use crate::cutoffs::sampling::{LARGEST_SLOWDOWN, LEAST_RATE};

/// The form of the whole, for messages.
const FORM: &str = "a list such as reconfiguration_delay=lognormal:0.3,startup=normal:0.1,straggler=0.05:3";

/// The distribution of a quantity, and what draws a value of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chance {
    pub(super) spread: Spread,
    pub(super) scope: Scope,
}

/// GPUs that are slow: each with a probability, and then for the whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Straggler {
    pub(super) probability: f64,
    /// Factor of a slow GPU's startup, and of the transmission on its circuits.
    pub(super) factor: f64,
}

/// The uncertain quantities of a fabric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Uncertainty {
    /// By quantity.
    chances: [Option<Chance>; Quantity::ALL.len()],
    pub(super) straggler: Option<Straggler>,
}

/// Numbers of a fabric that its slowest parts keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptNumbers {
    /// Startup latency of a step, s.
    pub startup_s: f64,
    /// Rate of one circuit, bit/s.
    pub bandwidth_bps: f64,
    /// The fixed part of the reconfiguration delay, s.
    pub reconfiguration_delay_s: f64,
}

impl Uncertainty {
    /// A list of `QUANTITY=DISTRIBUTION[@SCOPE]` and `straggler=PROBABILITY:FACTOR`; `read` gives the text of a file of
    /// samples.
    ///
    /// # Errors
    /// Anything else, a quantity that is named twice, and the errors of `read`.
    pub fn parse(text: &str, read: &dyn Fn(&str) -> Result<String>) -> Result<Self> {
        let mut made = Self::default();
        for item in text.split(',') {
            let Some((name, rest)) = item.split_once('=') else {
                return Err(Error::value(FIELD, format!("`{}`", shown(item)), FORM));
            };
            let name = name.trim().replace('-', "_");
            let is_known = if name == "straggler" {
                made.straggler.replace(Straggler::parse(rest.trim())?).is_some()
            } else {
                let names = Quantity::ALL.iter().map(|quantity| quantity.name()).chain(["straggler"]);
                let find = || Quantity::ALL.iter().find(|quantity| quantity.name() == name);
                let &quantity = find().ok_or_else(|| model::unknown_name(FIELD, &name, names))?;
                made.chances[quantity as usize].replace(Chance::parse(quantity, rest.trim(), read)?).is_some()
            };
            if is_known {
                return Err(Error::malformed(FIELD, format!("{name} is named twice")));
            }
        }
        Ok(made)
    }

    /// The fabric's numbers as all of its parts keep them with this probability, each for itself: a plan that is made
    /// for such a fabric is a candidate for the uncertain one.
    pub fn kept_with(&self, fabric: &Fabric, probability: f64) -> KeptNumbers {
        let (gpus, ports) = (u64::from(fabric.shape.gpus()), u64::from(fabric.shape.ports()));
        let delay = fabric.reconfiguration.delay();
        let by_port_s = delay.terms().by_port_s;
        let parts = |scope: Scope| match scope {
            Scope::Switch => by_port_s.len().max(1) as u64,
            Scope::Port | Scope::Circuit => gpus * ports,
            Scope::Gpu => gpus,
            Scope::Step | Scope::Run => 1,
        };
        let slowest = |quantity, nominal: f64| {
            let value = |chance: &Chance| chance.spread.at(nominal, Tail::largest_of(parts(chance.scope), probability));
            self.of(quantity).map_or(nominal, value)
        };
        let is_slow = |of: &Straggler| (1.0 - of.probability).powf(gpus as f64) < probability;
        let slowdown = self.straggler.filter(is_slow).map_or(1.0, |of| of.factor);
        let rate_bps = self.of(Quantity::Bandwidth).map_or(fabric.bandwidth_bps, |chance| {
            chance.spread.at(fabric.bandwidth_bps, Tail::least_of(parts(chance.scope), probability))
        });
        let of_ports_s = by_port_s.iter().copied().fold(0.0, f64::max);
        let delay_s = slowest(Quantity::ReconfigurationDelay, delay.fixed_s() + of_ports_s) - of_ports_s;
        KeptNumbers {
            startup_s: slowest(Quantity::Startup, fabric.startup_s) * slowdown,
            bandwidth_bps: rate_bps.max(LEAST_RATE * fabric.bandwidth_bps) / slowdown,
            reconfiguration_delay_s: (delay_s + slowest(Quantity::Control, 0.0)).max(0.0),
        }
    }

    /// The distribution of a quantity, if it is uncertain.
    pub(super) fn of(&self, quantity: Quantity) -> Option<&Chance> {
        self.chances[quantity as usize].as_ref()
    }
}

impl Chance {
    fn parse(quantity: Quantity, text: &str, read: &dyn Fn(&str) -> Result<String>) -> Result<Self> {
        let scopes = quantity.scopes();
        let Some((spread, scope)) = text.rsplit_once('@') else {
            return Self::of(quantity, text, scopes[0], read);
        };
        let known = scopes.iter().find(|known| known.name() == scope.trim());
        let Some(&scope) = known else {
            let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
            let accepts = format!("one of {}", names.join(", "));
            return Err(Error::value(FIELD, format!("`@{}` of {}", shown(scope), quantity.name()), accepts));
        };
        Self::of(quantity, spread.trim(), scope, read)
    }

    fn of(quantity: Quantity, text: &str, scope: Scope, read: &dyn Fn(&str) -> Result<String>) -> Result<Self> {
        let spread = Spread::parse(quantity, text, read)?;
        if quantity == Quantity::Control && spread.is_relative() {
            let accepts = "times, such as exponential:2us: nothing is planned for it of which it could be a share";
            return Err(Error::value(FIELD, format!("`{}` of control", shown(text)), accepts));
        }
        Ok(Self { spread, scope })
    }
}

impl Straggler {
    /// `0.05:3`: a GPU in twenty takes three times as long.
    fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once(':').and_then(|(share, factor)| {
            Some(Self { probability: share.trim().parse().ok()?, factor: factor.trim().parse().ok()? })
        });
        let is_accepted =
            |of: &Self| (0.0..=1.0).contains(&of.probability) && (1.0..=LARGEST_SLOWDOWN).contains(&of.factor);
        numbers.filter(is_accepted).ok_or_else(|| {
            let accepts = format!("a probability and a factor from 1 to {LARGEST_SLOWDOWN}, such as 0.05:3");
            Error::value(FIELD, format!("`{}` of straggler", shown(text)), accepts)
        })
    }
}
