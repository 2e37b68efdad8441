//! A description of the topologies of a plan, in a sentence each.

use model::Plan;
use topologies::Explanation;

/// What people call the graphs that no simpler rule describes, by how the names of the topologies begin.
const TITLES: [(&str, &str); 10] = [
    ("kautz", "generalised Kautz graph"),
    ("de-bruijn", "generalised de Bruijn graph"),
    ("rewired-de-bruijn", "de Bruijn graph with its loops joined in a ring"),
    ("random-regular", "random regular graph"),
    ("random-lift", "random lift"),
    ("metacyclic", "Cayley graph of a metacyclic group"),
    ("walks", "iterated line digraph"),
    ("for-matrix", "graph made for the matrix"),
    ("mixnet", "graph of the largest flows"),
    ("local-search", "graph found by local search"),
];

/// By topology of the plan: what its circuits are, and what it contracts where it is a contraction of those before it.
pub fn explain(plan: &Plan) -> Vec<String> {
    let said = |(index, topology): (usize, &model::Topology)| {
        let contracted = block_rounds::contracted(topology, &plan.topologies[..index]);
        let explanation = Explanation::of(topology);
        let title = TITLES.iter().find(|(begin, _)| topology.name().starts_with(begin));
        let circuits = title.map_or_else(|| explanation.to_string(), |(_, title)| explanation.titled(title));
        [Some(circuits), contracted].into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    plan.topologies.iter().enumerate().map(said).collect()
}
