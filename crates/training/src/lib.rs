//! Training iterations: computations, collectives and messages of all ranks, planned together for a fabric.
//!
//! ```text
//! Workload ─▶ jobs (kinds, families, classes of ranks) ─▶ library of plans ─┬─▶ policies ─▶ timeline ─▶ TrainingPlan
//! Fabric ──────────────────────────────────────────────────────────────────┘        bound ────────────┘
//! ```

mod bound;
mod context;
mod cutoffs;
mod entry;
mod group_plans;
mod jobs;
mod known_plans;
mod layer;
mod library;
mod lit;
mod messages;
mod orders;
mod overlap;
mod paths;
mod policies;
mod ports;
mod problem;
mod result;
mod series;
mod splits;
mod timeline;
mod variants;

use std::sync::Arc;

pub use known_plans::KnownPlans;
use model::{Error, Fabric, Initial, Result, TrainingPlan, Workload};
pub use policies::{POLICIES, Policy, find};

use context::Context;
use jobs::Jobs;
use policies::Outcome;

/// Plans an iteration by a policy, and by all others to compare with.
///
/// `resting`: name of the topology of each group, such as `ring`, that policies which plan collectives one by one begin
/// with and return to. `known` has what iterations on such fabrics have found, at other rates and delays too.
/// `progress` is told what is being planned.
///
/// # Errors
/// Wrong input: a fabric of another number of GPUs, with delays that depend on what changes or with an optical layer
/// that has no room or no paths for the circuits; a policy that cannot be chosen or does not serve the workload; a
/// collective that no planner serves.
pub fn train(
    workload: &Workload,
    fabric: &Fabric,
    resting: &str,
    policy: &str,
    known: Arc<KnownPlans>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<TrainingPlan> {
    let wanted = find(policy)?;
    if fabric.shape.gpus() != workload.ranks {
        let accepts = format!("{}, the ranks of the workload", workload.ranks);
        return Err(Error::value("gpus", fabric.shape.gpus(), accepts));
    }
    let fabric = Fabric { initial: Initial::Free, ..fabric.clone() };
    let jobs = Jobs::of(workload);
    let mut context = Context::new(workload, &jobs, &fabric, resting, known, progress)?;
    let outcomes = policies::outcomes(&mut context, progress);
    let Some(chosen) = outcomes.iter().find(|outcome| outcome.policy == wanted.name) else {
        return Err(Error::infeasible("policy", format!("`{policy}` does not serve the workload on this fabric")));
    };
    let mut names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
    names.sort_by_key(|name| *name != "carry");
    let plan_of = |outcome: &Outcome| result::training_plan(&context, &outcomes, outcome, &names);
    // Policies that are only for comparison have no circuits of this fabric.
    let choosable: Vec<&Outcome> = outcomes.iter().filter(|outcome| find(outcome.policy).is_ok()).collect();
    paths::with_paths(&choosable, chosen, plan_of)
}
