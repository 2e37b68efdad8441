//! Planned iterations that are right pass; each rule, broken by itself, fails its own check.

mod broken;
mod by_hand;
mod group_plans;
mod serial;
mod timer;

use model::TrainingPlan;

/// Names and details of the checks that fail, the comparison with recomputed bounds among them.
fn failures(training: &TrainingPlan) -> Vec<(&'static str, String)> {
    let bound = lightloom_verify::training_bound(training, |collective, pieces, size_bytes, group, settings| {
        bounds::any_algorithm(collective, pieces, group, settings, size_bytes).seconds()
    });
    let checks = lightloom_verify::training(training).checks.into_iter().chain(bound);
    checks.filter(|check| !check.passed).map(|check| (check.name, check.detail)).collect()
}
