//! Both tiers, and the words of hops over circuits and inside islands.

use crate::cutoffs::any_algorithm_tiers::MOST_HOPS;

/// Both tiers, as the bound sees them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiers {
    /// k.
    pub(super) gpus: f64,
    pub(super) islands: f64,
    pub(super) ports: f64,
    pub(super) ranks: f64,
    /// Seconds of a hop inside and outside.
    pub(super) inside_s: f64,
    pub(super) outside_s: f64,
    /// Seconds of the whole buffer m on a circuit, and between a GPU and its switch.
    pub(super) circuit_s: f64,
    pub(super) switch_s: f64,
}

/// A word: hops over circuits and inside islands, and how many GPUs such words reach at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) outside: u32,
    pub(super) inside: u32,
    pub(super) count: f64,
    /// Islands that such words reach at most.
    pub(super) islands: f64,
}

/// The words over `topologies` topologies: each up to some number of hops over circuits, and one that stands for all
/// longer ones, which have as many hops as the shortest of them and reach all.
pub(super) fn words(tiers: &Tiers, topologies: u32) -> Vec<Word> {
    let mut all = Vec::new();
    for outside in 0..=MOST_HOPS {
        let ways = binomial(outside + topologies - 1, topologies - 1) * tiers.ports.powi(outside as i32);
        for inside in 0..=outside + 1 {
            let reached = ways * (tiers.gpus - 1.0).powi(inside as i32);
            let count = binomial(outside + 1, inside) * reached;
            let islands = binomial(outside, inside) * reached;
            all.push(Word { outside, inside, count, islands });
        }
    }
    all.push(Word { outside: MOST_HOPS + 1, inside: 0, count: tiers.ranks, islands: tiers.islands });
    all
}

impl Word {
    /// The sum of its hop delays, s.
    pub(super) fn delay_s(&self, tiers: &Tiers) -> f64 {
        f64::from(self.outside) * tiers.outside_s + f64::from(self.inside) * tiers.inside_s
    }
}

/// C(n, k) as a number that is exact while it matters.
pub(super) fn binomial(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |product, at| product * f64::from(n - at) / f64::from(at + 1))
}
