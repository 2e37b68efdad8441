//! Topologies that leave a port of every GPU dark, for a fabric that sets it up in the background.

use model::{Link, Result, Shape, Topology, Traffic, Translations, show_generators};

use crate::candidate_family::CandidateFamily;
use crate::dedupe::dedupe;

/// The family that joins the default ones where a dark port is set up in the background.
pub const ONE_PORT_DARK: &str = "one-port-dark";

/// Meaning of the names of this module's topologies.
pub(super) const NAME: (&str, &str) =
    ("T without A→B", "topology T without one outgoing and one incoming circuit of every GPU, among them A→B");

/// The topologies of the other families that use all ports, each less one permutation of its circuits.
pub(crate) struct OnePortDark {
    /// The families whose topologies lose circuits.
    pub(super) of: &'static [&'static dyn CandidateFamily],
}

/// The most topologies of this family. Topologies of the steps' own circuits come first.
const MAX_TOPOLOGIES: usize = 256;

impl CandidateFamily for OnePortDark {
    fn name(&self) -> &'static str {
        "one-port-dark"
    }

    fn summary(&self) -> &'static str {
        "topologies of the default families without one permutation of their circuits, at most 256: \
         the dark ports can be set up in the background"
    }

    fn source(&self) -> &'static str {
        "Lightloom: --background-reconfiguration"
    }

    fn build(&self, shape: &Shape, patterns: &[&Traffic], seed: u64) -> Result<Vec<Topology>> {
        let mut darkened = Vec::new();
        if shape.ports() > 1 {
            // The steps' own first.
            let families = self.of.iter().rev().map(|family| family.build(shape, patterns, seed));
            let full: Vec<Vec<Topology>> = families.collect::<Result<_>>()?;
            for full in dedupe(full.into_iter().flatten().collect()) {
                darkened.extend(one_port_dark(&full, shape.ports())?);
            }
        }
        darkened = dedupe(darkened);
        darkened.truncate(MAX_TOPOLOGIES);
        Ok(darkened)
    }
}

/// The topology less one permutation of its circuits, once for each circuit of GPU 0 that a permutation can have. Empty
/// where no GPU uses all ports, so that one is dark already, or where no permutation is. O(links²).
///
/// # Errors
/// No error for a topology of at most this many ports.
pub fn one_port_dark(full: &Topology, ports: u32) -> Result<Vec<Topology>> {
    if full.degree() < ports {
        return Ok(Vec::new());
    }
    let from_first = full.links().iter().enumerate().filter(|(_, link)| full.symmetry().orbit(link.src) == 0);
    let without = |(index, link): (usize, &Link)| {
        let permutation = permutation_with(full, index)?;
        let rest = full.links().iter().enumerate().map(|(at, link)| {
            let count = link.count - u32::from(permutation.contains(&at));
            Link { count, ..*link }
        });
        let rest: Vec<Link> = rest.filter(|link| link.count > 0).collect();
        Some(Topology::new(name(full, &rest, link), full.symmetry().clone(), rest))
    };
    from_first.filter_map(without).collect()
}

/// Circulants go by their specification, others by what they are made from and the circuit of GPU 0 that is dark.
fn name(full: &Topology, rest: &[Link], dark: &Link) -> String {
    if *full.symmetry() != Translations::cyclic(full.ranks()) {
        return format!("{} without {}→{}", full.name(), dark.src, dark.dst);
    }
    let generators = rest.iter().flat_map(|link| (0..link.count).map(|_| i64::from(link.dst)));
    format!("circulant:{}", show_generators(generators))
}

/// Indices of links, one out of and one into every orbit of GPUs, that of index `forced` among them: their circuits are
/// a permutation of the GPUs, since the symmetry fixes none. Augmenting paths (Kuhn 1955), O(orbits · links).
fn permutation_with(topology: &Topology, forced: usize) -> Option<Vec<usize>> {
    let group = topology.symmetry();
    let orbits = group.orbits() as usize;
    let ends: Vec<(usize, usize)> = (topology.links().iter())
        .map(|link| (group.orbit(link.src) as usize, group.orbit(link.dst) as usize))
        .collect();
    let mut out_of = vec![Vec::new(); orbits];
    (0..ends.len()).for_each(|link| out_of[ends[link].0].push(link));
    // By orbit, the link into it that was taken.
    let mut into: Vec<Option<usize>> = vec![None; orbits];
    into[ends[forced].1] = Some(forced);
    for src in (0..orbits).filter(|&src| src != ends[forced].0) {
        let mut seen = vec![false; orbits];
        seen[ends[forced].1] = true;
        if !augment(src, &ends, &out_of, &mut into, &mut seen) {
            return None;
        }
    }
    into.into_iter().collect()
}

/// Takes a link out of `src`, moving others where they are in the way.
fn augment(
    src: usize,
    ends: &[(usize, usize)],
    out_of: &[Vec<usize>],
    into: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for &link in &out_of[src] {
        let dst = ends[link].1;
        if std::mem::replace(&mut seen[dst], true) {
            continue;
        }
        if into[dst].is_none_or(|taken| augment(ends[taken].0, ends, out_of, into, seen)) {
            into[dst] = Some(link);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TrafficEntry;

    fn dark() -> OnePortDark {
        OnePortDark { of: super::super::DEFAULT }
    }

    #[test]
    fn a_circulant_loses_a_generator() {
        let names = |generators: &str, ports: u32| {
            let shape = Shape::new(8, &[], ports).unwrap();
            let full = crate::build(&format!("circulant:{generators}"), &shape).unwrap();
            let all = one_port_dark(&full, ports).unwrap();
            all.iter().map(|topology| topology.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names("1,3", 2), ["circulant:3", "circulant:1"]);
        assert_eq!(names("2,2", 2), ["circulant:2"]);
        assert_eq!(names("1,1,5", 3), ["circulant:1,5", "circulant:1^2"]);
        // A port is dark already; nothing would be left but the dark fabric itself.
        assert!(names("1,3", 3).is_empty());
        assert!(dark().build(&Shape::new(8, &[], 1).unwrap(), &[], 0).unwrap().is_empty());
    }

    #[test]
    fn every_gpu_loses_one_circuit_out_and_in() {
        // Topologies with one orbit of GPUs, with several and with as many as GPUs.
        let shape = Shape::new(16, &[], 4).unwrap();
        for spec in ["hypercube", "torus:4x4", "kautz", "random-lift:0", "random-regular:0", "de-bruijn"] {
            let Ok(full) = crate::build(spec, &shape) else { continue };
            let regular = full.circuits() == 64;
            let darkened = one_port_dark(&full, 4).unwrap();
            assert!(!regular || !darkened.is_empty(), "{spec}");
            for topology in darkened {
                let lost = full.set_up_after(&topology);
                assert_eq!((lost.circuits, lost.at_one_gpu), (16, 1), "{spec}");
                assert_eq!(topology.set_up_after(&full).circuits, 0, "{spec}");
                assert!(topology.degree() == 3 || !regular, "{spec}");
            }
        }
    }

    #[test]
    fn there_are_no_more_than_the_limit_and_the_steps_come_first() {
        let shape = Shape::new(600, &[], 2).unwrap();
        let far = Traffic::new(Translations::cyclic(600), [TrafficEntry { src: 0, dst: 431, weight: 1.0 }]).unwrap();
        let built = dark().build(&shape, &[&far], 0).unwrap();
        assert_eq!(built.len(), MAX_TOPOLOGIES);
        assert_eq!(built[0].name(), "circulant:431");
    }
}
