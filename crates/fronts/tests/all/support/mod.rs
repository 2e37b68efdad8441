//! Random pairs with symmetry, and a reference for their loads: the flow on links as one linear program.

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use model::{Link, Topology, Traffic, TrafficEntry, Translations};
use proptest::prelude::*;

/// Z_n, a period, a torus or XOR, on few ranks.
pub fn group() -> impl Strategy<Value = Translations> {
    prop_oneof![
        (3u32..9).prop_map(Translations::cyclic),
        (2u32..5, 2u32..4).prop_map(|(count, period)| Translations::periodic(count * period, period)),
        (2u32..4, 2u32..4).prop_map(|(a, b)| Translations::grid(&[a, b], &[1, 1])),
        (1u32..4).prop_map(|bits| Translations::xor(1 << bits)),
        (3u32..8).prop_map(Translations::trivial),
    ]
}

/// Topology and traffic on the same ranks, each under its own group where both fit, else the same.
pub fn pair() -> impl Strategy<Value = (Topology, Traffic)> {
    let links = prop::collection::vec((0u32..60, 0u32..60, 1u32..4), 1..7);
    let arcs = prop::collection::vec((0u32..60, 0u32..60, 1u32..5), 1..4);
    (group(), group(), links, arcs).prop_filter_map("links and arcs that are not loops", |(one, two, links, arcs)| {
        let two = if two.ranks() == one.ranks() { two } else { one.clone() };
        let n = one.ranks();
        let links = links.into_iter().map(|(a, b, count)| Link { src: a % n, dst: b % n, count });
        let topology = Topology::new("random", one, links.filter(|link| link.src != link.dst)).ok()?;
        let arcs =
            arcs.into_iter().map(|(a, b, w)| TrafficEntry { src: a % n, dst: b % n, weight: f64::from(w) / 4.0 });
        let traffic = Traffic::new(two, arcs.filter(|arc| arc.src != arc.dst)).ok()?;
        (!topology.links().is_empty() && !traffic.arcs().is_empty()).then_some((topology, traffic))
    })
}

/// The same pair with its symmetry forgotten.
pub fn without_symmetry(topology: &Topology, traffic: &Traffic) -> (Topology, Traffic) {
    let none = Translations::trivial(topology.ranks());
    (
        Topology::new("expanded", none.clone(), topology.expanded()).unwrap(),
        Traffic::new(none, traffic.expanded()).unwrap(),
    )
}

/// Least load with paths of at most `hops` links, as the layered flow program over (arc, layer, link) without
/// symmetry. `None` when it is infeasible.
pub fn load_by_link_flows(topology: &Topology, traffic: &Traffic, hops: usize) -> Option<f64> {
    let (links, arcs) = (topology.expanded(), traffic.expanded());
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let load = problem.add_var(1.0, (0.0, f64::INFINITY));
    let mut capacity = vec![Vec::new(); links.len()];
    for arc in &arcs {
        // Conservation at (rank, layer); only the receiver may wait.
        let mut nodes = vec![Vec::new(); topology.ranks() as usize * (hops + 1)];
        let at = |rank: u32, layer: usize| rank as usize * (hops + 1) + layer;
        for layer in 0..hops {
            for (index, link) in links.iter().enumerate() {
                let flow = problem.add_var(0.0, (0.0, f64::INFINITY));
                nodes[at(link.src, layer)].push((flow, -1.0));
                nodes[at(link.dst, layer + 1)].push((flow, 1.0));
                capacity[index].push((flow, arc.weight));
            }
            let wait = problem.add_var(0.0, (0.0, f64::INFINITY));
            nodes[at(arc.dst, layer)].push((wait, -1.0));
            nodes[at(arc.dst, layer + 1)].push((wait, 1.0));
        }
        for (index, terms) in nodes.into_iter().enumerate() {
            let wanted = f64::from(u8::from(index == at(arc.dst, hops))) - f64::from(u8::from(index == at(arc.src, 0)));
            if !terms.is_empty() {
                problem.add_constraint(&terms[..], ComparisonOp::Eq, wanted);
            } else if wanted != 0.0 {
                return None;
            }
        }
    }
    for (mut terms, link) in capacity.into_iter().zip(&links) {
        terms.push((load, -f64::from(link.count)));
        problem.add_constraint(&terms[..], ComparisonOp::Le, 0.0);
    }
    Some(problem.solve().ok()?.into_solution().ok()?.objective())
}
