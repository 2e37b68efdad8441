//! Routes that were made together with topologies, in place of flows.

use std::sync::Arc;

use model::Routes;

use crate::{Problem, ProfileTable};

impl ProfileTable {
    /// Gives the routes of a step on a candidate; false where they are none on it
    /// ([`fronts::RoutingNetwork::front_of_routes`]), or the optical layer cannot hold it.
    pub(crate) fn give_routes(&mut self, step: usize, candidate: usize, routes: &Routes) -> bool {
        let pattern = self.pattern_of_step(step);
        let front = self.network(candidate).front_of_routes(self.schedule().steps()[step].traffic(), routes);
        let is_given = front.is_some() && self.refusal(candidate).is_none();
        self.keep_front(pattern, candidate, front);
        is_given
    }
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
