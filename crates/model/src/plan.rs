//! A plan: per step the topology, the routing and the four cost terms, with the bound and what made it.

use std::collections::BTreeSet;
use std::ops::Deref;

use crate::{
    Chunks, Collective, CostSettings, Error, Fabric, Initial, Result, Routes, Step, StepCost, Topology, counted,
    sum_seconds, units,
};

/// A value below which no schedule of the stated class can go.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Seconds.
    pub seconds: f64,
    /// The class of schedules that it bounds.
    pub class: String,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    /// The transfers, their chunks and the pattern.
    pub step: Step,
    /// Index of the topology in force.
    pub topology: usize,
    /// Whether circuits change before the step; the charge may be hidden.
    pub reconfigured: bool,
    /// m_i: bytes of the largest transfer.
    pub transfer_bytes: f64,
    /// Longest path in use.
    pub hops: u32,
    /// Bytes on the busiest link over the bytes of one transfer.
    pub load: f64,
    /// Bytes out of or into the busiest GPU by its island's electrical switch, over the bytes of one transfer; 0 where
    /// everything goes over circuits.
    pub electrical_load: f64,
    /// Paths of every transfer.
    pub routes: Routes,
    /// The terms of its cost.
    pub cost: StepCost,
}

/// The parts of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanParts {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Name of the planner.
    pub planner: String,
    /// Bytes m of one rank's whole buffer.
    pub size_bytes: u64,
    /// The fabric that it is planned for.
    pub fabric: Fabric,
    /// How costs are counted.
    pub settings: CostSettings,
    /// The data.
    pub chunks: Chunks,
    /// The topologies in use, and the initial one if there is one, each once; one that has the initial one's circuits
    /// under another name is another.
    pub topologies: Vec<Topology>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// The bound that it is compared with.
    pub bound: Bound,
    /// A larger one for a narrower class: the plan's own steps, or what its planner chooses from.
    pub narrow_bound: Option<Bound>,
}

/// A checked plan. Reads as its [`PlanParts`].
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    parts: PlanParts,
    total_s: f64,
    reconfigurations: usize,
}

impl Plan {
    /// Checks that the parts agree with each other; what they cost is for `verify` to judge. An initial topology that
    /// is not listed becomes the last.
    ///
    /// # Errors
    /// A step on a topology that is not listed, a number of ranks that differs, a step marked as
    /// reconfigured whose topology is the one in force (or the reverse), a term that is negative or not finite, a sum
    /// of them that is not finite, packets that are delayed by something else than their hops.
    pub fn new(mut parts: PlanParts) -> Result<Self> {
        parts.fabric.check()?;
        if let Initial::Topology(initial) = &parts.fabric.initial
            && !parts.topologies.contains(initial)
        {
            parts.topologies.push(initial.clone());
        }
        if parts.settings != parts.settings.of_packets() {
            let (stated, overlap) = (parts.settings.propagation.name(), parts.settings.overlap.name());
            return Err(Error::malformed(
                "plan.propagation",
                format!(
                    "it is `{stated}`; it must be `hops` where overlap is `{overlap}`: packets are delayed by hops"
                ),
            ));
        }
        units::size_in_range("plan.size_bytes", parts.size_bytes)?;
        let ranks = parts.fabric.shape.gpus();
        if parts.chunks.ranks() != ranks {
            return Err(Error::malformed(
                "plan.gpus",
                format!("chunks are for {} ranks, the fabric has {ranks}", parts.chunks.ranks()),
            ));
        }
        if parts.steps.is_empty() {
            return Err(Error::malformed("plan.steps", "there must be at least one step"));
        }
        for topology in &parts.topologies {
            if topology.ranks() != ranks {
                return Err(Error::malformed(
                    "plan.topologies",
                    format!("`{}` has {} GPUs, the fabric has {ranks}", topology.name(), topology.ranks()),
                ));
            }
        }
        let last = parts.steps.last().and_then(|step| parts.topologies.get(step.topology));
        let mut in_force = last.and_then(|last| parts.fabric.initial.before_first(last));
        for (index, step) in parts.steps.iter().enumerate() {
            let field = |name: &str| format!("plan.steps[{index}].{name}");
            let Some(topology) = parts.topologies.get(step.topology) else {
                return Err(Error::malformed(
                    field("topology"),
                    format!(
                        "{} is not one of the {}",
                        step.topology,
                        counted(parts.topologies.len() as u64, "topology")
                    ),
                ));
            };
            if step.step.symmetry().ranks() != ranks {
                return Err(Error::malformed(
                    field("transfers"),
                    format!("they are on {} ranks, the fabric has {ranks}", step.step.symmetry().ranks()),
                ));
            }
            let changed = in_force.is_some_and(|before| !before.same_links(topology));
            if changed != step.reconfigured {
                return Err(Error::malformed(
                    field("reconfigured"),
                    format!(
                        "it is {} and the circuits {}",
                        step.reconfigured,
                        if changed { "change" } else { "do not change" }
                    ),
                ));
            }
            let numbers = step.cost.terms().into_iter().chain([step.transfer_bytes, step.load, step.electrical_load]);
            if numbers.into_iter().any(|number| !(number.is_finite() && number >= 0.0)) {
                return Err(Error::malformed(
                    field("terms"),
                    "every term, transfer_bytes and the loads must be finite and at least zero",
                ));
            }
            if !step.reconfigured && step.cost.reconfiguration_s != 0.0 {
                return Err(Error::malformed(field("reconfiguration_s"), "it must be 0 where nothing is reconfigured"));
            }
            in_force = Some(topology);
        }
        let total_s = sum_seconds(parts.steps.iter().flat_map(|step| step.cost.terms()));
        if !total_s.is_finite() {
            return Err(Error::malformed(
                "plan.steps",
                "the times of the steps add up to more than a floating-point number can hold",
            ));
        }
        let reconfigurations = parts.steps.iter().filter(|step| step.reconfigured).count();
        Ok(Self { parts, total_s, reconfigurations })
    }

    /// The initial topology among the topologies, if there is one.
    pub fn initial_index(&self) -> Option<usize> {
        let initial = self.fabric.initial.given()?;
        self.topologies.iter().position(|listed| listed == initial)
    }

    /// The topology in force before the first step, as an index: the initial one, or, of a repeated plan, the last
    /// step's.
    pub fn before_first(&self) -> Option<usize> {
        match self.fabric.initial {
            Initial::Repeated => self.steps.last().map(|step| step.topology),
            Initial::Free | Initial::Topology(_) => self.initial_index(),
        }
    }

    /// Completion time where the plan runs again and again, s: in place of the change from the start, the one from the
    /// topology of the last step back to that of the first is charged.
    pub fn repeated_s(&self) -> f64 {
        let (first, last) = (&self.steps[0], &self.steps[self.steps.len() - 1]);
        let [from, to] = [last, first].map(|step| &self.topologies[step.topology]);
        let policy = &self.fabric.reconfiguration;
        let change_s = policy.charge_s(policy.between(from, to, self.fabric.shape.ports()), 0, 0.0);
        let first_terms = StepCost { reconfiguration_s: change_s, ..first.cost }.terms();
        sum_seconds(first_terms.into_iter().chain(self.steps.iter().skip(1).flat_map(|step| step.cost.terms())))
    }

    /// Completion time: the sum of the terms over the steps, s.
    pub fn total_s(&self) -> f64 {
        self.total_s
    }

    /// Number of steps before which circuits change, at a charge or hidden; a free first topology is no change.
    pub fn reconfigurations(&self) -> usize {
        self.reconfigurations
    }

    /// The collective.
    pub fn collective(&self) -> Collective {
        self.parts.chunks.collective()
    }

    /// The longest that a hop takes on a topology of a step, s: the fabric's hop delay where fibres take no time.
    pub fn longest_hop_delay_s(&self) -> f64 {
        let used: BTreeSet<usize> = self.parts.steps.iter().map(|step| step.topology).collect();
        let on = |index: usize| self.parts.fabric.hop_delay_on_s(&self.parts.topologies[index]);
        used.into_iter().map(on).fold(self.parts.fabric.hop_delay_s, f64::max)
    }

    /// m over the completion time, B/s, as NCCL's tests define it.
    pub fn algbw(&self) -> f64 {
        self.parts.size_bytes as f64 / self.total_s
    }

    /// algbw times the collective's bus factor, B/s, as NCCL's tests define it.
    pub fn busbw(&self) -> f64 {
        self.algbw() * self.collective().bus_factor(self.parts.chunks.members())
    }
}

impl Deref for Plan {
    type Target = PlanParts;

    fn deref(&self) -> &PlanParts {
        &self.parts
    }
}
