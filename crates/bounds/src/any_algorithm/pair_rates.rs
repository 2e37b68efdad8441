//! Bounds where circuits have the rate of the pair of GPUs that they join: bytes take time on a circuit by its pair,
//! and all circuits of a fabric have n·d times the time of the collective.
//!
//! Let w_ij = B/B_ij be the time of a byte between i and j over that of a byte between the fastest pair, W the weight
//! of the lightest tree that spans all ranks (Kruskal 1956), D_ij the weight of the lightest path from i to j, and
//! v_i the lightest w_ij of rank i. With buffers of m:
//!
//! | collective | bytes of the fastest pair over one of d circuits, at least the largest of |
//! |---|---|
//! | AllGather, ReduceScatter | m·W/n, and (m − m/n)·v_i |
//! | AllReduce | 2·m·W/n, and m·v_i |
//! | All-to-All | (m/n)·Σ D_ij/n, and (m − m/n)·v_i; with a matrix its bytes |
//! | Broadcast, Reduce | m·W/n, and m·v_i of all ranks but one |
//! | Scatter, Gather | the least over all roots of (m/n)·Σ D_root,i/n |
//!
//! Hops take at least as long as the quickest path between two ranks of which one needs data of the other: the longest
//! such delay.
//!
//! Why W: contract the pairs lighter than some weight. A block has to come to each of the c groups of ranks that are
//! left, over c − 1 heavier circuits at least, and a sum of all has to leave and to come to each, over 2·(c − 1). Added
//! up over the weights, that is the lightest tree.

use model::{Collective, PairRates, Piece, Rank};

use super::one_step;
use crate::cutoffs::any_algorithm_pair_rates::MOST_RANKS_OF_PATHS;
use crate::rates::Rates;
use crate::statement::Statement;

/// The bound at these rates of pairs.
pub(super) fn bound(
    pairs: &PairRates,
    collective: Collective,
    pieces: Option<&[Piece]>,
    rates: &Rates,
    buffer_s: f64,
) -> Statement {
    let weights = Weights::at_rates_of(pairs);
    let buffers = match pieces {
        Some(pieces) => weights.of_pieces(pieces),
        None => weights.of_collective(collective),
    };
    let farthest_s = Weights::at_delays_of(pairs).farthest(collective, pieces);
    let why = "every block has to come to all that need it, over circuits that take as long as their pairs of GPUs do";
    let charges = (farthest_s.max(rates.hop_s), buffer_s * buffers / f64::from(rates.ports));
    one_step::bound("pair-rates", "at the rates of pairs of GPUs", why, collective, rates, charges)
}

/// Weights of circuits by their source, then their destination; 0 from a rank to itself.
struct Weights(Vec<Vec<f64>>);

impl Weights {
    /// The time of a byte over that between the fastest pair.
    fn at_rates_of(pairs: &PairRates) -> Self {
        let fastest_bps = pairs.fastest_bps();
        Self::of(pairs.gpus(), |src, dst| fastest_bps / pairs.rate_bps(src, dst))
    }

    /// The hop delay, s.
    fn at_delays_of(pairs: &PairRates) -> Self {
        Self::of(pairs.gpus(), |src, dst| pairs.hop_delay_s(src, dst))
    }

    fn of(ranks: Rank, weight: impl Fn(Rank, Rank) -> f64) -> Self {
        let from = |src| (0..ranks).map(|dst| if src == dst { 0.0 } else { weight(src, dst) }).collect();
        Self((0..ranks).map(from).collect())
    }

    /// The heaviest of the lightest paths over which data have to go; from the root for which that is the least.
    fn farthest(&self, collective: Collective, pieces: Option<&[Piece]>) -> f64 {
        let paths = self.paths();
        if let Some(pieces) = pieces {
            let sent = pieces.iter().filter(|piece| piece.share > 0.0);
            return sent.map(|piece| paths[piece.src as usize][piece.dst as usize]).fold(0.0, f64::max);
        }
        let of_rank = paths.iter().map(|from| from.iter().copied().fold(0.0, f64::max));
        match collective.has_root() {
            true => of_rank.fold(f64::INFINITY, f64::min),
            false => of_rank.fold(0.0, f64::max),
        }
    }

    /// Buffers that one circuit of each rank would have to carry at the fastest rate.
    fn of_collective(&self, collective: Collective) -> f64 {
        let n = self.0.len() as f64;
        let lightest = self.lightest();
        let (most, second) = (lightest[0], lightest[1]);
        let others = 1.0 - 1.0 / n;
        match collective {
            Collective::AllGather | Collective::ReduceScatter => (self.tree() / n).max(others * most),
            Collective::AllReduce => (2.0 * self.tree() / n).max(most),
            Collective::AllToAll => (self.paths().iter().flatten().sum::<f64>() / (n * n)).max(others * most),
            Collective::Broadcast | Collective::Reduce => (self.tree() / n).max(second),
            Collective::Scatter | Collective::Gather => {
                let of_root = self.paths().into_iter().map(|from| from.iter().sum::<f64>() / (n * n));
                of_root.fold(f64::INFINITY, f64::min)
            }
        }
    }

    fn of_pieces(&self, pieces: &[Piece]) -> f64 {
        let (n, paths) = (self.0.len() as f64, self.paths());
        pieces.iter().map(|piece| piece.share * paths[piece.src as usize][piece.dst as usize]).sum::<f64>() / n
    }

    /// The lightest circuit of each rank, the heaviest of these first.
    fn lightest(&self) -> Vec<f64> {
        let of_rank = |rank: usize| {
            let others = self.0[rank].iter().enumerate().filter(|(other, _)| *other != rank);
            others.map(|(_, weight)| *weight).fold(f64::INFINITY, f64::min)
        };
        let mut found: Vec<f64> = (0..self.0.len()).map(of_rank).collect();
        found.sort_by(|a, b| b.total_cmp(a));
        found
    }

    /// Weight of the lightest tree that spans all ranks. O(n²).
    fn tree(&self) -> f64 {
        let mut to_tree = self.0[0].clone();
        let mut outside: Vec<usize> = (1..self.0.len()).collect();
        let mut total = 0.0;
        while let Some(place) = (0..outside.len()).min_by(|&a, &b| to_tree[outside[a]].total_cmp(&to_tree[outside[b]]))
        {
            let joined = outside.swap_remove(place);
            total += to_tree[joined];
            outside.iter().for_each(|&rank| to_tree[rank] = to_tree[rank].min(self.0[joined][rank]));
        }
        total
    }

    /// Weight of the lightest path between any two ranks (Floyd 1962), O(n³); among many ranks that of the lightest
    /// circuit, which no path is below.
    fn paths(&self) -> Vec<Vec<f64>> {
        let mut found = self.0.clone();
        if found.len() > MOST_RANKS_OF_PATHS {
            let least = self.lightest().last().copied().unwrap_or(0.0);
            found.iter_mut().flatten().for_each(|weight| *weight = weight.min(least));
            return found;
        }
        for over in 0..found.len() {
            interruption::check();
            let onward = found[over].clone();
            for from in &mut found {
                let before = from[over];
                from.iter_mut().zip(&onward).for_each(|(direct, after)| *direct = direct.min(before + after));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::PairClasses;

    fn pairs(text: &str, gpus: u32) -> PairRates {
        PairClasses::parse("pair_rates", text).unwrap().on("pair_rates", gpus, (1e11, 1e-6)).unwrap()
    }

    fn weights(text: &str, gpus: u32) -> Weights {
        Weights::at_rates_of(&pairs(text, gpus))
    }

    /// A line of three quick hops: 0.3 µs from end to end, 0.2 µs from a rank within it.
    #[test]
    fn data_go_over_the_quickest_hops() {
        let line = Weights::at_delays_of(&pairs("0:1:1Gbps:100ns,1:2:1Gbps:100ns,2:3:1Gbps:100ns", 4));
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-18;
        assert!(close(line.farthest(Collective::AllGather, None), 3e-7));
        assert!(close(line.farthest(Collective::Broadcast, None), 2e-7));
        let pieces = [Piece { src: 0, dst: 1, share: 1.0 }];
        assert!(close(line.farthest(Collective::AllToAll, Some(&pieces)), 1e-7));
    }

    /// Two groups of two; a byte between them takes four times as long as one inside.
    #[test]
    fn buffers_by_hand() {
        let two = weights("inside:2:400Gbps", 4);
        assert_eq!((two.tree(), two.lightest()), (6.0, vec![1.0; 4]));
        assert_eq!(two.of_collective(Collective::AllGather), 1.5);
        assert_eq!(two.of_collective(Collective::AllReduce), 3.0);
        // Each rank has a peer at 1 and two at 4.
        assert_eq!(two.of_collective(Collective::AllToAll), 4.0 * 9.0 / 16.0);
        assert_eq!(two.of_collective(Collective::Scatter), 9.0 / 16.0);
        let pieces = [Piece { src: 0, dst: 1, share: 0.5 }, Piece { src: 0, dst: 2, share: 0.5 }];
        assert_eq!(two.of_pieces(&pieces), 2.5 / 4.0);
    }

    /// From 0 to 2 by way of 1 is lighter than directly: 1 + 1 against 4.
    #[test]
    fn paths_go_round_slow_pairs() {
        let line = weights("0:1:400Gbps,1:2:400Gbps", 3);
        assert_eq!((line.paths()[0][2], line.tree()), (2.0, 2.0));
        assert_eq!(line.of_collective(Collective::Broadcast), 1.0);
    }

    /// A GPU whose circuits are all slow bounds what all have to send.
    #[test]
    fn a_slow_rank_counts() {
        let slow = weights("0-2:0-2:800Gbps", 4);
        assert_eq!(slow.lightest(), [8.0, 1.0, 1.0, 1.0]);
        assert_eq!(slow.of_collective(Collective::AllReduce), 8.0);
        assert_eq!(slow.of_collective(Collective::AllGather), 6.0);
    }
}
