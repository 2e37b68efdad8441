//! Circuits of all steps chosen together: a base in the first step, and for the heaviest pairs the other ports of all.
//!
//! One after another, ports of any step go to the pair that has most bytes for each circuit that it would then
//! have (`heaviest.rs`). The union is split into matchings, as many as its largest degree (Kőnig 1916), which are dealt
//! to the steps in turn, so that every step has heavy and light pairs.

use std::collections::BTreeMap;

use model::Rank;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::unequal::demand::Demand;
use crate::unequal::heaviest;
use crate::unequal::wiring::Wiring;

/// Topologies of this many steps and ports: `base` in the first, the other ports of all for the pairs that weigh most.
pub(super) fn wirings(
    weights: &Demand,
    (steps, ports): (usize, usize),
    base: &Wiring,
    random: &mut ChaCha8Rng,
) -> Vec<Wiring> {
    let ranks = weights.ranks();
    let mut all = Wiring::dark(ranks, steps * ports);
    let circuits = |wiring: &Wiring| -> Vec<(Rank, Rank)> {
        let joined = |circuit| Some((wiring.tail(circuit), wiring.head(circuit)?));
        (0..wiring.circuits()).filter_map(joined).collect()
    };
    let of_base = circuits(base);
    of_base.iter().for_each(|&(src, dst)| all.join(src, dst));
    heaviest::fill(&mut all, weights);
    heaviest::light(&mut all, weights);
    let mut rest = circuits(&all);
    let mut placed: BTreeMap<(Rank, Rank), usize> = BTreeMap::new();
    of_base.iter().for_each(|pair| *placed.entry(*pair).or_default() += 1);
    rest.retain(|pair| match placed.get_mut(pair) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    rest.sort_unstable();
    rest.shuffle(random);
    let mut made: Vec<Wiring> = (0..steps).map(|_| Wiring::dark(ranks, ports)).collect();
    // Circuits into each rank, by step and rank.
    let mut into = vec![0; steps * ranks];
    for &(src, dst) in &of_base {
        made[0].join(src, dst);
        into[dst as usize] += 1;
    }
    let in_first = ports - base.ports();
    for (&pair, colour) in rest.iter().zip(coloured(ranks, &rest)) {
        let step = match colour.checked_sub(in_first) {
            Some(later) if steps > 1 => 1 + later % (steps - 1),
            _ => 0,
        };
        // Where a base has no circuit for some port, its matching may not fit the step that it is dealt to.
        let has_ports =
            |step: &usize| made[*step].out(pair.0).count() < ports && into[*step * ranks + pair.1 as usize] < ports;
        if let Some(step) = (step..steps).chain(0..step).find(has_ports) {
            made[step].join(pair.0, pair.1);
            into[step * ranks + pair.1 as usize] += 1;
        }
    }
    made
}

/// A colour of each circuit, such that circuits of one colour form a matching; as many colours as the largest degree.
/// O(circuits · ranks).
fn coloured(ranks: usize, circuits: &[(Rank, Rank)]) -> Vec<usize> {
    let (mut out, mut into) = (vec![0; ranks], vec![0; ranks]);
    for &(src, dst) in circuits {
        out[src as usize] += 1;
        into[dst as usize] += 1;
    }
    let colours = out.iter().chain(&into).copied().max().unwrap_or(0);
    // By rank and colour, the circuit out of it and the one into it.
    let mut leaving: Vec<Option<usize>> = vec![None; ranks * colours];
    let mut entering: Vec<Option<usize>> = vec![None; ranks * colours];
    let mut colour_of = vec![0; circuits.len()];
    for (circuit, &(src, dst)) in circuits.iter().enumerate() {
        let (src, dst) = (src as usize * colours, dst as usize * colours);
        let free = |taken: &[Option<usize>]| taken.iter().position(Option::is_none).unwrap_or(0);
        let one = free(&leaving[src..src + colours]);
        let other = free(&entering[dst..dst + colours]);
        if entering[dst + one].is_some() {
            // The path of circuits of both colours from the receiver on: exchanged, it frees `one` there.
            let mut path = Vec::new();
            let (mut next, mut is_into) = (entering[dst + one], true);
            while let Some(on_path) = next {
                path.push(on_path);
                let (tail, head) = circuits[on_path];
                next = if is_into {
                    leaving[tail as usize * colours + other]
                } else {
                    entering[head as usize * colours + one]
                };
                is_into = !is_into;
            }
            for &on_path in &path {
                let (tail, head) = circuits[on_path];
                leaving[tail as usize * colours + colour_of[on_path]] = None;
                entering[head as usize * colours + colour_of[on_path]] = None;
            }
            for &on_path in &path {
                let (tail, head) = circuits[on_path];
                let colour = if colour_of[on_path] == one { other } else { one };
                colour_of[on_path] = colour;
                leaving[tail as usize * colours + colour] = Some(on_path);
                entering[head as usize * colours + colour] = Some(on_path);
            }
        }
        colour_of[circuit] = one;
        leaving[src + one] = Some(circuit);
        entering[dst + one] = Some(circuit);
    }
    colour_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn circuits_of_a_colour_are_a_matching(
            circuits in prop::collection::vec((0u32..9, 0u32..9), 1..60),
        ) {
            let colours = coloured(9, &circuits);
            let mut degrees = [[0; 9]; 2];
            for &(src, dst) in &circuits {
                degrees[0][src as usize] += 1;
                degrees[1][dst as usize] += 1;
            }
            let most = degrees.iter().flatten().max().unwrap();
            prop_assert!(colours.iter().all(|colour| colour < most));
            for (place, (circuit, colour)) in circuits.iter().zip(&colours).enumerate() {
                for (other, other_colour) in circuits.iter().zip(&colours).skip(place + 1) {
                    prop_assert!(colour != other_colour || (circuit.0 != other.0 && circuit.1 != other.1));
                }
            }
        }
    }
}
