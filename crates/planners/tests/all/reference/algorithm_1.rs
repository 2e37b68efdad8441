//! HARVEST's algorithm 1, transcribed line by line: what the planner is compared with, in tests and benches.
#![expect(clippy::needless_range_loop, reason = "indices as in the paper")]

/// `completion_time(a, b)`: best time of steps a..=b (from 1) on one topology, with that topology's index.
pub type CompletionTime<'a> = &'a dyn Fn(usize, usize) -> (usize, f64);

/// Total time, and for every step the topology in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthesis {
    /// Completion time with reconfiguration delays.
    pub total_s: f64,
    /// Number of reconfigurations.
    pub reconfigurations: usize,
}

/// Lines 6–28: the best schedule with exactly k reconfigurations, without their delays. The paper writes
/// `DP[s+1][k] ← 0` inside a loop over t; read as `DP[s+1][t] ← 0` it allows fewer than k.
fn synthesize_schedule(steps: usize, k: usize, completion_time: CompletionTime<'_>) -> f64 {
    let mut dp = vec![vec![f64::INFINITY; k + 1]; steps + 2];
    for a in 1..=steps {
        dp[a][0] = completion_time(a, steps).1;
    }
    for t in 0..=k {
        dp[steps + 1][t] = 0.0;
    }
    for t in 1..=k {
        for a in 1..=steps {
            let mut best = f64::INFINITY;
            for b in a + 1..=steps + 1 {
                let value = completion_time(a, b - 1).1 + dp[b][t - 1];
                if value < best {
                    best = value;
                }
            }
            dp[a][t] = best;
        }
    }
    dp[1][k]
}

/// Lines 29–36: the best number of reconfigurations. The start is free.
pub fn harvest(steps: usize, delay_s: f64, completion_time: CompletionTime<'_>) -> Synthesis {
    let mut best = Synthesis { total_s: f64::INFINITY, reconfigurations: 0 };
    for k in 0..=steps {
        let total_s = synthesize_schedule(steps, k, completion_time) + k as f64 * delay_s;
        if total_s < best.total_s {
            best = Synthesis { total_s, reconfigurations: k };
        }
    }
    best
}
