//! Bruck's pattern in the steps of a schedule, under any name of the algorithm.

use std::ops::Range;

use model::{Collective, Schedule, Step, Translations};

/// Steps that go once through the distances r^k, all r−1 multiples of one in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// The steps of the schedule.
    pub(super) steps: Range<usize>,
    /// Whether distance 1 comes first.
    pub(super) rises: bool,
}

/// Steps in which every rank u sends to u + z·r^k for z = 1 … r−1, and to u − z·r^k as well where circuits are
/// used both ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// One run for a ReduceScatter, AllGather or All-to-All, two for their AllReduce.
    pub(super) runs: Vec<Run>,
    /// r^k of every step.
    pub(super) distances: Vec<u32>,
    /// Whether every rank has one peer in each direction at most, and none backward.
    pub(super) is_single: bool,
}

impl Pattern {
    /// The pattern of `schedule`, if it has one. O(steps · peers).
    pub(super) fn of(schedule: &Schedule) -> Option<Self> {
        let steps = schedule.steps();
        let all_ranks_alike = Translations::cyclic(schedule.ranks());
        if steps.iter().any(|step| *step.traffic().symmetry() != all_ranks_alike) {
            return None;
        }
        let peers = steps.iter().map(|step| step.traffic().arcs().len() as u32).max()?;
        // Both ways round, peers of the two directions coincide only where they are all ranks there are.
        let largest = if peers + 1 == schedule.ranks() { peers + 1 } else { peers / 2 + 1 };
        Self::with_radix(schedule, peers + 1, false)
            .or_else(|| (peers / 2 + 1..=largest).find_map(|radix| Self::with_radix(schedule, radix, true)))
    }

    fn with_radix(schedule: &Schedule, radix: u32, two_way: bool) -> Option<Self> {
        if radix < 2 {
            return None;
        }
        let ranks = schedule.ranks();
        let powers = std::iter::successors(Some(1u32), |power| power.checked_mul(radix));
        let rising: Vec<u32> = powers.take_while(|&power| power < ranks).collect();
        let falling: Vec<u32> = rising.iter().rev().copied().collect();
        let (mut runs, mut distances) = (Vec::new(), Vec::new());
        for run in schedule.steps().chunks(rising.len()) {
            let goes = |order: &[u32]| {
                run.len() == order.len()
                    && run.iter().zip(order).all(|(step, &power)| sends_to(step, ranks, radix, power, two_way))
            };
            // Both ways round, few ranks have the same peers in either order: ±1, ±2, ±4 on five.
            let gathers = schedule.collective() == Collective::AllGather || !runs.is_empty();
            let rises = if gathers { !goes(&falling) } else { goes(&rising) };
            if !goes(if rises { &rising } else { &falling }) {
                return None;
            }
            let begin = distances.len();
            distances.extend(if rises { &rising } else { &falling });
            runs.push(Run { steps: begin..distances.len(), rises });
        }
        Some(Self { runs, distances, is_single: radix == 2 && !two_way })
    }
}

/// Whether the peers of rank 0 in `step` are z·`power` below `ranks`, and their opposites where `two_way`.
fn sends_to(step: &Step, ranks: u32, radix: u32, power: u32, two_way: bool) -> bool {
    let ahead = (1..radix).filter_map(|z| z.checked_mul(power)).take_while(|&distance| distance < ranks);
    let mut expected: Vec<u32> = ahead.collect();
    if two_way {
        expected.extend(expected.clone().into_iter().map(|distance| ranks - distance));
        expected.sort_unstable();
        expected.dedup();
    }
    step.traffic().arcs().iter().map(|arc| arc.dst).eq(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use collectives::Options;
    use model::Shape;

    fn runs(algorithm: &str, collective: Collective, gpus: u32, radix: u32) -> Option<Vec<bool>> {
        let options = Options { radix: Some(radix), ..Options::default() };
        let algorithm = collectives::find(algorithm).unwrap();
        let schedule = algorithm.build(collective, &Shape::new(gpus, &[], 1).unwrap(), &options).unwrap();
        Pattern::of(&schedule).map(|pattern| pattern.runs.into_iter().map(|run| run.rises).collect())
    }

    #[test]
    fn orders_are_recognised_for_any_n_and_radix() {
        for gpus in [5, 7, 12, 16, 27, 64, 100] {
            for radix in 2..=4 {
                for name in ["bruck-doubling", "bruck-mirrored"] {
                    let of = |collective| runs(name, collective, gpus, radix);
                    assert_eq!(of(Collective::ReduceScatter), Some(vec![true]), "{name} {gpus} {radix}");
                    assert_eq!(of(Collective::AllGather), Some(vec![false]), "{name} {gpus} {radix}");
                    assert_eq!(of(Collective::AllReduce), Some(vec![true, false]), "{name} {gpus} {radix}");
                }
                assert_eq!(runs("bruck", Collective::AllToAll, gpus, radix), Some(vec![true]));
                assert_eq!(runs("bruck", Collective::ReduceScatter, gpus, radix), Some(vec![false]));
            }
        }
        assert_eq!(runs("recursive-doubling", Collective::AllReduce, 32, 2), Some(vec![true, false]));
        assert_eq!(runs("dissemination", Collective::AllReduce, 32, 2), Some(vec![true]));
    }

    #[test]
    fn other_patterns_are_not() {
        for (name, collective) in [
            ("ring", Collective::ReduceScatter),
            ("direct", Collective::AllToAll),
            ("halving-doubling", Collective::AllReduce),
            ("swing", Collective::AllReduce),
            ("binomial-tree", Collective::Broadcast),
        ] {
            assert_eq!(runs(name, collective, 16, 2), None, "{name}");
        }
    }
}
