//! Fronts of many steps on one topology, which share a limit on work.

use crate::ProfileTable;
use crate::cutoffs::limited_fronts::MANY_RANKS;
use crate::profile_table::LEAST_MIRRORED_WORK;

impl ProfileTable {
    /// The work on each front of a candidate under concurrent flow where those of all patterns would take seconds:
    /// decided only by the schedule and the candidate, so that every planner is told the same.
    pub(crate) fn work_of_front(&self, candidate: usize) -> Option<u64> {
        *self.work_of_each[candidate].get_or_init(|| {
            let own = |&pattern: &usize| {
                !self.estimates(pattern).exact[candidate] && self.solved_for(pattern, candidate) == pattern
            };
            let works = (0..self.patterns().len()).filter(own).map(|own| self.front_work(own, candidate));
            let costly: Vec<u64> = works.filter(|&work| work >= LEAST_MIRRORED_WORK).collect();
            let all = costly.iter().copied().fold(0, u64::saturating_add);
            // With many GPUs the rest of the planning takes longer, too, so flows get a smaller share of the work.
            let most = self.most_work >> (2 * u32::from(self.schedule().ranks() > MANY_RANKS));
            (all > most).then(|| most / costly.len() as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collectives::Options;
    use fronts::Front;
    use model::{Collective, Routing, Shape};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(draws::cases(12)))]

        /// However little is spent on the fronts of a Kautz graph, the exact loads are between the two sides of theirs;
        /// and with enough they are within the gap that is asked for.
        #[test]
        fn limited_fronts_are_around_the_exact_ones(gpus in 18u32..24, ports in 4u32..6, log_work in 0u32..32) {
            let shape = Shape::new(gpus, &[], ports).unwrap();
            let direct = collectives::find("direct").unwrap();
            let schedule = direct.build(Collective::AllToAll, &shape, &Options::default()).unwrap();
            let kautz = topologies::build("kautz", &shape).unwrap();
            let table = || ProfileTable::new(schedule.clone(), std::slice::from_ref(&kautz), Routing::ConcurrentFlow, None).unwrap();
            let (exact, mut limited) = (table(), table());
            limited.most_work = 1 << log_work;
            let works = (0..exact.patterns().len()).map(|pattern| exact.front_work(pattern, 0));
            let costly: Vec<u64> = works.filter(|&work| work >= LEAST_MIRRORED_WORK).collect();
            prop_assert_eq!(exact.work_of_front(0), None);
            let is_limited = limited.work_of_front(0).is_some();
            // One of two patterns that are each other's mirror images is solved.
            prop_assert!(is_limited || costly.iter().sum::<u64>() / 2 <= limited.most_work);
            prop_assert!(!is_limited || costly.iter().sum::<u64>() > limited.most_work);
            for pattern in 0..exact.patterns().len() {
                let (exact, front) = (exact.front(pattern, 0).unwrap(), limited.front(pattern, 0).unwrap());
                let at = |front: &Front, hops: u32| front.points().iter().rfind(|point| point.hops <= hops).copied().unwrap();
                for point in exact.points() {
                    let near = at(front, point.hops);
                    prop_assert!(point.load <= near.load * (1.0 + 1e-9));
                    prop_assert!(near.hops < point.hops || near.lower <= point.load * (1.0 + 1e-9));
                    prop_assert!(log_work < 30 || near.load <= point.load * (1.0 + 2e-3), "{near:?} and {point:?}");
                }
                for point in front.points() {
                    let (_, behind) = limited.routes(pattern, 0, point.hops).unwrap();
                    prop_assert_eq!(behind, *point);
                }
            }
        }
    }
}
