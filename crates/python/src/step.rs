//! A plan's statements about a step, as plain values.

use model::{PlanStep, StepCost};

/// Topology's index, whether it is new, bytes, hops, loads of circuits and switches, the terms and their sum.
pub type StepTuple = (usize, bool, f64, u32, (f64, f64), TermsTuple, f64);
/// Startup, propagation, transmission, reconfiguration, barrier.
pub type TermsTuple = (f64, f64, f64, f64, f64);

pub fn step_tuple(step: &PlanStep) -> StepTuple {
    let cost = &step.cost;
    let loads = (step.load, step.electrical_load);
    (step.topology, step.reconfigured, step.transfer_bytes, step.hops, loads, terms(cost), cost.total_s())
}

pub fn terms(cost: &StepCost) -> TermsTuple {
    (cost.startup_s, cost.propagation_s, cost.transmission_s, cost.reconfiguration_s, cost.barrier_s)
}
