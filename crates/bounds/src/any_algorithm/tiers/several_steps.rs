//! An AllReduce in a few steps on one topology.
//!
//! In step t transfers take paths of at most d_t seconds, which reach N(d_t) GPUs. Every GPU's contribution to a chunk
//! goes to every GPU by transfers of steps in turn. Contributions that are at a GPU after step t come from
//! P_t = Π_{τ ≤ t} N(d_τ) GPUs at most, and Q_t = Π_{τ > t} N(d_τ) at most get what is there, neither more than n. All n²
//! pairs meet somewhere after step t, so that GPUs together have n²/Q_t contributions then at least, each of its own; a
//! transfer of step τ adds P_{τ−1} at most. With x_τ transfers of the chunk in step τ, over n,
//!
//! ```text
//! Σ_{τ ≤ t} P_{τ−1}·x_τ ≥ n/Q_t − 1,    Σ_{τ > t} Q_τ·x_τ ≥ n/P_t − 1    for all t
//! ```
//!
//! the second by the same count of those that get what is there. Islands as one GPU each, with circuits between them
//! alone, keep to both, too.

use super::words::{Tiers, Word, binomial};
use crate::covering::least_sum;
use crate::cutoffs::any_algorithm_tiers::{MOST_DELAYS, MOST_HOPS};

/// Paths of at most some delay, and the GPUs and islands that they reach at most.
#[derive(Debug, Clone, Copy)]
struct Reach {
    delay_s: f64,
    gpus: f64,
    islands: f64,
}

/// The least sum of hop delays and of seconds of bytes in `steps` steps, as a pair, no less than `delay_s` and `bytes_s`,
/// those of an AllReduce in any number of steps. Infinite where so many steps do not reach all GPUs.
pub(super) fn least_s(tiers: &Tiers, words: &[Word], steps: usize, (delay_s, bytes_s): (f64, f64)) -> (f64, f64) {
    let reaches = reaches(tiers, words);
    let mut best = (f64::INFINITY, bytes_s);
    descend(tiers, &reaches, (steps, (delay_s, bytes_s)), &mut Vec::with_capacity(steps), &mut best);
    best
}

/// Tries all delays of the steps that are left.
fn descend(
    tiers: &Tiers,
    reaches: &[Reach],
    asked: (usize, (f64, f64)),
    chosen: &mut Vec<Reach>,
    best: &mut (f64, f64),
) {
    let (steps, (delay_s, bytes_s)) = asked;
    let Some(least) = reaches.first() else { return };
    let left_s = (steps - chosen.len()) as f64 * least.delay_s;
    let delays_s = (chosen.iter().map(|reach| reach.delay_s).sum::<f64>() + left_s).max(delay_s);
    if delays_s + bytes_s >= best.0 + best.1 {
        return;
    }
    if chosen.len() == steps {
        let of = |count: f64, reach: fn(&Reach) -> f64| {
            least_transfers(count, &chosen.iter().map(reach).collect::<Vec<_>>())
        };
        let transfers = of(tiers.ranks, |reach| reach.gpus);
        let crossing = of(tiers.islands, |reach| reach.islands);
        if let (Some(transfers), Some(crossing)) = (transfers, crossing) {
            let chunk_s = 1.0 / (1.0 / tiers.switch_s + tiers.ports / tiers.circuit_s);
            let crossing_s = crossing * tiers.circuit_s / (tiers.gpus * tiers.ports);
            // Of two steps, one without circuits brings no island what another has: in the other all that a GPU needs of
            // G − 1 others comes over its own circuits, or all that it has goes.
            let is_apart = steps == 2 && chosen.iter().any(|reach| reach.delay_s < tiers.outside_s);
            let own_s = if is_apart { (tiers.islands - 1.0) * tiers.circuit_s / tiers.ports } else { 0.0 };
            let seconds = bytes_s.max(transfers * chunk_s).max(crossing_s).max(own_s);
            if delays_s + seconds < best.0 + best.1 {
                *best = (delays_s, seconds);
            }
        }
        return;
    }
    for &reach in reaches {
        chosen.push(reach);
        descend(tiers, reaches, asked, chosen, best);
        chosen.pop();
    }
}

/// The delays that paths may have, the least first, up to that within which a GPU reaches all; where there are many, some
/// are put together as the least of them, with the reach of the largest.
fn reaches(tiers: &Tiers, words: &[Word]) -> Vec<Reach> {
    let mut delays_s: Vec<f64> = words.iter().map(|word| word.delay_s(tiers)).collect();
    delays_s.sort_by(f64::total_cmp);
    delays_s.dedup();
    let of_islands = island_words(tiers);
    let mut known = Vec::new();
    for delay_s in delays_s {
        let gpus = words.iter().filter(|word| word.delay_s(tiers) <= delay_s).map(|word| word.count).sum::<f64>();
        if gpus <= 1.0 {
            // A step has some transfer, which takes a path.
            continue;
        }
        let islands = of_islands.iter().filter(|(word_s, _)| *word_s <= delay_s).map(|(_, count)| count).sum::<f64>();
        known.push(Reach { delay_s, gpus: gpus.min(tiers.ranks), islands: islands.min(tiers.islands) });
        if gpus >= tiers.ranks && islands >= tiers.islands {
            break;
        }
    }
    let together = known.len().div_ceil(MOST_DELAYS).max(1);
    known.chunks(together).map(|some| Reach { delay_s: some[0].delay_s, ..some[some.len() - 1] }).collect()
}

/// Words of paths from an island, whichever of its GPUs they begin at: their delay, and the islands that they reach. The
/// second stands for all longer ones.
fn island_words(tiers: &Tiers) -> Vec<(f64, f64)> {
    let mut all = vec![(0.0, 1.0), (f64::from(MOST_HOPS + 1) * tiers.outside_s, tiers.islands)];
    for outside in 1..=MOST_HOPS {
        for inside in 0..outside {
            let between = binomial(outside - 1, inside) * (tiers.gpus - 1.0).powi(inside as i32);
            let delay_s = f64::from(outside) * tiers.outside_s + f64::from(inside) * tiers.inside_s;
            all.push((delay_s, tiers.gpus * tiers.ports.powi(outside as i32) * between));
        }
    }
    all
}

/// The least number of transfers of a chunk, over `count`, by which each of so many comes to have what all have, where
/// those of step t lead from one to `reached[t]` at most, itself included, and to one from as many; `None` where they do
/// not lead to all.
fn least_transfers(count: f64, reached: &[f64]) -> Option<f64> {
    let product = |some: &[f64]| some.iter().fold(1.0_f64, |product, reached| (product * reached).min(count));
    if product(reached) < count {
        return None;
    }
    let steps = reached.len();
    let had: Vec<f64> = (0..=steps).map(|step| product(&reached[..step])).collect();
    let got: Vec<f64> = (0..=steps).map(|step| product(&reached[step..])).collect();
    let mut rows = Vec::new();
    let mut add = |needed: f64, each: &dyn Fn(usize) -> f64| {
        if needed > 0.0 {
            rows.push((0..steps).map(|at| each(at) / needed).collect::<Vec<f64>>());
        }
    };
    for step in 0..=steps {
        add(count / got[step] - 1.0, &|at| if at < step { had[at] } else { 0.0 });
        add(count / had[step] - 1.0, &|at| if at >= step { got[at + 1] } else { 0.0 });
    }
    Some(least_sum(&rows))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::any_algorithm::tiers::words::words;

    /// Delays of pairs of four GPUs, 0 and 1 in one island, on one circuit of each.
    fn delays_s(circuits: &[usize], tiers: &Tiers) -> [[f64; 4]; 4] {
        let mut delays = [[f64::INFINITY; 4]; 4];
        for src in 0..4 {
            delays[src][src] = 0.0;
            delays[src][src ^ 1] = tiers.inside_s;
            delays[src][circuits[src]] = delays[src][circuits[src]].min(tiers.outside_s);
        }
        for by in 0..4 {
            for src in 0..4 {
                for dst in 0..4 {
                    delays[src][dst] = delays[src][dst].min(delays[src][by] + delays[by][dst]);
                }
            }
        }
        delays
    }

    /// The ordered pairs of four GPUs.
    fn pairs() -> Vec<(usize, usize)> {
        (0..16).map(|pair| (pair / 4, pair % 4)).filter(|(src, dst)| src != dst).collect()
    }

    /// By set of transfers: for every GPU, whom it has something of, itself included.
    fn received() -> Vec<[u8; 4]> {
        let pairs = pairs();
        let of = |set: usize| {
            let mut has = [1, 2, 4, 8];
            for (_, (src, dst)) in pairs.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1) {
                has[*dst] |= 1 << src;
            }
            has
        };
        (0..1 << pairs.len()).map(of).collect()
    }

    /// All sets of transfers of a chunk in two steps among two islands of two GPUs, on all circuits of one port: the
    /// least time at which their paths and their bytes, at what both tiers carry together, leave every GPU all sums.
    fn exhaustive_s(tiers: &Tiers) -> f64 {
        let (pairs, received) = (pairs(), received());
        let circuits: Vec<[usize; 4]> = (0..256)
            .map(|code| [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3])
            .filter(|to| (0..4).all(|src| to[src] != src && (0..src).all(|other| to[other] != to[src])))
            .collect();
        assert_eq!(circuits.len(), 9);
        // By circuits, the longest delay of every set.
        let longest: Vec<Vec<f64>> = circuits
            .iter()
            .map(|to| {
                let delays = delays_s(to, tiers);
                let of = |set: usize| {
                    let used = pairs.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
                    used.map(|(_, &(src, dst))| delays[src][dst]).fold(0.0, f64::max)
                };
                (0..1 << pairs.len()).map(of).collect()
            })
            .collect();
        let chunk_s = 1.0 / (1.0 / tiers.switch_s + 1.0 / tiers.circuit_s);
        let crossing = pairs.iter().enumerate().filter(|(_, (src, dst))| src / 2 != dst / 2);
        let crossing: usize = crossing.map(|(at, _)| 1 << at).sum();
        let mut least_s = f64::INFINITY;
        for (first, has) in received.iter().enumerate() {
            for (second, from) in received.iter().enumerate() {
                let sum = |senders: u8| (0..4).filter(|src| senders >> src & 1 == 1).fold(0, |all, src| all | has[src]);
                let transfers = first.count_ones() + second.count_ones();
                let over_circuits = (first & crossing).count_ones() + (second & crossing).count_ones();
                let circuits_s = f64::from(over_circuits) / 4.0 * tiers.circuit_s;
                let bytes_s = (f64::from(transfers) / 4.0 * chunk_s).max(circuits_s);
                if bytes_s >= least_s || from.iter().any(|&senders| sum(senders) != 15) {
                    continue;
                }
                for longest in &longest {
                    least_s = least_s.min(longest[first] + longest[second] + bytes_s);
                }
            }
        }
        least_s
    }

    #[test]
    #[ignore = "large: make test-large"]
    fn no_two_steps_of_two_islands_of_two_take_less() {
        for (inside_s, outside_s) in [(1.0, 1.0), (1.0, 3.0), (2.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)] {
            for (circuit_s, switch_s) in [(4.0, 1.0), (0.1, 0.05), (40.0, 10.0), (1.0, 10.0)] {
                let shape = (2.0, 2.0, 1.0, 4.0);
                let (gpus, islands, ports, ranks) = shape;
                let tiers = Tiers { gpus, islands, ports, ranks, inside_s, outside_s, circuit_s, switch_s };
                let bytes_s = 1.5 / (1.0 / switch_s + 1.0 / circuit_s);
                let (delays_s, seconds) = least_s(&tiers, &words(&tiers, 1), 2, (0.0, bytes_s));
                let known_s = exhaustive_s(&tiers);
                assert!(delays_s + seconds <= known_s * (1.0 + 1e-12), "{delays_s} + {seconds} and {known_s}");
            }
        }
    }

    /// The least transfers, over `count`, of any sets of transfers in steps, of which none has more than `reached[t]` of a
    /// GPU, itself counted, out or in: every state of what all have, and the fewest transfers that lead to it.
    fn fewest(count: usize, reached: &[usize]) -> Option<f64> {
        let pairs: Vec<(usize, usize)> =
            (0..count * count).map(|pair| (pair / count, pair % count)).filter(|(src, dst)| src != dst).collect();
        let all = (1_u8 << count) - 1;
        let mut known: BTreeMap<Vec<u8>, u32> = [((0..count).map(|gpu| 1 << gpu).collect(), 0)].into();
        for &reached in reached {
            let mut next = BTreeMap::new();
            for (has, so_far) in &known {
                for set in 0_usize..1 << pairs.len() {
                    let used = || pairs.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, pair)| pair);
                    let most = |end: fn(&(usize, usize)) -> usize| {
                        (0..count).map(|gpu| used().filter(|pair| end(pair) == gpu).count()).max().unwrap_or(0)
                    };
                    if most(|pair| pair.0).max(most(|pair| pair.1)) >= reached {
                        continue;
                    }
                    let mut now = has.clone();
                    used().for_each(|&(src, dst)| now[dst] |= has[src]);
                    let found = next.entry(now).or_insert(u32::MAX);
                    *found = (*found).min(so_far + set.count_ones());
                }
            }
            known = next;
        }
        known.get(&vec![all; count]).map(|&transfers| f64::from(transfers) / count as f64)
    }

    #[test]
    fn no_sets_of_transfers_are_fewer() {
        let mut is_attained = false;
        for (count, steps) in [(3, 1), (3, 2), (3, 3), (4, 1)] {
            for code in 0..usize::pow(count, steps as u32) {
                let reached: Vec<usize> =
                    (0..steps).map(|at| code / usize::pow(count, at as u32) % count + 1).collect();
                let limits: Vec<f64> = reached.iter().map(|&reached| reached as f64).collect();
                let least = least_transfers(count as f64, &limits);
                let Some(fewest) = fewest(count, &reached) else { continue };
                let least = least.expect("there are transfers");
                assert!(least <= fewest + 1e-9, "{count} {reached:?}: {least} and {fewest}");
                is_attained |= (fewest - least).abs() < 1e-9;
            }
        }
        assert!(is_attained);
    }
}
