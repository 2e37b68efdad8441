//! A description of the topologies of a plan, in a sentence each.

use model::Plan;
use topologies::Explanation;

/// By topology of the plan: what its circuits are, and what it contracts where it is a contraction of those before it.
pub fn explain(plan: &Plan) -> Vec<String> {
    let said = |(index, topology): (usize, &model::Topology)| {
        let contracted = block_rounds::contracted(topology, &plan.topologies[..index]);
        let parts = [Some(Explanation::of(topology).to_string()), contracted];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    plan.topologies.iter().enumerate().map(said).collect()
}
