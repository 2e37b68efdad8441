//! The circuits that join all ranks in the first step, where there are such: the base of the topologies of a way.

use model::Rank;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::unequal::demand::Demand;
use crate::unequal::heaviest;
use crate::unequal::wiring::Wiring;

/// Power of a rank's bytes over those of the busiest that makes its heat: only the busiest ranks are hot.
const HEAT: i32 = 6;
/// The least by which the weight of a pair of hot ranks is multiplied.
const LEAST_WEIGHT: f64 = 0.02;
/// Prices of a circuit between two hot ranks, one of them drawn, in the mean bytes of a rank.
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
    /// A generalised Kautz graph on so many ports, a ring on one.
    Kautz(usize),
    /// That graph with places for the ranks such that hot ones are no neighbours.
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

    /// Its circuits.
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

/// How near each rank is to the busiest, as sender and as receiver, from 0 to 1.
#[derive(Debug)]
pub(super) struct Heats {
    sends: Vec<f64>,
    receives: Vec<f64>,
    /// Bytes that a rank sends in the mean, over m.
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

    /// How hot two ranks are together.
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
    let distances = distances(wiring);
    let mut circuits = vec![0.0f64; ranks * ranks];
    for circuit in 0..wiring.circuits() {
        if let Some(head) = wiring.head(circuit) {
            circuits[wiring.tail(circuit) as usize * ranks + head as usize] += 1.0;
        }
    }
    let mut place_of: Vec<usize> = (0..ranks).collect();
    place_of.shuffle(random);
    let share = |src: usize, dst: usize| demand.share(src as Rank, dst as Rank);
    let cost = |place_of: &[usize], one: usize, at: usize, other: usize, other_at: usize| {
        let mut cost = 0.0;
        for (rank, at_rank, skips) in [(one, at, usize::MAX), (other, other_at, one)] {
            for peer in (0..ranks).filter(|peer| *peer != rank && *peer != skips) {
                let at_peer = match peer {
                    peer if peer == one => at,
                    peer if peer == other => other_at,
                    peer => place_of[peer],
                };
                cost += share(rank, peer) * distances[at_rank * ranks + at_peer]
                    + share(peer, rank) * distances[at_peer * ranks + at_rank];
                let joined = circuits[at_rank * ranks + at_peer] + circuits[at_peer * ranks + at_rank];
                if joined > 0.0 {
                    cost += penalty * joined * heats.of_pair(rank, peer);
                }
            }
        }
        cost
    };
    let sweeps = if ranks <= PARTNERS { 6 } else { 2 };
    for _ in 0..sweeps {
        let mut has_changed = false;
        for one in 0..ranks {
            interruption::check();
            for partner in 0..ranks.min(PARTNERS) {
                let other = if ranks <= PARTNERS { partner } else { random.random_range(0..ranks) };
                if other == one || (ranks <= PARTNERS && other < one) {
                    continue;
                }
                let (at, other_at) = (place_of[one], place_of[other]);
                let before = cost(&place_of, one, at, other, other_at);
                if cost(&place_of, one, other_at, other, at) < before * (1.0 - 1e-9) {
                    place_of.swap(one, other);
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    let mut rank_at = vec![0; ranks];
    place_of.iter().enumerate().for_each(|(rank, &place)| rank_at[place] = rank as Rank);
    let mut moved = Wiring::dark(ranks, wiring.ports());
    for circuit in 0..wiring.circuits() {
        if let Some(head) = wiring.head(circuit) {
            moved.join(rank_at[wiring.tail(circuit) as usize], rank_at[head as usize]);
        }
    }
    moved
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

/// The source of chance of a search: the same every time.
pub(super) fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(0)
}

/// Hops between the two ranks that are farthest apart, of those that have a path.
pub(super) fn diameter(wiring: &Wiring) -> u32 {
    let ranks = wiring.ranks() as f64;
    distances(wiring).into_iter().filter(|hops| *hops < ranks).fold(0.0, f64::max) as u32
}
