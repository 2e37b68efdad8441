//! FAST as the all-to-all paper's baseline (§5.1): the matchings of the matrix's Birkhoff–von Neumann decomposition,
//! as many at a time as there are ports, each flow on circuits of its own.

use crate::LeastSum;
use crate::all_to_all_baseline::{AllToAllBaseline, Service};
use crate::join::join_steps;
use crate::own_circuits;

pub(super) static FAST: AllToAllBaseline = AllToAllBaseline {
    name: "fast",
    summary: "All-to-All by the matchings of its BvN decomposition, as many at a time as a GPU has ports",
    source: "FAST, as To reconfigure or not to reconfigure §5.1 has it",
    fixed_routing: None,
    least_sum: LeastSum::Always,
    service: Service::StepsByPorts,
    choose: |blocks, limit_s| {
        let problem = blocks.problem();
        let joined = join_steps(problem.schedule(), problem.fabric.shape.ports() as usize)?;
        own_circuits::choose(blocks.planner(), &joined, problem, limit_s)
    },
};
