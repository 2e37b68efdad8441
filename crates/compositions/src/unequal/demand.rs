//! The data of an unequal All-to-All, as a matrix.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use model::{Chunks, Piece, Rank, Result};

/// The number of every block, by (src, dst).
pub(crate) type Numbers = BTreeMap<(Rank, Rank), u32>;

/// Bytes over m from every rank to every rank, all pieces added up.
#[derive(Debug, Clone)]
pub(crate) struct Demand {
    ranks: usize,
    /// `[src · n + dst]`; the diagonal has the data that stay at their rank.
    shares: Vec<f64>,
    /// The pairs that exchange something, the largest share first; sorted when they are first asked for.
    heaviest: OnceLock<Vec<(Rank, Rank)>>,
}

impl PartialEq for Demand {
    fn eq(&self, other: &Self) -> bool {
        (self.ranks, &self.shares) == (other.ranks, &other.shares)
    }
}

impl Demand {
    /// The sum of `pieces` of this many ranks.
    pub(crate) fn of(ranks: u32, pieces: &[Piece]) -> Self {
        let ranks = ranks as usize;
        let mut shares = vec![0.0; ranks * ranks];
        for piece in pieces {
            shares[piece.src as usize * ranks + piece.dst as usize] += piece.share;
        }
        Self { ranks, shares, heaviest: OnceLock::new() }
    }

    /// Only these pairs of it.
    pub(crate) fn only(&self, pairs: &[(Rank, Rank)]) -> Self {
        let mut shares = vec![0.0; self.shares.len()];
        for &(src, dst) in pairs {
            shares[src as usize * self.ranks + dst as usize] = self.share(src, dst);
        }
        let remains = |&&(src, dst): &&(Rank, Rank)| shares[src as usize * self.ranks + dst as usize] > 0.0;
        let heaviest: Vec<(Rank, Rank)> = self.heaviest().iter().filter(remains).copied().collect();
        Self { ranks: self.ranks, shares, heaviest: OnceLock::from(heaviest) }
    }

    /// Every pair's amount times `weight(src, dst)`.
    pub(crate) fn weighted(&self, weight: impl Fn(Rank, Rank) -> f64) -> Self {
        let mut shares = vec![0.0; self.shares.len()];
        for (src, dst) in self.pairs() {
            shares[src as usize * self.ranks + dst as usize] = self.share(src, dst) * weight(src, dst);
        }
        Self { ranks: self.ranks, shares, heaviest: OnceLock::new() }
    }

    /// Bytes over m that the busiest rank sends to others or receives from them.
    pub(crate) fn busiest(&self) -> f64 {
        let (mut sends, mut receives) = (vec![0.0; self.ranks], vec![0.0; self.ranks]);
        for (src, dst) in self.pairs() {
            sends[src as usize] += self.share(src, dst);
            receives[dst as usize] += self.share(src, dst);
        }
        sends.into_iter().chain(receives).fold(0.0, f64::max)
    }

    /// Bytes times hops over m of the best topology for what each rank sends, by itself: its largest shares go to the
    /// `ports` ranks that one hop reaches at most, the next to those that two hops reach, and so on.
    pub(crate) fn least_bytes_hops(&self, ports: usize) -> f64 {
        let of_rank = |src: usize| -> f64 {
            let mut sent = self.sent_by(src).to_vec();
            sent[src] = 0.0;
            sent.sort_by(|a, b| b.total_cmp(a));
            let (mut sum, mut places, mut hops) = (0.0, ports, 1.0);
            let mut left = &sent[..];
            while !left.is_empty() && places > 0 {
                let (near, far) = left.split_at(places.min(left.len()));
                sum += hops * near.iter().sum::<f64>();
                (left, places, hops) = (far, places.saturating_mul(ports), hops + 1.0);
            }
            sum
        };
        (0..self.ranks).map(of_rank).sum()
    }

    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bytes over m from `src` to `dst`.
    pub(crate) fn share(&self, src: Rank, dst: Rank) -> f64 {
        self.shares[src as usize * self.ranks + dst as usize]
    }

    /// The amounts that `src` sends to every rank, itself included.
    pub(crate) fn sent_by(&self, src: usize) -> &[f64] {
        &self.shares[src * self.ranks..(src + 1) * self.ranks]
    }

    /// The pairs of different ranks that exchange something, by (src, dst).
    pub(crate) fn pairs(&self) -> Vec<(Rank, Rank)> {
        let ranks = self.ranks;
        let sends = |&at: &usize| at / ranks != at % ranks && self.shares[at] > 0.0;
        (0..ranks * ranks).filter(sends).map(|at| ((at / ranks) as Rank, (at % ranks) as Rank)).collect()
    }

    /// The pairs of different ranks that exchange something, the largest share first, then by (src, dst).
    pub(crate) fn heaviest(&self) -> &[(Rank, Rank)] {
        self.heaviest.get_or_init(|| {
            let mut pairs = self.pairs();
            pairs.sort_by(|a, b| self.share(b.0, b.1).total_cmp(&self.share(a.0, a.1)));
            pairs
        })
    }

    /// The pairs of different ranks, those that exchange nothing included, the largest share first, then by (src, dst).
    pub(crate) fn by_share(&self) -> impl Iterator<Item = (Rank, Rank)> {
        let ranks = self.ranks as Rank;
        let all = (0..ranks).flat_map(move |src| (0..ranks).map(move |dst| (src, dst)));
        let others = all.filter(|&(src, dst)| src != dst && self.share(src, dst) == 0.0);
        self.heaviest().iter().copied().chain(others)
    }

    /// A piece for every block, what stays included, and their numbers.
    ///
    /// # Errors
    /// No error for shares of pieces.
    pub(crate) fn chunks(&self) -> Result<(Chunks, Numbers)> {
        let stays = (0..self.ranks as Rank).map(|rank| (rank, rank)).filter(|&(rank, _)| self.share(rank, rank) > 0.0);
        let blocks: Vec<(Rank, Rank)> = self.pairs().into_iter().chain(stays).collect();
        let pieces = blocks.iter().map(|&(src, dst)| Piece { src, dst, share: self.share(src, dst) }).collect();
        let numbers = blocks.iter().copied().zip(0..).collect();
        Ok((Chunks::pieces(self.ranks as u32, pieces)?, numbers))
    }
}
