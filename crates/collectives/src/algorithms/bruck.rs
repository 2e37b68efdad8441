//! Bruck's two algorithms, for any n and any radix r: ⌈log_r n⌉ steps, up to r−1 transfers per rank each.
//!
//! *Concatenation* (AllGather): a rank that has the w = r^k blocks of its w predecessors sends them to the
//! ranks z·w ahead, z = 1 … r−1, as far as they are still missing there. ReduceScatter runs that in
//! reverse, mirrored so that it sends forward too. *Index* (All-to-All): block (s, d) moves forward by
//! the digits in radix r of (d − s) mod n, lowest first; the rotations before and after are local and
//! do not appear.
//! Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997, §3 (index) and §4 (concatenation).

use model::{Chunks, Collective, Op, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::halves;
use crate::{Algorithm, Extent, Options, refusals};

/// Bruck's AllGather and All-to-All of any radix, longest distance first.
pub(crate) struct Bruck;

/// r, at most n: a larger radix changes nothing.
pub(super) fn radix(shape: &Shape, options: &Options) -> u32 {
    options.radix.unwrap_or(2).clamp(2, shape.gpus())
}

/// 1, r, r², … below n.
pub(super) fn weights(n: u32, radix: u32) -> Vec<u32> {
    std::iter::successors(Some(1u32), |weight| weight.checked_mul(radix)).take_while(|&weight| weight < n).collect()
}

/// Steps to the distances z·w below n, for every weight w and every digit z.
pub(super) fn one_way(n: u32, radix: u32, chunks: u64) -> Extent {
    let weights = weights(n, radix);
    let transfers = weights.iter().map(|&weight| u64::from((radix - 1).min((n - 1) / weight))).sum();
    let steps = weights.len() as u64;
    Extent { steps, patterns: steps, transfers, chunks, arcs: transfers, orbits: 1 }
}

impl Bruck {
    /// Steps in which rank 0 sends to z·w, for every w of `weights`, the blocks `owners(z·w, count)`.
    fn concatenation(
        &self,
        collective: Collective,
        op: Op,
        n: u32,
        radix: u32,
        weights: impl Iterator<Item = u32>,
        owner: impl Fn(u32, u32) -> u32,
    ) -> Result<Schedule> {
        let chunks = Chunks::even(collective, n, 1)?;
        let mut steps = Vec::new();
        for weight in weights {
            let distances = (1..radix).filter_map(|z| z.checked_mul(weight)).take_while(|&distance| distance < n);
            let transfers = distances.map(|distance| {
                let missing = weight.min(n - distance);
                let sent = (0..missing).map(|j| chunks.owned(owner(distance, j), 0)).collect();
                Transfer { src: 0, dst: distance, op, chunks: sent }
            });
            steps.push(Step::new(Translations::cyclic(n), transfers, &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }

    fn all_gather(&self, n: u32, radix: u32) -> Result<Schedule> {
        let order = weights(n, radix).into_iter();
        self.concatenation(Collective::AllGather, Op::Copy, n, radix, order, |_, j| (n - j) % n)
    }

    fn reduce_scatter(&self, n: u32, radix: u32) -> Result<Schedule> {
        let order = weights(n, radix).into_iter().rev();
        self.concatenation(Collective::ReduceScatter, Op::Reduce, n, radix, order, |distance, j| distance + j)
    }

    fn index(&self, n: u32, radix: u32) -> Result<Schedule> {
        let chunks = Chunks::even(Collective::AllToAll, n, 1)?;
        let mut steps = Vec::new();
        for weight in weights(n, radix) {
            let mut sent = vec![Vec::new(); radix as usize];
            for offset in 0..n {
                // Lower digits are done, so at rank 0 this block's source lies that far behind.
                let src = (n - offset % weight) % n;
                sent[(offset / weight % radix) as usize].push(chunks.pair(src, (src + offset) % n, 0));
            }
            let transfers = sent.into_iter().zip(0..).skip(1).filter(|(blocks, _)| !blocks.is_empty());
            let transfers =
                transfers.map(|(blocks, z)| Transfer { src: 0, dst: z * weight, op: Op::Copy, chunks: blocks });
            steps.push(Step::new(Translations::cyclic(n), transfers, &chunks)?);
        }
        Schedule::new(self.name(), chunks, steps)
    }
}

impl Algorithm for Bruck {
    fn name(&self) -> &'static str {
        "bruck"
    }

    fn summary(&self) -> &'static str {
        "ceil(log_r n) steps: concatenation (all-gather and its reverse) and index (all-to-all), --radix r"
    }

    fn source(&self) -> &'static str {
        "Bruck et al., IEEE TPDS 8(11), 1997"
    }

    fn collectives(&self) -> &'static [Collective] {
        &[Collective::AllReduce, Collective::ReduceScatter, Collective::AllGather, Collective::AllToAll]
    }

    fn requirement(&self) -> &'static str {
        "any n >= 2 (all-to-all: n <= 8192), radix >= 2"
    }

    fn extent(&self, collective: Collective, shape: &Shape, options: &Options) -> Extent {
        let (n, radix) = (shape.gpus(), radix(shape, options));
        if collective != Collective::AllToAll {
            return one_way(n, radix, u64::from(n) - 1).of_half(collective);
        }
        // Blocks whose digit is zero stay.
        let stay = |weight: u64| {
            let turn = weight * u64::from(radix);
            u64::from(n) / turn * weight + (u64::from(n) % turn).min(weight)
        };
        let sent = weights(n, radix).into_iter().map(|weight| u64::from(n) - stay(u64::from(weight))).sum();
        one_way(n, radix, sent)
    }

    fn check(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::radix(options)?;
        if collective == Collective::AllToAll { refusals::pairs(self.name(), shape) } else { Ok(()) }
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        let (n, radix) = (shape.gpus(), radix(shape, options));
        if collective == Collective::AllToAll {
            return self.index(n, radix);
        }
        halves::compose(collective, || self.reduce_scatter(n, radix), || self.all_gather(n, radix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn transfers(collective: Collective, n: u32, radix: u32) -> Vec<Vec<(u32, usize)>> {
        let options = Options { radix: Some(radix), ..Options::default() };
        let schedule = Bruck.build(collective, &Shape::new(n, &[], 1).unwrap(), &options).unwrap();
        let of_step = |step: &Step| step.transfers().iter().map(|t| (t.dst, t.chunks.len())).collect();
        schedule.steps().iter().map(of_step).collect()
    }

    /// By hand: partners and blocks of each step.
    #[test]
    fn five_ranks_need_three_steps_of_which_the_last_is_partial() {
        assert_eq!(transfers(Collective::AllGather, 5, 2), [[(1, 1)], [(2, 2)], [(4, 1)]]);
        assert_eq!(transfers(Collective::ReduceScatter, 5, 2), [[(4, 1)], [(2, 2)], [(1, 1)]]);
        assert_eq!(transfers(Collective::AllToAll, 5, 2), [[(1, 2)], [(2, 2)], [(4, 1)]]);
    }

    #[test]
    fn radix_four_sends_to_three_ranks_in_every_step() {
        let expected: Vec<Vec<(u32, usize)>> =
            [1, 4, 16].map(|weight| (1..4).map(|z| (z * weight, weight as usize)).collect()).to_vec();
        assert_eq!(transfers(Collective::AllGather, 64, 4), expected);
    }

    proptest! {
        /// BRIDGE §3.1: the last step of All-to-All sends n − 2^(s−1) blocks.
        #[test]
        fn the_last_index_step_sends_what_is_beyond_the_largest_power(n in 3u32..300) {
            let last = transfers(Collective::AllToAll, n, 2).pop().unwrap();
            let power = 1 << (n - 1).ilog2();
            prop_assert_eq!(last, [(power, (n - power) as usize)]);
        }
    }
}
