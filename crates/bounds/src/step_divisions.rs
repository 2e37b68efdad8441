//! The cheapest division of hops into steps, by the lower bound on the load of the busiest circuits.

use crate::cutoffs::step_divisions::{MOST_DIVISIONS, MOST_MORE_HOPS, MOST_TIMES_FARTHEST, SINGLE};
use crate::step_loads::StepLoads;

/// A number of steps, the hops of all together, and the sum of their loads on the busiest circuits, over the buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Division {
    pub(crate) steps: u32,
    pub(crate) hops: u32,
    pub(crate) load: f64,
}

/// The seconds of a division; more for more steps, hops or load.
pub(crate) type Seconds<'a> = &'a dyn Fn(Division) -> f64;

/// Other lower bounds on the load of a division into steps.
pub(crate) struct Known<'a> {
    /// By hops: of a division of no more.
    pub(crate) by_hops: &'a dyn Fn(u32) -> f64,
    /// By steps: of a division into no more.
    pub(crate) by_steps: &'a dyn Fn(u32) -> f64,
}

/// A division that takes no longer than any, where one takes less than `limit_s`. Divisions of many hops are looked at
/// by what else is known alone.
pub(crate) fn cheapest(loads: &StepLoads, seconds: Seconds, known: &Known, limit_s: f64) -> Option<Division> {
    let mut search = Search { loads, seconds, limit_s, best: None };
    let any = (known.by_hops)(u32::MAX);
    let farthest = loads.farthest().max(1);
    let mut hops = farthest;
    while hops <= MOST_TIMES_FARTHEST * farthest && !search.is_beaten(Division { steps: 1, hops, load: any }) {
        interruption::check();
        let is_divided = hops <= farthest + MOST_MORE_HOPS;
        // Beyond, in groups: a Broadcast may have hops that it does not use, so that more put no more on circuits.
        let last = hops + if is_divided { 0 } else { (hops - farthest) / SINGLE };
        let by_hops = (known.by_hops)(last);
        let least = |steps: u32| by_hops.max((known.by_steps)(steps));
        if is_divided {
            search.of_hops(hops, &least);
        } else {
            (1..=last).for_each(|steps| search.consider(Division { steps, hops: hops.max(steps), load: least(steps) }));
        }
        hops = last + 1;
    }
    search.consider(Division { steps: 1, hops, load: any });
    search.best
}

struct Search<'a> {
    loads: &'a StepLoads,
    seconds: Seconds<'a>,
    limit_s: f64,
    best: Option<Division>,
}

impl Search<'_> {
    fn is_beaten(&self, division: Division) -> bool {
        (self.seconds)(division) >= self.limit_s
    }

    fn consider(&mut self, division: Division) {
        let seconds = (self.seconds)(division);
        if seconds < self.limit_s {
            self.limit_s = seconds;
            self.best = Some(division);
        }
    }

    /// Every number of steps of so many hops in all.
    fn of_hops(&mut self, hops: u32, least: &dyn Fn(u32) -> f64) {
        let any = self.loads.least_of_any(hops);
        let mut divisions = 1_u64;
        for steps in (1..=hops).rev() {
            let load = least(steps).max(any[(hops - steps) as usize]);
            if steps == hops || divisions > MOST_DIVISIONS {
                self.consider(Division { steps, hops, load });
            } else {
                self.of_steps(&mut vec![0; steps as usize], 0, hops, load);
            }
            divisions = divisions.saturating_mul(u64::from(steps - 1)) / u64::from(hops - steps + 1);
        }
    }

    /// All ways to divide `left` hops among the steps from `at` on.
    fn of_steps(&mut self, division: &mut [u32], at: usize, left: u32, load: f64) {
        interruption::check();
        let (steps, hops) = (division.len() as u32, left + division[..at].iter().sum::<u32>());
        if self.is_beaten(Division { steps, hops, load }) {
            return;
        }
        if at + 1 < division.len() {
            for step in 1..=left - (steps - at as u32 - 1) {
                division[at] = step;
                self.of_steps(division, at + 1, left - step, load);
            }
            return;
        }
        division[at] = left;
        if !self.is_beaten(Division { steps, hops, load: self.loads.least_by_rows(division) }) {
            self.consider(Division { steps, hops, load: load.max(self.loads.least(division)) });
        }
    }
}
