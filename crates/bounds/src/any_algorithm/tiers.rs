//! Fabrics of two tiers: islands of k GPUs round an electrical switch of rate E a GPU, next to p ports of rate B.
//!
//! - *Contraction*: an island as one node with the ports of all its GPUs, what is inside it being free, is a fabric of
//!   circuits alone; its bound holds.
//! - *Joint bytes*: in a second a GPU receives, or sends, E + p·B bytes at most.
//! - *Words*: a path is a word of hops over circuits and inside islands, no two inside hops next to each other. With a
//!   of the former and b of the latter, p^a·(k − 1)^b GPUs at most are reached on each topology, and as many times more
//!   as the a hops can be divided over K topologies. The longest path in use pays for all hops of the word.
//! - *Prices*: with prices y_o and y_e of a byte's hops for which p·B·y_o + E·y_e = 1, a second is worth 1 at each GPU;
//!   what a GPU sends to n − 1 others in All-to-All costs no less than the n − 1 cheapest words.
//! - *One step*: no GPU passes on a copy or a sum in the step in which it gets it, so that one step brings every pair of
//!   GPUs its own bytes; more than one pays for two startups.
//! - *Few steps*: those of an AllReduce bring every pair together after each of them, which takes far paths or many bytes
//!   (`several_steps.rs`); more steps pay for their startups.

mod several_steps;
mod words;

use model::{Collective, Electrical, Piece, counted};

use crate::cutoffs::any_algorithm_tiers::{MOST_PRICES, MOST_STEPS, MOST_TOPOLOGIES};
use crate::rates::Rates;
use crate::statement::{Statement, largest};
use words::{Tiers, Word, words};

/// A bound for a fabric without electrical switches. The last argument is the seconds that one circuit takes for the
/// whole buffer.
type OnCircuits = fn(Collective, Option<&[Piece]>, &Rates, f64) -> Statement;

/// The largest bound for any algorithm on both tiers.
pub(super) fn bound(
    electrical: &Electrical,
    collective: Collective,
    pieces: Option<&[Piece]>,
    rates: &Rates,
    size_bytes: f64,
    on_circuits: OnCircuits,
) -> Statement {
    let islands = rates.ranks / electrical.gpus;
    let tiers = Tiers {
        gpus: f64::from(electrical.gpus),
        islands: f64::from(islands),
        ports: f64::from(rates.ports),
        ranks: f64::from(rates.ranks),
        inside_s: electrical.hop_delay_s,
        outside_s: rates.hop_s,
        circuit_s: rates.byte_s * size_bytes,
        switch_s: electrical.byte_s() * size_bytes,
    };
    let contracted = (islands > 1 && rates.charges_hops)
        .then(|| contraction((electrical.gpus, islands), collective, pieces, (rates, &tiers), on_circuits));
    let class = format!(
        "any algorithm for {} on islands of {} GPUs round an electrical switch and any circuits of {}, any \
         reconfigurations",
        collective.name(),
        electrical.gpus,
        counted(u64::from(rates.ports), "port")
    );
    let joint = joint(collective, pieces, rates, &tiers, &class);
    let all = contracted.map(|bound| Statement { class: class.clone(), ..bound });
    largest(all.into_iter().chain([joint])).expect("there is the second")
}

/// The bound of islands as nodes with the ports of all their GPUs.
fn contraction(
    (gpus, islands): (u32, u32),
    collective: Collective,
    pieces: Option<&[Piece]>,
    (rates, tiers): (&Rates, &Tiers),
    on_circuits: OnCircuits,
) -> Statement {
    let contracted = Rates { ranks: islands, ports: rates.ports.saturating_mul(gpus), ..*rates };
    // The buffer of an island has the blocks of all its GPUs where they send blocks of their own.
    let buffer_s = match collective {
        Collective::AllToAll => tiers.circuit_s * tiers.gpus,
        _ => tiers.circuit_s,
    };
    let pieces: Option<Vec<Piece>> = pieces.map(|pieces| {
        let between = pieces.iter().filter(|piece| piece.src / gpus != piece.dst / gpus);
        between
            .map(|piece| Piece { src: piece.src / gpus, dst: piece.dst / gpus, share: piece.share / tiers.gpus })
            .collect()
    });
    on_circuits(collective, pieces.as_deref(), &contracted, buffer_s)
}

/// Startups, hops and changes by words, and the bytes of both tiers together.
fn joint(collective: Collective, pieces: Option<&[Piece]>, rates: &Rates, tiers: &Tiers, class: &str) -> Statement {
    let at_gpu = match (collective, pieces) {
        (_, Some(pieces)) => busiest(pieces, rates.ranks),
        (Collective::AllReduce, _) => 2.0 * (tiers.ranks - 1.0) / tiers.ranks,
        (Collective::Broadcast | Collective::Reduce, _) => 1.0,
        _ => (tiers.ranks - 1.0) / tiers.ranks,
    };
    let joint_s = at_gpu / (1.0 / tiers.switch_s + tiers.ports / tiers.circuit_s);
    let statement = |steps: u32, topologies: u32, propagation_s: f64, transmission_s: f64| Statement {
        name: "two tiers",
        class: class.to_string(),
        why: "a GPU sends over its ports and through its switch at once at most what both carry, and every path pays \
              for its hops on either",
        startup_s: rates.startup_s * f64::from(steps),
        propagation_s,
        transmission_s,
        reconfiguration_s: rates.change_s * f64::from(topologies - 1),
        topologies,
        steps,
        segments: Vec::new(),
    };
    // Where a step's hops are not charged for each, one step and its bytes are all that is sure; so where few pieces
    // need not reach all GPUs.
    if !rates.charges_hops || rates.overlaps || pieces.is_some() {
        return statement(1, 1, 0.0, joint_s);
    }
    let of_topologies = |topologies: u32| {
        let words = words(tiers, topologies);
        let bytes_s = match collective {
            Collective::AllToAll => priced_s(tiers, &words).max(joint_s),
            _ => joint_s,
        };
        let delay_s = latency_s(tiers, &words);
        if topologies > 1 {
            return statement(topologies, topologies, delay_s, bytes_s);
        }
        let at_once_s = match collective {
            Collective::AllReduce => tiers.ranks * priced_s(tiers, &words),
            Collective::AllGather | Collective::ReduceScatter => priced_s(tiers, &words),
            Collective::Broadcast | Collective::Reduce => (tiers.ranks - 1.0) * joint_s,
            Collective::AllToAll | Collective::Gather | Collective::Scatter => 0.0,
        };
        let one = statement(1, 1, delay_s, bytes_s.max(at_once_s));
        let more = match collective {
            Collective::AllReduce => {
                let of_steps = |steps: u32| {
                    let (delays_s, bytes_s) = several_steps::least_s(tiers, &words, steps as usize, (delay_s, bytes_s));
                    statement(steps, 1, delays_s, bytes_s)
                };
                (2..=MOST_STEPS).map(of_steps).chain([statement(MOST_STEPS + 1, 1, delay_s, bytes_s)]).collect()
            }
            _ => vec![statement(2, 1, delay_s, bytes_s)],
        };
        more.into_iter().fold(one, |least, other| if least.seconds() < other.seconds() { least } else { other })
    };
    // With more topologies, at least the bytes that leave an island do so over its circuits.
    let more = statement(MOST_TOPOLOGIES + 1, MOST_TOPOLOGIES + 1, 0.0, joint_s);
    let all = (1..=MOST_TOPOLOGIES).map(of_topologies).chain([more]);
    all.min_by(|one, other| one.seconds().total_cmp(&other.seconds())).expect("there is the last")
}

/// The largest part of the buffer that a GPU sends or receives.
fn busiest(pieces: &[Piece], ranks: u32) -> f64 {
    let (mut out, mut into) = (vec![0.0; ranks as usize], vec![0.0; ranks as usize]);
    for piece in pieces.iter().filter(|piece| piece.src != piece.dst) {
        out[piece.src as usize] += piece.share;
        into[piece.dst as usize] += piece.share;
    }
    out.into_iter().chain(into).fold(0.0, f64::max)
}

/// The least sum of hop delays of a path by which a GPU reaches all others, s.
fn latency_s(tiers: &Tiers, words: &[Word]) -> f64 {
    let mut by_delay: Vec<(f64, &Word)> = words.iter().map(|word| (word.delay_s(tiers), word)).collect();
    by_delay.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut gpus, mut islands) = (0.0, 0.0);
    for (delay_s, word) in by_delay {
        gpus += word.count;
        islands += word.islands;
        if gpus >= tiers.ranks && islands >= tiers.islands {
            return delay_s;
        }
    }
    0.0
}

/// Seconds of the blocks that a GPU of All-to-All sends to all others, at the best of some prices.
fn priced_s(tiers: &Tiers, words: &[Word]) -> f64 {
    let block = |part: f64| {
        // The prices weigh the seconds of a block on p circuits and those of a block between a GPU and its switch.
        let outside_s = part * tiers.circuit_s / tiers.ranks / tiers.ports;
        let inside_s = (1.0 - part) * tiers.switch_s / tiers.ranks;
        let price = |word: &&Word| f64::from(word.outside) * outside_s + f64::from(word.inside) * inside_s;
        let mut leaving: Vec<(f64, f64)> =
            words.iter().filter(|word| word.outside > 0).map(|word| (price(&word), word.count)).collect();
        leaving.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut missing = tiers.ranks - tiers.gpus;
        let mut sum_s = 0.0;
        for (price_s, count) in leaving {
            let taken = count.min(missing);
            sum_s += taken * price_s;
            missing -= taken;
            if missing <= 0.0 {
                break;
            }
        }
        sum_s + (tiers.gpus - 1.0) * outside_s.min(inside_s)
    };
    (0..=MOST_PRICES).map(|at| block(f64::from(at) / f64::from(MOST_PRICES))).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use words::binomial;

    fn tiers() -> Tiers {
        Tiers {
            gpus: 2.0,
            islands: 2.0,
            ports: 1.0,
            ranks: 4.0,
            inside_s: 1.0,
            outside_s: 3.0,
            circuit_s: 4.0,
            switch_s: 1.0,
        }
    }

    #[test]
    fn words_of_two_islands_of_two_are_counted_by_hand() {
        // Itself, its mate; over the circuit one GPU, with a hop inside before, after, or both.
        let words = words(&tiers(), 1);
        let of = |outside, inside| {
            let word = words.iter().find(|word| (word.outside, word.inside) == (outside, inside)).unwrap();
            (word.count, word.islands)
        };
        assert_eq!(
            [of(0, 0), of(0, 1), of(1, 0), of(1, 1), of(1, 2)],
            [(1.0, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 1.0), (1.0, 0.0)]
        );
        // The fourth GPU is reached by a circuit and a hop inside.
        assert_eq!(latency_s(&tiers(), &words), 4.0);
        assert_eq!((binomial(5, 2), binomial(3, 0), binomial(2, 3)), (10.0, 1.0, 0.0));
    }

    #[test]
    fn blocks_pay_for_the_cheapest_words() {
        // Circuits alone worth something: two blocks leave, each over one circuit that carries a quarter of m in 1 s.
        let words = words(&tiers(), 1);
        assert!(priced_s(&tiers(), &words) >= 2.0);
    }
}
