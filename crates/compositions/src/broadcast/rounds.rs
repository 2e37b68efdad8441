//! Rounds in which every circuit carries one part at most, the rarest first.
//!
//! In each round the links choose in turn, of what their receiver lacks and their sender had before the round, the
//! rarest part. So the root sends a new part over each circuit as long as it has some, and what is new spreads before
//! what is common (rarest first: Cohen, Incentives build robustness in BitTorrent, 2003). The circuits may differ from
//! round to round.

use model::{Link, Rank};

use super::spread::Sends;

/// Sets of parts, one for each rank.
#[derive(Clone)]
pub(crate) struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    pub(crate) fn new(ranks: u32, parts: u32) -> Self {
        let words = parts.div_ceil(64) as usize;
        Self { words, bits: vec![0; ranks as usize * words] }
    }

    fn of(&self, rank: Rank) -> &[u64] {
        &self.bits[rank as usize * self.words..][..self.words]
    }

    pub(crate) fn has(&self, rank: Rank, part: u32) -> bool {
        self.of(rank)[part as usize / 64] >> (part % 64) & 1 == 1
    }

    pub(crate) fn insert(&mut self, rank: Rank, part: u32) {
        self.bits[rank as usize * self.words + part as usize / 64] |= 1 << (part % 64);
    }
}

/// The measure of the rarest part. Neither takes fewer rounds everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rarity {
    /// The part that fewest ranks have or are about to get.
    Now,
    /// The part that fewest ranks had before the round; among equals, as above. The root's last part goes over all its
    /// circuits.
    BeforeRound,
}

/// The steps in which `parts` parts reach all ranks from `root`, where round t has the links `links(t)`; `None` where
/// `period` rounds in a row bring nothing to anybody, `period` being after how many the links are the same again.
///
/// O(rounds · links · parts / 64), and one more for each part that a link could bring.
pub(super) fn rounds<'a>(
    ranks: u32,
    root: Rank,
    parts: u32,
    period: usize,
    rarity: Rarity,
    links: impl Fn(usize) -> &'a [Link],
) -> Option<Vec<Sends>> {
    // The parts that ranks have before the round, and at its end.
    let (mut held, mut after) = (Sets::new(ranks, parts), Sets::new(ranks, parts));
    for part in 0..parts {
        held.insert(root, part);
        after.insert(root, part);
    }
    // By part: ranks that had it before the round, or 0 where that does not count, and that have it or are about to.
    let (mut had, mut holders) = (vec![0u32; parts as usize], vec![1u32; parts as usize]);
    let mut left = u64::from(parts) * u64::from(ranks - 1);
    let (mut steps, mut idle): (Vec<Sends>, usize) = (Vec::new(), 0);
    for round in 0.. {
        if left == 0 {
            break;
        }
        let mut sends = Sends::new();
        for link in links(round) {
            interruption::check();
            for _ in 0..link.count {
                let Some(part) = rarest(held.of(link.src), after.of(link.dst), &had, &holders) else { break };
                after.insert(link.dst, part);
                holders[part as usize] += 1;
                sends.entry((link.src, link.dst)).or_default().push(part);
                left -= 1;
            }
        }
        for (&(_, dst), parts) in &sends {
            parts.iter().for_each(|&part| held.insert(dst, part));
        }
        if rarity == Rarity::BeforeRound {
            had.copy_from_slice(&holders);
        }
        idle = if sends.is_empty() { idle + 1 } else { 0 };
        if idle == period {
            return None;
        }
        if !sends.is_empty() {
            steps.push(sends);
        }
    }
    Some(steps)
}

/// The part of fewest that had it, then of fewest holders, that is there and not here, the first of equals.
fn rarest(there: &[u64], here: &[u64], had: &[u32], holders: &[u32]) -> Option<u32> {
    let mut best: Option<((u32, u32), u32)> = None;
    for (word, (there, here)) in there.iter().zip(here).enumerate() {
        let mut bits = there & !here;
        while bits != 0 {
            let part = word as u32 * 64 + bits.trailing_zeros();
            bits &= bits - 1;
            let number = (had[part as usize], holders[part as usize]);
            if best.is_none_or(|(least, _)| number < least) {
                best = Some((number, part));
            }
        }
    }
    best.map(|(_, part)| part)
}
