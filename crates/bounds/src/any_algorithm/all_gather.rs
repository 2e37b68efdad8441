//! AllGather, and ReduceScatter, which is AllGather backwards: the ranks whose share of a block still has to be added
//! play the part of those that do not hold it yet.

use model::Collective;

use super::passes::one_pass;
use crate::rates::Rates;
use crate::statement::Statement;

/// Every block of m/n is brought from one rank to all; n·d links carry the uses of all n blocks.
pub(super) fn bound(collective: Collective, rates: &Rates, buffer_s: f64) -> Statement {
    let use_s = buffer_s / f64::from(rates.ranks) / f64::from(rates.ports);
    one_pass(
        "spreading",
        "every block has to reach all ranks: h hops on one topology of degree d multiply the ranks that hold it by \
         1 + d + … + d^h at most, and each rank that receives it loads as many circuits as its path has",
        collective,
        rates,
        use_s,
        &[(1.0, 0.0)],
    )
}
