//! Bruck's pattern with distance 1 first, for any n and any radix r: what BRIDGE runs.
//!
//! ReduceScatter: at rank u the block of owner o is o − u mod n away. In step k = 0, 1, … the blocks whose digit k of
//! that in radix r is z ≠ 0 move z·r^k ahead, where they are added up; all lower digits are zero by then. With radix 2,
//! rank u sends to u + 2^k about m/2^(k+1), which is `recursive-doubling` where n is a power of two. AllGather mirrors
//! that in time, largest distance first, and keeps the direction, so that the same one-way rings serve both. A rank
//! sends (n−1)/n of the buffer in all, the least there is, for any n.
//!
//! `bruck` has the opposite order, ReduceScatter with the largest distance first. All-to-All is the same in
//! both orders and is offered there.
//! BRIDGE §3.1, §3.4 and §3.5; radix p + 1 for p ports: §3.1.

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use super::bruck::{one_way, radix, weights};
use crate::halves::{self, HALVES};
use crate::{Algorithm, Extent, Options, refusals};

/// Bruck's pattern of any radix, distance 1 first, as BRIDGE runs it.
pub(crate) struct BruckDoubling;

/// The step of `weight` = r^k: what rank 0 sends to z·r^k, for each z.
fn step(n: u32, radix: u32, weight: u32, chunks: &Chunks) -> Result<Step> {
    let gathers = chunks.collective() == Collective::AllGather;
    let distances = (1..radix).filter_map(|z| z.checked_mul(weight)).take_while(|&distance| distance < n);
    let transfers = distances.map(|distance| {
        // Blocks with these digits and zeros below: `away` = distance + j·r^(k+1).
        let stride = radix.checked_mul(weight).unwrap_or(n) as usize;
        let away = (distance..n).step_by(stride);
        // Mirrored in time and space: what ends `away` behind its owner is `away − distance` behind now.
        let owner = |away: u32| if gathers { (n - (away - distance)) % n } else { away };
        let op = if gathers { Op::Copy } else { Op::Reduce };
        Transfer { src: 0, dst: distance, op, chunks: away.map(|away| chunks.owned(owner(away), 0)).collect() }
    });
    Step::new(Translations::cyclic(n), transfers, chunks)
}

/// `collective` by the digits of radix `radix`: lowest first for a ReduceScatter, last for an AllGather.
pub(super) fn schedule(name: &str, collective: Collective, n: u32, radix: u32) -> Result<Schedule> {
    let half = |collective| {
        let chunks = Chunks::even(collective, n, 1)?;
        let mut order = weights(n, radix);
        if collective == Collective::AllGather {
            order.reverse();
        }
        let steps = order.into_iter().map(|weight| step(n, radix, weight, &chunks)).collect::<Result<_>>()?;
        Schedule::new(name, chunks, steps)
    };
    halves::compose(collective, || half(Collective::ReduceScatter), || half(Collective::AllGather))
}

/// The size of [`schedule`] as it is kept. O(n).
pub(super) fn extent(collective: Collective, n: u32, radix: u32) -> Extent {
    let sent = |weight: u32| -> u64 {
        let distances = (1..radix).map_while(|z| z.checked_mul(weight).filter(|&distance| distance < n));
        let stride = u64::from(radix) * u64::from(weight);
        distances.map(|distance| u64::from(n - distance).div_ceil(stride)).sum()
    };
    one_way(n, radix, weights(n, radix).into_iter().map(sent).sum()).of_half(collective)
}

impl Algorithm for BruckDoubling {
    fn name(&self) -> &'static str {
        "bruck-doubling"
    }

    fn summary(&self) -> &'static str {
        "ceil(log_r n) steps like bruck, but the reduce-scatter with distance 1 first, --radix r"
    }

    fn source(&self) -> &'static str {
        "BRIDGE §3.1, §3.4, §3.5"
    }

    fn collectives(&self) -> &'static [Collective] {
        HALVES
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2, radix >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, options: &Options) -> Extent {
        extent(collective, shape.gpus(), radix(shape, options))
    }

    fn check(&self, _: Collective, _: &Shape, options: &Options) -> Result<()> {
        refusals::radix(options)
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        schedule(self.name(), collective, shape.gpus(), radix(shape, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::recursive_doubling::RecursiveDoubling;

    fn build(collective: Collective, n: u32, radix: u32) -> Schedule {
        let options = Options { radix: Some(radix), ..Options::default() };
        BruckDoubling.build(collective, &Shape::new(n, &[], 1).unwrap(), &options).unwrap()
    }

    fn distances_and_blocks(schedule: &Schedule) -> Vec<Vec<(u32, usize)>> {
        let of_step = |step: &Step| step.transfers().iter().map(|t| (t.dst, t.chunks.len())).collect();
        schedule.steps().iter().map(of_step).collect()
    }

    #[test]
    fn radix_two_is_recursive_doubling_where_n_is_a_power_of_two() {
        for log_ranks in 1..=9 {
            let shape = Shape::new(1 << log_ranks, &[], 1).unwrap();
            for &collective in HALVES {
                let known = RecursiveDoubling.build(collective, &shape, &Options::default()).unwrap();
                assert_eq!(build(collective, 1 << log_ranks, 2).steps(), known.steps());
            }
        }
    }

    /// By hand: partners and blocks of each step.
    #[test]
    fn blocks_are_counted_by_digits() {
        // 1, 3, 5 are odd; 2 is even but no multiple of 4; 4.
        let six = build(Collective::ReduceScatter, 6, 2);
        assert_eq!(distances_and_blocks(&six), [[(1, 3)], [(2, 1)], [(4, 1)]]);
        // In radix 3: 1, 4 · 2, 5 · 3 · 6 is not there.
        let six = build(Collective::AllGather, 6, 3);
        assert_eq!(distances_and_blocks(&six), [vec![(3, 1)], vec![(1, 2), (2, 2)]]);
    }

    #[test]
    fn gathering_has_the_steps_of_reducing_in_reverse() {
        for n in 2..=40 {
            for radix in 2..=5 {
                let mut reduce = distances_and_blocks(&build(Collective::ReduceScatter, n, radix));
                reduce.reverse();
                assert_eq!(distances_and_blocks(&build(Collective::AllGather, n, radix)), reduce, "{n} {radix}");
            }
        }
    }
}
