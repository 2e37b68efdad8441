//! Flows into rounds without contention (§4.2).
//!
//! Flows go longest first, those of one word of turns one after the other: the words are the k^(h−1) rounds
//! that the paper sets aside for h hops, and flows of one word never contend. Each flow takes the first round,
//! on a topology where its path is shortest, in which some shortest path is free in every slot; failing that
//! it opens a round. So rounds that do not contend are merged, and shorter flows fill the holes that longer
//! ones leave. The paper breaks ties between shortest paths at random; here the first that fits is taken.

use std::cmp::Reverse;

use model::{Error, Rank, Result, UNREACHABLE};

use crate::Round;
use crate::network::QuotientNetwork;

/// A round that is being filled, on one of the networks.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    pub network: usize,
    pub hops: u32,
    pub round: Round,
    /// `[slot][orbit of circuits]`.
    used: Vec<bool>,
}

/// Packs the flows, one per orbit, into rounds; rounds come in descending order of hops.
///
/// O(flows · rounds · circuits within reach) at worst.
///
/// # Errors
/// A flow without a path on any network.
pub(crate) fn pack(networks: &[QuotientNetwork], flows: impl Iterator<Item = (Rank, Rank)>) -> Result<Vec<Packed>> {
    let mut ordered = Vec::new();
    for (src, dst) in flows {
        let nearest = networks.iter().min_by_key(|network| network.distance(src, dst));
        let reached = nearest.filter(|network| network.distance(src, dst) != UNREACHABLE);
        let Some(network) = reached else {
            return Err(Error::infeasible("topology", format!("no path from {src} to {dst}")));
        };
        ordered.push((Reverse(network.distance(src, dst)), network.word(src, dst), src, dst));
    }
    ordered.sort();
    let mut rounds: Vec<Packed> = Vec::new();
    let mut search = Search { failed: vec![0; networks.first().map_or(0, |n| n.topology.ranks() as usize)], stamp: 0 };
    for (Reverse(hops), _, src, dst) in ordered {
        let near = |network: usize| networks[network].distance(src, dst) == hops;
        let fitting = rounds.iter_mut().filter(|packed| near(packed.network)).find_map(|packed| {
            let path = search.path(&networks[packed.network], &packed.used, src, dst)?;
            Some((packed, path))
        });
        if let Some((packed, path)) = fitting {
            packed.take(&networks[packed.network], path);
            continue;
        }
        let Some(network) = (0..networks.len()).find(|&network| near(network)) else { continue };
        let used = vec![false; (hops * networks[network].circuits) as usize];
        let mut packed = Packed { network, hops, round: Round { paths: Vec::new() }, used };
        if let Some(path) = search.path(&networks[network], &packed.used, src, dst) {
            packed.take(&networks[network], path);
            rounds.push(packed);
        }
    }
    Ok(rounds)
}

impl Packed {
    /// A round of one hop, every flow on its own circuit.
    pub fn direct(network: usize, round: Round) -> Self {
        Self { network, hops: 1, round, used: Vec::new() }
    }

    fn take(&mut self, network: &QuotientNetwork, path: Vec<Rank>) {
        for (slot, hop) in path.windows(2).enumerate() {
            if let Some(head) = network.out(hop[0]).iter().find(|head| head.dst == hop[1]) {
                self.used[slot * network.circuits as usize + head.orbit as usize] = true;
            }
        }
        self.round.paths.push(path);
    }
}

/// Depth-first search for a free shortest path, each GPU tried once.
struct Search {
    failed: Vec<u32>,
    stamp: u32,
}

impl Search {
    fn path(&mut self, network: &QuotientNetwork, used: &[bool], src: Rank, dst: Rank) -> Option<Vec<Rank>> {
        self.stamp += 1;
        let mut path = vec![src];
        self.extend(network, used, dst, &mut path).then_some(path)
    }

    fn extend(&mut self, network: &QuotientNetwork, used: &[bool], dst: Rank, path: &mut Vec<Rank>) -> bool {
        let node = path[path.len() - 1];
        if node == dst {
            return true;
        }
        let left = network.distance(node, dst);
        let slot = &used[(path.len() - 1) * network.circuits as usize..];
        for head in network.out(node) {
            let nearer = !slot[head.orbit as usize]
                && self.failed[head.dst as usize] != self.stamp
                && network.distance(head.dst, dst) < left;
            if nearer {
                path.push(head.dst);
                if self.extend(network, used, dst, path) {
                    return true;
                }
                path.pop();
            }
        }
        self.failed[node as usize] = self.stamp;
        false
    }
}
