//! Topologies that a solver outside the core has chosen, made a plan like any other.

use model::{Bound, Plan, Result, Topology};
use planners::Choice;

use crate::{Prepared, Request, TopologyRef, planned};

/// The best plan of the request's schedule on these topologies, as planner `exact`, with the bound that was proved
/// beside them. Where the solver's tolerance puts the bound above the plan's time, it is the plan's time.
///
/// # Errors
/// Wrong input, or topologies that do not serve every step.
pub fn proved_plan(request: &Request, topologies: Vec<Topology>, bound: Bound) -> Result<Plan> {
    let candidates = topologies.into_iter().map(TopologyRef::Given).collect();
    let on_these = Request {
        planner: Some("harvest".into()),
        candidates: Some(candidates),
        static_topologies: None,
        ..request.clone()
    };
    let prepared = Prepared::new(&on_these)?;
    let choice = prepared.best_at(&prepared.own_numbers()?)?;
    let class_bound = Some(Bound { seconds: bound.seconds.min(choice.total_s), ..bound });
    planned(Choice { planner: "exact", class_bound, ..choice }, !request.leaves_algorithm_open())
}
