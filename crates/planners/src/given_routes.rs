//! Routes that were made together with topologies, in place of flows.

use std::sync::Arc;

use compositions::Composition;
use model::{Result, Routes, Topology};

use crate::{Choice, Problem, ProfileTable};

impl ProfileTable {
    /// Gives the routes of a step on a candidate; false where they are none on it
    /// ([`fronts::RoutingNetwork::front_of_routes`]), or the optical layer cannot hold it.
    fn give_routes(&mut self, step: usize, candidate: usize, routes: &Routes) -> bool {
        let pattern = self.pattern_of_step(step);
        let front = self.network(candidate).front_of_routes(self.schedule().steps()[step].traffic(), routes);
        let is_given = front.is_some() && self.refusal(candidate).is_none();
        self.keep_front(pattern, candidate, front);
        is_given
    }
}

/// The composition's own sequence of topologies with the routes that were made with them, unless it takes more than
/// `limit_s`; `None` also where routes are not for their topologies.
///
/// # Errors
/// The errors of [`Problem::new`].
pub(crate) fn choose(
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
    let class_bound = Some(problem.any_algorithm_bound());
    let choice = Choice { class_bound, ..Choice::priced(planner, own, candidates)? };
    Ok((choice.total_s <= limit_s).then_some(choice))
}

/// Gives a problem of the same schedule, whose first candidates are those of `used`, the routes that another has on
/// these, where they were given to it.
pub(crate) fn carry_over(to: &mut Problem, from: &ProfileTable, used: &[usize]) {
    let Some(table) = Arc::get_mut(&mut to.table).filter(|_| from.has_given_routes()) else { return };
    for (place, &candidate) in used.iter().enumerate() {
        for pattern in 0..from.patterns().len() {
            if let Some(front) = from.known_front(pattern, candidate) {
                table.keep_front(pattern, place, Some(front.clone()));
            }
        }
    }
}
