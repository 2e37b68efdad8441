//! A way to send everything: one step on each of some topologies, every pair in the step where it is nearest.

use model::Rank;

use super::demand::Demand;
use super::wiring::Wiring;

/// Topologies, one a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Way {
    pub(crate) wirings: Vec<Wiring>,
    /// Whether the first topology is the one at the start, which stays as it is.
    pub(crate) from_start: bool,
}

/// Estimated hops and loads of the steps of a way; every pair is split evenly over its shortest paths.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Estimate {
    /// By step: hops of the longest path; 0 where no pair takes it.
    pub(crate) hops: Vec<u32>,
    /// By step: about the load of the busiest circuit over m once paths avoid busy circuits.
    pub(crate) loads: Vec<f64>,
}

impl Estimate {
    /// Loads and hops together, a hop being worth this much load.
    pub(crate) fn weighed(&self, hop: f64) -> f64 {
        let hops: u32 = self.hops.iter().sum();
        f64::from(hops) * hop + self.loads.iter().sum::<f64>()
    }

    /// Steps that some pair takes.
    pub(crate) fn steps(&self) -> usize {
        self.hops.iter().filter(|hops| **hops > 0).count()
    }
}

/// Power of the mean that stands for the busiest circuit's load: paths of a flow avoid single busy circuits, which this
/// takes into account where the largest load of shortest paths would not.
const POWER: i32 = 8;

/// Estimates ways, in buffers that are used again.
pub(crate) struct Evaluator<'a> {
    demand: &'a Demand,
    layers: Vec<Layer>,
    /// By pair, `[src · n + dst]`: its step.
    step_of: Vec<usize>,
}

/// One topology of a way.
struct Layer {
    /// Circuits into every rank: (tail, circuit), `starts` by rank.
    into: Vec<(Rank, u32)>,
    starts: Vec<u32>,
    distances: Vec<u32>,
    reached: Vec<Rank>,
    through: Vec<f64>,
    /// Load of each circuit, over m.
    loads: Vec<f64>,
    hops: u32,
}

const FAR: u32 = u32::MAX;

impl<'a> Evaluator<'a> {
    pub(crate) fn new(demand: &'a Demand) -> Self {
        Self { demand, layers: Vec::new(), step_of: vec![0; demand.ranks() * demand.ranks()] }
    }

    /// About what the steps of a way are like; `None` where some pair has no path on any of its topologies.
    /// O(steps · ranks · circuits).
    pub(crate) fn estimate(&mut self, way: &Way) -> Option<Estimate> {
        let ranks = self.demand.ranks();
        self.layers.resize_with(way.wirings.len(), || Layer::new(ranks));
        for (layer, wiring) in self.layers.iter_mut().zip(&way.wirings) {
            layer.prepare(wiring);
        }
        for src in 0..ranks {
            interruption::check();
            for (layer, wiring) in self.layers.iter_mut().zip(&way.wirings) {
                layer.search(wiring, src as Rank);
            }
            for (dst, &share) in self.demand.sent_by(src).iter().enumerate() {
                if dst == src || share == 0.0 {
                    continue;
                }
                let distances = self.layers.iter().map(|layer| layer.distances[dst]).enumerate();
                let (step, distance) = distances.min_by_key(|(_, distance)| *distance)?;
                if distance == FAR {
                    return None;
                }
                let layer = &mut self.layers[step];
                layer.through[dst] = share;
                layer.hops = layer.hops.max(distance);
                self.step_of[src * ranks + dst] = step;
            }
            self.layers.iter_mut().for_each(Layer::load);
        }
        Some(Estimate {
            hops: self.layers.iter().map(|layer| layer.hops).collect(),
            loads: self.layers.iter().map(Layer::busiest).collect(),
        })
    }

    /// The pairs of each step of the way that was estimated last, by (src, dst).
    pub(crate) fn pairs_by_step(&self) -> Vec<Vec<(Rank, Rank)>> {
        let mut pairs = vec![Vec::new(); self.layers.len()];
        for (src, dst) in self.demand.pairs() {
            pairs[self.step_of[src as usize * self.demand.ranks() + dst as usize]].push((src, dst));
        }
        pairs
    }

    /// Shares of m on each circuit of a step of the way that was estimated last.
    pub(crate) fn loads(&self, step: usize) -> &[f64] {
        &self.layers[step].loads
    }
}

impl Layer {
    fn new(ranks: usize) -> Self {
        Self {
            into: Vec::new(),
            starts: Vec::new(),
            distances: vec![FAR; ranks],
            reached: Vec::with_capacity(ranks),
            through: vec![0.0; ranks],
            loads: Vec::new(),
            hops: 0,
        }
    }

    fn prepare(&mut self, wiring: &Wiring) {
        let ranks = wiring.ranks();
        self.hops = 0;
        self.loads.clear();
        self.loads.resize(wiring.circuits(), 0.0);
        self.starts.clear();
        self.starts.resize(ranks + 1, 0);
        for head in (0..wiring.circuits()).filter_map(|circuit| wiring.head(circuit)) {
            self.starts[head as usize + 1] += 1;
        }
        for rank in 0..ranks {
            self.starts[rank + 1] += self.starts[rank];
        }
        self.into.clear();
        self.into.resize(self.starts[ranks] as usize, (0, 0));
        for circuit in (0..wiring.circuits()).rev() {
            if let Some(head) = wiring.head(circuit) {
                self.starts[head as usize + 1] -= 1;
                self.into[self.starts[head as usize + 1] as usize] = (wiring.tail(circuit), circuit as u32);
            }
        }
        // Every start was moved down to that of the rank before.
        self.starts.remove(0);
        self.starts.push(self.into.len() as u32);
    }

    fn search(&mut self, wiring: &Wiring, src: Rank) {
        self.reached.iter().for_each(|&rank| self.distances[rank as usize] = FAR);
        self.reached.clear();
        self.reached.push(src);
        self.distances[src as usize] = 0;
        let mut next = 0;
        while let Some(&rank) = self.reached.get(next) {
            next += 1;
            let hops = self.distances[rank as usize] + 1;
            for (_, head) in wiring.out(rank) {
                if self.distances[head as usize] == FAR {
                    self.distances[head as usize] = hops;
                    self.reached.push(head);
                }
            }
        }
    }

    /// Puts what goes through every rank on the circuits by which shortest paths come to it, the farthest first.
    fn load(&mut self) {
        for &rank in self.reached[1..].iter().rev() {
            let through = std::mem::take(&mut self.through[rank as usize]);
            if through == 0.0 {
                continue;
            }
            let before = self.distances[rank as usize] - 1;
            let into = &self.into[self.starts[rank as usize] as usize..self.starts[rank as usize + 1] as usize];
            let nearer = |(tail, _): &&(Rank, u32)| self.distances[*tail as usize] == before;
            let each = through / into.iter().filter(nearer).count() as f64;
            for &(tail, circuit) in into.iter().filter(nearer) {
                self.through[tail as usize] += each;
                self.loads[circuit as usize] += each;
            }
        }
        if let Some(&src) = self.reached.first() {
            self.through[src as usize] = 0.0;
        }
    }

    fn busiest(&self) -> f64 {
        let sum: f64 = self.loads.iter().map(|load| load.powi(POWER)).sum();
        (sum / self.loads.len() as f64).powf(1.0 / f64::from(POWER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Piece, Routing, Traffic, TrafficEntry, Translations};
    use proptest::prelude::*;

    proptest! {
        /// Hops are those of the farthest pair, and the load lies between the mean over all circuits and the largest
        /// load of an even split over shortest paths, both from the topology's profile.
        #[test]
        fn an_estimate_of_one_step_is_between_what_profiles_bound(
            ranks in 3usize..9, ports in 1usize..4, turns in prop::collection::vec((0usize..32, 0usize..32), 0..20),
            shares in prop::collection::vec(prop_oneof![Just(0.0), 0.01f64..1.0], 81),
        ) {
            let mut wiring = Wiring::rewired(ranks, ports, |rank| {
                (1..=ports as Rank).map(move |ahead| (rank + ahead) % ranks as Rank)
            });
            for (one, other) in turns {
                wiring.exchange_heads(one % wiring.circuits(), other % wiring.circuits());
            }
            let pairs = (0..ranks as Rank).flat_map(|src| (0..ranks as Rank).map(move |dst| (src, dst)));
            let piece = |(src, dst): (Rank, Rank)| Piece { src, dst, share: shares[src as usize * 9 + dst as usize] };
            let pieces: Vec<Piece> =
                pairs.map(piece).filter(|piece| piece.share > 0.0 && piece.src != piece.dst).collect();
            prop_assume!(!pieces.is_empty());
            let demand = Demand::of(ranks as u32, &pieces);
            let way = Way { wirings: vec![wiring.clone()], from_start: false };
            let mut evaluator = Evaluator::new(&demand);
            let estimate = evaluator.estimate(&way);
            let arcs = pieces.iter().map(|piece| TrafficEntry { src: piece.src, dst: piece.dst, weight: piece.share });
            let traffic = Traffic::new(Translations::trivial(ranks as u32), arcs).unwrap();
            let known = fronts::RoutingNetwork::new(&wiring.topology("way").unwrap())
                .estimate(&traffic, Routing::ConcurrentFlow);
            prop_assert_eq!(estimate.is_some(), known.is_some());
            if let (Some(estimate), Some(known)) = (estimate, known) {
                prop_assert_eq!(&estimate.hops, &[known.hops]);
                let carried: f64 = evaluator.loads(0).iter().sum();
                let largest = evaluator.loads(0).iter().copied().fold(0.0, f64::max);
                let distances: f64 = pieces.iter().map(|piece| {
                    let network = fronts::RoutingNetwork::new(&wiring.topology("way").unwrap());
                    piece.share * f64::from(network.distance(piece.src, piece.dst).unwrap())
                }).sum();
                prop_assert!((carried - distances).abs() < 1e-9);
                prop_assert!(estimate.loads[0] <= largest * (1.0 + 1e-9));
                prop_assert!(estimate.loads[0] >= carried / wiring.circuits() as f64 * (1.0 - 1e-9));
            }
        }
    }
}
