//! Stages as a plan: cut into parts that follow each other, priced on both tiers.

use model::{
    Bound, CostSettings, Electrical, Fabric, Plan, PlanParts, PlanStep, Result, StepCost, Topology, TrafficEntry,
};

use super::stage::{Loads, Stage, step_of};
use super::stages::Staged;
use crate::cutoffs::tiers::{MOST_CHUNKS, PIECES};

/// The name of plans that use both tiers.
pub(super) const PLANNER: &str = "two-tier";

/// The problem that a plan of stages solves.
pub(super) struct Task<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) electrical: &'a Electrical,
    pub(super) settings: CostSettings,
    pub(super) size_bytes: u64,
    /// Name of the planner in plans.
    pub(super) planner: &'static str,
}

/// A topology, and the stages that run while it is in force.
struct Segment {
    topology: usize,
    stages: Vec<usize>,
}

impl Task<'_> {
    /// The number of parts with which the stages take the least time, and that time, s: part c is in stage s of a
    /// topology at step s + c. What stages together load is estimated by the sum of what each does.
    pub(super) fn best_pieces(&self, staged: &Staged) -> (u32, f64) {
        let loads = self.loads(staged);
        let segments = segments(staged);
        let held: usize =
            staged.stages.iter().flat_map(|stage| &stage.moves).map(|one| one.transfer.chunks.len()).sum();
        let allowed = |pieces: &&u32| **pieces == 1 || held * **pieces as usize <= MOST_CHUNKS;
        let timed =
            PIECES.iter().filter(allowed).map(|&pieces| (pieces, self.estimate_s(staged, &loads, &segments, pieces)));
        timed.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((1, f64::INFINITY))
    }

    fn estimate_s(&self, staged: &Staged, loads: &[Loads], segments: &[Segment], pieces: u32) -> f64 {
        let mut total_s = 0.0;
        for (index, Segment { stages, topology }) in segments.iter().enumerate() {
            let count = stages.len() as u32;
            for step in 0..count + pieces - 1 {
                let mut sum = Loads::default();
                for stage in (0..count).filter(|stage| (stage + pieces) > step && *stage <= step) {
                    let one = loads[stages[stage as usize]];
                    sum.delay_s = sum.delay_s.max(one.delay_s);
                    sum.circuit += one.circuit;
                    sum.switch += one.switch;
                }
                let bytes = self.size_bytes as f64 / f64::from(pieces);
                total_s += self.fabric.per_step_s() + sum.delay_s;
                total_s += sum.transmission_s(self.fabric, self.electrical, bytes);
            }
            if let Some(before) = index.checked_sub(1).map(|before| segments[before].topology) {
                let (from, to) = (&staged.topologies[before], &staged.topologies[*topology]);
                let change = self.fabric.reconfiguration.between(from, to, self.fabric.shape.ports());
                total_s += self.fabric.reconfiguration.charge_s(change, index, 0.0);
            }
        }
        total_s
    }

    /// Loads of every stage, in parts of m.
    fn loads(&self, staged: &Staged) -> Vec<Loads> {
        let parts = staged.lanes.chunks(1).ok().and_then(|chunks| chunks.per_buffer()).unwrap_or(1);
        let of = |stage: &Stage| {
            let moves =
                stage.moves.iter().map(|one| (&one.paths[..], one.transfer.chunks.len() as f64 / f64::from(parts)));
            let dark = Topology::new("dark", staged.group.clone(), []).ok();
            let topology = stage.topology.map(|at| staged.topologies[at].clone()).or(dark);
            topology.map(|topology| Loads::of(self.fabric, self.electrical, &topology, &staged.group, moves))
        };
        staged.stages.iter().map(|stage| of(stage).unwrap_or_default()).collect()
    }

    /// The plan of the stages in `pieces` parts.
    ///
    /// # Errors
    /// More chunks than there may be.
    pub(super) fn plan(&self, staged: &Staged, pieces: u32, bound: Bound) -> Result<Plan> {
        let chunks = staged.lanes.chunks(pieces)?;
        let group = &staged.group;
        let mut topologies = staged.topologies.clone();
        if topologies.is_empty() {
            topologies.push(self.resting(staged)?);
        }
        let mut steps: Vec<PlanStep> = Vec::new();
        for Segment { topology, stages } in segments(staged) {
            let count = stages.len() as u32;
            for at in 0..count + pieces - 1 {
                let now = (0..count).filter(|stage| *stage <= at && stage + pieces > at);
                let moved = now.map(|stage| (&staged.stages[stages[stage as usize]], at - stage));
                let (step, routes) = step_of(moved, (group, &chunks, pieces))?;
                let transfer_bytes = step.share() * self.size_bytes as f64;
                let weights: Vec<TrafficEntry> = step.traffic().arcs_under(group);
                let arcs = routes.arcs.iter().zip(&weights).map(|(arc, entry)| (&arc.paths[..], entry.weight));
                let loads = Loads::of(self.fabric, self.electrical, &topologies[topology], group, arcs);
                let cost = StepCost {
                    startup_s: self.fabric.startup_s,
                    propagation_s: loads.delay_s,
                    transmission_s: loads.transmission_s(self.fabric, self.electrical, transfer_bytes),
                    reconfiguration_s: 0.0,
                    barrier_s: self.fabric.barrier_s,
                };
                steps.push(PlanStep {
                    step,
                    topology,
                    reconfigured: false,
                    transfer_bytes,
                    hops: loads.hops,
                    load: loads.circuit,
                    electrical_load: loads.switch,
                    routes,
                    cost,
                });
            }
        }
        self.charge_changes(&topologies, &mut steps);
        let total_s = model::sum_seconds(steps.iter().flat_map(|step| step.cost.terms()));
        // A bound that the plan attains may be above it by rounding.
        let is_rounding = bound.seconds <= total_s * (1.0 + 1e-9);
        let seconds = if is_rounding { bound.seconds.min(total_s) } else { bound.seconds };
        Plan::new(PlanParts {
            algorithm: staged.name.clone(),
            planner: self.planner.into(),
            size_bytes: self.size_bytes,
            fabric: self.fabric.clone(),
            settings: self.settings,
            chunks,
            topologies,
            steps,
            bound: Bound { seconds, ..bound },
            narrow_bound: None,
        })
    }

    /// The topology of a plan that needs none: the one at the start, or no circuits.
    fn resting(&self, staged: &Staged) -> Result<Topology> {
        match self.fabric.initial.given() {
            Some(given) => Ok(given.clone()),
            None => Topology::new("dark", staged.group.clone(), []),
        }
    }

    fn charge_changes(&self, topologies: &[Topology], steps: &mut [PlanStep]) {
        let last = steps.last().map(|step| &topologies[step.topology]);
        let mut before = last.and_then(|last| self.fabric.initial.before_first(last));
        let mut before_s = 0.0;
        for (index, step) in steps.iter_mut().enumerate() {
            let now = &topologies[step.topology];
            let own_s = step.cost.total_s();
            if let Some(before) = before.filter(|before| !before.same_links(now)) {
                let change = self.fabric.reconfiguration.between(before, now, self.fabric.shape.ports());
                step.reconfigured = true;
                step.cost.reconfiguration_s = self.fabric.reconfiguration.charge_s(change, index, before_s);
            }
            (before, before_s) = (Some(now), own_s);
        }
    }
}

/// The stages by the topology that is in force. A stage that needs no circuits joins the stage before it, or at the
/// start the stage after it.
fn segments(staged: &Staged) -> Vec<Segment> {
    let first = staged.stages.iter().find_map(|stage| stage.topology).unwrap_or(0);
    let mut found = vec![Segment { topology: first, stages: Vec::new() }];
    for (index, stage) in staged.stages.iter().enumerate() {
        let now = found.last().map_or(first, |last| last.topology);
        let topology = stage.topology.unwrap_or(now);
        let is_same = topology == now || staged.topologies[topology].same_links(&staged.topologies[now]);
        match found.last_mut() {
            Some(last) if is_same => last.stages.push(index),
            _ => found.push(Segment { topology, stages: vec![index] }),
        }
    }
    found
}
