//! Rules of priority.

use super::paths::Paths;
use crate::jobs::Task;
use crate::timeline::{Problem, Rule};

/// All rules, the first the one that serves large iterations best.
pub(super) fn rules(problem: &Problem<'_>, paths: &Paths) -> Vec<Rule> {
    let nodes = problem.jobs.jobs.len();
    let behind_s = &paths.behind_s;
    let to_end_s: Vec<f64> = (0..nodes).map(|node| behind_s[node] + problem.duration_s(node)).collect();
    // Messages, collectives, computations.
    let class: Vec<u8> = (0..nodes)
        .map(|node| match (&problem.jobs.jobs[node].task, &problem.uses[node]) {
            (Task::Compute { .. }, _) => 2,
            (_, Some(used)) if used.entry.plan.is_none() => 0,
            _ => 1,
        })
        .collect();
    let alike = vec![0; nodes];
    let mut rules = Vec::new();
    for earliest_first in [true, false] {
        for (class, length_s) in [(&class, behind_s), (&alike, behind_s), (&class, &to_end_s), (&alike, &to_end_s)] {
            let rule = Rule { priority: by_longest(class, length_s, &to_end_s), earliest_first };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// Places of the nodes by class, the longest first, then the longest to the end.
fn by_longest(class: &[u8], length_s: &[f64], to_end_s: &[f64]) -> Vec<u32> {
    let mut nodes: Vec<usize> = (0..class.len()).collect();
    nodes.sort_by(|&a, &b| {
        let longest = length_s[b].total_cmp(&length_s[a]).then(to_end_s[b].total_cmp(&to_end_s[a]));
        class[a].cmp(&class[b]).then(longest).then(a.cmp(&b))
    });
    let mut priority = vec![0; nodes.len()];
    for (place, node) in nodes.into_iter().enumerate() {
        priority[node] = place as u32;
    }
    priority
}
