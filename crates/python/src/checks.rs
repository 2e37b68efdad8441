//! Reports of `verify`.

use verify::Report;

/// Check, passed, detail.
pub type CheckTuple = (&'static str, bool, String);

/// A report as tuples.
pub fn checks(report: &Report) -> Vec<CheckTuple> {
    report.checks.iter().map(|check| (check.name, check.passed, check.detail.clone())).collect()
}
