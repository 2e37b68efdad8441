//! The distinct patterns of a schedule.

use std::collections::BTreeMap;

use fronts::mirrored_traffic;
use model::{Schedule, Traffic};

/// The distinct patterns of a schedule's steps, in the order of their first use.
#[derive(Debug, PartialEq)]
pub(crate) struct Patterns {
    /// The first step of each pattern.
    pub(crate) first_steps: Vec<usize>,
    /// The pattern of each step.
    pub(crate) of_step: Vec<usize>,
}

impl Patterns {
    /// By pattern, the first that is its mirror image or itself. O(patterns · log) where the first arc tells patterns
    /// apart.
    pub(crate) fn images(&self, schedule: &Schedule) -> Vec<usize> {
        let traffic = |pattern: usize| schedule.steps()[self.first_steps[pattern]].traffic();
        let first = |traffic: &Traffic| traffic.arcs().first().map(|arc| (arc.src, arc.dst, traffic.arcs().len()));
        let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for pattern in 0..self.first_steps.len() {
            alike.entry(first(traffic(pattern))).or_default().push(pattern);
        }
        let image = |pattern: usize| {
            let mirrored = mirrored_traffic(traffic(pattern));
            let others = mirrored.as_ref().and_then(|mirrored| alike.get(&first(mirrored)));
            let found = others.into_iter().flatten().find(|&&other| Some(traffic(other)) == mirrored.as_ref());
            found.map_or(pattern, |&other| other.min(pattern))
        };
        (0..self.first_steps.len()).map(image).collect()
    }

    /// O(steps · log) where the first arc tells patterns apart.
    pub(crate) fn of(schedule: &Schedule) -> Self {
        let steps = schedule.steps();
        let mut patterns = Self { first_steps: Vec::new(), of_step: Vec::with_capacity(steps.len()) };
        let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let arcs = step.traffic().arcs();
            let bucket = alike.entry(arcs.first().map(|arc| (arc.src, arc.dst, arcs.len()))).or_default();
            let same = |&&known: &&usize| steps[patterns.first_steps[known]].traffic() == step.traffic();
            let known = bucket.iter().find(same).copied();
            patterns.of_step.push(known.unwrap_or(patterns.first_steps.len()));
            if known.is_none() {
                bucket.push(patterns.first_steps.len());
                patterns.first_steps.push(index);
            }
        }
        patterns
    }
}
