//! Direct All-to-All: n−1 shifts, each block sent once, straight to its destination.
//!
//! Step t = 1 … n−1: rank r sends block (r, r+t) to r+t, m/n bytes. These are the matchings of the uniform
//! matrix's BvN decomposition (HARVEST §3.3); an unequal matrix has others, see
//! [`direct_from_matrix`](crate::direct_from_matrix).

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Algorithm, Extent, Options, refusals};

/// The direct All-to-All: one step for each shift.
pub(crate) struct Direct;

/// Name of the algorithm, for matrices of any kind.
pub(crate) const NAME: &str = "direct";

/// The n−1 shifts of the uniform All-to-All.
pub(crate) fn shifts(n: u32) -> Result<Schedule> {
    let chunks = Chunks::even(Collective::AllToAll, n, 1)?;
    let mut steps = Vec::with_capacity(n as usize - 1);
    for distance in 1..n {
        let transfer = Transfer { src: 0, dst: distance, op: Op::Copy, chunks: vec![chunks.pair(0, distance, 0)] };
        steps.push(Step::new(Translations::cyclic(n), [transfer], &chunks)?);
    }
    Schedule::new(NAME, chunks, steps)
}

impl Algorithm for Direct {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "n-1 shifts, each block straight to its destination"
    }

    fn source(&self) -> &'static str {
        "HARVEST §3.3"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::AllToAll]
    }

    fn requirement(&self) -> &'static str {
        "2 <= n <= 8192"
    }

    fn extent(&self, _: Collective, shape: &Shape, _: &Options) -> Extent {
        let steps = u64::from(shape.gpus()) - 1;
        Extent::cyclic(steps, steps, steps)
    }

    fn check(&self, _: Collective, shape: &Shape, _: &Options) -> Result<()> {
        refusals::pairs(self.name(), shape)
    }

    fn construct(&self, _: Collective, shape: &Shape, _: &Options) -> Result<Schedule> {
        shifts(shape.gpus())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HARVEST's published schedule for 64 GPUs: 63 steps of m/64 at the distances 1 … 63 in order.
    #[test]
    fn shifts_are_in_order_with_one_block_each() {
        let schedule = shifts(64).unwrap();
        let found: Vec<(u32, f64)> =
            schedule.steps().iter().map(|step| (step.transfers()[0].dst, step.share())).collect();
        assert_eq!(found, (1..64).map(|t| (t, 1.0 / 64.0)).collect::<Vec<_>>());
    }
}
