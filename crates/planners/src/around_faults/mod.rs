//! Plans around what is broken.
//!
//! A planner plans for a fabric on which everything works: with all ports, and with as many as every GPU has left. Its
//! choice is then moved onto the fabric as it is:
//!
//! ```text
//! choice where all works ─▶ as it is, where its circuits are there
//!                        ─▶ GPUs change roles, so that nothing that it uses is broken    (roles.rs)
//!                        ─▶ circuits given up and ports that become free joined anew    (mending.rs),
//!                           or left dark, where the optical layer limits circuits
//! ```
//!
//! `repair.rs` moves the plan of a file in the same ways, and prefers those that keep circuits (`kept_circuits.rs`).
//!
//! A port that lost its transmitter alone may lose its receiver too: what is planned for that fits.
//!
//! A planner that chooses the algorithm too also looks for one on the mended topologies (`composed_anew.rs`). The ideas
//! are those of repairs of circuits by relabelling and of shares that fit the ports of each GPU.

mod composed_anew;
mod kept_circuits;
mod mending;
mod repair;
mod roles;

use model::{Fabric, Fault, Faults, Initial, Result, Topology, WorkingPorts};

use crate::cutoffs::around_faults::{MOST_GPUS, MOST_MENDINGS};
use crate::moved_choice::{on_fabric, priced, used_by};
use crate::{Choice, Planner, Problem, alike_ports, given_routes, pipeline};

pub use kept_circuits::KeptCircuits;
pub(crate) use mending::{Freed, MENDED, mended};
pub use repair::{REPAIRED, repair};

/// A planner's choice, priced as the problem has it ([`pipeline::choose`]), and planned around the faults, if any.
///
/// # Errors
/// As [`Planner::choose_within`].
pub fn choose(planner: &dyn Planner, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
    let shape = &problem.fabric.shape;
    if shape.faults().is_empty() {
        return pipeline::choose(planner, problem, limit_s);
    }
    let mut best = Best { limit_s, choice: None };
    let mut refusal = None;
    let mut mended: Vec<Topology> = Vec::new();
    let least = WorkingPorts::of(shape).least();
    let is_even = WorkingPorts::of(shape).out.iter().chain(&WorkingPorts::of(shape).into).all(|&ports| ports == least);
    let all_ports = (!is_even || least == shape.ports()).then_some(shape.ports());
    for ports in all_ports.into_iter().chain((1..shape.ports()).contains(&least).then_some(least)) {
        interruption::check();
        let found = alike_ports::problem(planner, problem, ports, problem.fabric.bandwidth_bps)
            .and_then(|whole| pipeline::choose(planner, &whole, best.limit_s()))
            .and_then(|choice| choice.map_or(Ok(()), |choice| best.move_onto(&choice, problem, &mut mended)));
        if let Err(error) = found {
            refusal.get_or_insert(error);
        }
    }
    if planner.capabilities().chooses_algorithm && shape.gpus() <= MOST_GPUS {
        let limit_s = best.limit_s();
        best.offer(composed_anew::best(planner.name(), problem, mended, limit_s)?);
    }
    if let Some(weaker) = with_both_sides(problem)? {
        // What it cannot serve, the fabric as it is may.
        let found = choose(planner, &weaker, best.limit_s()).ok().flatten();
        found.map_or(Ok(()), |choice| best.move_onto(&choice, problem, &mut Vec::new()))?;
    }
    match (best.choice, refusal) {
        (None, Some(refusal)) => Err(refusal),
        (choice, _) => Ok(choice),
    }
}

/// The problem on a fabric on which a port whose transmitter or receiver fails has lost both, so that this one is never
/// slower; `None` where that is no other.
///
/// # Errors
/// The errors of [`Problem::sharing`].
pub(crate) fn with_both_sides(problem: &Problem) -> Result<Option<Problem>> {
    let fabric = &problem.fabric;
    let faults = fabric.shape.faults();
    let both = faults.all().iter().flat_map(|&fault| match fault {
        Fault::Transmitter { gpu, port } | Fault::Receiver { gpu, port } => {
            [Fault::Transmitter { gpu, port }, Fault::Receiver { gpu, port }]
        }
        other => [other; 2],
    });
    let both: Faults = both.collect();
    if both == *faults {
        return Ok(None);
    }
    let shape = fabric.shape.clone().with_faults(both)?;
    let working = WorkingPorts::of(&shape);
    if working.least() == 0 {
        return Ok(None);
    }
    let initial = match &fabric.initial {
        Initial::Topology(initial) => Initial::Topology(shape.working_part(initial.clone())?),
        other => other.clone(),
    };
    let fabric = Fabric { shape, initial, ..fabric.clone() };
    let candidates = (0..problem.table.candidates()).map(|one| problem.table.candidate(one).clone()).collect();
    let (cache, schedule) = (problem.cache.clone(), problem.schedule().clone());
    let mut own = Problem::sharing(cache, schedule, fabric, problem.settings, problem.size_bytes, candidates)?;
    own.static_candidates.clone_from(&problem.static_candidates);
    own.options = problem.options.clone();
    own.options.listener = None;
    Ok(Some(own))
}

/// The best choice so far.
pub(crate) struct Best {
    pub(crate) limit_s: f64,
    pub(crate) choice: Option<Choice>,
}

impl Best {
    pub(crate) fn limit_s(&self) -> f64 {
        self.choice.as_ref().map_or(self.limit_s, |choice| choice.total_s.min(self.limit_s))
    }

    pub(crate) fn offer(&mut self, found: impl IntoIterator<Item = Choice>) {
        for choice in found {
            let is_better = self.choice.as_ref().is_none_or(|best| choice.total_s < best.total_s);
            if is_better && choice.total_s <= self.limit_s {
                self.choice = Some(choice);
            }
        }
    }

    /// Takes a choice for a fabric on which all works over to the fabric of `problem`, in every way. Topologies that
    /// are mended for that go to `mended`.
    pub(crate) fn move_onto(&mut self, choice: &Choice, problem: &Problem, mended: &mut Vec<Topology>) -> Result<()> {
        let shape = &problem.fabric.shape;
        let (used, of_step) = used_by(choice);
        let topologies: Vec<Topology> =
            used.iter().map(|&candidate| choice.problem.table.candidate(candidate).clone()).collect();
        if topologies.iter().all(|topology| shape.check_faults(topology).is_ok()) {
            let schedule = choice.problem.schedule().clone();
            let mut own = on_fabric(choice, problem, schedule, topologies)?;
            given_routes::carry_over(&mut own, &choice.problem.table, &used);
            self.offer([priced(choice, own, of_step)?]);
            return Ok(());
        }
        if shape.gpus() > MOST_GPUS {
            return Ok(());
        }
        let needed = mending::without_idle(choice, &used)?;
        let schedule = choice.problem.schedule();
        if problem.fabric.optics.is_some() {
            // Switches that join few pairs may make no new circuits, nor these ones between other GPUs.
            let left = needed.iter().map(|topology| mending::mended(topology, shape, 0, Freed::Dark));
            let own = on_fabric(choice, problem, schedule.clone(), left.collect::<Result<Vec<_>>>()?)?;
            self.offer(priced(choice, own, of_step.clone()).ok());
        }
        let roles = roles::find(&needed, shape, schedule.chunks());
        let mut tried = Vec::new();
        if let Some(roles) = &roles {
            let moved = needed.iter().map(|topology| shape.by_class(topology, |of, _| roles.of_topology(of)));
            tried.push((moved.collect::<Result<Vec<_>>>()?, roles.of_schedule(schedule)?));
        }
        // Where pairs of GPUs are not alike, other roles may take slower circuits.
        if roles.is_none() || shape.pairs().is_some() {
            tried.push((needed, schedule.clone()));
        }
        for (needed, schedule) in tried {
            let fits = needed.iter().all(|topology| shape.check_faults(topology).is_ok());
            for way in 0..if fits { 1 } else { MOST_MENDINGS } {
                interruption::check();
                let ways = needed.iter().map(|topology| mending::mended(topology, shape, way, Freed::Joined));
                let topologies = ways.collect::<Result<Vec<_>>>()?;
                mended.extend(topologies.iter().cloned());
                // Some transfer may have no path left; another way may have one.
                let own = on_fabric(choice, problem, schedule.clone(), topologies)?;
                self.offer(priced(choice, own, of_step.clone()).ok());
            }
        }
        Ok(())
    }
}
