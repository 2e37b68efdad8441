//! Circuits for the pairs that exchange most.
//!
//! Ports go one after another to the pair that has most bytes for each circuit that it would then have, as in MixNet,
//! so that large blocks get circuits in parallel. This joins all ranks where a ring comes first, or where one circuit
//! of each part that is left by itself is led on to the next part.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use model::Rank;

use super::demand::Demand;
use super::wiring::Wiring;

/// A pair that waits for a circuit.
struct Waiting {
    /// Bytes over m for each circuit, with the one that it waits for.
    share: f64,
    src: Rank,
    dst: Rank,
    circuits: u32,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_share = self.share.total_cmp(&other.share);
        by_share.then_with(|| (other.src, other.dst).cmp(&(self.src, self.dst)))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// Circuits for the heaviest pairs on the ports that `wiring` leaves dark. Pairs that exchange nothing get none.
pub(crate) fn fill(wiring: &mut Wiring, demand: &Demand) {
    let ports = wiring.ports();
    let mut out = vec![ports; wiring.ranks()];
    let mut into = vec![ports; wiring.ranks()];
    for circuit in 0..wiring.circuits() {
        interruption::check();
        if let Some(head) = wiring.head(circuit) {
            out[wiring.tail(circuit) as usize] -= 1;
            into[head as usize] -= 1;
        }
    }
    let waits = |(src, dst), circuits| {
        let share = demand.share(src, dst) / f64::from(circuits + 1);
        Waiting { share, src, dst, circuits }
    };
    // Pairs with circuits wait in a heap; those without are in order already.
    let mut joined: BTreeMap<(Rank, Rank), u32> = BTreeMap::new();
    for circuit in 0..wiring.circuits() {
        interruption::check();
        if let Some(head) = wiring.head(circuit) {
            *joined.entry((wiring.tail(circuit), head)).or_insert(0) += 1;
        }
    }
    let exchange = |pair: &(Rank, Rank)| demand.share(pair.0, pair.1) > 0.0;
    let mut waiting: BinaryHeap<Waiting> =
        (joined.iter().filter(|(pair, _)| exchange(pair))).map(|(&pair, &circuits)| waits(pair, circuits)).collect();
    let mut others =
        demand.heaviest().iter().filter(|pair| !joined.contains_key(*pair)).map(|&pair| waits(pair, 0)).peekable();
    let mut dark: usize = out.iter().sum();
    while dark > 0 {
        interruption::check();
        let is_other = others.peek().is_some_and(|other| waiting.peek().is_none_or(|first| other > first));
        let next = if is_other { others.next() } else { waiting.pop() };
        let Some(Waiting { src, dst, circuits, .. }) = next else { break };
        if out[src as usize] == 0 || into[dst as usize] == 0 {
            continue;
        }
        out[src as usize] -= 1;
        into[dst as usize] -= 1;
        dark -= 1;
        wiring.join(src, dst);
        waiting.push(waits((src, dst), circuits + 1));
    }
}

/// A ring of heavy pairs: the heaviest pair that still fits joins two ends, again and again.
pub(crate) fn ring_order(demand: &Demand) -> Vec<Rank> {
    let ranks = demand.ranks();
    let mut next: Vec<Option<Rank>> = vec![None; ranks];
    let mut is_entered = vec![false; ranks];
    // For the ends of a line, its other end.
    let mut other_end: Vec<usize> = (0..ranks).collect();
    let mut joined = 1;
    for (src, dst) in demand.by_share() {
        let (src, dst) = (src as usize, dst as usize);
        if joined == ranks {
            break;
        }
        if next[src].is_some() || is_entered[dst] || other_end[src] == dst {
            continue;
        }
        let (first, last) = (other_end[src], other_end[dst]);
        next[src] = Some(dst as Rank);
        is_entered[dst] = true;
        other_end[first] = last;
        other_end[last] = first;
        joined += 1;
    }
    let first = (0..ranks).find(|rank| !is_entered[*rank]).unwrap_or(0);
    std::iter::successors(Some(first as Rank), |rank| next[*rank as usize]).collect()
}

/// A ring of heavy pairs for connection, and the other ports to the heaviest pairs.
pub(crate) fn over_ring(demand: &Demand, ports: usize) -> Wiring {
    let mut wiring = Wiring::dark(demand.ranks(), ports);
    let order = ring_order(demand);
    for (&src, &dst) in order.iter().zip(order.iter().cycle().skip(1)) {
        wiring.join(src, dst);
    }
    fill(&mut wiring, demand);
    light(&mut wiring, demand);
    wiring
}

/// All ports to the heaviest pairs, and the parts that this leaves joined to each other.
pub(crate) fn joined(demand: &Demand, ports: usize) -> Wiring {
    let mut wiring = Wiring::dark(demand.ranks(), ports);
    fill(&mut wiring, demand);
    light(&mut wiring, demand);
    join_parts(&mut wiring, demand);
    wiring
}

/// Lights the ports that are left dark, so that every rank has as many circuits out as in: from the first rank with a
/// dark transmitter to the other rank with most dark receivers. Where only its own are left and it has no circuit at
/// all, the lightest circuit between others is led through it.
pub(crate) fn light(wiring: &mut Wiring, demand: &Demand) {
    let mut into = vec![0; wiring.ranks()];
    for head in (0..wiring.circuits()).filter_map(|circuit| wiring.head(circuit)) {
        into[head as usize] += 1;
    }
    for circuit in 0..wiring.circuits() {
        interruption::check();
        if wiring.head(circuit).is_some() {
            continue;
        }
        let src = wiring.tail(circuit);
        let free = (0..wiring.ranks()).filter(|&dst| dst != src as usize && into[dst] < wiring.ports());
        if let Some(dst) = free.min_by_key(|&dst| into[dst]) {
            wiring.join(src, dst as Rank);
            into[dst] += 1;
            continue;
        }
        if wiring.out(src).next().is_some() {
            continue;
        }
        let share = |other: usize| wiring.head(other).map_or(0.0, |head| demand.share(wiring.tail(other), head));
        let is_between =
            |&other: &usize| wiring.tail(other) != src && wiring.head(other).is_some_and(|head| head != src);
        let lightest = (0..wiring.circuits()).filter(is_between).min_by(|a, b| share(*a).total_cmp(&share(*b)));
        if let Some(other) = lightest {
            wiring.lead_through(other, src);
            into[src as usize] += 1;
        }
    }
}

/// Leads the lightest circuit of every part on to the next part. Where every rank has as many circuits out as in, a
/// part without one of its circuits still leads from that circuit's head to its tail, so that all parts become one.
fn join_parts(wiring: &mut Wiring, demand: &Demand) {
    let part_of = parts(wiring);
    let count = part_of.iter().max().map_or(0, |last| last + 1);
    let mut lightest: Vec<Option<(f64, usize)>> = vec![None; count];
    for circuit in 0..wiring.circuits() {
        let Some(head) = wiring.head(circuit) else { continue };
        let tail = wiring.tail(circuit);
        let share = demand.share(tail, head);
        let of_part = &mut lightest[part_of[tail as usize]];
        if of_part.is_none_or(|(least, _)| share < least) {
            *of_part = Some((share, circuit));
        }
    }
    let chosen: Vec<usize> = lightest.into_iter().flatten().map(|(_, circuit)| circuit).collect();
    // A cycle of exchanges: each takes the next one's head.
    for pair in chosen.windows(2) {
        wiring.exchange_heads(pair[0], pair[1]);
    }
}

/// By rank, the part that it belongs to, circuits counting both ways.
fn parts(wiring: &Wiring) -> Vec<usize> {
    let mut joined: Vec<Vec<Rank>> = vec![Vec::new(); wiring.ranks()];
    for circuit in 0..wiring.circuits() {
        if let Some(head) = wiring.head(circuit) {
            let tail = wiring.tail(circuit);
            joined[tail as usize].push(head);
            joined[head as usize].push(tail);
        }
    }
    let mut part_of = vec![usize::MAX; wiring.ranks()];
    let mut count = 0;
    for first in 0..wiring.ranks() {
        if part_of[first] != usize::MAX {
            continue;
        }
        let mut open = vec![first];
        part_of[first] = count;
        while let Some(rank) = open.pop() {
            for &next in &joined[rank] {
                if part_of[next as usize] == usize::MAX {
                    part_of[next as usize] = count;
                    open.push(next as usize);
                }
            }
        }
        count += 1;
    }
    part_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unequal::way::{Evaluator, Way};
    use model::Piece;
    use proptest::prelude::*;

    proptest! {
        /// For any matrix, both join all ranks and keep the ports.
        #[test]
        fn heavy_pairs_are_joined(
            ranks in 2usize..12, ports in 1usize..4,
            shares in prop::collection::vec(prop_oneof![3 => Just(0.0), 1 => 0.01f64..1.0], 144),
        ) {
            let pairs = (0..ranks as Rank).flat_map(|src| (0..ranks as Rank).map(move |dst| (src, dst)));
            let pieces: Vec<Piece> = pairs
                .map(|(src, dst)| Piece { src, dst, share: shares[src as usize * 12 + dst as usize] })
                .filter(|piece| piece.share > 0.0)
                .collect();
            let demand = Demand::of(ranks as u32, &pieces);
            let order = ring_order(&demand);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..ranks as Rank).collect::<Vec<_>>());
            let every = Demand::of(ranks as u32, &(0..ranks as Rank)
                .flat_map(|src| (0..ranks as Rank).map(move |dst| Piece { src, dst, share: 1.0 }))
                .collect::<Vec<_>>());
            for wiring in [over_ring(&demand, ports), joined(&demand, ports)] {
                let mut into = vec![0; ranks];
                (0..wiring.circuits()).filter_map(|circuit| wiring.head(circuit)).for_each(|head| into[head as usize] += 1);
                prop_assert!(into.iter().all(|&count| count <= ports));
                let way = Way { wirings: vec![wiring], from_start: false };
                prop_assert!(Evaluator::new(&every).estimate(&way).is_some());
            }
        }
    }

    /// By hand: 0 → 1 has 8, so that each of its two circuits would have 4, and goes before 0 → 2 with 3.
    #[test]
    fn a_large_block_gets_circuits_in_parallel() {
        let pieces = [(0, 1, 8.0), (0, 2, 3.0), (1, 2, 5.0), (2, 0, 1.0)];
        let pieces = pieces.map(|(src, dst, share)| Piece { src, dst, share });
        let mut wiring = Wiring::dark(3, 2);
        fill(&mut wiring, &Demand::of(3, &pieces));
        let heads: Vec<_> = (0..6).map(|circuit| wiring.head(circuit)).collect();
        assert_eq!(heads, [Some(1), Some(1), Some(2), Some(2), Some(0), Some(0)]);
    }
}
