//! Plans of two tiers: islands of GPUs round electrical switches, and circuits between them, both carrying at once.
//!
//! ```text
//! collective among islands ─▶ plan of the optical tier ─▶ lift: its lanes ─▶ inside: before and after
//!                                                              └─▶ assembled: parts that follow each other, priced ─▶ Plan
//! ```
//!
//! GPU i of every island is lane i, and has the k-th part of what its island sends. A plan among islands is one of each
//! lane: on *rails*, where GPU i of an island is joined to GPUs i of others, or on *pooled ports*, where the island is
//! one node with the ports of all its GPUs, and data reaches the GPU that has the circuit through the switch, in the
//! same step. Both are planned by all planners, for as many GPUs as there are islands.

mod assembly;
mod handing_over;
mod inside;
mod islands;
mod lift;
mod merging;
mod stage;
mod stages;
mod wiring;

use model::{
    Bound, Collective, Error, Fabric, Initial, Overlap, Piece, Plan, Propagation, ReconfigurationPolicy, Result,
    Routing, Shape,
};
use planners::PlannerOptions;

use crate::{Request, Size, Workload, verified};
use assembly::{Parts, Task};
use handing_over::handed_over;
use islands::Islands;
use lift::lifted;
use merging::merged;
use stages::Staged;
use wiring::Sharing;

/// How plans among islands are made.
struct Way {
    /// `None` for all planners.
    planner: Option<&'static str>,
    /// The parts of the buffer for which they plan.
    pieces: u64,
    /// The least delay of a change for which they plan, over startup and hop delay: what is sent inside islands makes
    /// steps longer than planners among islands know, and fewer steps then pay.
    least_delay: f64,
}

/// The best of all at several delays; and the best whose circuits never change, so that parts can follow each other.
const AMONG_ISLANDS: [Way; 6] = [
    Way { planner: None, pieces: 1, least_delay: 0.0 },
    Way { planner: None, pieces: 1, least_delay: 2.0 },
    Way { planner: None, pieces: 1, least_delay: 16.0 },
    Way { planner: Some("never-change"), pieces: 1, least_delay: 0.0 },
    Way { planner: Some("never-change"), pieces: 8, least_delay: 0.0 },
    Way { planner: Some("never-change"), pieces: 64, least_delay: 0.0 },
];

/// Whether a request leaves its algorithm open on a fabric of two tiers, and its planner, or asks for circuits that
/// never change.
pub(crate) fn serves(request: &Request) -> bool {
    let is_open = request.leaves_planner_open() || request.never_changes().is_some();
    request.fabric.electrical.is_some() && is_open && request.leaves_algorithm_open()
}

/// The faster of the plan on circuits alone and of those on both tiers.
///
/// # Errors
/// Costs of steps that are not those of both tiers, or nothing that serves the request.
pub(crate) fn best(request: &Request) -> Result<Plan> {
    let fabric = &request.fabric;
    let Some(electrical) = fabric.electrical else { return crate::plan(request) };
    refuse_other_costs(request)?;
    let circuits = Request { fabric: Fabric { electrical: None, ..fabric.clone() }, ..request.clone() };
    let alone = crate::plan(&circuits).and_then(|plan| on_fabric(plan, request));
    let Workload::Collective { collective, options, .. } = &request.workload else { return alone };
    let never_changes = request.never_changes().map(planners::Planner::name);
    let planner = never_changes.unwrap_or(assembly::PLANNER);
    let (settings, size_bytes) = (request.settings, request.size_bytes()?);
    let task = Task { fabric, electrical: &electrical, settings, size_bytes, planner };
    let islands = Islands { count: fabric.shape.gpus() / electrical.gpus, gpus: electrical.gpus };
    let root = options.root();
    let mut best: Option<(f64, Parts, Staged)> = None;
    let mut enter = |staged: Staged| {
        let (parts, seconds) = task.best_parts(&staged);
        if best.as_ref().is_none_or(|best| seconds < best.0) {
            best = Some((seconds, parts, staged));
        }
    };
    if islands.count == 1 {
        enter(inside::joined(Staged::inside_one(islands.gpus, *collective, root)?));
    } else {
        for sharing in [Sharing::Rails, Sharing::Pooled] {
            for way in AMONG_ISLANDS.iter().filter(|way| never_changes.is_none() || way.planner == never_changes) {
                let Some(among) = among_islands(request, *collective, islands, sharing, way) else { continue };
                let Ok(plan) = crate::plan(&among) else { continue };
                let staged = lifted(&plan, islands, root, sharing)?;
                if task.may_merge(&staged)
                    && let Some(merged) = merged(&staged)?
                {
                    enter(merged);
                }
                if let Some(handed_over) = handed_over(&staged)? {
                    enter(handed_over);
                }
                enter(inside::joined(staged));
            }
        }
    }
    let both = best.map(|(_, parts, staged)| task.plan(&staged, &parts, bound(request, None, task.size_bytes)));
    match (alone, both) {
        (Ok(alone), Some(Ok(both))) if both.total_s() < alone.total_s() => verified(both, &request.cache.bounds),
        (Err(_), Some(Ok(both))) => verified(both, &request.cache.bounds),
        (alone, _) => alone,
    }
}

/// The request for the collective among islands; `None` where an island has more ports than a GPU may.
fn among_islands(
    request: &Request,
    collective: Collective,
    islands: Islands,
    sharing: Sharing,
    way: &Way,
) -> Option<Request> {
    let fabric = &request.fabric;
    let (size_bytes, k) = (request.size_bytes().ok()?, u64::from(islands.gpus));
    let ports = fabric.shape.ports();
    let (ports, size) = match (sharing, collective) {
        (Sharing::Rails, Collective::AllToAll) => (ports, size_bytes),
        (Sharing::Rails, _) => (ports, size_bytes.div_ceil(k)),
        (Sharing::Pooled, Collective::AllToAll) => (ports.checked_mul(islands.gpus)?, size_bytes.checked_mul(k)?),
        (Sharing::Pooled, _) => (ports.checked_mul(islands.gpus)?, size_bytes),
    };
    // Ports of an island are those of its GPUs: delays by port hold for one GPU alone.
    if sharing == Sharing::Pooled && fabric.reconfiguration.compares_topologies() {
        return None;
    }
    let mut options = match &request.workload {
        Workload::Collective { options, .. } => options.clone(),
        _ => return None,
    };
    options.root = options.root.map(|root| root / islands.gpus);
    let shape = Shape::new(islands.count, &[], ports).ok()?;
    let reconfiguration = match (fabric.reconfiguration.delay().constant_s(), way.least_delay) {
        (_, 0.0) => fabric.reconfiguration.clone(),
        (Some(delay_s), over) => {
            let least_s = over * (fabric.startup_s + fabric.hop_delay_s);
            // At such a delay and above it is the plan for the fabric's own.
            (delay_s < least_s).then(|| ReconfigurationPolicy::constant(least_s))?
        }
        (None, _) => return None,
    };
    let among =
        Fabric { shape, reconfiguration, initial: Initial::Free, optics: None, electrical: None, ..fabric.clone() };
    Some(Request {
        fabric: among,
        workload: Workload::Collective { collective, algorithm: None, options },
        size: Size::Buffer(size.div_ceil(way.pieces)),
        planner: way.planner.map(str::to_string),
        candidates: None,
        static_topologies: None,
        options: PlannerOptions::default(),
        ..request.clone()
    })
}

/// # Errors
/// Costs by which both tiers cannot be compared, and options that choose circuits.
fn refuse_other_costs(request: &Request) -> Result<()> {
    let settings = request.settings;
    let refuse = |field: &str, value: &str, accepts: &str| {
        Err(Error::value(field, value, format!("{accepts} with electrical islands and planner auto")))
    };
    if settings.overlap != Overlap::Additive {
        return refuse("overlap", settings.overlap.name(), "`additive`");
    }
    if settings.propagation != Propagation::Hops {
        return refuse("convention", settings.propagation.name(), "one that charges hop delays by hops");
    }
    if settings.routing != Routing::ConcurrentFlow {
        return refuse("routing", settings.routing.name(), "`concurrent-flow`");
    }
    if let Some(layer) = &request.fabric.optics
        && !optics::Optics::parse(layer.spelling())?.holds_all()
    {
        return refuse("optics", layer.spelling(), "an optical layer that holds all topologies");
    }
    if request.candidates.is_some() {
        return refuse("candidates", "a list of topologies", "no list, as topologies are chosen among islands,");
    }
    if let Some(fault) = request.fabric.shape.faults().all().first() {
        return refuse("failed", &fault.to_string(), "a fabric in which everything works");
    }
    Ok(())
}

/// A plan on circuits alone as one for the fabric with its switches.
///
/// # Errors
/// No errors other than those of the plan itself.
fn on_fabric(plan: Plan, request: &Request) -> Result<Plan> {
    let mut parts = model::PlanParts::clone(&plan);
    parts.fabric.electrical = request.fabric.electrical;
    parts.narrow_bound = None;
    let (pieces, size_bytes) = (parts.chunks.as_pieces(), parts.size_bytes);
    parts.bound = bound(request, pieces, size_bytes);
    verified(Plan::new(parts)?, &request.cache.bounds)
}

fn bound(request: &Request, pieces: Option<&[Piece]>, size_bytes: u64) -> Bound {
    bounds::any_algorithm(request.collective(), pieces, &request.fabric, request.settings, size_bytes).bound()
}
