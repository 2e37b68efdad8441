//! A fabric that starts on some topology: a schedule stays on it throughout, or changes once at least.
//!
//! Staying, the hops of all steps together are at least its diameter, since something of every rank must reach every
//! other; its circuits carry, in the mean, every use of a link that the collective needs; and the circuits of the rank
//! that has fewest carry what every rank sends and receives.
//!
//! Blocks of different sizes need as many hops as the farthest pair that exchanges anything. All steps together route
//! them over the topology's circuits, on paths of at most the hops of all steps, so that no prices of circuits under
//! which they would cost more than the circuits hold are exceeded (the dual of concurrent flow).
//!
//! A Broadcast has one root, which is not told here: the hops are at least those from some rank that reaches all to the one
//! farthest from it, every rank but one takes in the whole buffer, and the n − 1 of them use a link each for it.
//!
//! Where thousands of ranks look different, distances from and to some of them are looked at: the diameter is at least the
//! largest that is found, and the other ranks are as near to all as on any topology of as many circuits out of a rank.

use model::{Collective, Link, Piece, Rank, Routing, Topology, Traffic, TrafficEntry, Translations};
use profile::RoutingNetwork;

use super::passes::class;
use crate::rates::Rates;
use crate::spreading::{least_usage, most_steps};
use crate::spreading_on;
use crate::statement::Statement;

/// What is known of the topology at the start.
struct Start {
    diameter: u32,
    /// Σ distance over all pairs, or less.
    distances: f64,
    circuits: f64,
    /// Circuits out of the rank that has fewest, and into.
    fewest: f64,
    /// By number of steps, least uses of links by a block that reaches all ranks.
    uses: Vec<f64>,
}

impl Start {
    /// `None` where some rank cannot reach some other. O(n · orbits), as far as `most` distances, and O(links) beyond.
    fn of(topology: &Topology, most: u64) -> Option<Self> {
        let network = RoutingNetwork::new(topology);
        let (ranks, symmetry) = (topology.ranks(), topology.symmetry());
        let (mut diameter, mut distances, mut layers) = (0, 0.0, Layers::default());
        let looks_back = u64::from(symmetry.orbits()) * u64::from(ranks) <= MOST_PAIRS.min(most);
        let looked_from = looked_from(topology, most);
        for &src in &looked_from {
            for dst in (0..ranks).filter(|dst| *dst != src) {
                let distance = network.distance(src, dst)?;
                diameter = diameter.max(distance);
                distances += f64::from(distance) * f64::from(symmetry.order());
                if looks_back {
                    layers.add(distance, network.distance(dst, src)?);
                }
            }
            layers.next();
        }
        let others = symmetry.orbits() - looked_from.len() as u32;
        if others > 0 {
            let back = backwards(topology)?;
            (0..ranks).try_for_each(|rank| back.distance(looked_from[0], rank).map(|_| ()))?;
            distances += f64::from(others) * f64::from(symmetry.order()) * nearest(ranks, topology.degree());
        }
        let (mut out, mut into) = (vec![0; ranks as usize], vec![0; ranks as usize]);
        for link in topology.expanded() {
            out[link.src as usize] += link.count;
            into[link.dst as usize] += link.count;
        }
        let fewest = f64::from(out.into_iter().chain(into).min().unwrap_or(0));
        let uses = if looks_back { spreading_on::least_uses(topology, &layers.most) } else { on_any(topology) };
        Some(Self { diameter, distances, circuits: topology.circuits() as f64, fewest, uses })
    }

    /// Uses of links by one block that reaches all ranks in so many steps.
    fn usage(&self, steps: u32) -> f64 {
        self.uses[(steps as usize).min(self.uses.len()) - 1]
    }
}

/// By number of steps, least uses of links on any topology of as many circuits out of a rank.
fn on_any(topology: &Topology) -> Vec<f64> {
    let (ranks, ports) = (topology.ranks(), topology.degree());
    (1..=most_steps(ports, ranks)).map(|steps| least_usage(ports, steps, &[f64::from(ranks - 1)])[0]).collect()
}

/// Distances from ranks that look different up to which all are looked at, four bytes each.
const MOST_DISTANCES: u64 = 1 << 24;

/// Ranks that look different: all of them up to `most` distances, else some.
fn looked_from(topology: &Topology, most: u64) -> Vec<Rank> {
    let different = topology.symmetry().representatives();
    let most = (most / u64::from(topology.ranks())).max(1) as usize;
    let apart = different.len().div_ceil(most);
    different.into_iter().step_by(apart).collect()
}

/// Every circuit the other way.
fn backwards(topology: &Topology) -> Option<RoutingNetwork> {
    let turned = topology.expanded().into_iter().map(|link| Link { src: link.dst, dst: link.src, ..link });
    Topology::new(topology.name(), Translations::trivial(topology.ranks()), turned).ok().map(RoutingNetwork::of)
}

/// Least sum of the distances from a rank to all others, on any topology of so many circuits out of a rank.
fn nearest(ranks: u32, ports: u32) -> f64 {
    let (mut left, mut at_hops, mut hops, mut sum) = (f64::from(ranks - 1), f64::from(ports), 1.0, 0.0);
    while left > 0.0 {
        let reached = left.min(at_hops);
        sum += hops * reached;
        left -= reached;
        at_hops *= f64::from(ports);
        hops += 1.0;
    }
    sum
}

/// Hops from some rank that reaches all others to the one farthest from it, or fewer where that takes more than `most`
/// distances; `None` where no rank does.
fn least_farthest(topology: &Topology, most: u64) -> Option<u32> {
    let looked_at = looked_from(topology, most);
    if looked_at.len() as u32 == topology.symmetry().orbits() {
        let network = RoutingNetwork::new(topology);
        let all = |root| (0..topology.ranks()).map(|rank| network.distance(root, rank)).collect::<Vec<_>>();
        return looked_at.into_iter().filter_map(|root| farthest(all(root))).min();
    }
    let back = backwards(topology)?;
    let some = |root| looked_at.iter().map(|&rank| back.distance(rank, root)).collect::<Vec<_>>();
    (0..topology.ranks()).filter_map(|root| farthest(some(root))).min()
}

/// The largest distance; `None` where one is missing.
fn farthest(distances: Vec<Option<u32>>) -> Option<u32> {
    distances.into_iter().try_fold(0, |most, hops| Some(hops?.max(most)))
}

/// Pairs of ranks, up to symmetry, up to which distances both ways are looked at.
const MOST_PAIRS: u64 = 1 << 20;

/// Most ranks at each distance from one, or to one, from 1 on.
#[derive(Debug, Default)]
struct Layers {
    most: Vec<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Layers {
    /// Another rank, so far from the one that is looked at, and so far to it.
    fn add(&mut self, from: u32, to: u32) {
        for (layers, distance) in [(&mut self.from, from as usize), (&mut self.to, to as usize)] {
            layers.resize(layers.len().max(distance), 0.0);
            layers[distance - 1] += 1.0;
        }
    }

    /// Goes on to the next rank.
    fn next(&mut self) {
        for layers in [std::mem::take(&mut self.from), std::mem::take(&mut self.to)] {
            self.most.resize(self.most.len().max(layers.len()), 0.0);
            self.most.iter_mut().zip(layers).for_each(|(most, ranks)| *most = ranks.max(*most));
        }
    }
}

/// The bound for equal blocks where nothing is ever changed; `None` where that serves no algorithm.
pub(super) fn stays(collective: Collective, topology: &Topology, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    let start = Start::of(topology, MOST_DISTANCES)?;
    let others = f64::from(rates.ranks - 1);
    let block_s = buffer_s / f64::from(rates.ranks);
    // One step sums up nothing on the way, more do.
    let fewest = if collective == Collective::AllReduce { 2 } else { 1 };
    let most = if collective == Collective::AllToAll { 1 } else { (start.uses.len() as u32).max(fewest) };
    let with_steps = |steps: u32| {
        // By all blocks.
        let uses = match collective {
            Collective::AllToAll => start.distances,
            // One step sums up nothing on the way.
            Collective::AllReduce if steps == 1 => f64::from(rates.ranks) * start.distances,
            Collective::AllReduce => f64::from(rates.ranks) * (start.usage(steps) + others),
            _ => f64::from(rates.ranks) * start.usage(steps),
        };
        let transmission_s = block_s * f64::max(uses / start.circuits, others / start.fewest);
        let hops = if rates.charges_hops { start.diameter.max(steps) } else { steps };
        let propagation_s = rates.hop_s * f64::from(hops);
        let (propagation_s, transmission_s) = rates.charged(propagation_s, transmission_s);
        let startup_s = rates.startup_s * f64::from(steps);
        Statement { startup_s, propagation_s, transmission_s, steps, ..staying(collective, rates) }
    };
    (1..=most).map(with_steps).min_by(|a, b| a.seconds().total_cmp(&b.seconds()))
}

/// Ranks up to which prices of circuits are looked for; beyond, every circuit costs the same.
const MOST_PRICED: u32 = 128;

/// The bound for blocks of these sizes where nothing is ever changed; `None` where some pair that exchanges bytes has no
/// path.
pub(super) fn stays_unequal(pieces: &[Piece], topology: &Topology, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    let sent = pieces.iter().filter(|piece| piece.src != piece.dst);
    let arcs = sent.map(|piece| TrafficEntry { src: piece.src, dst: piece.dst, weight: piece.share });
    let traffic = Traffic::new(Translations::trivial(rates.ranks), arcs).ok()?;
    // Prices depend on the order of links, which is to be the same however the topology's symmetry is told.
    let alone = Translations::trivial(rates.ranks);
    let network = RoutingNetwork::of(Topology::new(topology.name(), alone, topology.expanded()).ok()?);
    let known = network.estimate(&traffic, Routing::ConcurrentFlow)?;
    let priced = (rates.ranks <= MOST_PRICED).then(|| network.price_bound(&traffic)).flatten();
    let (at_hops, beyond) = priced.map_or((0.0, 0.0), |bound| (bound.at_hops, bound.beyond));
    let charged = |hops: u32, load: f64| {
        let hops = if rates.charges_hops { hops } else { 1 };
        rates.charged(rates.hop_s * f64::from(hops), buffer_s * load.max(known.load))
    };
    let ways = [charged(known.hops, at_hops), charged(known.hops + 1, beyond)];
    let (propagation_s, transmission_s) =
        ways.into_iter().min_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1))).expect("there are two");
    Some(Statement {
        startup_s: rates.startup_s,
        propagation_s,
        transmission_s,
        ..staying(Collective::AllToAll, rates)
    })
}

/// The bound for a Broadcast where nothing is ever changed; `None` where no rank reaches all others. O(n · orbits).
pub(super) fn stays_broadcast(topology: &Topology, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    let farthest = least_farthest(topology, MOST_DISTANCES)?;
    let mut into = vec![0; rates.ranks as usize];
    topology.expanded().iter().for_each(|link| into[link.dst as usize] += link.count);
    into.sort_unstable();
    let taken_in = 1.0 / f64::from(into[1]);
    let pairs = u64::from(topology.symmetry().orbits()) * u64::from(rates.ranks);
    // Where some rank does not reach the root, its distances say too little.
    let known = (pairs <= MOST_PAIRS).then(|| Start::of(topology, MOST_DISTANCES)).flatten();
    let uses = known.map_or_else(|| on_any(topology), |start| start.uses);
    let with_steps = |steps: u32| {
        let transmission_s = buffer_s * f64::max(uses[steps as usize - 1] / topology.circuits() as f64, taken_in);
        let hops = if rates.charges_hops { farthest.max(steps) } else { steps };
        let (propagation_s, transmission_s) = rates.charged(rates.hop_s * f64::from(hops), transmission_s);
        let startup_s = rates.startup_s * f64::from(steps);
        Statement { startup_s, propagation_s, transmission_s, steps, ..staying(Collective::Broadcast, rates) }
    };
    (1..=uses.len() as u32).map(with_steps).min_by(|a, b| a.seconds().total_cmp(&b.seconds()))
}

/// What every bound for a topology that stays says of itself.
fn staying(collective: Collective, rates: &Rates) -> Statement {
    Statement {
        name: "staying",
        class: class(collective, rates.ports),
        why: "without leaving the initial topology: as many hops as between ranks far apart, and all bytes on its circuits",
        startup_s: 0.0,
        propagation_s: 0.0,
        transmission_s: 0.0,
        reconfiguration_s: 0.0,
        topologies: 1,
        steps: 1,
        segments: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Distances that are not looked at make a bound no larger, and what cannot be reached is known all the same.
        #[test]
        fn some_distances_say_no_more_than_all(
            ranks in 2u32..14,
            links in proptest::collection::btree_set((0u32..14, 0u32..14), 1..60),
            most in 0u64..150,
        ) {
            let inside = links.into_iter().filter(|&(src, dst)| src != dst && src.max(dst) < ranks);
            let links = inside.map(|(src, dst)| Link { src, dst, count: 1 });
            let topology = Topology::new("some", Translations::trivial(ranks), links).unwrap();
            prop_assume!(topology.circuits() > 0);
            let (some, all) = (Start::of(&topology, most), Start::of(&topology, u64::MAX));
            prop_assert_eq!(some.is_some(), all.is_some());
            for (some, all) in some.iter().zip(&all) {
                prop_assert!(some.diameter <= all.diameter && some.distances <= all.distances);
                prop_assert!(most < u64::from(ranks * ranks) || some.distances == all.distances);
            }
            let (some, all) = (least_farthest(&topology, most), least_farthest(&topology, u64::MAX));
            prop_assert!(all.is_none() || some <= all && some.is_some());
        }
    }
}
