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

/// How stages follow each other in parts.
pub(super) struct Parts {
    /// Pieces of every chunk.
    pieces: u32,
    /// For each segment, the parts in which its stages follow each other, each of as many pieces.
    by_segment: Vec<u32>,
}

/// A topology, and the stages that run while it is in force.
struct Segment {
    topology: usize,
    stages: Vec<usize>,
}

impl Task<'_> {
    /// The parts with which the stages take the least time, and that time, s. What stages together load is estimated by
    /// the sum of what each does.
    pub(super) fn best_parts(&self, staged: &Staged) -> (Parts, f64) {
        let loads = self.loads(staged);
        let segments = segments(staged);
        let held: usize =
            staged.stages.iter().flat_map(|stage| &stage.moves).map(|one| one.transfer.chunks.len()).sum();
        let allowed = |pieces: &&u32| **pieces == 1 || held * **pieces as usize <= MOST_CHUNKS;
        // By segment, the time of each number of parts.
        let timed: Vec<Vec<(u32, f64)>> = segments
            .iter()
            .map(|Segment { stages, .. }| {
                let loads: Vec<Loads> = stages.iter().map(|&stage| loads[stage]).collect();
                PIECES.iter().filter(allowed).map(|&parts| (parts, self.segment_s(&loads, parts))).collect()
            })
            .collect();
        let of = |&pieces: &u32| {
            let (mut by_segment, mut total_s) = (Vec::new(), self.changes_s(staged, &segments));
            for timed in &timed {
                let fits = timed.iter().filter(|(parts, _)| pieces.is_multiple_of(*parts));
                let best = fits.min_by(|one, other| one.1.total_cmp(&other.1)).copied();
                let (parts, seconds) = best.unwrap_or((1, f64::INFINITY));
                by_segment.push(parts);
                total_s += seconds;
            }
            (Parts { pieces, by_segment }, total_s)
        };
        let all = PIECES.iter().filter(allowed).map(of);
        all.min_by(|one, other| one.1.total_cmp(&other.1)).expect("one part is allowed")
    }

    /// Whether the bytes that first and last stages have more on circuits, where all GPUs of islands send and receive what
    /// lanes do, may take less time than the two steps inside islands.
    pub(super) fn may_merge(&self, staged: &Staged) -> bool {
        let loads = self.loads(staged);
        let ends = loads.first().into_iter().chain(loads.last()).map(|one| one.circuit).sum::<f64>();
        let more_s = ends * f64::from(staged.lanes.islands.gpus - 1) * self.fabric.byte_s() * self.size_bytes as f64;
        more_s < 2.0 * (self.fabric.per_step_s() + self.electrical.hop_delay_s)
    }

    /// Seconds of the stages of a segment in so many parts: part c is in stage s at step s + c.
    fn segment_s(&self, loads: &[Loads], parts: u32) -> f64 {
        let count = loads.len() as u32;
        let bytes = self.size_bytes as f64 / f64::from(parts);
        let step_s = |step: u32| {
            let mut sum = Loads::default();
            for stage in (0..count).filter(|stage| stage + parts > step && *stage <= step) {
                let one = loads[stage as usize];
                sum.delay_s = sum.delay_s.max(one.delay_s);
                sum.circuit += one.circuit;
                sum.switch += one.switch;
            }
            self.fabric.per_step_s() + sum.delay_s + sum.transmission_s(self.fabric, self.electrical, bytes)
        };
        (0..count + parts - 1).map(step_s).sum()
    }

    /// Seconds of the changes between segments.
    fn changes_s(&self, staged: &Staged, segments: &[Segment]) -> f64 {
        let charge_s = |(index, pair): (usize, &[Segment])| {
            let [from, to] = [&pair[0], &pair[1]].map(|segment| &staged.topologies[segment.topology]);
            let change = self.fabric.reconfiguration.between(from, to, self.fabric.shape.ports());
            self.fabric.reconfiguration.charge_s(change, index + 1, 0.0)
        };
        segments.windows(2).enumerate().map(charge_s).sum()
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

    /// The plan of the stages in parts.
    ///
    /// # Errors
    /// More chunks than there may be.
    pub(super) fn plan(&self, staged: &Staged, parts: &Parts, bound: Bound) -> Result<Plan> {
        let pieces = parts.pieces;
        let chunks = staged.lanes.chunks(pieces)?;
        let group = &staged.group;
        let mut topologies = staged.topologies.clone();
        if topologies.is_empty() {
            topologies.push(self.resting(staged)?);
        }
        let mut steps: Vec<PlanStep> = Vec::new();
        for (Segment { topology, stages }, parts) in segments(staged).into_iter().zip(&parts.by_segment) {
            let (count, of_part) = (stages.len() as u32, pieces / parts);
            for at in 0..count + parts - 1 {
                let now = (0..count).filter(|stage| *stage <= at && stage + parts > at);
                let moved = now.map(|stage| {
                    let first = (at - stage) * of_part;
                    (&staged.stages[stages[stage as usize]], first..first + of_part)
                });
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
