//! Topologies that somebody else has chosen, one for each step, made a plan like any other.

use model::{Error, Plan, Result, Topology};
use planners::Choice;

use crate::{Request, TopologyRef, planned, problem};

/// The word that such plans have in the place of a planner's name.
pub const STATED: &str = "stated";

/// The plan of the request's one schedule on these topologies, one for each step, as they are.
///
/// # Errors
/// Wrong input, another number of topologies than steps, or a topology that does not serve its step.
pub fn plan_on(request: &Request, sequence: &[Topology]) -> Result<Plan> {
    request.refuse_forwarding()?;
    let candidates = sequence.iter().cloned().map(TopologyRef::Given).collect();
    let on_these = Request { candidates: Some(candidates), static_topologies: None, ..request.clone() };
    let problem = problem(&on_these)?;
    let steps = problem.table.steps();
    if sequence.len() != steps {
        let algorithm = problem.schedule().algorithm();
        return Err(Error::value(
            "sequence",
            format!("{} topologies", sequence.len()),
            format!("one for each of the {steps} steps of {algorithm}"),
        ));
    }
    let places = sequence.iter().map(|topology| problem.table.position(topology)).collect::<Option<Vec<_>>>();
    let places = places
        .ok_or_else(|| Error::infeasible("sequence", "a topology of the sequence is not among the candidates"))?;
    let choice = Choice::priced(STATED, problem, places)?;
    planned(choice, true)
}
