//! The steps of an AllReduce over walks.
//!
//! A chunk is a block of the buffer named by a walk of as many letters as are scattered, and a part of it. The rank at
//! the vertex where that walk begins collects it first; then it goes on along its letters while it is scattered, and
//! along all letters while sums are doubled: a rank's sum is replaced by those of the ranks that lead to it. At the end
//! of k letters the ranks whose walks begin with the chunk's have the sum of all, and gathering goes the same way.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{Chunks, Collective, Op, Rank, Result, Step, Transfer, Translations};

use super::grouping::Pass;
use super::walks::{Walks, word};
use crate::composition::Composition;

/// Steps over walks with the letters grouped in `groups`.
pub(super) struct Steps<'a> {
    pub(super) walks: &'a Walks,
    pub(super) pass: Pass,
    pub(super) groups: &'a [Range<u32>],
}

impl Steps<'_> {
    /// # Errors
    /// The errors of [`Step::new`].
    pub(super) fn composition(&self) -> Result<Composition> {
        let base = &self.walks.base;
        let chunks = Chunks::buffer(Collective::AllReduce, self.walks.ranks(), 0, self.chunks())?;
        let mut steps = Vec::new();
        for level in (0..base.leaving.len()).rev() {
            steps.push(self.collect(level, &chunks)?);
        }
        for units in self.groups {
            steps.push(self.along(units, &chunks)?);
        }
        for level in 0..base.arriving.len() {
            steps.push(self.spread(level, &chunks)?);
        }
        Composition::new(chunks, steps, vec![self.walks.topology()?])
    }

    fn chunks(&self) -> u32 {
        self.walks.base.order * self.walks.base.parts * self.words()
    }

    /// Words of as many letters as are scattered.
    fn words(&self) -> u32 {
        self.pass.letters.pow(self.pass.scattered)
    }

    /// A part of the block of the walk that begins at a vertex with these letters.
    fn chunk(&self, begin: u32, part: u32, letters: &[u32]) -> u32 {
        let number = letters.iter().fold(0, |number, letter| number * self.pass.letters + letter);
        (begin * self.walks.base.parts + part) * self.words() + number
    }

    fn step(&self, transfers: impl IntoIterator<Item = Transfer>, chunks: &Chunks) -> Result<Step> {
        Step::new(Translations::trivial(self.walks.ranks()), transfers, chunks)
    }

    /// Towards the ranks that end where a chunk's walk begins, from those that are so far away.
    fn collect(&self, level: usize, chunks: &Chunks) -> Result<Step> {
        let base = &self.walks.base;
        let mut sent: BTreeMap<(Rank, u32), Vec<u32>> = BTreeMap::new();
        for src in 0..self.walks.ranks() {
            interruption::check();
            for place in &base.leaving[level] {
                let begin = base.walk(self.walks.end(src), &place.word);
                let all = (0..self.words()).map(|number| word(number, self.pass.letters, self.pass.scattered));
                let carried = sent.entry((src, place.word[0])).or_default();
                carried.extend(all.map(|letters| self.chunk(begin, place.part, &letters)));
            }
        }
        let transfer = |((src, letter), chunks): ((Rank, u32), Vec<u32>)| Transfer {
            src,
            dst: self.walks.after(src, letter),
            op: Op::Reduce,
            chunks,
        };
        self.step(sent.into_iter().map(transfer), chunks)
    }

    /// From the ranks whose walks begin where a chunk's walk ends, to those whose walks begin so far away.
    fn spread(&self, level: usize, chunks: &Chunks) -> Result<Step> {
        let base = &self.walks.base;
        let mut transfers = Vec::new();
        for src in 0..self.walks.ranks() {
            interruption::check();
            let letters = self.walks.letters(src);
            // Every walk that this rank's walk leads to begins at its second vertex.
            let next = base.after[letters[0] as usize][base.walk_back(self.walks.end(src), &letters) as usize];
            let mut carried = Vec::new();
            for place in base.arriving[level].iter().filter(|place| place.word.last() == Some(&letters[0])) {
                let end = base.walk_back(next, &place.word);
                for number in 0..self.words() {
                    let letters = word(number, self.pass.letters, self.pass.scattered);
                    carried.push(self.chunk(base.walk_back(end, &letters), place.part, &letters));
                }
            }
            if !carried.is_empty() {
                let to = (0..base.letters()).map(|letter| self.walks.after(src, letter));
                transfers.extend(to.map(|dst| Transfer { src, dst, op: Op::Copy, chunks: carried.clone() }));
            }
        }
        self.step(transfers, chunks)
    }

    /// Along the letters `units` in one step.
    fn along(&self, units: &Range<u32>, chunks: &Chunks) -> Result<Step> {
        let (scattering, _) = self.pass.split(units);
        let hops = units.end - units.start;
        // By receiver and chunk, who sends it, ascending.
        let mut senders: Vec<(Rank, u32, Rank)> = Vec::new();
        for src in 0..self.walks.ranks() {
            interruption::check();
            for number in 0..self.pass.letters.pow(hops) {
                let letters = word(number, self.pass.letters, hops);
                let dst = letters.iter().fold(src, |at, &letter| self.walks.after(at, letter));
                let sent = self.held(src, units.start, &letters[..scattering as usize]);
                senders.extend(sent.into_iter().map(|chunk| (dst, chunk, src)));
            }
        }
        senders.sort_unstable();
        let mut sent: Vec<(Rank, Rank, Op, u32)> = Vec::with_capacity(senders.len());
        for same in senders.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (dst, chunk, first) = same[0];
            // The receiver's data is replaced, unless a walk leads from it to itself.
            let stays = same.iter().any(|(_, _, src)| *src == dst);
            for &(_, _, src) in same.iter().filter(|(_, _, src)| *src != dst) {
                let op = if src == first && !stays { Op::Copy } else { Op::Reduce };
                sent.push((src, dst, op, chunk));
            }
        }
        drop(senders);
        sent.sort_unstable();
        let alike = sent.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2));
        let transfer = |alike: &[(Rank, Rank, Op, u32)]| {
            let (src, dst, op, _) = alike[0];
            Transfer { src, dst, op, chunks: alike.iter().map(|one| one.3).collect() }
        };
        self.step(alike.map(transfer), chunks)
    }

    /// The chunks that a rank has before the letter `unit`, of those that are scattered along `next` the ones that go
    /// there.
    fn held(&self, rank: Rank, unit: u32, next: &[u32]) -> Vec<u32> {
        let Pass { letters: radix, length, scattered, .. } = self.pass;
        let base = &self.walks.base;
        let own = self.walks.letters(rank);
        let done = unit.min(scattered);
        let gathered = unit.saturating_sub(length);
        let moved = unit.min(length) - done;
        let known = (length - done - moved) as usize..(length - moved - gathered) as usize;
        // The known parts of a chunk's walk: where it begins, and its first letters; when gathering, its last letters.
        let begin = base.walk_back(self.walks.end(rank), &own[known.start..]);
        let free = scattered - (known.len() + next.len()) as u32;
        let mut held = Vec::new();
        for number in 0..radix.pow(free) {
            let free = word(number, radix, free);
            let (begin, letters) = if gathered > 0 {
                (base.walk_back(begin, &free), [&free[..], &own[known.clone()]].concat())
            } else {
                (begin, [&own[known.clone()], next, &free[..]].concat())
            };
            held.extend((0..base.parts).map(|part| self.chunk(begin, part, &letters)));
        }
        held
    }
}
