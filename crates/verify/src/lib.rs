//! The independent judge of schedules and plans. It reads the model and sees no planner, no profile, no algorithm. What
//! a plan states is recomputed here, by code written for this purpose, from the transfers, the links, the paths and the
//! fabric's numbers. Two numbers are not its own alone: a step's time where packets overlap hop delays with queueing
//! comes from `simulate`; and of a bound it finds out what is above the time of schedules that it makes itself, and
//! compares the rest with `bounds`, which states bounds in the first place.
//!
//! | checks | file |
//! |---|---|
//! | what is sent is held, nothing is counted twice, one writer, postcondition | `execution` |
//! | circuits per GPU | `ports` |
//! | circuits per island of GPUs that share ports | `shared_ports` |
//! | m_i and traffic from the transfers | `demand` |
//! | paths, hops and load | `paths` |
//! | what the stated routing says of paths | `routing` |
//! | circuits that change, and what is charged for them | `changes` |
//! | the four cost terms, reconfigurations, total | `costs` |
//! | the bound, where its class is known | `bound` |
//! | what switches are told for a plan: changes, circuits, steps, times; of a mesh of MZIs ways, losses and states |
//! `circuits` |
//! | a training iteration: times, ports, circuits and changes of every rank | `training` |

mod bound;
mod changes;
mod circuits;
mod costs;
mod demand;
mod execution;
mod paths;
mod ports;
mod report;
mod routing;
mod shared_ports;
mod training;

pub use circuits::circuits;
pub use report::{Check, Report};
pub use training::training;

use bounds::KnownBounds;
use model::{Plan, Schedule, Step};

/// Executes `schedule` symbolically: per (rank, chunk) the ranks whose contribution is folded in, or,
/// where nothing is reduced, whether the chunk is there.
///
/// Costs O(chunks moved per orbit · ranks / word) where sums are partial and O(chunks moved per orbit)
/// elsewhere: state is kept for one rank of each orbit of [`Schedule::symmetry`].
pub fn schedule(schedule: &Schedule) -> Report {
    let steps: Vec<&Step> = schedule.steps().iter().collect();
    Report { checks: execution::run(schedule.chunks(), &steps) }
}

/// Executes the steps of `plan` symbolically and recomputes all that the plan states: circuits per GPU,
/// m_i, paths and their routing, hops, load, the four terms of every step, what is reconfigured, the total, the bound.
pub fn plan(plan: &Plan) -> Report {
    plan_with(plan, &KnownBounds::default())
}

/// [`plan`], where bounds that were computed already need not be computed again.
pub fn plan_with(plan: &Plan, known: &KnownBounds) -> Report {
    let steps: Vec<&Step> = plan.steps.iter().map(|step| &step.step).collect();
    let mut checks = execution::run(&plan.chunks, &steps);
    checks.push(ports::check(plan));
    checks.extend(shared_ports::check(plan));
    checks.extend(demand::check(plan));
    checks.extend(paths::check(plan));
    checks.push(routing::check(plan));
    checks.extend(costs::check(plan));
    checks.push(bound::check(plan, known));
    Report { checks }
}
