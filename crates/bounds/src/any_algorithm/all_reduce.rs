//! AllReduce: one pass over all ranks at least, and twice the bytes.
//!
//! Latency: what a rank contributes must reach all ranks, as in an AllGather; one pass can do (dissemination).
//!
//! Bytes: let q be a rank that knows the whole sum of a block first, in step t. The n−1 contributions of the others came
//! to it over distinct transfers, one out of each rank, which use links as one pass of a ReduceScatter does. Every other
//! rank received something in step t or later, after which it knew the sum; none of that is among those n−1, whose
//! transfers of step t all end at q. So n−1 more transfers use a link each.

use model::Collective;

use super::one_pass;
use crate::rates::Rates;
use crate::statement::Statement;

pub(super) fn bound(rates: &Rates, buffer_s: f64) -> Statement {
    let use_s = buffer_s / f64::from(rates.ranks) / f64::from(rates.ports);
    let received_s = f64::from(rates.ranks - 1) * use_s;
    one_pass(
        "two-passes",
        "what a rank contributes reaches all ranks over hops as in an all-gather; every block is summed up somewhere, over \
         as many links as in a reduce-scatter, and then received by all others",
        Collective::AllReduce,
        rates,
        use_s,
        &[(1.0, received_s)],
    )
}
