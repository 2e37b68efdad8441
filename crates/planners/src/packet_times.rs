//! The times of steps in packets: the closed form where one is known, the simulator elsewhere.
//!
//! Packets are those that `simulate` sends by default: of 4096 B without headers, all handed over at the start of the
//! step, stored and forwarded at every GPU on the way, through queues without limit.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use fronts::Point;
use model::{
    Bound, CostSettings, Fabric, Initial, Plan, PlanParts, PlanStep, ReconfigurationPolicy, Result, Routes, Schedule,
    StepCost, Topology,
};
use simulate::{one_way_s, step_s};

use crate::ProfileTable;

/// Times of transfers without startup, by everything that they depend on in addition to the table: pattern, candidate,
/// and the bits of bytes, rate and hop delay.
type TimeByPoint = BTreeMap<(usize, usize, [u64; 3]), f64>;

/// Times that are known already, for one table of patterns and candidates.
#[derive(Debug, Default)]
pub struct PacketTimes {
    known: Mutex<TimeByPoint>,
}

/// A step of a schedule on one of its candidates, at an operating point.
#[derive(Clone, Copy)]
pub(crate) struct StepInPackets<'a> {
    pub(crate) table: &'a ProfileTable,
    pub(crate) fabric: &'a Fabric,
    pub(crate) settings: CostSettings,
    pub(crate) size_bytes: u64,
    pub(crate) step: usize,
    pub(crate) candidate: usize,
}

impl PacketTimes {
    /// Cost of a step over `routes` of up to `hops` hops, without reconfiguration.
    ///
    /// # Errors
    /// Times beyond what the simulator counts.
    pub(crate) fn cost(
        &self,
        step: &StepInPackets<'_>,
        hops: u32,
        routes: impl FnOnce() -> Result<(Routes, Point)>,
    ) -> Result<StepCost> {
        let fabric = step.fabric;
        let numbers = [step.bytes(), fabric.bandwidth_bps, fabric.hop_delay_s].map(f64::to_bits);
        let key = (step.table.pattern_of_step(step.step), step.candidate, numbers);
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&key).copied();
        let transfer_s = match known {
            Some(transfer_s) => transfer_s,
            None => {
                let (routes, point) = routes()?;
                let transfer_s = if step.is_one_way(point) {
                    one_way_s(fabric, step.bytes(), point.hops)?
                } else {
                    step.simulated_s(routes, point)?
                };
                lock().insert(key, transfer_s);
                transfer_s
            }
        };
        Ok(StepCost::pipelined(fabric, step.topology(), hops, transfer_s))
    }
}

impl StepInPackets<'_> {
    fn schedule(&self) -> &Schedule {
        self.table.schedule()
    }

    fn topology(&self) -> &Topology {
        self.table.candidate(self.candidate)
    }

    /// The size of its largest transfer.
    fn bytes(&self) -> f64 {
        self.size_bytes as f64 * self.schedule().steps()[self.step].share()
    }

    /// Whether each GPU sends one message, on one-way rings, so that all circuits in use carry as many as there are
    /// hops.
    fn is_one_way(&self, point: Point) -> bool {
        let topology = self.topology();
        let traffic = self.schedule().steps()[self.step].traffic();
        let group = traffic.symmetry();
        let one_each = traffic.arcs().len() == 1 && group.is_transitive();
        let one_circuit = topology.links().len() == topology.symmetry().orbits() as usize
            && topology.links().iter().all(|link| link.count == 1);
        let alike = || group.meet(topology.symmetry()).is_transitive();
        // The closed form has circuits that are alike.
        self.fabric.shape.circuits_are_alike()
            && one_each
            && one_circuit
            && point.load == f64::from(point.hops)
            && alike()
    }

    /// The step by itself, simulated.
    fn simulated_s(&self, routes: Routes, point: Point) -> Result<f64> {
        let fabric = Fabric {
            startup_s: 0.0,
            reconfiguration: ReconfigurationPolicy::constant(0.0),
            initial: Initial::Free,
            ..self.fabric.clone()
        };
        let schedule = self.schedule();
        let alone = PlanStep {
            step: schedule.steps()[self.step].clone(),
            topology: 0,
            reconfigured: false,
            transfer_bytes: self.bytes(),
            hops: point.hops,
            load: point.load,
            electrical_load: 0.0,
            routes,
            cost: StepCost::default(),
        };
        let plan = Plan::new(PlanParts {
            algorithm: schedule.algorithm().to_string(),
            planner: String::new(),
            size_bytes: self.size_bytes,
            fabric,
            settings: self.settings,
            chunks: schedule.chunks().clone(),
            topologies: vec![self.topology().clone()],
            steps: vec![alone],
            bound: Bound { seconds: 0.0, class: String::new() },
            narrow_bound: None,
        })?;
        step_s(&plan, 0)
    }
}
