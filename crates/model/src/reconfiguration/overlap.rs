//! The work that a reconfiguration overlaps: the step before it, on a port that carries nothing, or computation before
//! the step.

use std::collections::BTreeMap;

use crate::{Error, Result, ranges::TIME, units};

/// The work that changes of topology overlap. By default that is nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReconfigurationOverlap {
    /// Whether every port is a switch of its own that changes while the others carry traffic.
    pub background: bool,
    /// Computation before steps, in which the fabric may be reconfigured.
    pub window: Window,
}

impl ReconfigurationOverlap {
    /// Whether anything of any change may be hidden.
    pub(super) fn hides(&self) -> bool {
        self.background || self.window.longest_s() > 0.0
    }
}

/// Computation before steps. It is no part of the collective's time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// Seconds before every step that `steps` does not have.
    pub every_s: f64,
    /// Seconds by step, from 0.
    pub steps: BTreeMap<usize, f64>,
}

/// The form of a window, for messages.
const WINDOW_FORM: &str = "a time for every step such as 20us, times by step such as 1=20us,5=3us, or both";

impl Window {
    /// `20us` before every step, `1=20us,5=3us` before steps counted from 1, or both: `20us,5=3us`.
    ///
    /// # Errors
    /// Anything else, and a step that is named twice.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let shown = || format!("`{}`", text.chars().take(60).collect::<String>());
        let refuse = || Error::value(field, shown(), format!("{WINDOW_FORM}; each {}", TIME.accepts));
        // A text that states both meanings of a time says more.
        let time_of = |text: &str| {
            let read = units::parse_time(field, text);
            read.map_err(|error| if matches!(error, Error::Malformed { .. }) { error } else { refuse() })
        };
        let mut every_s = None;
        let mut steps = BTreeMap::new();
        for item in text.split(',') {
            let known = match item.split_once('=') {
                None => every_s.replace(time_of(item)?),
                Some((step, time)) => {
                    let step: usize = step.trim().parse().map_err(|_| refuse())?;
                    let before = step.checked_sub(1).ok_or_else(refuse)?;
                    steps.insert(before, time_of(time)?)
                }
            };
            if known.is_some() {
                return Err(refuse());
            }
        }
        Ok(Self { every_s: every_s.unwrap_or(0.0), steps })
    }

    /// Seconds of computation before step `step`, where steps are counted from 0.
    pub fn before_s(&self, step: usize) -> f64 {
        *self.steps.get(&step).unwrap_or(&self.every_s)
    }

    /// The longest before any step.
    pub fn longest_s(&self) -> f64 {
        self.steps.values().copied().fold(self.every_s, f64::max)
    }

    /// # Errors
    /// A time outside the range of times.
    pub(crate) fn check(&self) -> Result<()> {
        let mut times = self.steps.values().copied().chain([self.every_s]);
        times.try_for_each(|time| units::time_from_f64("window", time).map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read() {
        let steps = |text: &str| {
            let window = Window::parse("window", text).unwrap();
            (window.every_s, window.steps.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(steps("20us"), (20e-6, vec![]));
        assert_eq!(steps("1=20us, 5=3us"), (0.0, vec![(0, 20e-6), (4, 3e-6)]));
        assert_eq!(steps("5=0s,1us"), (1e-6, vec![(4, 0.0)]));
        for wrong in ["", "20", "1us,2us", "0=1us", "1=1us,1=2us", "1=", "=1us", "-1=1us", "1=-1us", "1us,", "a=1us"] {
            let error = Window::parse("window", wrong).unwrap_err().to_string();
            assert!(error.starts_with("window: ") && error.contains("1=20us,5=3us"), "{error}");
        }
    }
}
