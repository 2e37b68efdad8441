//! Bytes that wait between steps: hop by hop through the topologies of several steps.
//!
//! Where every pair is served within one step, each step must reach whatever is left to it. Bytes that wait at a rank
//! for a later step need no topology on which all ranks are joined but one, and the circuits of all steps are chosen
//! together.
//!
//! ```text
//! bases ─▶ circuits: one topology a step ─▶ layers ─▶ flow: paths of every pair ─▶ parts: pieces, steps, routes
//! ```

mod bases;
mod cheapest;
mod circuits;
mod flow;
mod layers;
mod parts;
mod search;

use model::Result;

use super::Prices;
use super::demand::Demand;
use super::wiring::Wiring;
use crate::composition::Composition;

/// The best composition whose bytes wait between steps, the first step on `start` where it is given; `None` where
/// nothing is found that takes less than `limit_s`.
///
/// # Errors
/// No error for the demand of a schedule of the fabric's ranks.
pub(super) fn composition(
    demand: &Demand,
    ports: usize,
    start: Option<&Wiring>,
    prices: &Prices,
    limit_s: f64,
) -> Result<Option<(Composition, f64)>> {
    if demand.pairs().is_empty() {
        return Ok(None);
    }
    let found = search::best(demand, ports, start, prices, limit_s);
    found.map(|found| Ok((parts::composition(demand, &found.wirings, &found.flow)?, found.seconds))).transpose()
}
