//! Flows into rounds without contention (§4.2).
//!
//! Flows go longest first, those of one word of turns one after the other: the words are the k^(h−1) rounds
//! that the paper sets aside for h hops, and flows of one word never contend. Each flow takes the first round,
//! on a topology where its path is shortest, in which some shortest path is free in every slot; failing that
//! it opens a round. So rounds that do not contend are merged, and shorter flows fill the holes that longer
//! ones leave. The paper breaks ties between shortest paths at random; here the first that fits is taken.

use std::cmp::Reverse;
use std::ops::Range;

use model::{Error, Rank, Result, UNREACHABLE};

use crate::Round;
use crate::network::QuotientNetwork;

/// A round that is being filled, on one of the networks.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    pub network: usize,
    pub hops: u32,
    pub round: Round,
}

/// A flow of an orbit, in the order in which they are packed.
struct Flow {
    hops: Reverse<u32>,
    /// Range of its word of turns among all words, and the networks on which the flow has as few hops.
    word: Range<usize>,
    nearest: Range<usize>,
    src: Rank,
    dst: Rank,
}

/// Packs the flows, one per orbit, into rounds; rounds come in descending order of hops.
///
/// O(flows · (networks + circuits within reach · rounds / 64)), and the order of the flows.
///
/// # Errors
/// A flow without a path on any network.
pub(crate) fn pack(networks: &[QuotientNetwork], flows: impl Iterator<Item = (Rank, Rank)>) -> Result<Vec<Packed>> {
    let (mut ordered, mut turns, mut nearest) = (Vec::new(), Vec::new(), Vec::new());
    for (src, dst) in flows {
        interruption::check();
        let first = nearest.len();
        let mut hops = UNREACHABLE;
        for (at, network) in networks.iter().enumerate() {
            let distance = network.distance(src, dst);
            if distance < hops {
                hops = distance;
                nearest.truncate(first);
            }
            if distance == hops {
                nearest.push(at);
            }
        }
        if hops == UNREACHABLE {
            return Err(Error::infeasible("topology", format!("no path leads from GPU {src} to GPU {dst}")));
        }
        let word = turns.len();
        networks[nearest[first]].word(src, dst, &mut turns);
        ordered.push(Flow { hops: Reverse(hops), word: word..turns.len(), src, dst, nearest: first..nearest.len() });
    }
    let key = |flow: &Flow| (flow.hops, &turns[flow.word.clone()], flow.src, flow.dst);
    ordered.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    let most_hops = ordered.first().map_or(0, |flow| flow.hops.0);
    let mut rounds: Vec<Packed> = Vec::new();
    let mut free: Vec<FreeRounds> = networks.iter().map(|network| FreeRounds::new(network, most_hops)).collect();
    for Flow { hops, src, dst, nearest: near, .. } in ordered {
        interruption::check();
        let near = &nearest[near];
        let fitting = near.iter().filter_map(|&at| free[at].first(&networks[at], src, dst).map(|found| (found, at)));
        let ((number, place), at) = fitting.min_by_key(|((number, _), _)| *number).unwrap_or_else(|| {
            let (number, at) = (rounds.len() as u32, near[0]);
            rounds.push(Packed { network: at, hops: hops.0, round: Round { paths: Vec::new() } });
            ((number, free[at].open(number)), at)
        });
        rounds[number as usize].round.paths.push(free[at].take(&networks[at], place, src, dst));
    }
    Ok(rounds)
}

impl Packed {
    /// A round of one hop, every flow on its own circuit.
    pub fn direct(network: usize, round: Round) -> Self {
        Self { network, hops: 1, round }
    }
}

/// Rounds of a word of bits.
const WORD: usize = u64::BITS as usize;

/// The rounds of a network in which every circuit is free, slot by slot.
struct FreeRounds {
    circuits: usize,
    /// Numbers of the rounds among those of all networks, ascending.
    numbers: Vec<u32>,
    /// Words of bits for each slot and orbit of circuits, `[slot][orbit]`, a bit for each round.
    words: usize,
    free: Vec<u64>,
    /// By rank: the search that met the rank last, and the rank's position in the front of that search.
    seen: Vec<(u32, u32)>,
    stamp: u32,
    /// The front of a search and the one that is being made of it.
    fronts: [Front; 2],
}

/// Ranks that are as many hops from the sender, and of each the rounds in which a path is free so far.
#[derive(Default)]
struct Front {
    ranks: Vec<Rank>,
    /// `[rank][word]`.
    rounds: Vec<u64>,
}

impl Front {
    fn clear(&mut self) {
        self.ranks.clear();
        self.rounds.clear();
    }

    /// Begins at one rank, from which every round is free.
    fn only(&mut self, rank: Rank, words: usize) {
        self.clear();
        self.ranks.push(rank);
        self.rounds.resize(words, u64::MAX);
    }
}

impl FreeRounds {
    fn new(network: &QuotientNetwork, slots: u32) -> Self {
        let circuits = network.circuits as usize;
        let seen = vec![(0, 0); network.topology.ranks() as usize];
        let free = vec![0; slots as usize * circuits];
        Self { circuits, numbers: Vec::new(), words: 1, free, seen, stamp: 0, fronts: Default::default() }
    }

    /// A round more, with every circuit free: its place here.
    fn open(&mut self, number: u32) -> usize {
        let place = self.numbers.len();
        self.numbers.push(number);
        if place / WORD == self.words {
            let wider = |of_circuit: &[u64]| [of_circuit, &vec![0; self.words]].concat();
            self.free = self.free.chunks(self.words).flat_map(wider).collect();
            self.words *= 2;
        }
        self.free.iter_mut().skip(place / WORD).step_by(self.words).for_each(|word| *word |= 1 << (place % WORD));
        place
    }

    /// Number and place of the first round in which some shortest path is free.
    fn first(&mut self, network: &QuotientNetwork, src: Rank, dst: Rank) -> Option<(u32, usize)> {
        // Some words of the bit sets may lie beyond the last round.
        let words = self.numbers.len().div_ceil(WORD);
        let [mut front, mut next] = std::mem::take(&mut self.fronts);
        front.only(src, words);
        for (slot, left) in (1..=network.distance(src, dst)).rev().enumerate() {
            self.stamp += 1;
            next.clear();
            for (&rank, rounds) in front.ranks.iter().zip(front.rounds.chunks(words.max(1))) {
                for head in network.out(rank).iter().filter(|head| network.distance(head.dst, dst) < left) {
                    let free = &self.free[(slot * self.circuits + head.orbit as usize) * self.words..][..words];
                    if rounds.iter().zip(free).all(|(rounds, free)| rounds & free == 0) {
                        continue;
                    }
                    let seen = &mut self.seen[head.dst as usize];
                    if seen.0 != self.stamp {
                        *seen = (self.stamp, next.ranks.len() as u32);
                        next.ranks.push(head.dst);
                        next.rounds.resize(next.ranks.len() * words, 0);
                    }
                    let into = &mut next.rounds[seen.1 as usize * words..][..words];
                    into.iter_mut().zip(rounds).zip(free).for_each(|((into, rounds), free)| *into |= rounds & free);
                }
            }
            std::mem::swap(&mut front, &mut next);
        }
        let found = front.rounds.iter().position(|rounds| *rounds != 0).map(|word| {
            let place = word * WORD + front.rounds[word].trailing_zeros() as usize;
            (self.numbers[place], place)
        });
        self.fronts = [front, next];
        found
    }

    /// Finds and takes the first free shortest path, in a round that has one: depth first, each GPU tried once.
    fn take(&mut self, network: &QuotientNetwork, place: usize, src: Rank, dst: Rank) -> Vec<Rank> {
        self.stamp += 1;
        let mut path = vec![src];
        self.extend(network, place, dst, &mut path);
        path
    }

    fn extend(&mut self, network: &QuotientNetwork, place: usize, dst: Rank, path: &mut Vec<Rank>) -> bool {
        let node = path[path.len() - 1];
        if node == dst {
            return true;
        }
        let left = network.distance(node, dst);
        for head in network.out(node) {
            let at = ((path.len() - 1) * self.circuits + head.orbit as usize) * self.words + place / WORD;
            let (word, round) = (&self.free[at], 1 << (place % WORD));
            if word & round != 0
                && self.seen[head.dst as usize].0 != self.stamp
                && network.distance(head.dst, dst) < left
            {
                path.push(head.dst);
                if self.extend(network, place, dst, path) {
                    self.free[at] &= !round;
                    return true;
                }
                path.pop();
            }
        }
        self.seen[node as usize].0 = self.stamp;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Shape, Topology, Translations};
    use proptest::prelude::*;

    use super::*;

    /// Every shortest path, in the order of circuits out of each GPU.
    fn shortest(network: &QuotientNetwork, path: &[Rank], dst: Rank) -> Vec<Vec<Rank>> {
        let node = path[path.len() - 1];
        if node == dst {
            return vec![path.to_vec()];
        }
        let nearer =
            network.out(node).iter().filter(|head| network.distance(head.dst, dst) < network.distance(node, dst));
        nearer.flat_map(|head| shortest(network, &[path, &[head.dst]].concat(), dst)).collect()
    }

    /// Orbits of the circuits of a path, by slot.
    fn used(network: &QuotientNetwork, path: &[Rank]) -> Vec<(usize, u32)> {
        let orbit = |hop: &[Rank]| network.out(hop[0]).iter().find(|head| head.dst == hop[1]).unwrap().orbit;
        path.windows(2).map(orbit).enumerate().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

        /// Longest first, each flow takes the first round in which some shortest path is free, of all paths and all
        /// rounds.
        #[test]
        fn flows_take_the_first_round_in_which_a_path_is_free(
            ranks in 5u32..26, ports in 2u32..4, is_kautz in any::<bool>(), other in 2u32..24, also in 1u32..24,
        ) {
            let shape = Shape::new(ranks, &[], ports).unwrap();
            let symmetry = if is_kautz { Translations::trivial(ranks) } else { Translations::cyclic(ranks) };
            let base = match is_kautz {
                true => topologies::build("kautz", &shape).unwrap(),
                false => Topology::circulant(ranks, &[1, 2 + other % (ranks - 2)]).unwrap(),
            };
            let second = Topology::circulant(ranks, &[1 + also % (ranks - 1)]).unwrap();
            let networks =
                [base, second].map(|topology| QuotientNetwork::new(topology, &symmetry).unwrap());
            let flows = || {
                let sources = symmetry.representatives().into_iter();
                sources.flat_map(|src| (0..ranks).filter(move |&dst| dst != src).map(move |dst| (src, dst)))
            };
            let found = pack(&networks, flows()).unwrap();
            let mut served = BTreeSet::new();
            for packed in &found {
                let mut circuits = BTreeSet::new();
                for path in &packed.round.paths {
                    prop_assert!(used(&networks[packed.network], path).iter().all(|use_of| circuits.insert(*use_of)));
                    let ends = (path[0], path[path.len() - 1]);
                    let least = networks.iter().map(|network| network.distance(ends.0, ends.1)).min().unwrap();
                    prop_assert_eq!(path.len() as u32 - 1, least);
                    prop_assert!(served.insert(ends) && least <= packed.hops);
                }
            }
            prop_assert_eq!(served, flows().collect::<BTreeSet<_>>());
            prop_assert!(found.is_sorted_by_key(|packed| Reverse(packed.hops)));
            // No path of a flow is free in an earlier round, of which the flows before it in the order have their
            // circuits.
            let words = |src: Rank, dst: Rank| {
                let near = networks.iter().min_by_key(|network| network.distance(src, dst)).unwrap();
                let mut word = Vec::new();
                near.word(src, dst, &mut word);
                (Reverse(near.distance(src, dst)), word, src, dst)
            };
            let place = |path: &[Rank]| words(path[0], path[path.len() - 1]);
            for (number, packed) in found.iter().enumerate() {
                for path in &packed.round.paths {
                    let ends = (path[0], path[path.len() - 1]);
                    let earlier = found[..number].iter().filter(|other| {
                        networks[other.network].distance(ends.0, ends.1) as usize == path.len() - 1
                    });
                    for other in earlier {
                        let network = &networks[other.network];
                        let before = other.round.paths.iter().filter(|taken| place(taken) < place(path));
                        let taken: BTreeSet<_> = before.flat_map(|taken| used(network, taken)).collect();
                        let free = shortest(network, &[ends.0], ends.1)
                            .iter()
                            .any(|way| used(network, way).iter().all(|one| !taken.contains(one)));
                        prop_assert!(!free, "{:?} fits into an earlier round", ends);
                    }
                }
            }
        }
    }
}
