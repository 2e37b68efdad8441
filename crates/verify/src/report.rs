//! The report of the verifier: named checks, each passed with a count or failed with its first violation.

use model::counted;

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Name of the check, stable across versions.
    pub name: &'static str,
    /// Whether nothing was found against what is checked.
    pub passed: bool,
    /// The checked items, with counts; or the first violation, with its step, ranks and chunk.
    pub detail: String,
}

/// All checks, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The checks.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether every check passed.
    pub fn passed(&self) -> bool {
        self.first_failure().is_none()
    }

    /// The first check that failed.
    pub fn first_failure(&self) -> Option<&Check> {
        self.checks.iter().find(|check| !check.passed)
    }
}

/// Counts what is checked and keeps the first violation.
#[derive(Debug)]
pub(crate) struct Tally {
    name: &'static str,
    checked: u64,
    violation: Option<String>,
}

impl Tally {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, checked: 0, violation: None }
    }

    /// Counts one item and keeps `violation` if it is the first that does not hold.
    pub(crate) fn expect(&mut self, holds: bool, violation: impl FnOnce() -> String) -> bool {
        self.checked += 1;
        if !holds && self.violation.is_none() {
            self.violation = Some(violation());
        }
        holds
    }

    /// The check; `noun` and `what` follow the count, as in "12 links within 2 ports".
    pub(crate) fn into_check(self, noun: &str, what: &str) -> Check {
        let passed = self.violation.is_none();
        let detail = self.violation.unwrap_or_else(|| format!("{} {what}", counted(self.checked, noun)));
        Check { name: self.name, passed, detail }
    }
}

/// Whether two numbers agree to `tolerance`, relative to the larger.
pub(crate) fn agree(stated: f64, recomputed: f64, tolerance: f64) -> bool {
    stated == recomputed || (stated - recomputed).abs() <= tolerance * stated.abs().max(recomputed.abs())
}
