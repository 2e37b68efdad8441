//! Bounds of what every schedule has: one step at least, a hop, and the bytes that have to pass somewhere.

use model::Collective;

use super::passes::class;
use crate::rates::Rates;
use crate::statement::Statement;

/// A startup, `hop_s` where hops are charged, and `transmission_s`; `of` says on which fabrics of the class it holds.
pub(super) fn bound(
    name: &'static str,
    of: &str,
    why: &'static str,
    collective: Collective,
    rates: &Rates,
    (hop_s, transmission_s): (f64, f64),
) -> Statement {
    let hop_s = if rates.charges_hops { hop_s } else { 0.0 };
    let (propagation_s, transmission_s) = rates.charged(hop_s, transmission_s);
    Statement {
        name,
        class: format!("{}, {of}", class(collective, rates.ports)),
        why,
        startup_s: rates.startup_s,
        propagation_s,
        transmission_s,
        reconfiguration_s: rates.change_s * f64::from(rates.first_changes),
        topologies: 1,
        steps: 1,
        segments: Vec::new(),
    }
}
