//! A description of the topologies of a plan, in a sentence each.

use model::{Plan, Shape, Topology};
use topologies::Explanation;

/// Names for people of graphs that no simpler rule describes, by the kind in the name of a topology.
const TITLES: [(&str, &str); 9] = [
    ("kautz", "generalised Kautz graph"),
    ("rewired-kautz", "Kautz graph with its loops joined in a ring"),
    ("de-bruijn", "generalised de Bruijn graph"),
    ("rewired-de-bruijn", "de Bruijn graph with its loops joined in a ring"),
    ("random-regular", "random regular graph"),
    ("random-lift", "random lift"),
    ("metacyclic", "Cayley graph of a metacyclic group"),
    ("walks", "iterated line digraph"),
    ("for-matrix", "graph made for the matrix"),
];

/// By topology of the plan: what its circuits are, and what it contracts where it is a contraction of those before it.
pub fn explain(plan: &Plan) -> Vec<String> {
    let said = |(index, topology): (usize, &Topology)| {
        let contracted = block_rounds::contracted(topology, &plan.topologies[..index]);
        let explanation = Explanation::of(topology);
        let title = title_of(topology, &plan.fabric.shape);
        let circuits = title.map_or_else(|| explanation.to_string(), |title| explanation.titled(title));
        [Some(circuits), contracted].into_iter().flatten().collect::<Vec<_>>().join("; ")
    };
    plan.topologies.iter().enumerate().map(said).collect()
}

/// The title of a topology. A file has any name, so that a family is told by its links as well; the other names have
/// parameters.
fn title_of(topology: &Topology, shape: &Shape) -> Option<&'static str> {
    let name = topology.name();
    let &(kind, title) = TITLES.iter().find(|(kind, _)| *kind == kind_of(name))?;
    let is_so = if topologies::REGISTRY.iter().any(|family| family.name() == kind) {
        topologies::build(name, shape).is_ok_and(|built| built.expanded() == topology.expanded())
    } else {
        name != kind
    };
    is_so.then_some(title)
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
    fn a_file_has_no_title_by_its_name_alone() {
        let shape = Shape::new(12, &[], 2).unwrap();
        let kautz = topologies::build("kautz", &shape).unwrap();
        assert_eq!(title_of(&kautz, &shape), Some("generalised Kautz graph"));
        for name in ["kautz", "de-bruijn", "walks", "metacyclic", "for-matrix", "kautzian", "my-walks"] {
            let file = topologies::from_links(name, 12, &[(0, 1, 1), (1, 2, 1), (2, 0, 1)]).unwrap();
            assert_eq!(title_of(&file, &shape), None, "{name}");
        }
    }
}
