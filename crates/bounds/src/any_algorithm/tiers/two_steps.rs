//! An AllReduce in two steps on one topology.
//!
//! In the first step a GPU u receives contributions of single GPUs to a chunk, in the second it sends sums of those that
//! it has. Let in(u) be the number of contributions at u, and out(u) the number of GPUs that get its sum, both with u
//! itself. Every pair of a GPU that contributes and one that needs the sum meets at some u, so Σ in(u)·out(u) ≥ n². Paths
//! of at most d seconds reach N(d) GPUs. From in ≤ N(d₁) and out ≤ N(d₂) the second step has n²/N(d₁) − n transfers of
//! the chunk at least, and the first n²/N(d₂) − n. A step without circuits brings no island what another has: all that a
//! GPU needs of G − 1 others comes, or all that it has goes, over circuits in the other step, by each GPU for itself.

use super::words::{Tiers, Word};

/// The least sum of hop delays and of seconds of bytes, as a pair; the latter are no less than `bytes_s`, those of an
/// AllReduce in any number of steps.
pub(super) fn least_s(tiers: &Tiers, words: &[Word], bytes_s: f64) -> (f64, f64) {
    let mut delays_s: Vec<f64> = words.iter().map(|word| word.delay_s(tiers)).collect();
    delays_s.sort_by(f64::total_cmp);
    delays_s.dedup();
    let reached = |delay_s: f64| {
        let within = words.iter().filter(|word| word.delay_s(tiers) <= delay_s);
        within.map(|word| word.count).sum::<f64>().min(tiers.ranks)
    };
    let mut known: Vec<(f64, f64)> = Vec::new();
    for delay_s in delays_s {
        known.push((delay_s, reached(delay_s)));
        if known.last().is_some_and(|(_, reached)| *reached >= tiers.ranks) {
            break;
        }
    }
    let chunk_s = 1.0 / (1.0 / tiers.switch_s + tiers.ports / tiers.circuit_s);
    let pairs = known.iter().flat_map(|first| known.iter().map(move |second| (first, second)));
    let all = pairs.map(|((first_s, near), (second_s, far))| {
        let transfers = (tiers.ranks / near - 1.0) + (tiers.ranks / far - 1.0);
        let crossing_s = if first_s.min(*second_s) < tiers.outside_s {
            (tiers.islands - 1.0) * tiers.circuit_s / tiers.ports
        } else {
            0.0
        };
        (first_s + second_s, bytes_s.max(transfers * chunk_s).max(crossing_s))
    });
    all.min_by(|one, other| (one.0 + one.1).total_cmp(&(other.0 + other.1))).unwrap_or((0.0, bytes_s))
}

#[cfg(test)]
mod tests {
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
    fn no_two_steps_of_two_islands_of_two_take_less() {
        for (inside_s, outside_s) in [(1.0, 1.0), (1.0, 3.0), (2.0, 1.0)] {
            for (circuit_s, switch_s) in [(4.0, 1.0), (0.1, 0.05), (40.0, 10.0), (1.0, 10.0)] {
                let shape = (2.0, 2.0, 1.0, 4.0);
                let (gpus, islands, ports, ranks) = shape;
                let tiers = Tiers { gpus, islands, ports, ranks, inside_s, outside_s, circuit_s, switch_s };
                let bytes_s = 1.5 / (1.0 / switch_s + 1.0 / circuit_s);
                let (delays_s, seconds) = least_s(&tiers, &words(&tiers, 1), bytes_s);
                let known_s = exhaustive_s(&tiers);
                assert!(delays_s + seconds <= known_s * (1.0 + 1e-12), "{delays_s} + {seconds} and {known_s}");
            }
        }
    }
}
