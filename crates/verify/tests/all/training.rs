//! Planned iterations that are right pass; each rule, broken alone, fails its own check.

mod broken;
mod by_hand;
mod group_plans;
mod serial;
mod timer;

use model::TrainingPlan;

/// Names and details of the checks that fail.
fn failures(training: &TrainingPlan) -> Vec<(&'static str, String)> {
    let report = verify::training(training);
    report.checks.into_iter().filter(|check| !check.passed).map(|check| (check.name, check.detail)).collect()
}
