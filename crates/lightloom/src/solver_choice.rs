//! Topologies that a solver outside the core has chosen, made a plan like any other.

use model::{Bound, Plan, Result, Topology};
use planners::Exact;

use crate::{Request, TopologyRef, planned, problem};

/// The plan of planner `exact` for the request's schedule on these topologies, with the bound that was proved with
/// them. Where the solver's tolerance puts the bound above the plan's time, it is the plan's time.
///
/// # Errors
/// Wrong input, or topologies that do not serve every step.
pub fn proved_plan(request: &Request, topologies: Vec<Topology>, bound: Bound) -> Result<Plan> {
    let candidates = topologies.into_iter().map(TopologyRef::Given).collect();
    let on_these = Request { candidates: Some(candidates), static_topologies: None, ..request.clone() };
    let choice = Exact.on_candidates(&problem(&on_these)?, bound)?;
    planned(choice, !request.leaves_algorithm_open())
}
