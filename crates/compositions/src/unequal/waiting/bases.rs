//! The circuits that join all ranks in the first step, where there are such: the base of the topologies of a way.

use model::Rank;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cutoffs::unequal_waiting::LEAST_WEIGHT;
use crate::unequal::demand::Demand;
use crate::unequal::heaviest;
use crate::unequal::wiring::Wiring;

/// Power of a rank's bytes over those of the busiest that makes its heat: only the busiest ranks are hot.
const HEAT: i32 = 6;
/// Prices of a circuit between two hot ranks, one of them drawn, on average bytes of a rank.
const PENALTIES: [f64; 3] = [0.3, 1.0, 3.0];
/// Other ranks that each rank tries to exchange places with, where not all are tried.
const PARTNERS: usize = 64;

/// Kinds of circuits that join all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// No such circuits.
    Empty,
    /// A ring of heavy pairs.
    HeavyRing,
    /// A generalised Kautz graph on this many ports, a ring on one.
    Kautz(usize),
    /// The graph with places for the ranks such that hot ones are no neighbours.
    Placed(usize),
}

impl Base {
    /// The ports that it takes.
    pub(super) fn ports(self) -> usize {
        match self {
            Self::Empty => 0,
            Self::HeavyRing => 1,
            Self::Kautz(ports) | Self::Placed(ports) => ports,
        }
    }

    /// The circuits of this base.
    pub(super) fn wiring(self, demand: &Demand, heats: &Heats, random: &mut ChaCha8Rng) -> Wiring {
        match self {
            Self::Empty => Wiring::dark(demand.ranks(), 0),
            Self::HeavyRing => Wiring::ring(&heaviest::ring_order(demand)),
            Self::Kautz(ports) => kautz(demand.ranks(), ports),
            Self::Placed(ports) => placed(&kautz(demand.ranks(), ports), demand, heats, random),
        }
    }
}

/// The generalised Kautz graph u → −(d·u + c) mod n, c from 1 to d (Imase and Itoh 1983); a ring for d = 1.
fn kautz(ranks: usize, ports: usize) -> Wiring {
    let (n, d) = (ranks as Rank, ports as Rank);
    if ports == 1 {
        return Wiring::ring(&(0..n).collect::<Vec<_>>());
    }
    Wiring::rewired(ranks, ports, |rank| (1..=d).map(move |digit| (n - (d * rank + digit) % n) % n))
}

/// The heat of each rank, as sender and as receiver, from 0 to 1: a power of its traffic over that of the busiest.
#[derive(Debug)]
pub(super) struct Heats {
    sends: Vec<f64>,
    receives: Vec<f64>,
    /// Bytes that a rank sends on average, over m.
    mean: f64,
}

impl Heats {
    pub(super) fn of(demand: &Demand) -> Self {
        let ranks = demand.ranks();
        let (mut sends, mut receives) = (vec![0.0; ranks], vec![0.0; ranks]);
        for (src, dst) in demand.pairs() {
            sends[src as usize] += demand.share(src, dst);
            receives[dst as usize] += demand.share(src, dst);
        }
        let mean = sends.iter().sum::<f64>() / ranks as f64;
        let most = sends.iter().chain(&receives).copied().fold(f64::MIN_POSITIVE, f64::max);
        for heat in sends.iter_mut().chain(&mut receives) {
            *heat = (*heat / most).powi(HEAT);
        }
        Self { sends, receives, mean }
    }

    /// The heat of a pair: the sum of the products of their heats as senders and as receivers.
    fn of_pair(&self, one: usize, other: usize) -> f64 {
        self.sends[one] * self.sends[other] + self.receives[one] * self.receives[other]
    }

    /// The demand in which pairs of hot ranks weigh little: their ports are for others.
    pub(super) fn cooled(&self, demand: &Demand) -> Demand {
        demand.weighted(|src, dst| {
            let (src, dst) = (src as usize, dst as usize);
            let of = |heats: &[f64]| (1.0 - heats[src] * heats[dst]).max(LEAST_WEIGHT);
            of(&self.sends) * of(&self.receives)
        })
    }
}

/// The wiring with the ranks in other places: two at a time exchange theirs where that lowers the sum of bytes times
/// distances and of a price for every circuit between hot ranks. Local search for a quadratic assignment.
fn placed(wiring: &Wiring, demand: &Demand, heats: &Heats, random: &mut ChaCha8Rng) -> Wiring {
    let ranks = wiring.ranks();
    let penalty = PENALTIES[random.random_range(0..PENALTIES.len())] * heats.mean;
    let mut places = Places::new(wiring, demand, heats, penalty);
    places.of.shuffle(random);
    let sweeps = if ranks <= PARTNERS { 6 } else { 2 };
    for _ in 0..sweeps {
        let mut has_changed = false;
        for one in 0..ranks {
            interruption::check();
            for partner in 0..ranks.min(PARTNERS) {
                let other = if ranks <= PARTNERS { partner } else { random.random_range(0..ranks) };
                if other != one && (ranks > PARTNERS || other > one) {
                    has_changed |= places.exchange(one, other);
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    let mut rank_at = vec![0; ranks];
    places.of.iter().enumerate().for_each(|(rank, &place)| rank_at[place] = rank as Rank);
    let mut moved = Wiring::dark(ranks, wiring.ports());
    for circuit in 0..wiring.circuits() {
        if let Some(head) = wiring.head(circuit) {
            moved.join(rank_at[wiring.tail(circuit) as usize], rank_at[head as usize]);
        }
    }
    moved
}

/// The places of ranks on a graph. All matrices are by rank, or by place, and the other one.
struct Places {
    /// By rank.
    of: Vec<usize>,
    sends: Vec<f64>,
    receives: Vec<f64>,
    heats: Vec<f64>,
    distances: Vec<f64>,
    distances_back: Vec<f64>,
    /// Price of the circuits between two places, either way, if both ranks there are hottest.
    penalties: Vec<f64>,
}

impl Places {
    fn new(wiring: &Wiring, demand: &Demand, heats: &Heats, penalty: f64) -> Self {
        let ranks = wiring.ranks();
        let of_pairs = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..ranks * ranks).map(|pair| value(pair / ranks, pair % ranks)).collect()
        };
        let distances = distances(wiring);
        let mut penalties = vec![0.0; ranks * ranks];
        for circuit in 0..wiring.circuits() {
            if let Some(head) = wiring.head(circuit) {
                let (tail, head) = (wiring.tail(circuit) as usize, head as usize);
                penalties[tail * ranks + head] += penalty;
                penalties[head * ranks + tail] += penalty;
            }
        }
        // Bytes that stay at a rank travel nowhere.
        let share = |src: usize, dst: usize| if src == dst { 0.0 } else { demand.share(src as Rank, dst as Rank) };
        Self {
            of: (0..ranks).collect(),
            sends: of_pairs(&share),
            receives: of_pairs(&|one, other| share(other, one)),
            heats: of_pairs(&|one, other| heats.of_pair(one, other)),
            distances_back: of_pairs(&|one, other| distances[other * ranks + one]),
            distances,
            penalties,
        }
    }

    /// Part of the sum of a rank and one of its peers: bytes times distances both ways, and the price of their circuits.
    fn of_peer(&self, rank: usize, peer: usize) -> f64 {
        let ranks = self.of.len();
        let (pair, places) = (rank * ranks + peer, self.of[rank] * ranks + self.of[peer]);
        self.sends[pair] * self.distances[places]
            + self.receives[pair] * self.distances_back[places]
            + self.heats[pair] * self.penalties[places]
    }

    /// Part of the sum in which at least one of two ranks is.
    fn of_two(&self, one: usize, other: usize) -> f64 {
        let of = |rank: usize| (0..self.of.len()).map(|peer| self.of_peer(rank, peer)).sum::<f64>();
        of(one) + of(other) - self.of_peer(one, other)
    }

    /// Exchanges the places of two ranks where that lowers the sum, and tells whether it does.
    fn exchange(&mut self, one: usize, other: usize) -> bool {
        let before = self.of_two(one, other);
        self.of.swap(one, other);
        let is_better = self.of_two(one, other) < before * (1.0 - 1e-9);
        if !is_better {
            self.of.swap(one, other);
        }
        is_better
    }
}

/// Hops from every rank to every other, `[src · n + dst]`; more than any where there is no path.
fn distances(wiring: &Wiring) -> Vec<f64> {
    let ranks = wiring.ranks();
    let mut distances = vec![2.0 * ranks as f64; ranks * ranks];
    for src in 0..ranks {
        let row = &mut distances[src * ranks..(src + 1) * ranks];
        row[src] = 0.0;
        let mut reached = vec![src];
        let mut next = 0;
        while let Some(&rank) = reached.get(next) {
            next += 1;
            for (_, head) in wiring.out(rank as Rank) {
                if row[head as usize] > ranks as f64 {
                    row[head as usize] = row[rank] + 1.0;
                    reached.push(head as usize);
                }
            }
        }
    }
    distances
}

/// The source of chance of the part of a search that has this number: the same every time.
pub(super) fn seeded(number: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(number)
}

/// Hops between the two ranks that are farthest apart, of those that have a path.
pub(super) fn diameter(wiring: &Wiring) -> u32 {
    let ranks = wiring.ranks() as f64;
    distances(wiring).into_iter().filter(|hops| *hops < ranks).fold(0.0, f64::max) as u32
}
