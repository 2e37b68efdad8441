//! Bine tree: a binomial tree over the ranks' negabinary numbers, whose edges are about a third shorter.
//!
//! Relative to the root, write rank v in base −2 with s = log2 n digits. For w = n/2, …, 2, 1, a rank that has the
//! buffer sends it to the rank whose lowest log2 w + 1 digits are all flipped. The distance is
//! |Σ_{j≤log2 w} (−2)^j|, the nearest whole number to 2w/3, where the binomial tree's is w.
//! A Scatter sends each child the shares of its subtree; Reduce and Gather are the two backwards.
//! De Sensi et al., Bine trees: enhancing collective operations by optimizing communication locality (SC 2025), arXiv
//! 2508.17311.

use model::{Collective, Rank, Result, Schedule, Shape};

use crate::root_tree::{self, ROOTED};
use crate::{Algorithm, Extent, Options, refusals};

/// Broadcast and Scatter down a Bine tree, Reduce and Gather up.
pub(crate) struct BineTree;

/// The number modulo n that negabinary `digits` write, n a power of two.
fn rank_of(digits: u32, n: u32) -> Rank {
    // Digits at odd places count negative: subtracting them twice from the binary value.
    digits.wrapping_sub((digits & 0xAAAA_AAAA).wrapping_mul(2)) % n
}

/// The edges `(parent, child)` of each step, relative to the root; n is a power of two.
fn edges(n: u32) -> impl Iterator<Item = Vec<(Rank, Rank)>> {
    (0..n.ilog2()).rev().map(move |bit| {
        let flipped = u32::MAX >> (31 - bit);
        // Before this step a rank has the buffer if its lowest bit + 2 digits are equal; before the first, the root.
        let block = (1u64 << (bit + 2)).min(u64::from(n)) as usize;
        let zeros = (0..n).step_by(block);
        let ones = (block as u32 - 1..n).step_by(block).filter(move |_| u64::from(n) >= 1 << (bit + 2));
        let holders = zeros.chain(ones);
        holders.map(|holder| (rank_of(holder, n), rank_of(holder ^ flipped, n))).collect()
    })
}

impl Algorithm for BineTree {
    fn name(&self) -> &'static str {
        "bine-tree"
    }

    fn summary(&self) -> &'static str {
        "a binomial tree over negabinary numbers of the ranks: log2 n steps at about two thirds of the distances"
    }

    fn source(&self) -> &'static str {
        "De Sensi et al., SC 2025 (Bine trees)"
    }

    fn collectives(&self) -> &'static [Collective] {
        ROOTED
    }

    fn requirement(&self) -> &'static str {
        "n a power of two"
    }

    fn extent(&self, collective: Collective, shape: &Shape, _: &Options) -> Extent {
        let (n, steps) = (u64::from(shape.gpus()), u64::from(shape.gpus().ilog2()));
        root_tree::extent(collective, shape, steps, steps * n / 2)
    }

    fn check(&self, _: Collective, shape: &Shape, options: &Options) -> Result<()> {
        refusals::power_of_two(self.name(), shape)?;
        refusals::root(shape, options.root())
    }

    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        root_tree::schedule(self.name(), collective, shape, options, edges(shape.gpus()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, base −2: 111 is 3; then 0 flips 11 (−1) and 3 flips 11 (100 = 4); last every holder flips 1.
    #[test]
    fn eight_ranks_are_reached_at_the_distances_three_one_and_one() {
        let found: Vec<Vec<(u32, u32)>> = edges(8).collect();
        assert_eq!(found, [vec![(0, 3)], vec![(0, 7), (3, 4)], vec![(0, 1), (4, 5), (7, 6), (3, 2)]]);
    }

    /// SC 2025: the distance of a step is (2w ± 1)/3 for the binomial tree's w.
    #[test]
    fn distances_are_two_thirds_of_the_binomial_tree_s() {
        for log in 1..=10u32 {
            let n = 1 << log;
            for (step, edges) in edges(n).enumerate() {
                let width = n >> (step + 1);
                for (parent, child) in edges {
                    let distance = (child + n - parent) % n;
                    let distance = distance.min(n - distance);
                    assert_eq!((2 * width).abs_diff(3 * distance), 1, "{n}: {parent} to {child}");
                }
            }
        }
    }
}
