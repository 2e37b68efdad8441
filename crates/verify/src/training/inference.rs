//! The time at which an iteration of inference has the first tokens of its prompts, and their KV caches where they are
//! decoded.

use super::iteration::{Iteration, show_apart};
use crate::report::{Check, Tally};

/// Checks the stated times of the iteration's policy: the ends of the nodes that the workload names. No check for
/// workloads that are no inference and state none.
pub(super) fn check(iteration: &Iteration<'_>) -> Option<Check> {
    let training = iteration.training;
    let inference = training.workload.inference.as_ref();
    let stated = [
        ("first tokens", &training.first_token_s, inference.and_then(|inference| inference.first_token)),
        ("caches", &training.caches_s, inference.and_then(|inference| inference.caches)),
    ];
    if inference.is_none() && stated.iter().all(|(_, times, _)| times.is_empty()) {
        return None;
    }
    let mut tally = Tally::new("inference");
    for (what, times, node) in stated {
        let Some(node) = node else {
            tally.expect(times.is_empty(), || {
                format!("{what}: the plan states times, but the workload names no node for them")
            });
            continue;
        };
        let own = times.iter().find(|(policy, _)| *policy == training.policy);
        let end_s = iteration.event(node).end_s;
        let Some((_, Some(stated_s))) = own else {
            tally.expect(false, || format!("{what}: no time is stated for policy {}", training.policy));
            continue;
        };
        tally.expect(iteration.is_at(*stated_s, end_s), || {
            let [stated, found] = show_apart([*stated_s, end_s]);
            format!("{what}: stated at {stated}, and {} ends at {found}", iteration.name(node))
        });
    }
    Some(tally.into_check("time", "of tokens and caches"))
}
