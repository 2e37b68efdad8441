//! Distributions of a quantity about its nominal value, each as the inverse of its distribution function.

use std::sync::Arc;

use model::{Error, Result, units};

use super::normal;
use super::quantity::{FIELD, Quantity, shown};
use crate::cutoffs::sampling::{LARGEST_SPREAD, MOST_MEASURED};

/// How far a quantity is spread about its nominal value x.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Spread {
    /// x plus a normal variable of mean 0 and this standard deviation; zero where that is below zero.
    Normal(Width),
    /// x times a variable whose logarithm is normal of mean 0 and this standard deviation: x is the median.
    Lognormal(f64),
    /// x plus a variable that is uniform between minus and plus this width; zero where that is below zero.
    Uniform(Width),
    /// x plus an exponential variable of this mean.
    Exponential(Width),
    /// Every measured value with the same probability.
    Measured {
        /// Whether the values are multiples of x, and not values in place of it.
        are_factors: bool,
        /// The values, ascending.
        values: Arc<[f64]>,
    },
}

/// A deviation from the nominal value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Width {
    /// As a share of it.
    Share(f64),
    /// In seconds.
    Seconds(f64),
}

/// A point of a distribution by the probability of smaller and of larger values, which add up to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    lower: f64,
    upper: f64,
}

impl Tail {
    /// The largest of `parts` independent variables, from `uniform` between 0 and 1: it is below x with probability
    /// F(x)^parts.
    pub(super) fn largest_of(parts: u64, uniform: f64) -> Self {
        let logarithm = uniform.ln() / parts as f64;
        Self { lower: logarithm.exp(), upper: -logarithm.exp_m1() }
    }

    /// The least of `parts` independent variables.
    pub(super) fn least_of(parts: u64, uniform: f64) -> Self {
        let Self { lower, upper } = Self::largest_of(parts, uniform);
        Self { lower: upper, upper: lower }
    }
}

impl Width {
    fn of(self, nominal: f64) -> f64 {
        match self {
            Self::Share(share) => share * nominal,
            Self::Seconds(seconds) => seconds,
        }
    }

    /// A share of the nominal value such as `0.1`, or a time such as `2us`.
    fn parse(quantity: Quantity, text: &str) -> Result<Self> {
        if let Ok(share) = text.trim().parse::<f64>() {
            return share_of(quantity, share, text).map(Self::Share);
        }
        if quantity == Quantity::Bandwidth {
            return Err(Error::value(FIELD, format!("`{}` of bandwidth", shown(text)), "a share such as 0.1"));
        }
        units::parse_time(FIELD, text).map(Self::Seconds)
    }
}

fn share_of(quantity: Quantity, share: f64, text: &str) -> Result<f64> {
    if (0.0..=LARGEST_SPREAD).contains(&share) {
        return Ok(share);
    }
    let accepts = format!("a number from 0 to {LARGEST_SPREAD}");
    Err(Error::value(FIELD, format!("`{}` of {}", shown(text), quantity.name()), accepts))
}

/// The forms of a distribution, for messages.
const FORMS: &str = "normal:S, lognormal:S, uniform:S, exponential:S or samples:FILE";

impl Spread {
    /// `normal:0.1`, `uniform:2us`, `samples:FILE`; `read` gives the text of a file.
    ///
    /// # Errors
    /// Anything else, and files that hold no samples of the quantity.
    pub(super) fn parse(quantity: Quantity, text: &str, read: &dyn Fn(&str) -> Result<String>) -> Result<Self> {
        let Some((form, rest)) = text.split_once(':') else {
            return Err(Error::value(FIELD, format!("`{}` of {}", shown(text), quantity.name()), FORMS));
        };
        Ok(match form.trim() {
            "normal" => Self::Normal(Width::parse(quantity, rest)?),
            "uniform" => Self::Uniform(Width::parse(quantity, rest)?),
            "exponential" => Self::Exponential(Width::parse(quantity, rest)?),
            "lognormal" => {
                let accepts = "the standard deviation of its logarithm, such as 0.3";
                let refuse = |_| Error::value(FIELD, format!("`{}` of lognormal", shown(rest)), accepts);
                Self::Lognormal(share_of(quantity, rest.trim().parse().map_err(refuse)?, rest)?)
            }
            "samples" => measured(quantity, rest.trim(), &read(rest.trim())?)?,
            other => return Err(Error::value(FIELD, format!("`{}` of {}", shown(other), quantity.name()), FORMS)),
        })
    }

    /// Whether it is in proportion to the nominal value.
    pub(super) fn is_relative(&self) -> bool {
        match self {
            Self::Normal(width) | Self::Uniform(width) | Self::Exponential(width) => matches!(width, Width::Share(_)),
            Self::Lognormal(_) => true,
            Self::Measured { are_factors, .. } => *are_factors,
        }
    }

    /// The value of a quantity whose nominal value is `nominal` at a point of the distribution; at least 0.
    pub(super) fn at(&self, nominal: f64, tail: Tail) -> f64 {
        let Tail { lower, upper } = tail;
        match self {
            Self::Normal(width) => (nominal + width.of(nominal) * normal::quantile(lower, upper)).max(0.0),
            Self::Lognormal(deviation) => nominal * (deviation * normal::quantile(lower, upper)).exp(),
            Self::Uniform(width) => (nominal + width.of(nominal) * (lower - upper)).max(0.0),
            Self::Exponential(width) => nominal - width.of(nominal) * upper.ln(),
            Self::Measured { are_factors, values } => {
                let place = ((lower * values.len() as f64) as usize).min(values.len() - 1);
                if *are_factors { nominal * values[place] } else { values[place] }
            }
        }
    }
}

/// The samples of a CSV file: a column `factor`, or one by the quantity's name and a unit, such as `startup_us`.
fn measured(quantity: Quantity, path: &str, text: &str) -> Result<Spread> {
    let malformed = |reason: String| Error::malformed(FIELD, format!("`{}`: {reason}", shown(path)));
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map_or("", |(_, line)| line).trim_start_matches('\u{feff}');
    let columns = header.split(',').map(|name| name.trim().trim_matches('"'));
    let found = columns.enumerate().find_map(|(column, name)| {
        if name == "factor" { Some((column, None)) } else { Some((column, Some(quantity.unit_of(name)?))) }
    });
    let Some((column, unit)) = found else {
        return Err(malformed(format!("it must have a column {}", quantity.columns())));
    };
    let mut values = Vec::new();
    for (number, line) in lines {
        let cell = line.split(',').nth(column).unwrap_or_default().trim().trim_matches('"');
        let refuse = |accepts: &str| malformed(format!("line {number}: `{}` is not {accepts}", shown(cell)));
        let value: f64 = cell.parse().map_err(|_| refuse("a number"))?;
        values.push(match unit {
            None if value > 0.0 && value.is_finite() => value,
            None => return Err(refuse("a factor above 0")),
            Some(unit) => quantity.check(value * unit).map_err(|error| refuse(&error.reason()))?,
        });
        if values.len() > MOST_MEASURED {
            return Err(malformed(format!("it has more than {MOST_MEASURED} samples")));
        }
    }
    if values.is_empty() {
        return Err(malformed("it has no samples".into()));
    }
    values.sort_by(f64::total_cmp);
    Ok(Spread::Measured { are_factors: unit.is_none(), values: values.into() })
}
