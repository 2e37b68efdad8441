//! The vertices that walks lead over: a Cayley digraph of few vertices, on which every vertex sends each block but its
//! own on once, towards its owner.
//!
//! A letter c leads from v to v·g_c. Letters are chosen for relative places, the same from every vertex, so that all
//! links of a letter carry as much. Blocks may be cut into as many parts as there are letters, which then load letters
//! evenly.

use model::Rank;
use topologies::metacyclic;

use crate::circulants;
use crate::cutoffs::one_pass_base::{MOST_VERTICES, WORTH_LEVELS};
use crate::relative::Circuits;

/// A place relative to a vertex and a part of its block: the letters of a shortest walk there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) word: Vec<u32>,
    pub(crate) part: u32,
}

/// A Cayley digraph of `order` vertices with parallel links, and possibly links from vertices to themselves.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) order: u32,
    /// Vertices are x + wheel·i; moving all x is a symmetry.
    pub(crate) wheel: u32,
    /// `[letter][vertex]`.
    pub(crate) after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    /// Parts of a block.
    pub(crate) parts: u32,
    /// For each distance from 1 on: destinations of blocks, by the first letter of the path to them.
    pub(crate) leaving: Vec<Vec<Place>>,
    /// By distance: where blocks come from, by the last letter of the way here.
    pub(crate) arriving: Vec<Vec<Place>>,
    /// By distance, what the busiest link carries of blocks in each direction.
    pub(crate) loads: Vec<f64>,
}

impl Base {
    /// `None` where some vertex is not reached.
    fn new(order: u32, wheel: u32, after: Vec<Vec<u32>>) -> Option<Self> {
        let before = after.iter().map(|step| inverse(step)).collect();
        let base = Self {
            order,
            wheel,
            after,
            before,
            parts: 1,
            leaving: Vec::new(),
            arriving: Vec::new(),
            loads: Vec::new(),
        };
        let whole = base.clone().with_parts(1)?;
        let cut = base.with_parts(whole.letters())?;
        Some(if cut.amount() < whole.amount() * (1.0 - 1e-9) { cut } else { whole })
    }

    fn circulant(order: u32, places: &[u32]) -> Option<Self> {
        let step = |place: &u32| (0..order).map(|at| (at + place) % order).collect();
        Self::new(order, order, places.iter().map(step).collect())
    }

    fn with_parts(mut self, parts: u32) -> Option<Self> {
        self.parts = parts;
        let (leaving, out) = self.levels(|letter, word| [&[letter], word].concat(), |word| word[0])?;
        let (arriving, into) = self.levels(|letter, word| [word, &[letter]].concat(), |word| word[word.len() - 1])?;
        self.loads = out.into_iter().zip(into).map(|(out, into)| out.max(into)).collect();
        (self.leaving, self.arriving) = (leaving, arriving);
        Some(self)
    }

    /// Places by distance, each reached by one letter more than some place before, and what the busiest letter carries.
    fn levels(
        &self,
        longer: impl Fn(u32, &[u32]) -> Vec<u32>,
        carrier: impl Fn(&[u32]) -> u32,
    ) -> Option<(Vec<Vec<Place>>, Vec<f64>)> {
        let mut known = vec![false; self.order as usize];
        known[0] = true;
        let (mut words, mut levels, mut loads) = (vec![Vec::new()], Vec::new(), Vec::new());
        while !words.is_empty() {
            let mut ways: Vec<Vec<Vec<u32>>> = vec![Vec::new(); self.order as usize];
            for word in &words {
                interruption::check();
                for letter in 0..self.letters() {
                    let word = longer(letter, word);
                    let to = self.walk(0, &word) as usize;
                    if !known[to] {
                        ways[to].push(word);
                    }
                }
            }
            let mut reached: Vec<usize> = (0..ways.len()).filter(|&to| !ways[to].is_empty()).collect();
            reached.sort_by_key(|&to| (ways[to].len(), to));
            let mut carried = vec![0u32; self.letters() as usize];
            let mut level = Vec::new();
            for &to in &reached {
                interruption::check();
                known[to] = true;
                for part in 0..self.parts {
                    let word = ways[to].iter().min_by_key(|word| carried[carrier(word) as usize])?;
                    carried[carrier(word) as usize] += 1;
                    level.push(Place { word: word.clone(), part });
                }
            }
            words = reached.into_iter().map(|to| ways[to].swap_remove(0)).collect();
            if !level.is_empty() {
                loads.push(f64::from(carried.into_iter().max()?) / f64::from(self.parts));
                levels.push(level);
            }
        }
        known.iter().all(|known| *known).then_some((levels, loads))
    }

    pub(crate) fn letters(&self) -> u32 {
        self.after.len() as u32
    }

    /// Sum over the levels of the load of the busiest link, in blocks.
    pub(crate) fn amount(&self) -> f64 {
        self.loads.iter().sum()
    }

    /// The vertex at the end of a walk.
    pub(crate) fn walk(&self, from: Rank, word: &[u32]) -> u32 {
        word.iter().fold(from, |at, &letter| self.after[letter as usize][at as usize])
    }

    /// The vertex at the start of a walk that ends at `to`.
    pub(crate) fn walk_back(&self, to: Rank, word: &[u32]) -> u32 {
        word.iter().rev().fold(to, |at, &letter| self.before[letter as usize][at as usize])
    }
}

fn inverse(step: &[u32]) -> Vec<u32> {
    let mut before = vec![0; step.len()];
    for (from, &to) in (0..).zip(step) {
        before[to as usize] = from;
    }
    before
}

/// Digraphs of `order` vertices with `letters` links out of each, none better than another in steps and in bytes.
pub(crate) fn bases(order: u32, letters: u32) -> Vec<Base> {
    if order == 1 {
        return Base::new(1, 1, vec![vec![0]; letters as usize]).into_iter().collect();
    }
    if order <= letters + 1 {
        // Every vertex to every other, and the letters left over in turn.
        let places: Vec<u32> = (0..letters).map(|letter| 1 + letter % (order - 1)).collect();
        return Base::circulant(order, &places).into_iter().collect();
    }
    if order > MOST_VERTICES {
        return Vec::new();
    }
    let circulants = circulants::narrowest(order, letters, WORTH_LEVELS);
    let mut found: Vec<Base> =
        circulants.iter().filter_map(|circuits| Base::circulant(order, &places(order, circuits))).collect();
    // There may be no such group.
    if let Some(cayley) = metacyclic::best(order, letters).ok().flatten() {
        let (wheel, steps) = cayley.steps();
        found.extend(Base::new(order, wheel, steps));
    }
    found.sort_by(|a, b| (a.loads.len(), a.amount()).partial_cmp(&(b.loads.len(), b.amount())).expect("finite"));
    let mut kept: Vec<Base> = Vec::new();
    for base in found {
        if kept.last().is_none_or(|last| base.amount() < last.amount() * (1.0 - 1e-9)) {
            kept.push(base);
        }
    }
    kept
}

/// Places of single circuits.
fn places(order: u32, circuits: &Circuits) -> Vec<u32> {
    let each =
        |&(ahead, count): &(i64, u32)| std::iter::repeat_n(ahead.rem_euclid(i64::from(order)) as u32, count as usize);
    circuits.iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_reached_once_in_each_part_and_letters_carry_alike() {
        for (order, letters) in
            [(1, 2), (2, 2), (3, 2), (4, 2), (8, 2), (16, 2), (9, 3), (16, 4), (15, 4), (7, 6), (20, 3)]
        {
            let bases = bases(order, letters);
            assert!(!bases.is_empty(), "{order} {letters}");
            for base in bases {
                for (levels, ends) in [(&base.leaving, true), (&base.arriving, false)] {
                    let mut places = Vec::new();
                    for (level, load) in levels.iter().zip(&base.loads) {
                        let mut carried = vec![0; letters as usize];
                        for place in level {
                            places.push((base.walk(0, &place.word), place.part));
                            carried[place.word[if ends { 0 } else { place.word.len() - 1 }] as usize] += 1;
                        }
                        let most = f64::from(*carried.iter().max().unwrap()) / f64::from(base.parts);
                        assert!(most <= *load);
                        assert!(*load >= level.len() as f64 / f64::from(base.parts * letters) - 1e-12);
                    }
                    places.sort_unstable();
                    let all: Vec<(u32, u32)> =
                        (1..order).flat_map(|to| (0..base.parts).map(move |part| (to, part))).collect();
                    assert_eq!(places, all);
                }
            }
        }
    }

    #[test]
    fn walks_lead_back() {
        for base in bases(16, 2) {
            for from in 0..16 {
                for word in [vec![0, 1, 1], vec![1], vec![0, 0, 1, 0]] {
                    assert_eq!(base.walk_back(base.walk(from, &word), &word), from);
                }
            }
        }
    }
}
