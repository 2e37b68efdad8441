//! Least link usage of bringing a block from one rank to all others, in s steps on a topology that is known.
//!
//! As on trees ([`spreading`](crate::spreading)), who informs whom makes a tree of n − 1 transfers, each of which uses
//! as many links as its ends are apart at least.
//!
//! - Any topology: let L_j be the most ranks at distance j from one. With λ paid for each informed rank, one that has t
//!   steps left is worth V_t = λ + Σ_j L_j·max(0, V_{t−1} − j) at most, since it informs every other rank once at most
//!   and those have t − 1 steps left. So f(s) ≥ λ·n − V_s(λ) for every λ.
//! - A cycle of circuits one way is a line, on which f is known exactly.
//! - A cycle of circuits both ways: holders cut it into gaps, and a rank within a gap is as far as to the nearer end of
//!   it. With F(s, g) the least for a gap of g hops, F(s, g) = min over ranks 0 < p₁ < p₂ < … < g of
//!   Σ min(pᵢ, g − pᵢ) + Σ F(s−1, pᵢ₊₁ − pᵢ), and the block's own rank is both ends of a gap of n.

use model::{Rank, Topology};

use crate::cutoffs::spreading_on::{MOST_ON_A_CYCLE, MOST_STEPS};
use crate::spreading::{least_usage, most_steps};

/// By number of steps from 1 on, the least uses of links by a block of any rank that reaches all others; the last also
/// where steps are more. `layers`: the most ranks at each distance from one, or to one, from 1 on.
pub(crate) fn least_uses(topology: &Topology, layers: &[f64]) -> Vec<f64> {
    let ranks = topology.ranks();
    let others = f64::from(ranks - 1);
    let cycle = cycle(topology);
    // A line has one circuit out of a rank, however many are parallel.
    let ports = if cycle == Some(Cycle::OneWay) { 1 } else { topology.degree() };
    let mut uses: Vec<f64> = match cycle {
        Some(Cycle::OneWay) => Vec::new(),
        Some(Cycle::BothWays) if ranks <= MOST_ON_A_CYCLE => on_a_cycle(ranks as usize),
        _ => (1..=MOST_STEPS).map(|steps| by_layers(layers, steps, others)).collect(),
    };
    // The least of a line; of others, of more steps, what holds on any topology of as many circuits.
    let further = uses.len() as u32 + 1..=most_steps(ports, ranks);
    uses.extend(further.map(|steps| least_usage(ports, steps, &[others])[0]));
    uses.push(others);
    let enough = uses.iter().position(|uses| *uses <= others).unwrap_or(uses.len() - 1);
    uses.truncate(enough + 1);
    uses
}

/// A topology that is one cycle of all ranks, circuits in parallel aside.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cycle {
    OneWay,
    BothWays,
}

/// O(links), of topologies of which every rank reaches every other.
fn cycle(topology: &Topology) -> Option<Cycle> {
    let ranks = topology.ranks() as usize;
    let (mut out, mut into) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
    for link in topology.expanded() {
        let (src, dst): (Rank, Rank) = (link.src, link.dst);
        out[src as usize].push(dst);
        into[dst as usize].push(src);
    }
    for ends in out.iter_mut().chain(&mut into) {
        ends.sort_unstable();
        ends.dedup();
    }
    let each_has = |most: usize| out.iter().chain(&into).all(|ends| ends.len() == most);
    match ranks {
        3.. if each_has(1) => Some(Cycle::OneWay),
        3.. if each_has(2) && out == into => Some(Cycle::BothWays),
        _ => None,
    }
}

/// Prices λ between which the best is halved.
const HALVINGS: usize = 60;

/// max over λ of λ·n − V_steps(λ), near enough: any λ is a bound.
fn by_layers(layers: &[f64], steps: u32, others: f64) -> f64 {
    // Ranks within each distance, and the sum of their distances.
    let (mut within, mut distances) = (vec![0.0], vec![0.0]);
    for (distance, ranks) in (1..).map(f64::from).zip(layers) {
        within.push(within[within.len() - 1] + ranks);
        distances.push(distances[distances.len() - 1] + distance * ranks);
    }
    // The worth of a rank with all steps left, and its slope.
    let worth = |price: f64| {
        let (mut worth, mut slope) = (price, 1.0);
        for _ in 0..steps {
            let nearer = (worth.ceil() - 1.0).clamp(0.0, layers.len() as f64) as usize;
            slope = 1.0 + slope * within[nearer];
            worth = price + worth * within[nearer] - distances[nearer];
            if slope > 1e12 {
                return (f64::INFINITY, f64::INFINITY);
            }
        }
        (worth, slope)
    };
    let (mut low, mut high) = (0.0, layers.len() as f64 + 1.0);
    let mut best: f64 = others;
    for _ in 0..HALVINGS {
        let price = (low + high) / 2.0;
        let (worth, slope) = worth(price);
        best = best.max(price * (1.0 + others) - worth);
        if slope > 1.0 + others { high = price } else { low = price }
    }
    best
}

/// F(s, n) for every s from 1 on. O(n³) a step.
fn on_a_cycle(ranks: usize) -> Vec<f64> {
    // By hops of the gap, in the steps so far.
    let mut least: Vec<f64> = (0..=ranks).map(|gap| if gap <= 1 { 0.0 } else { f64::INFINITY }).collect();
    let mut uses = Vec::new();
    for _ in 0..MOST_STEPS {
        let of_gap = |gap: usize| {
            // By hops from one end, with a holder there: the least for all before it.
            let mut before = vec![0.0];
            for at in 1..=gap {
                interruption::check();
                let rest = before.iter().enumerate().map(|(last, uses)| uses + least[at - last]);
                before.push(rest.fold(f64::INFINITY, f64::min) + at.min(gap - at) as f64);
            }
            before[gap]
        };
        least = (0..=ranks).map(of_gap).collect();
        uses.push(least[ranks]);
    }
    uses
}

#[cfg(test)]
mod tests {
    use model::{BreadthFirst, Link, Translations};

    use super::*;

    /// Rank r joined to each of `ends(r)`, in parallel where one is there twice, and not to itself.
    fn joined(ranks: u32, ends: impl Fn(u32) -> Vec<u32>) -> Topology {
        let links = (0..ranks).flat_map(|src| ends(src).into_iter().map(move |dst| Link { src, dst, count: 1 }));
        Topology::new("drawn", Translations::trivial(ranks), links.filter(|link| link.src != link.dst)).unwrap()
    }

    fn distances(topology: &Topology) -> Vec<Vec<u32>> {
        let ranks = topology.ranks() as usize;
        let mut out = vec![Vec::new(); ranks];
        topology.expanded().iter().for_each(|link| out[link.src as usize].push(link.dst));
        let from = |src: u32| {
            let mut search = BreadthFirst::new(ranks);
            search.search(src, |at| out[at as usize].iter().copied());
            search.into_distances()
        };
        (0..ranks as u32).map(from).collect()
    }

    fn layers(distances: &[Vec<u32>]) -> Vec<f64> {
        let most = distances.iter().flatten().copied().max().unwrap_or(0);
        let at = |row: &Vec<u32>, distance| row.iter().filter(|found| **found == distance).count();
        (1..=most).map(|distance| distances.iter().map(|row| at(row, distance)).max().unwrap_or(0) as f64).collect()
    }

    /// The least over all sets of ranks that hold the block after each step, from the best source rank.
    fn by_exhaustion(distances: &[Vec<u32>], steps: usize) -> Vec<f64> {
        let ranks = distances.len();
        let from = |origin: usize| {
            let mut least = vec![u32::MAX; 1 << ranks];
            least[1 << origin] = 0;
            let after = (0..steps).map(|_| {
                let before = least.clone();
                for (held, &spent) in before.iter().enumerate().filter(|(_, spent)| **spent < u32::MAX) {
                    let nearest = |dst: usize| {
                        let holders = (0..ranks).filter(|rank| held >> rank & 1 == 1);
                        holders.map(|src| distances[src][dst]).min().unwrap_or(0)
                    };
                    let nearest: Vec<u32> = (0..ranks).map(nearest).collect();
                    let left = !held & ((1 << ranks) - 1);
                    let mut chosen = left;
                    while chosen > 0 {
                        let chosen_ranks = (0..ranks).filter(|rank| chosen >> rank & 1 == 1);
                        let cost = spent + chosen_ranks.map(|rank| nearest[rank]).sum::<u32>();
                        least[held | chosen] = least[held | chosen].min(cost);
                        chosen = (chosen - 1) & left;
                    }
                }
                least[(1 << ranks) - 1]
            });
            after.collect::<Vec<u32>>()
        };
        let all: Vec<Vec<u32>> = (0..ranks).map(from).collect();
        (0..steps).map(|step| all.iter().map(|row| f64::from(row[step])).fold(f64::INFINITY, f64::min)).collect()
    }

    #[test]
    fn on_cycles_it_is_the_least_of_all_orders_and_elsewhere_below() {
        let ahead = |ranks: u32, places: &'static [u32]| {
            (ranks, joined(ranks, move |rank| places.iter().map(|place| (rank + place) % ranks).collect()))
        };
        let doubled =
            |ranks: u32| (ranks, joined(ranks, move |rank| [0, 1].map(|digit| (2 * rank + digit) % ranks).into()));
        let cube = (8, joined(8, |rank| [1, 2, 4].map(|bit| rank ^ bit).into()));
        let ladder = (8, joined(8, |rank| [rank ^ 4, (rank + 1) % 4 + (rank & 4), (rank + 3) % 4 + (rank & 4)].into()));
        for ((ranks, topology), exact) in [
            (ahead(9, &[1, 8]), true),
            (ahead(8, &[1, 1, 7]), true),
            (ahead(8, &[3, 5]), true),
            (ahead(8, &[1, 1]), true),
            (ahead(8, &[1, 3]), false),
            (ahead(9, &[1, 2, 4]), false),
            (doubled(8), false),
            (doubled(9), false),
            (cube, false),
            (ladder, false),
        ] {
            let distances = distances(&topology);
            let least = by_exhaustion(&distances, 6);
            let found = least_uses(&topology, &layers(&distances));
            assert!(found.len() > 1, "{ranks}");
            for (steps, least) in (0..).zip(least) {
                let found = found[steps.min(found.len() - 1)];
                assert!(found <= least + 1e-9, "{ranks} {steps}: {found} {least}");
                assert!(
                    !exact || steps + 1 >= MOST_STEPS as usize || found == least,
                    "{ranks} {steps}: {found} {least}"
                );
            }
        }
    }

    #[test]
    fn one_step_goes_every_distance() {
        let ring = joined(47, |rank| [(rank + 1) % 47, (rank + 46) % 47].into());
        let torus = joined(16, |rank| {
            let (row, column) = (rank / 4, rank % 4);
            let at = |row: u32, column: u32| row % 4 * 4 + column % 4;
            [at(row + 1, column), at(row + 3, column), at(row, column + 1), at(row, column + 3)].into()
        });
        for topology in [ring, torus] {
            let distances = distances(&topology);
            let sum = f64::from(distances[0].iter().sum::<u32>());
            let found = least_uses(&topology, &layers(&distances))[0];
            assert!((found - sum).abs() < 1e-6, "{found} {sum}");
        }
    }
}
