//! The independent judge of schedules and plans. It reads the model and sees no planner, no front, no bound, no
//! simulation, no algorithm. The numbers that a plan states are recomputed here, by code written for this purpose, from
//! the transfers, the links, the paths and the fabric's numbers.
//!
//! Two numbers cannot be recomputed here. A step's time where packets overlap hop delays with queueing is taken as
//! stated, once it is split into its terms as it must be; and a stated bound is held to the plan's time and to
//! schedules that the verifier makes itself, not to the bound of its class. `lightloom::verify_plan` adds both as
//! checks of their own, `simulated-steps` and `recomputed-bound`, with the code that states them.
//!
//! | checks | file |
//! |---|---|
//! | what is sent is held, nothing is counted twice, one writer, postcondition | `execution` |
//! | circuits per GPU | `ports` |
//! | circuits of each rate per GPU, where ports differ in rate | `speeds` |
//! | nothing that is broken is used | `failed` |
//! | circuits per island of GPUs that share ports | `shared_ports` |
//! | circuits of GPUs that only forward | `others` |
//! | m_i and traffic from the transfers | `demand` |
//! | paths, hops and load | `paths` |
//! | what the stated routing says of paths | `routing` |
//! | what the electrical switches of islands carry | `tiers` |
//! | circuits that change, and what is charged for them | `changes` |
//! | the four cost terms, reconfigurations, total | `costs` |
//! | the bound: below the plan and the verifier's own schedules | `bound` |
//! | what switches are told for a plan: changes, circuits, steps, times; of a mesh of MZIs ways, losses and states |
//! `circuits` |
//! | a training iteration: times, ports, circuits and changes of every rank | `training` |

mod bound;
mod changes;
mod circuits;
mod costs;
mod cubes;
mod cutoffs;
mod demand;
mod execution;
mod faults;
mod fibres;
mod links;
mod others;
mod paths;
mod ports;
mod report;
mod router_ports;
mod routing;
mod shared_ports;
mod speeds;
mod tiers;
mod training;

pub use circuits::{circuits, iteration_circuits};
pub use report::{Check, Report};
pub use training::{training, training_bound};

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
/// m_i, paths and their routing, hops, load, the terms of every step, what is reconfigured, the total, the bound.
pub fn plan(plan: &Plan) -> Report {
    let steps: Vec<&Step> = plan.steps.iter().map(|step| &step.step).collect();
    let mut checks = execution::run(&plan.chunks, &steps);
    checks.push(ports::check(plan));
    checks.extend(speeds::check(plan));
    checks.extend(faults::check(plan));
    checks.extend(shared_ports::check(plan));
    checks.extend(others::check(plan));
    checks.extend(demand::check(plan));
    checks.extend(paths::check(plan));
    checks.push(routing::check(plan));
    checks.extend(tiers::check(plan));
    checks.extend(costs::check(plan));
    checks.push(bound::check(plan));
    Report { checks }
}
