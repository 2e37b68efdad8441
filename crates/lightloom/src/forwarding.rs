//! Plans among some GPUs of a fabric whose other GPUs forward: on the circuits that were there at the start, and on
//! those of them that stay.
//!
//! A topology among the ranks gives up circuits between a rank and another GPU where it needs the port of the rank, the
//! first ones staying; circuits between two other GPUs stay. Planners see the whole fabric, on which only the ranks
//! send and receive.

use model::{Error, Fabric, Link, Result, Schedule, Step, Topology, Translations};
use planners::{Choice, OperatingPoint, Planner, Problem, choose, find, ties};

use crate::cutoffs::forwarding::MOST_GPUS;
use crate::{Prepared, Request};

impl Request {
    /// # Errors
    /// Where other GPUs are to forward, which only plans have.
    pub(crate) fn refuse_forwarding(&self) -> Result<()> {
        match self.options.whole_fabric {
            None => Ok(()),
            Some(_) => {
                let accepts =
                    "false: only `plan` by planners harvest, static, never-change and weave lets others forward";
                Err(Error::value("others_forward", true, accepts))
            }
        }
    }
}

/// The better of a choice among the ranks alone and of those that let other GPUs forward.
///
/// # Errors
/// A planner that does not plan with other GPUs, too many GPUs, or nothing that serves the request.
pub(crate) fn best(prepared: &Prepared, whole: &Fabric, at: &OperatingPoint) -> Result<Choice> {
    let request = prepared.request();
    let gpus = whole.shape.gpus();
    if gpus > MOST_GPUS {
        let accepts = format!("false for more than {MOST_GPUS} GPUs");
        return Err(Error::value("others_forward", format!("true for {gpus} GPUs"), accepts));
    }
    let unchanging = request.never_changes();
    let planners: Vec<&dyn Planner> = match unchanging {
        Some(_) => vec![find("static")?],
        None => prepared.planners().iter().copied().filter(|planner| planner.capabilities().others_forward).collect(),
    };
    if planners.is_empty() {
        let name = request.named_planner().unwrap_or("auto");
        let reason = "it plans among the ranks alone; harvest, static, never-change and weave let others forward";
        return Err(Error::refused("others_forward", name, reason));
    }
    let among = prepared.best_at(at);
    let mut best: Option<Choice> = None;
    let mut refusal = None;
    for schedule in prepared.schedules() {
        let problem = match problem(prepared, schedule, whole, unchanging.is_some()) {
            Ok(problem) => problem,
            Err(error) => {
                refusal.get_or_insert(error);
                continue;
            }
        };
        for planner in &planners {
            let limit_s = best.as_ref().map_or(f64::INFINITY, |best| best.total_s);
            match choose(*planner, &problem, limit_s) {
                Ok(Some(choice)) if best.as_ref().is_none_or(|best| choice.total_s < best.total_s) => {
                    let planner = unchanging.map_or(choice.planner, |planner| planner.name());
                    best = Some(Choice { planner, ..choice });
                }
                Ok(_) => {}
                Err(error) => {
                    refusal.get_or_insert(error);
                }
            }
        }
    }
    match (among, best) {
        (Ok(among), Some(best)) if ties::within(among.total_s, best.total_s) => Ok(among),
        (_, Some(best)) => Ok(best),
        (Ok(among), None) => Ok(among),
        (Err(error), None) => Err(refusal.unwrap_or(error)),
    }
}

/// The problem of a schedule of the ranks on the whole fabric; on the initial topology alone where `stays`.
fn problem(prepared: &Prepared, schedule: &Schedule, whole: &Fabric, stays: bool) -> Result<Problem> {
    let request = prepared.request();
    let initial = whole.initial.given().ok_or_else(|| Error::infeasible("initial", "there is no topology"))?;
    let among = request.problem(schedule.clone())?;
    let with_others = |candidate: usize| {
        let topology = among.table.candidate(candidate);
        with_others(topology, initial, schedule.ranks(), whole.shape.ports())
    };
    let all = (0..among.table.candidates()).filter(|_| !stays).map(with_others).collect::<Result<Vec<_>>>()?;
    let statics: Vec<Topology> = among
        .static_candidates
        .iter()
        .filter(|_| !stays)
        .map(|&candidate| with_others(candidate))
        .collect::<Result<_>>()?;
    let own = on_whole(schedule, whole.shape.gpus())?;
    let (cache, size_bytes) = (among.cache.clone(), among.size_bytes);
    let mut problem = Problem::sharing(cache, own, whole.clone(), request.settings, size_bytes, all)?;
    let position = |topology: &Topology| problem.table.position(topology);
    let mut statics: Vec<usize> = statics.iter().filter_map(position).collect();
    if request.static_topologies.is_none() {
        statics.extend(problem.start);
    }
    statics.sort_unstable();
    statics.dedup();
    problem.static_candidates = statics;
    problem.options = request.options.clone();
    Ok(problem)
}

/// The schedule among the first of more GPUs.
fn on_whole(schedule: &Schedule, gpus: u32) -> Result<Schedule> {
    let chunks = schedule.chunks().clone().with_forwarding(gpus - schedule.ranks());
    let steps = schedule.steps().iter().map(|step| {
        let group = step.symmetry();
        let transfers = group.elements().into_iter().flat_map(|element| {
            step.transfers().iter().map(move |transfer| model::Transfer {
                src: group.apply(element, transfer.src),
                dst: group.apply(element, transfer.dst),
                op: transfer.op,
                chunks: transfer
                    .chunks
                    .iter()
                    .map(|&chunk| schedule.chunks().translate(group, element, chunk))
                    .collect(),
            })
        });
        Step::new(Translations::trivial(gpus), transfers, &chunks)
    });
    let steps = steps.collect::<Result<Vec<_>>>()?;
    Schedule::new(schedule.algorithm(), chunks, steps)
}

/// A topology among the first `ranks` GPUs, with the circuits of `initial` that end at others and for which there are
/// ports.
fn with_others(topology: &Topology, initial: &Topology, ranks: u32, ports: u32) -> Result<Topology> {
    let mut links = topology.expanded();
    let (mut out, mut into) = (vec![0; ranks as usize], vec![0; ranks as usize]);
    for link in &links {
        out[link.src as usize] += link.count;
        into[link.dst as usize] += link.count;
    }
    for Link { src, dst, count } in initial.expanded() {
        let (from_rank, to_rank) = (src < ranks, dst < ranks);
        let count = match (from_rank, to_rank) {
            (true, true) => 0,
            (false, false) => count,
            (true, false) => count.min(ports - out[src as usize]),
            (false, true) => count.min(ports - into[dst as usize]),
        };
        if count == 0 {
            continue;
        }
        if from_rank {
            out[src as usize] += count;
        }
        if to_rank {
            into[dst as usize] += count;
        }
        links.push(Link { src, dst, count });
    }
    let whole = Topology::new(topology.name(), Translations::trivial(initial.ranks()), links)?;
    let is_initial = whole.expanded() == initial.expanded();
    Ok(if is_initial { initial.clone() } else { whole })
}
