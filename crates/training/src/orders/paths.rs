//! The longest paths before and behind each node.

use crate::timeline::Problem;

/// By node, its own time not included, s.
pub(super) struct Paths {
    pub(super) before_s: Vec<f64>,
    pub(super) behind_s: Vec<f64>,
}

impl Paths {
    pub(super) fn of(problem: &Problem<'_>) -> Self {
        let jobs = problem.jobs;
        let mut before_s = vec![0.0f64; jobs.jobs.len()];
        for &node in &jobs.order {
            for &follower in &jobs.followers[node] {
                before_s[follower] = before_s[follower].max(before_s[node] + problem.duration_s(node));
            }
        }
        let mut behind_s = vec![0.0f64; jobs.jobs.len()];
        for &node in jobs.order.iter().rev() {
            for &before in &jobs.jobs[node].before {
                behind_s[before] = behind_s[before].max(behind_s[node] + problem.duration_s(node));
            }
        }
        Self { before_s, behind_s }
    }

    /// The longest path, s.
    pub(super) fn longest_s(&self, problem: &Problem<'_>) -> f64 {
        let through = |node: usize| self.before_s[node] + problem.duration_s(node) + self.behind_s[node];
        (0..self.before_s.len()).map(through).fold(0.0, f64::max)
    }
}
