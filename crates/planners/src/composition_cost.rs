//! The cost of composed collectives.

use std::sync::Arc;

use compositions::{Chunked, Composition};
use model::{CostSettings, Error, Initial, Overlap, Result, Routing, Schedule, Topology, Traffic};
use topologies::candidates;

use crate::cutoffs::composition_cost::{FEW_PEERS, MOST_COMMODITIES, MOST_COMMODITIES_OF_FEW, MOST_FLOW};
use crate::state_search::StateSearch;
use crate::{Choice, ClassBound, Problem, ties};

/// # Errors
/// A schedule whose blocks differ in size.
pub(crate) fn check_blocks(planner: &str, schedule: &Schedule) -> Result<()> {
    match schedule.chunks().as_pieces() {
        None => Ok(()),
        Some(_) => Err(Error::refused("planner", planner, "it takes only blocks of equal size")),
    }
}

/// The best sequence of a composition's topologies, and the start, for its steps; `None` above `limit_s`.
///
/// # Errors
/// The errors of [`Problem::new`]; steps that none of the topologies serves.
pub(crate) fn best_sequence(
    planner: &'static str,
    problem: &Problem,
    composition: Composition,
    limit_s: f64,
) -> Result<Option<Choice>> {
    if !composition.routes.is_empty() {
        return on_own_routes(planner, problem, composition, limit_s);
    }
    let fabric = &problem.fabric;
    // The start is a candidate of every composition.
    let start = fabric.initial.given();
    let schedule = &composition.schedule;
    let is_unequal = schedule.chunks().as_pieces().is_some();
    let needs = if is_unequal { needs_large_flow } else { needs_large_program };
    let large = || composition.topologies.iter().chain(start).any(|on| needs(schedule, on));
    let (routing, quick_flows) = match problem.settings.routing {
        Routing::ConcurrentFlow if composition.over_circuits => (Routing::EqualSplit, false),
        Routing::ConcurrentFlow if large() && is_unequal => (Routing::ConcurrentFlow, true),
        Routing::ConcurrentFlow if large() => (Routing::EqualSplit, false),
        routing => (routing, false),
    };
    let mut candidates = composition.topologies;
    if fabric.reconfiguration.runs_in_background() {
        let ports = fabric.shape.ports();
        let dark = candidates.iter().map(|full| candidates::one_port_dark(full, ports));
        let dark: Vec<Vec<Topology>> = dark.collect::<Result<_>>()?;
        candidates.extend(dark.into_iter().flatten());
    }
    let settings = CostSettings { routing, ..problem.settings };
    let own = Problem { quick_flows, ..problem.clone() }.with(composition.schedule, settings, candidates)?;
    // The search adds costs up; what steps take in packets may be more or less.
    let adds_up = settings.overlap == Overlap::Additive;
    let mut search = StateSearch::new(&own.table);
    let total_s =
        search.run(&own.rates(), &own.charges(), own.before(), if adds_up { limit_s } else { f64::INFINITY })?;
    let candidates = search.path().to_vec();
    let class_bound = Some(ClassBound::any_algorithm(problem));
    let Some(total_s) = total_s else { return Ok(None) };
    let choice = Choice { planner, problem: own, candidates, total_s, class_bound };
    let choice = if adds_up { choice } else { choice.priced_anew()? };
    Ok((choice.total_s <= limit_s).then_some(choice))
}

/// The composition's own sequence of topologies with the routes that were made with them, unless it takes more than
/// `limit_s`; `None` also where routes are not for their topologies.
///
/// # Errors
/// The errors of [`Problem::new`].
fn on_own_routes(
    planner: &'static str,
    problem: &Problem,
    composition: Composition,
    limit_s: f64,
) -> Result<Option<Choice>> {
    let Composition { schedule, topologies, routes, .. } = composition;
    let mut distinct: Vec<Topology> = Vec::new();
    let mut candidates = Vec::new();
    for topology in topologies.into_iter().take(routes.len()) {
        let known = distinct.iter().position(|other| other.same_links(&topology));
        candidates.push(known.unwrap_or(distinct.len()));
        if known.is_none() {
            distinct.push(topology);
        }
    }
    let mut own = problem.with(schedule, problem.settings, distinct)?;
    let Some(table) = Arc::get_mut(&mut own.table) else { return Ok(None) };
    for (step, (&candidate, routes)) in candidates.iter().zip(&routes).enumerate() {
        if !table.give_routes(step, candidate, routes) {
            return Ok(None);
        }
    }
    let class_bound = Some(ClassBound::any_algorithm(problem));
    let choice = Choice { class_bound, ..Choice::priced(planner, own, candidates)? };
    Ok((choice.total_s <= limit_s).then_some(choice))
}

/// A composition whose transfers have circuits of their own, on its first topology from the first step to the last.
///
/// # Errors
/// The errors of [`Problem::new`]; a transfer without a path on the topology.
pub(crate) fn staying(planner: &'static str, problem: &Problem, composition: Composition) -> Result<Choice> {
    let steps = composition.schedule.steps().len();
    let first = composition.topologies.into_iter().take(1).collect();
    let settings = CostSettings { routing: Routing::SinglePath, ..problem.settings };
    let own = problem.with(composition.schedule, settings, first)?;
    Choice::priced(planner, own, vec![0; steps])
}

/// The collective in chunks on a topology, unless it is known to take longer than `limit_s` there: what it takes at
/// least, the change to the topology included, and the collective.
pub(crate) fn chunked(problem: &Problem, topology: &Topology, limit_s: f64) -> Option<(f64, Chunked)> {
    let (fabric, collective) = (&problem.fabric, problem.schedule().collective());
    let libraries = &problem.cache.libraries;
    let chunked = compositions::chunked(libraries, collective, topology, fabric, problem.size_bytes)?;
    let policy = &fabric.reconfiguration;
    let change_s = match &fabric.initial {
        Initial::Topology(start) if !start.same_links(topology) => {
            policy.charge_s(policy.between(start, topology, fabric.shape.ports()), 0, 0.0)
        }
        _ => 0.0,
    };
    let least_s = chunked.least_s() + change_s;
    ties::within(least_s, limit_s).then_some((least_s, chunked))
}

/// Whether the concurrent flow of some step on a topology would be a large program, as those of all pairs are;
/// splitting evenly is as good where they are meant for small buffers. Circulants have one circuit of each port for all
/// ranks.
fn needs_large_program(schedule: &Schedule, topology: &Topology) -> bool {
    let symmetry = topology.symmetry();
    let is_large = |traffic: &Traffic| {
        let shared = traffic.symmetry().meet(symmetry).order();
        let commodities = traffic.arcs().len() * (traffic.symmetry().order() / shared) as usize;
        let few = traffic.degree() <= FEW_PEERS;
        commodities > if few { MOST_COMMODITIES_OF_FEW } else { MOST_COMMODITIES }
    };
    !symmetry.is_transitive() && schedule.steps().iter().any(|step| is_large(step.traffic()))
}

/// [`needs_large_program`] for unequal blocks. Where they are alike under no translation all circuits are apart,
/// those of circulants too.
fn needs_large_flow(schedule: &Schedule, topology: &Topology) -> bool {
    schedule.steps().iter().any(|step| {
        let traffic = step.traffic();
        let common = u64::from(traffic.symmetry().meet(topology.symmetry()).order());
        let commodities = traffic.arcs().len() as u64 * u64::from(traffic.symmetry().order()) / common;
        commodities * topology.circuits() / common > MOST_FLOW
    })
}
