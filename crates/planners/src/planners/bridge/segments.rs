//! The cheapest cut of a schedule into segments, each on one topology, for every number of reconfigurations.

/// Steps `begin..end` on one topology.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepInterval {
    /// First step.
    pub(super) begin: usize,
    /// The step after the last one.
    pub(super) end: usize,
    /// Candidate in force.
    pub(super) topology: usize,
    /// Time of the steps without reconfiguration, s.
    pub(super) steps_s: f64,
}

/// A choice of segments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    /// Completion time, s.
    pub(super) total_s: f64,
    /// Candidate of every step.
    pub(super) topologies: Vec<usize>,
}

/// The cheapest time so far, with the state before and the segment by which it is reached.
#[derive(Debug, Clone, Copy)]
struct Reached {
    total_s: f64,
    by: Option<(usize, StepInterval)>,
}

/// For each number of reconfigurations from 0 on the cheapest cut of `steps` steps into `segments`, `None` if there is
/// no such cut.
///
/// States are (reconfigurations, steps done, topology in force): O(steps · segments · topologies).
/// `change_s(from, to)`: seconds of a change between two different ones of `topologies` topologies. A change is
/// charged and counted where the topology differs, but for the first one where `start` is `None`.
/// Ties go to the segments listed first.
pub(super) fn cheapest_cuts(
    segments: &[StepInterval],
    steps: usize,
    topologies: usize,
    start: Option<usize>,
    change_s: impl Fn(usize, usize) -> f64,
) -> Vec<Option<Cut>> {
    // In force before the first step where that is free.
    let nothing = topologies;
    let width = topologies + 1;
    let state = |changes: usize, done: usize, topology: usize| (changes * (steps + 1) + done) * width + topology;
    let unreached = Reached { total_s: f64::INFINITY, by: None };
    let mut reached = vec![unreached; state(steps + 1, 0, 0)];
    reached[state(0, 0, start.unwrap_or(nothing))].total_s = 0.0;
    let mut ordered: Vec<&StepInterval> = segments.iter().collect();
    ordered.sort_by_key(|segment| segment.begin);
    for segment in ordered {
        interruption::check();
        for changes in 0..=steps {
            for before in 0..width {
                let from = state(changes, segment.begin, before);
                let so_far_s = reached[from].total_s;
                if so_far_s.is_infinite() {
                    continue;
                }
                let is_change = before != segment.topology && before != nothing;
                let change_s = if is_change { change_s(before, segment.topology) } else { 0.0 };
                let total_s = so_far_s + change_s + segment.steps_s;
                // There are no more changes than segments, and no more segments than steps.
                let to = &mut reached[state(changes + usize::from(is_change), segment.end, segment.topology)];
                if total_s < to.total_s {
                    *to = Reached { total_s, by: Some((from, *segment)) };
                }
            }
        }
    }
    (0..=steps)
        .map(|changes| {
            let ends = (0..topologies).map(|topology| state(changes, steps, topology));
            let mut at = ends.min_by(|&a, &b| reached[a].total_s.total_cmp(&reached[b].total_s))?;
            let total_s = reached[at].total_s;
            let mut chosen = vec![0; steps];
            while let Some((from, segment)) = reached[at].by {
                chosen[segment.begin..segment.end].fill(segment.topology);
                at = from;
            }
            total_s.is_finite().then_some(Cut { total_s, topologies: chosen })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BRIDGE table 1 and theorem 3.3: ReduceScatter of 64 ranks, transmission only; segment [a, b] costs (b − a + 1) /
    /// 2^a.
    #[test]
    fn the_interval_program_gives_table_1() {
        let interval = |begin: usize, end: usize| {
            let steps_s = (end - begin) as f64 / f64::from(1u32 << begin);
            StepInterval { begin, end, topology: begin, steps_s }
        };
        let all: Vec<StepInterval> =
            (0..6).flat_map(|begin| (begin + 1..=6).map(move |end| interval(begin, end))).collect();
        let cuts = cheapest_cuts(&all, 6, 6, Some(0), |_, _| 0.0);
        let topologies = |changes: usize| cuts[changes].clone().unwrap().topologies;
        assert_eq!(topologies(0), [0; 6]);
        assert_eq!(topologies(1), [0, 0, 2, 2, 2, 2]);
        assert_eq!(topologies(2), [0, 1, 1, 3, 3, 3]);
        assert_eq!(cuts[1].as_ref().unwrap().total_s, 3.0);
        assert_eq!(topologies(5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(cuts[6], None);
    }

    #[test]
    fn a_start_is_charged_and_a_free_one_is_not() {
        let only = [StepInterval { begin: 0, end: 2, topology: 1, steps_s: 5.0 }];
        let cut = Cut { total_s: 5.0, topologies: vec![1, 1] };
        assert_eq!(cheapest_cuts(&only, 2, 2, None, |_, _| 3.0), [Some(cut.clone()), None, None]);
        assert_eq!(cheapest_cuts(&only, 2, 2, Some(1), |_, _| 3.0), [Some(cut.clone()), None, None]);
        let charged = Cut { total_s: 8.0, ..cut };
        assert_eq!(cheapest_cuts(&only, 2, 2, Some(0), |_, _| 3.0), [None, Some(charged), None]);
    }
}
