//! Broadcast: one buffer from one rank to all; and Reduce, which is Broadcast backwards.
//!
//! Every part of the buffer spreads as a block of an AllGather does, on n·d links; and every other rank receives all of
//! it on d links. Both at once: every weighted mean of the two. Bytes that leave the root and bytes that spread take
//! turns: [`leaving`].

use model::Collective;

use super::departures;
use super::passes::one_pass;
use crate::rates::Rates;
use crate::statement::{Statement, largest};

pub(super) fn bound(collective: Collective, rates: &Rates, buffer_s: f64) -> Statement {
    let received_s = buffer_s / f64::from(rates.ports);
    let spreading = one_pass(
        "spreading",
        "the buffer has to reach all ranks: h hops on one topology of degree d multiply the ranks that hold it by \
         1 + d + … + d^h at most, and every rank takes all of it in through its ports",
        collective,
        rates,
        received_s / f64::from(rates.ranks),
        &[(0.0, received_s), (0.5, 0.5 * received_s), (1.0, 0.0)],
    );
    largest(std::iter::once(spreading).chain(departures::bound(collective, rates, buffer_s)))
        .expect("there is the first")
}
