//! Chunks that ranks have between two steps, and chunks that links carry in the next.
//!
//! The circuits choose in turn what their receiver lacks and their sender has had since before the step: the chunk that
//! fewest ranks have or are about to get. Where a circuit finds nothing left, others that took what it could carry
//! change over to something else if they can, so that no circuit idles for the order of choosing: what the circuits
//! take on is a largest matching with the chunks that they can bring. Swarms that share a file are kept busy by sending
//! chunks seldom seen first: Cohen, Incentives build robustness in BitTorrent (2003).

use model::Rank;

use super::Sent;
use super::network::Network;
use super::sets::{Sets, chunks_of};

/// A chunk for a rank: what a circuit carries in a round.
type Item = (Rank, usize);

/// The spread of the blocks of some origins, each cut into parts. Chunk `origin·parts + part`, the origin by its place
/// in the list.
#[derive(Debug, Clone)]
pub(crate) struct Spread<'a> {
    network: &'a Network,
    origins: &'a [Rank],
    parts: usize,
    /// The part of its origin's block that a chunk is: an origin that is listed several times has as many blocks.
    part_of: Vec<u32>,
    held: Sets,
    /// Chunks under way in the step that is being filled.
    coming: Sets,
    /// Ranks by chunk that have it or are about to.
    holders: Vec<u32>,
    /// The load of each class of links in the step: the link and the chunk for its receiver.
    carried: Vec<Vec<(usize, Item)>>,
    /// The class that carries what is under way, by rank and chunk.
    carriers: Vec<u32>,
    /// Classes for which no link has anything more to bring in the step.
    exhausted: Vec<bool>,
    /// Chunks by rank that it lacks, those under way not counted.
    lacked: Vec<u32>,
    seen: Vec<u32>,
    search: u32,
}

impl<'a> Spread<'a> {
    /// Before the first step; `None` where some rank cannot be reached. O(origins · links).
    pub(crate) fn new(network: &'a Network, origins: &'a [Rank], parts: u32) -> Option<Self> {
        let (ranks, parts) = (network.ranks() as usize, parts as usize);
        let (chunks, classes) = (origins.len() * parts, network.classes().len());
        if origins.iter().any(|&origin| network.distances(origin).is_none()) {
            return None;
        }
        let mut held = Sets::new(ranks, chunks);
        let mut lacked = vec![chunks as u32; ranks];
        let mut part_of = Vec::with_capacity(chunks);
        let mut own = vec![0; ranks];
        for chunk in 0..chunks {
            let origin = origins[chunk / parts];
            held.insert(origin, chunk);
            lacked[origin as usize] -= 1;
            part_of.push(own[origin as usize]);
            own[origin as usize] += 1;
        }
        Some(Self {
            network,
            origins,
            parts,
            part_of,
            held,
            coming: Sets::new(ranks, chunks),
            holders: vec![1; chunks],
            carried: vec![Vec::new(); classes],
            carriers: vec![0; ranks * chunks],
            exhausted: vec![false; classes],
            lacked,
            seen: vec![0; classes],
            search: 0,
        })
    }

    /// Whether every rank has everything, what is under way counted.
    pub(crate) fn is_done(&self) -> bool {
        self.lacked.iter().all(|&lacked| lacked == 0)
    }

    /// One more round for the step: each circuit takes on one more chunk where there is any. Says whether one did.
    pub(crate) fn add_round(&mut self) -> bool {
        let mut added = false;
        for class in 0..self.carried.len() {
            interruption::check();
            for _ in 0..self.network.classes()[class].circuits {
                if self.exhausted[class] {
                    break;
                }
                self.search += 1;
                let filled = self.fill(class);
                added |= filled;
                if !filled {
                    // A class that cannot be filled now cannot be filled after others have been either (Berge), nor can
                    // those that could not make room for it.
                    let seen = self.seen.iter().zip(&mut self.exhausted);
                    seen.filter(|(seen, _)| **seen == self.search).for_each(|(_, exhausted)| *exhausted = true);
                }
            }
        }
        added
    }

    /// The rarest chunk that a link of `class` can bring and no other link brings.
    fn rarest(&self, class: usize) -> Option<(usize, Item)> {
        let mut best: Option<(u32, usize, Item)> = None;
        for &link in &self.network.classes()[class].links {
            let (src, dst) = (self.network.links()[link].src, self.network.links()[link].dst);
            if self.lacked[dst as usize] == 0 {
                continue;
            }
            let sets = self.held.of(src).iter().zip(self.held.of(dst)).zip(self.coming.of(dst));
            for (word, ((there, here), coming)) in sets.enumerate() {
                for chunk in chunks_of(word, there & !here & !coming) {
                    if best.is_none_or(|(least, ..)| self.holders[chunk] < least) {
                        best = Some((self.holders[chunk], link, (dst, chunk)));
                    }
                }
            }
        }
        best.map(|(_, link, item)| (link, item))
    }

    /// Gives `class` a chunk to carry. If no chunk is left, a class that this search has not seen yet hands over one
    /// that this class can carry, and takes another chunk in its place.
    fn fill(&mut self, class: usize) -> bool {
        if let Some((link, (dst, chunk))) = self.rarest(class) {
            self.coming.insert(dst, chunk);
            self.holders[chunk] += 1;
            self.lacked[dst as usize] -= 1;
            self.carry(class, link, (dst, chunk));
            return true;
        }
        self.seen[class] = self.search;
        let network = self.network;
        for &link in &network.classes()[class].links {
            let (src, dst) = (network.links()[link].src, network.links()[link].dst);
            for word in 0..self.held.words() {
                for chunk in chunks_of(word, self.held.of(src)[word] & self.coming.of(dst)[word]) {
                    let other = self.carriers[self.place((dst, chunk))] as usize;
                    if self.seen[other] != self.search && self.fill(other) {
                        self.carried[other].retain(|(_, item)| *item != (dst, chunk));
                        self.carry(class, link, (dst, chunk));
                        return true;
                    }
                }
            }
        }
        false
    }

    fn carry(&mut self, class: usize, link: usize, item: Item) {
        self.carried[class].push((link, item));
        let place = self.place(item);
        self.carriers[place] = class as u32;
    }

    /// The index of the data that are kept of a chunk for a rank.
    fn place(&self, (rank, chunk): Item) -> usize {
        rank as usize * self.holders.len() + chunk
    }

    /// Rounds that are still to come at least: what a rank lacks, over its circuits, what is under way not counted.
    pub(crate) fn most_rounds_left(&self) -> f64 {
        self.rounds_by_orbit().into_iter().fold(0.0, f64::max)
    }

    /// The mean of that over ranks, by 16th powers: near the most, and lower where fewer ranks have so much to come.
    pub(crate) fn rounds_left(&self) -> f64 {
        let by_orbit = self.rounds_by_orbit();
        let most = by_orbit.iter().copied().fold(0.0, f64::max);
        if most == 0.0 {
            return 0.0;
        }
        let powers: f64 = by_orbit.iter().map(|rounds| (rounds / most).powi(16)).sum();
        most * (powers / by_orbit.len() as f64).powf(1.0 / 16.0)
    }

    fn rounds_by_orbit(&self) -> Vec<f64> {
        // By symmetry, the ranks of an orbit together lack as many parts of one origin as one of these ranks lacks of
        // all the origin's images.
        let translations = self.network.translations();
        let mut lacked = vec![0u64; translations.orbits() as usize];
        for (rank, &number) in (0..).zip(&self.lacked) {
            lacked[translations.orbit(rank) as usize] += u64::from(number);
        }
        let by_orbit = lacked.into_iter().zip(self.network.circuits_into());
        by_orbit.map(|(lacked, &circuits)| if lacked == 0 { 0.0 } else { lacked as f64 / circuits as f64 }).collect()
    }

    /// The chunks under way arrive: the step is over.
    pub(crate) fn arrive(&mut self) -> Vec<Sent> {
        let mut step = Vec::new();
        for (link, (dst, chunk)) in self.carried.iter_mut().flat_map(std::mem::take) {
            self.held.insert(dst, chunk);
            self.coming.remove(dst, chunk);
            let (origin, part) = (self.origins[chunk / self.parts], self.part_of[chunk]);
            step.push(Sent { src: self.network.links()[link].src, dst, origin, part });
        }
        self.exhausted.fill(false);
        step
    }
}
