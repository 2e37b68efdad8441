//! Whether a training iteration runs as its plan says: recomputed for every rank and port from the workload, the fabric
//! and the plans of the groups. Nothing here is shared with what plans iterations.
//!
//! | checks | file |
//! |---|---|
//! | events have what their nodes need; nothing can be followed where they have not | `events` |
//! | each plan by itself, and that it is its node's on this fabric | `group_plans` |
//! | how long events take | `durations` |
//! | dependencies, one computation a rank at a time, streams | `order` |
//! | ports: one holder at a time, the circuits that they have, changes and returns, over the end of the iteration too | `replay` |
//! | messages over circuits of a group | `routes` |
//! | nothing starts later than it must; what reconfigurations are waited for | `waits` |
//! | the rates of the ports that events hold | `held_ports` |
//! | the total, the time without communication, the critical path | `summary`, `critical_path` |
//! | of inference: when prompts have their first tokens, and caches are sent | `inference` |
//! | the lower bound and the policies' times | `lower_bound`, `port_bytes` |
//! | what no order of the events is faster than | `order_bound` |

mod catalogue;
mod critical_path;
mod durations;
mod events;
mod group_plans;
mod held_ports;
mod inference;
mod iteration;
mod lower_bound;
mod order;
mod order_bound;
mod port_bytes;
mod replay;
mod routes;
mod summary;
mod waits;

use model::{Collective, CostSettings, Fabric, Piece, TrainingPlan};

use crate::report::{Check, Report};
use catalogue::Catalogue;
use iteration::Iteration;
use waits::Waits;

/// Judges a planned iteration. If events lack what their nodes need, the report has only that check.
///
/// Costs what the verifier of each plan does, and O(Σ over events of ranks · ports · log) for the rest.
pub fn training(training: &TrainingPlan) -> Report {
    let events = events::check(training);
    let change_s = training.fabric.reconfiguration.delay().constant_s();
    let (Some(change_s), true) = (change_s, events.passed) else { return Report { checks: vec![events] } };
    let iteration = Iteration::new(training, change_s);
    let catalogue = Catalogue::new(training);
    let streams = order::stream_predecessors(&training.workload);
    let mut waits = Waits::none(training);
    let mut checks = vec![events, group_plans::check(training)];
    checks.extend(order::check(&iteration, &streams, &mut waits));
    let replayed = replay::check(&iteration, &catalogue, &mut waits);
    checks.push(durations::check(&iteration, &replayed.routed_s));
    checks.extend(replayed.checks);
    checks.extend(waits::check(&iteration, &waits));
    checks.extend(summary::check(&iteration));
    checks.extend(inference::check(&iteration));
    checks.push(critical_path::check(&iteration));
    checks.extend(lower_bound::check(&iteration));
    checks.push(order_bound::check(&iteration, &streams, &replayed.turns));
    Report { checks }
}

/// Whether the iteration's lower bound is at most the largest of three terms: the longest chain, what the busiest ports
/// carry, and the computations of the busiest rank. `None` where events lack what their nodes need.
///
/// `collective_s` gives the least time of a collective in the chain. Its arguments are the collective, the blocks of an
/// unequal All-to-All, the bytes, a fabric of the group alone whose first circuits are free, and the cost settings. The
/// verifier has no bounds of its own.
pub fn training_bound(
    training: &TrainingPlan,
    collective_s: impl FnMut(Collective, Option<&[Piece]>, u64, &Fabric, CostSettings) -> f64,
) -> Option<Check> {
    let change_s = training.fabric.reconfiguration.delay().constant_s().filter(|_| events::check(training).passed)?;
    let iteration = Iteration::new(training, change_s);
    let streams = order::stream_predecessors(&training.workload);
    Some(lower_bound::check_terms(&iteration, &streams, collective_s))
}
