//! An AllReduce whose two passes run at the same time, each on data of its own.
//!
//! The data are cut into segments. While one is gathered the next is reduced, step by step, so that links which one
//! pass leaves idle serve the other: at the corner of a grid a ReduceScatter keeps the circuits out busy and an
//! AllGather those in. It costs the steps of another pass for each further segment.

use std::collections::BTreeMap;

use model::Rank;

/// The load of the circuits of each link in a step, in chunks; one link for its images.
pub(crate) type Loads = BTreeMap<(Rank, Rank), f64>;

/// The cost of one pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassCost {
    pub(crate) steps: usize,
    pub(crate) rounds: f64,
}

impl PassCost {
    pub(crate) fn of(loads: &[Loads]) -> Self {
        Self { steps: loads.len(), rounds: loads.iter().map(busiest).sum() }
    }
}

fn busiest(loads: &Loads) -> f64 {
    loads.values().copied().fold(0.0, f64::max)
}

/// The two passes step by step at a time.
pub(crate) fn together(reduce: &[Loads], gather: &[Loads]) -> PassCost {
    let steps = reduce.len().max(gather.len());
    let nothing = Loads::new();
    let rounds = (0..steps).map(|step| {
        let (one, other) = (reduce.get(step).unwrap_or(&nothing), gather.get(step).unwrap_or(&nothing));
        let both = one.iter().map(|(link, load)| load + other.get(link).unwrap_or(&0.0));
        both.fold(busiest(other), f64::max)
    });
    PassCost { steps, rounds: rounds.sum() }
}

/// The best number of segments up to `most` and the seconds with it: a step costs `step_s`, a chunk of the data in one
/// segment `chunk_s`.
pub(crate) fn best_segments(passes: [PassCost; 2], both: PassCost, step_s: f64, chunk_s: f64, most: u32) -> (u32, f64) {
    let [reduce, gather] = passes;
    let seconds = |segments: u32| {
        let (between, segments) = (f64::from(segments - 1), f64::from(segments));
        let steps = (reduce.steps + gather.steps) as f64 + between * both.steps as f64;
        let rounds = reduce.rounds + gather.rounds + between * both.rounds;
        steps * step_s + rounds / segments * chunk_s
    };
    let all = (1..=most.max(1)).map(|segments| (segments, seconds(segments)));
    all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1, f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(steps: &[&[(Rank, f64)]]) -> Vec<Loads> {
        steps.iter().map(|step| step.iter().map(|&(src, load)| ((src, src + 1), load)).collect()).collect()
    }

    #[test]
    fn passes_on_different_links_take_the_longer_and_on_the_same_the_sum() {
        let reduce = loads(&[&[(0, 3.0), (1, 1.0)], &[(0, 2.0)]]);
        let gather = loads(&[&[(1, 2.5)], &[(1, 1.0)], &[(0, 1.0)]]);
        let both = together(&reduce, &gather);
        assert_eq!((both.steps, both.rounds), (3, 3.5 + 2.0 + 1.0));
        let same = together(&reduce, &reduce);
        assert_eq!((same.steps, same.rounds), (2, 2.0 * PassCost::of(&reduce).rounds));
    }

    #[test]
    fn segments_pay_where_bytes_outweigh_steps() {
        let pass = PassCost { steps: 10, rounds: 100.0 };
        // Nothing is gained where both passes load the same links, nor where steps are dear.
        let twice = PassCost { steps: 10, rounds: 200.0 };
        assert_eq!(best_segments([pass, pass], twice, 1e-6, 1e-6, 16).0, 1);
        let half = PassCost { steps: 10, rounds: 100.0 };
        assert_eq!(best_segments([pass, pass], half, 1.0, 1e-9, 16).0, 1);
        // (20 + 10(s − 1)) + (200 + 100(s − 1))/s = 10(s + 1) + 100(1 + 1/s) µs: least at s = √10.
        assert_eq!(best_segments([pass, pass], half, 1e-6, 1e-6, 16).0, 3);
    }
}
