//! A description of the topologies of a plan, in a sentence each.

use model::Plan;
use topologies::Explanation;

/// Names for people of graphs that no simpler rule describes, by the kind in the name of a topology.
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
        let title = TITLES.iter().find(|(kind, _)| *kind == kind_of(topology.name()));
        let circuits = title.map_or_else(|| explanation.to_string(), |(_, title)| explanation.titled(title));
        [Some(circuits), contracted].into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    plan.topologies.iter().enumerate().map(said).collect()
}

/// The part of a topology's name that is the same for all of its kind: `metacyclic:4x2,3:(0,1)`, `for-matrix-7`.
fn kind_of(name: &str) -> &str {
    let kind = name.split_once(':').map_or(name, |(kind, _)| kind);
    match kind.rsplit_once('-') {
        Some((kind, number)) if number.parse::<u32>().is_ok() => kind,
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_of_topologies_that_plans_name() {
        let families = topologies::REGISTRY.iter().map(|family| family.name().to_string());
        let given = planners::topology_names().into_iter().map(|(name, _)| name.replace("-K", "-1"));
        let kinds: Vec<String> = families.chain(given).map(|name| kind_of(&name).to_string()).collect();
        for (kind, title) in TITLES {
            assert!(kinds.iter().any(|known| known == kind), "{title}: no topology is called {kind}");
        }
    }

    #[test]
    fn names_of_files_have_no_title_of_their_own() {
        for name in ["kautz.edgelist", "kautzian", "my-walks", "random-regular2"] {
            assert!(TITLES.iter().all(|(kind, _)| *kind != kind_of(name)), "{name}");
        }
    }
}
