//! Topologies of one port: to whom each GPU's circuit leads.

pub(super) use crate::cutoffs::planners_exact_permutations::MOST_GPUS;
use model::{Link, Result, Topology, TrafficEntry, Translations};

/// Meaning of the names of the topologies of planner `exact`.
pub(crate) const NAME: (&str, &str) =
    ("0→1→2→0 3→4", "GPUs in the order of their circuits, a part for every ring and line");

/// Room for their images.
const ROOM: usize = MOST_GPUS as usize;

/// The GPU that each GPU's circuit leads to; itself where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Circuits {
    to: [u8; ROOM],
}

impl Circuits {
    /// The circuits of a topology of one port.
    pub(super) fn of(topology: &Topology) -> Self {
        let mut circuits = Self::none();
        for link in topology.expanded() {
            circuits.to[link.src as usize] = link.dst as u8;
        }
        circuits
    }

    fn none() -> Self {
        Self { to: std::array::from_fn(|gpu| gpu as u8) }
    }

    /// Hops of the longest path and load of the busiest circuit under `arcs`, whose paths are unique; `None` when some
    /// pair is not joined. O(arcs · n).
    pub(super) fn carry(&self, arcs: &[TrafficEntry]) -> Option<(u8, f64)> {
        let mut loads = [0.0; ROOM];
        let mut longest = 0;
        for arc in arcs {
            let (src, dst) = (arc.src as u8, arc.dst as u8);
            let (mut at, mut hops) = (src, 0);
            while at != dst {
                let next = self.to[usize::from(at)];
                // The end of a chain, or once round the cycle.
                if next == at || next == src {
                    return None;
                }
                loads[usize::from(at)] += arc.weight;
                (at, hops) = (next, hops + 1);
            }
            longest = longest.max(hops);
        }
        Some((longest, loads.into_iter().fold(0.0, f64::max)))
    }

    /// The topology with these circuits, named by its chains and cycles.
    ///
    /// # Errors
    /// No error for circuits between different GPUs below `gpus`.
    pub(super) fn topology(&self, gpus: u32) -> Result<Topology> {
        let links = (0..gpus).map(|src| Link { src, dst: u32::from(self.to[src as usize]), count: 1 });
        let links = links.filter(|link| link.src != link.dst);
        Ok(Topology::new(self.name(gpus), Translations::trivial(gpus), links)?.with_found_symmetry())
    }

    /// The name that [`NAME`] explains; a chain does not come back to its first GPU. GPUs without circuits are not
    /// named.
    fn name(&self, gpus: u32) -> String {
        let gpus = gpus as usize;
        let mut led_to = [false; ROOM];
        (0..gpus)
            .filter(|&gpu| usize::from(self.to[gpu]) != gpu)
            .for_each(|gpu| led_to[usize::from(self.to[gpu])] = true);
        let mut named = [false; ROOM];
        let mut parts = Vec::new();
        // Chains from their ends first; what is left is cycles.
        let begins = (0..gpus).filter(|&gpu| !led_to[gpu]).chain((0..gpus).filter(|&gpu| led_to[gpu]));
        for begin in begins {
            let mut at = begin;
            let mut part = vec![begin.to_string()];
            while !named[at] && usize::from(self.to[at]) != at {
                named[at] = true;
                at = usize::from(self.to[at]);
                part.push(at.to_string());
            }
            if part.len() > 1 {
                parts.push(part.join("→"));
            }
        }
        if parts.is_empty() { "dark".into() } else { parts.join(" ") }
    }
}

/// All n! permutations of the first `gpus`, in lexicographic order of their images.
pub(super) fn all_permutations(gpus: usize) -> Vec<Circuits> {
    let mut current = Circuits::none();
    let mut all = vec![current];
    loop {
        interruption::check();
        let to = &mut current.to[..gpus];
        let Some(pivot) = to.windows(2).rposition(|pair| pair[0] < pair[1]) else { return all };
        // Behind the pivot images fall, so that the last larger one is the least larger one.
        let swap = to.iter().rposition(|&image| image > to[pivot]).unwrap_or(pivot);
        to.swap(pivot, swap);
        to[pivot + 1..].reverse();
        all.push(current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_permutation_comes_once_and_in_order() {
        for (gpus, count) in [(1, 1), (2, 2), (5, 120), (7, 5040)] {
            let all: Vec<[u8; ROOM]> = all_permutations(gpus).into_iter().map(|circuits| circuits.to).collect();
            assert_eq!(all.len(), count);
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
            for to in all {
                assert_eq!(to[..gpus].iter().collect::<BTreeSet<_>>().len(), gpus);
                assert!(to[..gpus].iter().all(|&image| usize::from(image) < gpus));
            }
        }
    }

    #[test]
    fn names_show_chains_and_cycles() {
        let circuits = |images: &[u8]| {
            let mut circuits = Circuits::none();
            circuits.to[..images.len()].copy_from_slice(images);
            circuits
        };
        assert_eq!(circuits(&[1, 2, 0, 4, 3, 5]).name(6), "0→1→2→0 3→4→3");
        assert_eq!(circuits(&[0, 1, 0]).name(3), "2→0");
        assert_eq!(circuits(&[]).name(4), "dark");
    }

    #[test]
    fn a_chain_ends_and_a_cycle_comes_round() {
        let arc = |src, dst, weight| TrafficEntry { src, dst, weight };
        let all = all_permutations(3);
        // 0→1→2→0 is the permutation of images 1, 2, 0, the fourth in order.
        assert_eq!(all[3].carry(&[arc(0, 2, 1.0), arc(1, 2, 0.5)]), Some((2, 1.5)));
        assert_eq!(all[0].carry(&[arc(0, 1, 1.0)]), None);
        // 0→1→0, and 2 by itself.
        assert_eq!(all[2].carry(&[arc(1, 0, 1.0)]), Some((1, 1.0)));
        assert_eq!(all[2].carry(&[arc(1, 2, 1.0)]), None);
    }
}
