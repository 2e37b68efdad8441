//! Scatter, and Gather, which is Scatter backwards: the shares of all others leave the root through its ports.
//!
//! Something of the root must also reach every rank, which takes the steps, hops and changes of a Broadcast of no bytes.

use model::Collective;

use super::passes::one_pass;
use crate::rates::Rates;
use crate::statement::Statement;

pub(super) fn bound(collective: Collective, rates: &Rates, buffer_s: f64) -> Statement {
    let through_s = buffer_s * through_the_root(rates.ranks) / f64::from(rates.ports);
    one_pass(
        "root",
        "the shares of all other ranks pass the root's ports, and every rank is reached: h hops on one topology of \
         degree d multiply the ranks that have been by 1 + d + … + d^h at most",
        collective,
        rates,
        0.0,
        &[(0.0, through_s)],
    )
}

/// The part of the buffer that leaves the root of a Scatter, or enters that of a Gather.
pub(super) fn through_the_root(ranks: u32) -> f64 {
    f64::from(ranks - 1) / f64::from(ranks)
}
