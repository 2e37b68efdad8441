//! The iteration's time, and what it would be if communication took none.

use model::Work;

use super::iteration::{Iteration, show_apart};
use crate::report::{Check, Tally};

/// Checks the total, which is the largest end, and the time of computations only.
pub(super) fn check(iteration: &Iteration<'_>) -> [Check; 2] {
    let (training, total_s) = (iteration.training, iteration.total_s);
    let mut total = Tally::new("total");
    total.expect(iteration.is_at(training.total_s, total_s), || {
        let last = iteration.order.iter().copied().find(|&event| iteration.event(event).end_s == total_s);
        let last = last.map(|event| iteration.name(event)).unwrap_or_default();
        let [stated, found] = show_apart([training.total_s, total_s]);
        format!("stated as {stated}, and the last to end is {last} at {found}")
    });
    let mut compute = Tally::new("compute");
    let compute_s = compute_s(iteration);
    compute.expect(iteration.is_at(training.compute_s, compute_s), || {
        let [stated, found] = show_apart([training.compute_s, compute_s]);
        format!("stated as {stated}, and computations take {found}")
    });
    [total.into_check("time", "that is the largest end"), compute.into_check("time", "of computations")]
}

/// The iteration's time if communication took none: computations after what they depend on, one at a time on each rank,
/// in the order of their stated starts.
fn compute_s(iteration: &Iteration<'_>) -> f64 {
    let workload = &iteration.training.workload;
    let mut ends_s = vec![0.0_f64; workload.nodes.len()];
    let mut busy_s = vec![0.0_f64; workload.ranks as usize];
    for &event in &iteration.order {
        let mut end_s = workload.nodes[event].after.iter().map(|&other| ends_s[other]).fold(0.0, f64::max);
        if let Work::Compute { duration_s, .. } = iteration.work(event) {
            let ranks = workload.ranks_of(event);
            end_s = ranks.iter().map(|&rank| busy_s[rank as usize]).fold(end_s, f64::max) + duration_s;
            ranks.into_iter().for_each(|rank| busy_s[rank as usize] = end_s);
        }
        ends_s[event] = end_s;
    }
    ends_s.into_iter().fold(0.0, f64::max)
}
