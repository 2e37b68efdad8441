//! The traffic pattern of a step: who sends to whom, and how much relative to the largest transfer.

use std::collections::BTreeMap;

use crate::{Error, Rank, Result, Translations};

/// Traffic from `src` to `dst`: `weight` times the bytes of one transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrafficEntry {
    /// Sender.
    pub src: Rank,
    /// Receiver.
    pub dst: Rank,
    /// Bytes over the bytes of the step's largest transfer: in (0, 1] in a schedule's steps.
    pub weight: f64,
}

/// A traffic matrix, `[src][dst]`, as one representative arc per orbit of its symmetry. Sorted, one arc
/// per pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    symmetry: Translations,
    arcs: Vec<TrafficEntry>,
}

impl Traffic {
    /// The pattern that `symmetry` makes of `arcs`. Arcs of the same pair are added up.
    ///
    /// # Errors
    /// A rank out of range, a rank sending to itself, or a weight that is not a finite number above 0.
    pub fn new(symmetry: Translations, arcs: impl IntoIterator<Item = TrafficEntry>) -> Result<Self> {
        let ranks = symmetry.ranks();
        let mut merged: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
        for TrafficEntry { src, dst, weight } in interruption::checked(arcs) {
            if src >= ranks || dst >= ranks || src == dst || !(weight.is_finite() && weight > 0.0) {
                return Err(Error::value(
                    "traffic",
                    format!("{src} → {dst} with weight {weight}"),
                    format!("two different ranks below {ranks} and a weight above 0"),
                ));
            }
            let (representative, element) = symmetry.canonical(src);
            let dst = symmetry.apply(symmetry.inverse(element), dst);
            *merged.entry((representative, dst)).or_insert(0.0) += weight;
        }
        let arcs = merged.into_iter().map(|((src, dst), weight)| TrafficEntry { src, dst, weight }).collect();
        Ok(Self { symmetry, arcs })
    }

    /// This pattern with the largest symmetry that can be found for it. O(divisors² of the ranks · arcs) at most; a
    /// group whose order does not divide the number of arcs is not tried, since it acts freely on them.
    #[must_use]
    pub fn with_found_symmetry(self) -> Self {
        let arcs = self.expanded();
        let first_of = |rank: Rank| arcs.partition_point(|arc| arc.src < rank);
        let firsts: Vec<usize> = (0..=self.ranks()).map(first_of).collect();
        let weight = |src: Rank, dst: Rank| {
            let sent = &arcs[firsts[src as usize]..firsts[src as usize + 1]];
            sent.binary_search_by_key(&dst, |arc| arc.dst).ok().map(|at| sent[at].weight.to_bits())
        };
        let found = Translations::detect(self.symmetry.ranks(), arcs.len(), |move_by| {
            arcs.iter().all(|arc| weight(move_by(arc.src), move_by(arc.dst)) == Some(arc.weight.to_bits()))
        });
        if found.order() <= self.symmetry.order() {
            return self;
        }
        let representatives: Vec<TrafficEntry> =
            arcs.into_iter().filter(|arc| found.canonical(arc.src).1 == 0).collect();
        Self { symmetry: found, arcs: representatives }
    }

    /// The group under which the pattern is invariant.
    pub fn symmetry(&self) -> &Translations {
        &self.symmetry
    }

    /// The arcs, one of each orbit, by (src, dst).
    pub fn arcs(&self) -> &[TrafficEntry] {
        &self.arcs
    }

    /// Whether every arc has weight 1, so that sums of weights are exact in any order.
    pub fn is_uniform(&self) -> bool {
        self.arcs.iter().all(|arc| arc.weight == 1.0)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.symmetry.ranks()
    }

    /// The arcs, one of each orbit of `subgroup`, a subgroup of the pattern's own symmetry, by (src, dst).
    pub fn arcs_under(&self, subgroup: &Translations) -> Vec<TrafficEntry> {
        let mut arcs: Vec<TrafficEntry> = Vec::new();
        for coset in self.symmetry.cosets(subgroup) {
            interruption::check();
            for arc in &self.arcs {
                let (src, dst) = (self.symmetry.apply(coset, arc.src), self.symmetry.apply(coset, arc.dst));
                let (representative, element) = subgroup.canonical(src);
                let dst = subgroup.apply(subgroup.inverse(element), dst);
                arcs.push(TrafficEntry { src: representative, dst, weight: arc.weight });
            }
        }
        arcs.sort_unstable_by_key(|arc| (arc.src, arc.dst));
        arcs
    }

    /// Every arc, by (src, dst).
    pub fn expanded(&self) -> Vec<TrafficEntry> {
        self.arcs_under(&Translations::trivial(self.ranks()))
    }

    /// The most peers that a rank sends to or receives from: circuits per rank for the pattern's own topology.
    pub fn degree(&self) -> u32 {
        self.largest_per_rank(|_| 1.0) as u32
    }

    /// The largest sum of weights that one rank sends or receives.
    pub fn node_load(&self) -> f64 {
        self.largest_per_rank(|arc| arc.weight)
    }

    fn largest_per_rank(&self, value: impl Fn(&TrafficEntry) -> f64) -> f64 {
        if self.symmetry.is_transitive() {
            // Every rank sends what the one representative does, and receives as much.
            return self.arcs.iter().map(value).sum();
        }
        let orbits = self.symmetry.orbits() as usize;
        let (mut out, mut into) = (vec![0.0; orbits], vec![0.0; orbits]);
        for arc in &self.arcs {
            out[self.symmetry.orbit(arc.src) as usize] += value(arc);
            into[self.symmetry.orbit(arc.dst) as usize] += value(arc);
        }
        out.into_iter().chain(into).fold(0.0, f64::max)
    }
}
