//! A problem on a simpler fabric: everything works, and all ports are of one rate.

use model::{Error, Fabric, Initial, Result, Shape, Topology};

use crate::{Planner, Problem};

/// The problem with `ports` ports of `bandwidth_bps`, all of which work. It starts as the fabric does where that has no
/// more circuits than ports, else free. A planner that makes its own topologies is given a ring where no candidate
/// fits.
///
/// # Errors
/// The errors of [`Problem::new`].
pub(crate) fn problem(planner: &dyn Planner, problem: &Problem, ports: u32, bandwidth_bps: f64) -> Result<Problem> {
    on_shape(planner, problem, problem.fabric.shape.without_faults(ports)?, bandwidth_bps)
}

/// The problem on a shape of the same ranks. It starts as the fabric does where the shape has the same ports, or ports
/// that are alike and as many as its circuits need, else free.
///
/// # Errors
/// The errors of [`Problem::new`].
pub(crate) fn on_shape(planner: &dyn Planner, problem: &Problem, shape: Shape, bandwidth_bps: f64) -> Result<Problem> {
    let fabric = &problem.fabric;
    let fits = |topology: &Topology| topology.degree() <= shape.ports();
    let initial = match &fabric.initial {
        Initial::Topology(topology) if shape.rates().is_some() && shape.rates() == fabric.shape.rates() => {
            Initial::Topology(topology.clone())
        }
        Initial::Topology(topology) if !fits(topology) || shape.rates().is_some() => Initial::Free,
        Initial::Topology(topology) => Initial::Topology(topology.clone().on_any_ports()),
        other => other.clone(),
    };
    let alike = Fabric { shape: shape.clone(), bandwidth_bps, initial, ..fabric.clone() };
    let candidates: Vec<usize> =
        (0..problem.table.candidates()).filter(|&candidate| fits(problem.table.candidate(candidate))).collect();
    let topology = |&candidate: &usize| problem.table.candidate(candidate).clone().on_any_ports();
    let mut all: Vec<Topology> = candidates.iter().map(topology).collect();
    if all.is_empty() && !planner.capabilities().takes_candidates {
        all.push(topologies::build("ring", &alike.shape)?);
    }
    let (cache, schedule) = (problem.cache.clone(), problem.schedule().clone());
    let mut own = Problem::sharing(cache, schedule, alike, problem.settings, problem.size_bytes, all)?;
    own.static_candidates =
        problem.static_candidates.iter().filter_map(|one| candidates.iter().position(|other| other == one)).collect();
    if let (Some(&one), []) = (problem.static_candidates.first(), &own.static_candidates[..])
        && planner.capabilities().keeps_one_topology
    {
        let (named, ports) = (problem.table.candidate(one), u64::from(own.fabric.shape.ports()));
        let reason = format!("it has more than {} at a GPU", model::counted(ports, "circuit"));
        return Err(Error::refused("topology", named.name(), reason));
    }
    own.options = problem.options.clone();
    // Its times are not those of plans for the fabric as it is.
    own.options.listener = None;
    Ok(own)
}
