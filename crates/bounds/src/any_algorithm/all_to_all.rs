//! All-to-All: every rank has a block for every other.
//!
//! On K topologies a block goes ℓ = ℓ_1 + … + ℓ_K hops. From one rank there are d^ℓ_1·…·d^ℓ_K ways to do so, which end
//! at as many ranks at most, so no more than C(ℓ+K−1, ℓ)·d^ℓ of its blocks go ℓ hops: the coefficient of x^ℓ in
//! (1 + dx + d²x² + …)^K. The largest blocks go the fewest hops, and the same holds of those that a rank receives. A
//! block of ℓ hops passes ℓ − 1 ranks on its way. What passes a rank goes over the d links into it as what it receives
//! does, and over the d links out of it as what it sends does. So these carry what passes and the larger of what is
//! sent and what is received, and all ranks together what passes any of them. A rank reaches at most the product of the
//! balls of the hops on each topology, which is largest when they are as equal as can be.

use model::{Collective, Piece};

use super::passes::class;
use crate::rates::Rates;
use crate::statement::Statement;

/// Size of the 0, 1, 2, … largest blocks of a rank together, over m.
type Largest = Vec<f64>;

pub(super) fn bound(pieces: Option<&[Piece]>, rates: &Rates, buffer_s: f64) -> Statement {
    let blocks = Workload::of(pieces, rates);
    let most = (blocks.most() as u32).div_ceil(rates.ports).max(1);
    let mut best: Option<(f64, Statement)> = None;
    for topologies in 1..=most {
        let (hops, startup_s, changes) = (
            blocks.least_hops(topologies, rates),
            rates.startup_s * f64::from(topologies),
            (topologies - 1).max(rates.least_changes) + rates.first_changes,
        );
        let (propagation_s, transmission_s) =
            rates.charged(rates.hop_s * f64::from(hops), buffer_s * blocks.least_share(topologies, rates));
        let fixed_s = startup_s + rates.change_s * f64::from(changes);
        let seconds = fixed_s + propagation_s + transmission_s;
        if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
            let statement = Statement {
                name: "distances",
                class: class(Collective::AllToAll, rates.ports),
                why: "on any number of topologies only few ranks are few hops away from a rank, and n·d circuits \
                    carry the \
                      hops of all blocks",
                startup_s,
                propagation_s,
                transmission_s,
                reconfiguration_s: rates.change_s * f64::from(changes),
                topologies,
                steps: topologies,
                segments: Vec::new(),
            };
            best = Some((seconds, statement));
        }
        // More topologies only add to this.
        if best.as_ref().is_some_and(|(least, _)| fixed_s >= *least) {
            break;
        }
    }
    best.expect("one topology is tried").1
}

/// The data that every rank sends and receives.
enum Workload {
    /// Equal blocks for `peers` ranks, each the part `share` of the buffer m.
    Equal { peers: u32, share: f64 },
    /// By rank: sent, received.
    Unequal { sent: Vec<Largest>, received: Vec<Largest> },
}

impl Workload {
    fn of(pieces: Option<&[Piece]>, rates: &Rates) -> Self {
        let Some(pieces) = pieces else {
            return Self::Equal { peers: rates.ranks - 1, share: 1.0 / f64::from(rates.ranks) };
        };
        let by_rank = |own: fn(&Piece) -> u32, other: fn(&Piece) -> u32| -> Vec<Largest> {
            let mut blocks = vec![std::collections::BTreeMap::new(); rates.ranks as usize];
            for piece in pieces.iter().filter(|piece| piece.src != piece.dst) {
                *blocks[own(piece) as usize].entry(other(piece)).or_insert(0.0) += piece.share;
            }
            let sorted = blocks.into_iter().map(|blocks| {
                let mut blocks: Vec<f64> = blocks.into_values().collect();
                blocks.sort_unstable_by(|a, b| b.total_cmp(a));
                let sums = blocks.iter().scan(0.0, |sum, bytes| {
                    *sum += bytes;
                    Some(*sum)
                });
                std::iter::once(0.0).chain(sums).collect()
            });
            sorted.collect()
        };
        Self::Unequal {
            sent: by_rank(|piece| piece.src, |piece| piece.dst),
            received: by_rank(|piece| piece.dst, |piece| piece.src),
        }
    }

    /// Most peers of a rank.
    fn most(&self) -> usize {
        match self {
            Self::Equal { peers, .. } => *peers as usize,
            Self::Unequal { sent, received } => {
                sent.iter().chain(received).map(|first| first.len() - 1).max().unwrap_or(0)
            }
        }
    }

    /// Least hops of all steps together, one for each topology at least.
    fn least_hops(&self, topologies: u32, rates: &Rates) -> u32 {
        if !rates.charges_hops || self.most() == 0 {
            return topologies;
        }
        least_total_hops((self.most() + 1) as f64, topologies, rates.ports).max(topologies)
    }

    /// Bytes on the busiest link over m, summed over the steps: the mean over all ranks of what their own blocks and
    /// those that pass them put on their links, and the own blocks of each rank by itself.
    fn least_share(&self, topologies: u32, rates: &Rates) -> f64 {
        let ports = f64::from(rates.ports);
        match self {
            Self::Equal { peers, share } => {
                let blocks = |from: usize, to: usize| (to - from) as f64;
                share * nearest(*peers as usize, topologies, rates.ports, blocks) / ports
            }
            Self::Unequal { sent, received } => {
                let passing = |all: &[Largest]| -> f64 {
                    let of_rank = |first: &Largest| {
                        let (peers, bytes) = (first.len() - 1, |from: usize, to: usize| first[to] - first[from]);
                        nearest(peers, topologies, rates.ports, bytes) - first[peers]
                    };
                    all.iter().map(of_rank).sum()
                };
                let own: Vec<f64> =
                    sent.iter().zip(received).map(|(sent, received)| all_of(sent).max(all_of(received))).collect();
                let busiest = own.iter().copied().fold(0.0, f64::max);
                let carried = own.iter().sum::<f64>() + passing(sent).max(passing(received));
                busiest.max(carried / f64::from(rates.ranks)) / ports
            }
        }
    }
}

/// All that a rank sends, or receives.
fn all_of(largest: &Largest) -> f64 {
    largest.last().copied().unwrap_or(0.0)
}

/// Least hops altogether on this many topologies, spread over them as evenly as can be, that reach `ranks` ranks.
fn least_total_hops(ranks: f64, topologies: u32, ports: u32) -> u32 {
    // Balls whose product is as large but for rounding are as large.
    let enough = ranks.ln() - 1e-9;
    let (mut each, mut layer, mut ball) = (0, 1.0, 1.0_f64);
    loop {
        layer *= f64::from(ports);
        let (small, large) = (ball.ln(), (ball + layer).ln());
        if f64::from(topologies) * large >= enough {
            let more = ((enough - f64::from(topologies) * small) / (large - small)).ceil().max(0.0);
            return each * topologies + more as u32;
        }
        ball += layer;
        each += 1;
    }
}

/// Σ hops·bytes of `peers` blocks that take the nearest places, the first ones first; `bytes(a, b)` is what blocks
/// a…b−1 have together. O(levels).
fn nearest(peers: usize, topologies: u32, ports: u32, bytes: impl Fn(usize, usize) -> f64) -> f64 {
    let (mut sum, mut placed, mut hops) = (0.0, 0, 1.0);
    let mut places = f64::from(topologies) * f64::from(ports);
    while placed < peers {
        let end = if places >= (peers - placed) as f64 { peers } else { placed + places.round() as usize };
        sum += hops * bytes(placed, end);
        placed = end;
        places *= f64::from(ports) * (f64::from(topologies) + hops) / (hops + 1.0);
        hops += 1.0;
    }
    sum
}
