//! What steps take in packets: the closed form where one is known, the simulator elsewhere.
//!
//! Packets are those that `simulate` sends by default: of 4096 B without headers, all handed over at the start of the
//! step, stored and forwarded at every GPU on the way, through queues without limit.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::{
    Bound, Fabric, Initial, Plan, PlanParts, PlanStep, ReconfigurationPolicy, Result, Routes, StepCost, Topology,
};
use profile::Point;
use simulate::{one_way_s, step_s};

use crate::Problem;

/// What a transfer takes without start-up, by everything that it depends on beside the table: pattern, candidate,
/// and the bits of bytes, rate and hop delay.
type TimeByPoint = BTreeMap<(usize, usize, [u64; 3]), f64>;

/// Times that are known already, for one table of patterns and candidates.
#[derive(Debug, Default)]
pub struct PacketTimes {
    known: Mutex<TimeByPoint>,
}

impl PacketTimes {
    /// Cost of a step over `routes` on a candidate, without reconfiguration.
    ///
    /// # Errors
    /// Times beyond what the simulator counts.
    pub(crate) fn cost(
        &self,
        problem: &Problem,
        step: usize,
        candidate: usize,
        routes: impl FnOnce() -> Result<(Routes, Point)>,
    ) -> Result<StepCost> {
        let fabric = &problem.fabric;
        let bytes = problem.transfer_bytes(step);
        let numbers = [bytes, fabric.bandwidth_bps, fabric.hop_delay_s].map(f64::to_bits);
        let key = (problem.table.pattern_of_step(step), candidate, numbers);
        let (_, hops, _) = problem.step_point(step, candidate)?;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let transfer_s = match known {
            Some(transfer_s) => transfer_s,
            None => {
                let (routes, point) = routes()?;
                let topology = problem.table.candidate(candidate);
                let transfer_s = if is_one_way(problem, step, topology, point) {
                    one_way_s(fabric, bytes, point.hops)?
                } else {
                    simulated_s(problem, step, topology, (routes, point))?
                };
                self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, transfer_s);
                transfer_s
            }
        };
        Ok(StepCost::pipelined(fabric, hops, transfer_s))
    }
}

/// Whether each GPU sends one message, on one-way rings, so that all circuits in use carry as many as there are hops.
fn is_one_way(problem: &Problem, step: usize, topology: &Topology, point: Point) -> bool {
    let traffic = problem.schedule().steps()[step].traffic();
    let group = traffic.symmetry();
    let one_each = traffic.arcs().len() == 1 && group.is_transitive();
    let one_circuit = topology.links().len() == topology.symmetry().orbits() as usize
        && topology.links().iter().all(|link| link.count == 1);
    let alike = || group.meet(topology.symmetry()).is_transitive();
    one_each && one_circuit && point.load == f64::from(point.hops) && alike()
}

/// The step alone, simulated.
fn simulated_s(problem: &Problem, step: usize, topology: &Topology, (routes, point): (Routes, Point)) -> Result<f64> {
    let fabric = Fabric {
        startup_s: 0.0,
        reconfiguration: ReconfigurationPolicy::constant(0.0),
        initial: Initial::Free,
        ..problem.fabric.clone()
    };
    let schedule = problem.schedule();
    let alone = PlanStep {
        step: schedule.steps()[step].clone(),
        topology: 0,
        reconfigured: false,
        transfer_bytes: problem.transfer_bytes(step),
        hops: point.hops,
        load: point.load,
        routes,
        cost: StepCost::default(),
    };
    let plan = Plan::new(PlanParts {
        algorithm: schedule.algorithm().to_string(),
        planner: String::new(),
        size_bytes: problem.size_bytes,
        fabric,
        settings: problem.settings,
        chunks: schedule.chunks().clone(),
        topologies: vec![topology.clone()],
        steps: vec![alone],
        bound: Bound { seconds: 0.0, class: String::new() },
        narrow_bound: None,
    })?;
    step_s(&plan, 0)
}
