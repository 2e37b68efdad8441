//! Offsets of rings that are worth a look where there are too many ranks for all of them.

use std::collections::BTreeSet;

pub(crate) use crate::cutoffs::ring_offsets::MOST_RANKS_FOR_EVERY_OFFSET;
use crate::cutoffs::ring_offsets::{MOST_OFFSETS, MOST_OFFSETS_OF_UNLIKE, MOST_UNLIKE_RANKS};
use model::{Traffic, Translations};

/// Whether there are so many ranks, no two of them alike in some step, that few topologies can be looked at.
pub(crate) fn are_many_and_unlike(ranks: u32, patterns: &[&Traffic]) -> bool {
    let is_unlike = |pattern: &&Traffic| pattern.ranks() == ranks && pattern.symmetry().order() == 1;
    ranks > MOST_UNLIKE_RANKS && patterns.iter().any(is_unlike)
}

/// 1 … n − 1 up to [`MOST_RANKS_FOR_EVERY_OFFSET`]. Beyond it the offsets that occur in the steps, since a ring that no
/// step's transfers take in one hop serves all of them in several; powers of two and the divisors of n, which lead a
/// run of steps whose distances are multiples of each other; and of each the opposite. Ascending.
pub(crate) fn of(ranks: u32, patterns: &[&Traffic]) -> Vec<u32> {
    let are_unlike = are_many_and_unlike(ranks, patterns);
    if ranks <= MOST_RANKS_FOR_EVERY_OFFSET && !are_unlike {
        return (1..ranks).collect();
    }
    let most = if are_unlike { MOST_OFFSETS_OF_UNLIKE } else { MOST_OFFSETS };
    let mut offsets: BTreeSet<u32> =
        (0..ranks.ilog2() + 1).map(|log| 1 << log).filter(|power| *power < ranks).collect();
    offsets.extend((1..ranks).filter(|divisor| ranks.is_multiple_of(*divisor)));
    let cyclic = Translations::cyclic(ranks);
    for pattern in patterns.iter().filter(|pattern| pattern.ranks() == ranks) {
        if offsets.len() >= most / 2 {
            break;
        }
        let common = pattern.symmetry().meet(&cyclic);
        let ahead = |arc: model::TrafficEntry| (arc.dst + ranks - arc.src) % ranks;
        let of_pattern: BTreeSet<u32> = pattern.arcs_under(&common).into_iter().map(ahead).collect();
        let room = most / 2 - offsets.len();
        offsets.extend(of_pattern.into_iter().take(room));
    }
    let opposite: Vec<u32> = offsets.iter().map(|offset| ranks - offset).collect();
    offsets.extend(opposite);
    offsets.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TrafficEntry;

    #[test]
    fn few_ranks_have_every_offset() {
        assert_eq!(of(5, &[]), [1, 2, 3, 4]);
        assert_eq!(of(1024, &[]).len(), 1023);
    }

    #[test]
    fn many_have_those_of_the_steps_and_what_leads_runs_of_them() {
        let ranks = 3000;
        let step = Traffic::new(Translations::cyclic(ranks), [TrafficEntry { src: 0, dst: 731, weight: 1.0 }]).unwrap();
        let pairs =
            (0..ranks).map(|src| TrafficEntry { src, dst: if src % 2 == 0 { src + 1 } else { src - 1 }, weight: 1.0 });
        let pairs = Traffic::new(Translations::trivial(ranks), pairs).unwrap().with_found_symmetry();
        let offsets = of(ranks, &[&step, &pairs]);
        for offset in [1, 2, 3, 512, 1000, 1500, 731, ranks - 1, ranks - 731, ranks - 2048] {
            assert!(offsets.contains(&offset), "{offset}");
        }
        assert!(offsets.len() < 100 && !offsets.contains(&7), "{offsets:?}");
        assert!(offsets.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn where_no_two_ranks_are_alike_those_of_the_steps_are_enough_from_fewer_on() {
        let tree = |ranks: u32| {
            let arcs = (0..ranks / 2).map(|src| TrafficEntry { src, dst: src + ranks / 2, weight: 1.0 });
            Traffic::new(Translations::trivial(ranks), arcs).unwrap()
        };
        assert_eq!(of(512, &[&tree(512)]).len(), 511);
        let (ranks, offsets) = (1000, of(1000, &[&tree(1000)]));
        assert!(offsets.contains(&(ranks / 2)) && offsets.len() <= 64, "{offsets:?}");
    }

    #[test]
    fn there_are_no_more_than_the_limit() {
        let ranks = 8192;
        let arcs = (1..ranks).map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 });
        let all = Traffic::new(Translations::cyclic(ranks), arcs).unwrap();
        assert!(of(ranks, &[&all]).len() <= MOST_OFFSETS);
    }
}
