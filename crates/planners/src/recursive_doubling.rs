//! HARVEST eq. 8: the optimal schedule for cyclic recursive doubling on one port, in closed form.
//!
//! In step i of the ReduceScatter every rank u sends m/2^(i+1) bytes to u + 2^i (i from 0); the AllGather has the same
//! distances in the opposite order. On one port the best topology for an interval of steps is the ring of the shortest
//! distance 2^k among them (observation 4; the winding bound in `bounds` proves it): a step of distance 2^e then takes
//! 2^(e−k) hops and loads a link 2^(e−k) times, so an interval of L steps costs
//!
//! L·α + δ·Σ 2^(e−k) + L·β·m / 2^(k+1).
//!
//! The cheapest cut of the steps into intervals is found in O(log² n), without profiles.

use model::{Collective, Initial, Schedule, Topology, TrafficEntry};

use crate::Problem;

/// Steps of AllReduce on 2^32 ranks, the most there can be.
const MAX_STEPS: usize = 64;

/// Costs of the closed form, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// α.
    pub startup_s: f64,
    /// δ.
    pub hop_s: f64,
    /// β·m: the whole buffer over one link.
    pub buffer_s: f64,
    /// α_r.
    pub change_s: f64,
}

/// The cheapest cut of the steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// Completion time, s.
    pub total_s: f64,
    /// Number of steps.
    pub steps: usize,
    rings: [u8; MAX_STEPS],
}

impl Optimum {
    /// For each step the k of its ring 2^k.
    pub fn rings(&self) -> &[u8] {
        &self.rings[..self.steps]
    }
}

/// The optimum for 2^`log_ranks` ranks. Collectives other than the three that recursive doubling has are
/// not meant here.
pub fn optimum(collective: Collective, log_ranks: u8, costs: Costs) -> Optimum {
    let half = usize::from(log_ranks).min(MAX_STEPS / 2);
    let steps = if collective == Collective::AllReduce { 2 * half } else { half };
    let exponent = |step: usize| match collective {
        Collective::AllGather => half - 1 - step,
        _ if step < half => step,
        _ => 2 * half - 1 - step,
    };
    // best[j]: cheapest service of steps 0..j, its last interval starting at cut[j].
    let mut best = [0.0; MAX_STEPS + 1];
    let (mut cut, mut ring) = ([0u8; MAX_STEPS + 1], [0u8; MAX_STEPS + 1]);
    for end in 1..=steps {
        best[end] = f64::INFINITY;
        let (mut shortest, mut distances) = (usize::MAX, 0.0);
        for begin in (0..end).rev() {
            let e = exponent(begin);
            shortest = shortest.min(e);
            distances += power(e);
            let length = (end - begin) as f64;
            let change_s = if begin == 0 { 0.0 } else { costs.change_s };
            let total_s = best[begin]
                + change_s
                + length * (costs.startup_s + costs.buffer_s * 0.5 / power(shortest))
                + costs.hop_s * distances / power(shortest);
            // The longer interval wins ties: fewer reconfigurations.
            if total_s <= best[end] {
                best[end] = total_s;
                (cut[end], ring[end]) = (begin as u8, shortest as u8);
            }
        }
    }
    let mut rings = [0; MAX_STEPS];
    let mut end = steps;
    while end > 0 {
        let begin = usize::from(cut[end]);
        rings[begin..end].fill(ring[end]);
        end = begin;
    }
    Optimum { total_s: best[steps], steps, rings }
}

/// 2^e without a library call.
fn power(e: usize) -> f64 {
    (1u64 << e) as f64
}

/// Cyclic recursive doubling on one port with a free start, a constant delay that nothing hides, and candidates that
/// hold every step's own circuits: where the closed form is the optimum over all topologies.
pub struct RecursiveDoubling {
    log_ranks: u8,
    candidate_of_ring: Vec<usize>,
    change_s: f64,
}

impl RecursiveDoubling {
    /// Recognises the problem by its steps, under any name of the algorithm.
    pub fn of(problem: &Problem) -> Option<Self> {
        let fabric = &problem.fabric;
        if fabric.shape.ports() != 1 || fabric.initial != Initial::Free || !fabric.shape.circuits_are_alike() {
            return None;
        }
        let change_s = fabric.reconfiguration.constant_s()?;
        let log_ranks = log_ranks_of(problem.schedule())?;
        let steps = problem.schedule().steps();
        let own_ring = |exponent: u8| {
            let step = steps.iter().find(|step| step.traffic().arcs()[0].dst == 1 << exponent)?;
            problem.table.position(&Topology::of_traffic("own circuits", step.traffic(), 1)?)
        };
        let candidate_of_ring: Option<Vec<usize>> = (0..log_ranks).map(own_ring).collect();
        Some(Self { log_ranks, candidate_of_ring: candidate_of_ring?, change_s })
    }

    /// Candidate of every step and the completion time in seconds, at the problem's size and delays.
    pub fn best(&self, problem: &Problem) -> (Vec<usize>, f64) {
        let costs = Costs {
            startup_s: problem.fabric.per_step_s(),
            hop_s: problem.fabric.hop_delay_s,
            buffer_s: problem.fabric.byte_s() * problem.size_bytes as f64,
            change_s: self.change_s,
        };
        let best = optimum(problem.schedule().collective(), self.log_ranks, costs);
        let candidates = best.rings().iter().map(|&ring| self.candidate_of_ring[usize::from(ring)]).collect();
        (candidates, best.total_s)
    }
}

/// log2 n if the steps are those of cyclic recursive doubling, under any name of the algorithm.
fn log_ranks_of(schedule: &Schedule) -> Option<u8> {
    let ranks = schedule.ranks();
    if !ranks.is_power_of_two() {
        return None;
    }
    let half = ranks.ilog2() as usize;
    let exponents: Vec<usize> = match schedule.collective() {
        Collective::ReduceScatter => (0..half).collect(),
        Collective::AllGather => (0..half).rev().collect(),
        Collective::AllReduce => (0..half).chain((0..half).rev()).collect(),
        _ => return None,
    };
    let fits = schedule.steps().len() == exponents.len()
        && schedule.steps().iter().zip(&exponents).all(|(step, &e)| {
            let traffic = step.traffic();
            traffic.symmetry().is_transitive()
                && traffic.arcs() == [TrafficEntry { src: 0, dst: 1 << e, weight: 1.0 }]
                && step.share() == 0.5 / power(e)
        });
    fits.then_some(half as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_allreduce_comes_out() {
        // HARVEST's published schedule: 64 GPUs, 1 MiB, 800 Gbit/s, α = δ = 500 ns, α_r = 1 µs.
        let buffer_s = 1_048_576.0 * 8.0 / 8e11;
        let costs = Costs { startup_s: 500e-9, hop_s: 500e-9, buffer_s, change_s: 1e-6 };
        let best = optimum(Collective::AllReduce, 6, costs);
        assert!((best.total_s - 41.972e-6).abs() < 1e-4 * 41.972e-6, "{}", best.total_s);
        assert_eq!(best.rings(), [0, 1, 2, 3, 4, 4, 4, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn the_extremes_are_one_ring_and_every_own_ring() {
        let costs = |change_s| Costs { startup_s: 0.0, hop_s: 1.0, buffer_s: 1.0, change_s };
        assert!(optimum(Collective::ReduceScatter, 5, costs(1e9)).rings().iter().all(|&k| k == 0));
        assert_eq!(optimum(Collective::ReduceScatter, 5, costs(0.0)).rings(), [0, 1, 2, 3, 4]);
        assert_eq!(optimum(Collective::AllGather, 5, costs(0.0)).rings(), [4, 3, 2, 1, 0]);
    }
}
