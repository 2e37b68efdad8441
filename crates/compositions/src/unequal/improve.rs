//! Better topologies by exchanges: two circuits give each other their heads, or two ranks each other's places.

use model::Rank;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::demand::Demand;
use super::way::{Estimate, Evaluator, Way};

/// Circuits among which the busiest is taken, and pairs among which the one that puts most on circuits.
const DRAWN: usize = 4;

/// Exchanges in a row that lower nothing after which the search ends, for each rank.
const PATIENCE: usize = 8;

/// The way after exchanges that lower what it costs, a hop being worth `hop` of load, and its estimate. Deterministic.
/// `moves` estimates at most.
pub(crate) fn improved(
    evaluator: &mut Evaluator<'_>,
    demand: &Demand,
    way: Way,
    hop: f64,
    moves: usize,
) -> Option<(Way, Estimate)> {
    let mut best = way;
    let mut estimate = evaluator.estimate(&best)?;
    let pairs = demand.pairs();
    let first = usize::from(best.from_start);
    if first == best.wirings.len() || pairs.is_empty() {
        return Some((best, estimate));
    }
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut loads = loads_of(evaluator, &best);
    let mut failed = 0;
    for _ in 0..moves {
        interruption::check();
        if failed > PATIENCE * demand.ranks() {
            break;
        }
        let step = random.random_range(first..best.wirings.len());
        let mut tried = best.clone();
        if !exchange(&mut tried, step, &loads[step], demand, &pairs, &mut random) {
            failed += 1;
            continue;
        }
        match evaluator.estimate(&tried) {
            Some(found) if found.weighed(hop) < estimate.weighed(hop) * (1.0 - 1e-9) => {
                loads = loads_of(evaluator, &tried);
                (best, estimate, failed) = (tried, found, 0);
            }
            _ => failed += 1,
        }
    }
    Some((best, estimate))
}

fn loads_of(evaluator: &Evaluator<'_>, way: &Way) -> Vec<Vec<f64>> {
    (0..way.wirings.len()).map(|step| evaluator.loads(step).to_vec()).collect()
}

/// Makes one exchange on the topology of a step; false where it came to nothing.
fn exchange(
    way: &mut Way,
    step: usize,
    loads: &[f64],
    demand: &Demand,
    pairs: &[(Rank, Rank)],
    random: &mut ChaCha8Rng,
) -> bool {
    let wiring = &mut way.wirings[step];
    let ranks = wiring.ranks() as Rank;
    match random.random_range(0..if wiring.ports() == 1 { 1 } else { 4 }) {
        0 => {
            let (one, other) = (random.random_range(0..ranks), random.random_range(0..ranks));
            wiring.exchange_ranks(one, other);
            one != other
        }
        1 => {
            // The busiest of some circuits, and any other.
            let drawn = (0..DRAWN).map(|_| random.random_range(0..loads.len()));
            let busiest = drawn.max_by(|a, b| loads[*a].total_cmp(&loads[*b])).unwrap_or(0);
            wiring.exchange_heads(busiest, random.random_range(0..loads.len()))
        }
        _ => {
            // A circuit for the largest of some pairs, by the least busy circuits of its ends.
            let drawn = (0..DRAWN).map(|_| pairs[random.random_range(0..pairs.len())]);
            let share = |pair: &(Rank, Rank)| demand.share(pair.0, pair.1);
            let Some((src, dst)) = drawn.max_by(|a, b| share(a).total_cmp(&share(b))) else { return false };
            let idle =
                |circuits: &mut dyn Iterator<Item = usize>| circuits.min_by(|a, b| loads[*a].total_cmp(&loads[*b]));
            let from = idle(&mut wiring.out(src).map(|(circuit, _)| circuit));
            let to = idle(&mut (0..wiring.circuits()).filter(|&circuit| wiring.head(circuit) == Some(dst)));
            from.zip(to).is_some_and(|(from, to)| wiring.exchange_heads(from, to))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unequal::wiring::Wiring;
    use model::Piece;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(32)))]

        #[test]
        fn exchanges_keep_ports_and_never_cost_more(
            ranks in 4usize..10, ports in 1usize..4, shares in prop::collection::vec(0.01f64..1.0, 100), hop in 0.0f64..1.0,
        ) {
            let pairs = (0..ranks as Rank).flat_map(|src| (0..ranks as Rank).map(move |dst| (src, dst)));
            let pieces: Vec<Piece> = pairs
                .map(|(src, dst)| Piece { src, dst, share: shares[src as usize * 10 + dst as usize] })
                .collect();
            let demand = Demand::of(ranks as u32, &pieces);
            let wiring = Wiring::rewired(ranks, ports, |rank| {
                (1..=ports as Rank).map(move |ahead| (rank + ahead) % ranks as Rank)
            });
            let way = Way { wirings: vec![wiring.clone(), wiring.clone()], from_start: true };
            let mut evaluator = Evaluator::new(&demand);
            let before = evaluator.estimate(&way).unwrap();
            let (better, after) = improved(&mut evaluator, &demand, way.clone(), hop, 200).unwrap();
            prop_assert!(after.weighed(hop) <= before.weighed(hop));
            prop_assert_eq!(&better.wirings[0], &wiring);
            let mut into = vec![0; ranks];
            for circuit in 0..wiring.circuits() {
                prop_assert_eq!(better.wirings[1].head(circuit).is_some(), wiring.head(circuit).is_some());
                if let Some(head) = better.wirings[1].head(circuit) {
                    prop_assert!(head != better.wirings[1].tail(circuit));
                    into[head as usize] += 1;
                }
            }
            prop_assert!(into.iter().all(|&count| count <= ports));
            let again = improved(&mut Evaluator::new(&demand), &demand, way, hop, 200).unwrap();
            prop_assert_eq!(again, (better, after));
        }
    }
}
