//! The graph of walks of k letters on a base: the k-th iterated line digraph of it.
//!
//! A rank is a walk, named by its last vertex and its letters, the latest counting least. It leads to the walks that
//! lose the first letter and gain one at the end. Over one vertex that is a de Bruijn graph, over all of p + 1 vertices
//! a Kautz graph. Every rank reaches each walk that begins where it ends by exactly one walk of k steps.

use model::{Digit, Link, Rank, Result, Topology, Translations};

use super::base::Base;

/// Meaning of the names of this module's topologies.
pub(crate) const NAME: (&str, &str) = (
    "walks:Nx(P1)(P2)^K",
    "GPUs as walks of K links on a graph of N vertices, on which links lead as those from vertex 0 to P1 and P2 do; GPU \
     v·R^K + W ends at vertex v, W its R-ary letters, the latest last: circuits to the walks that go on by one letter and lose the first",
);

/// Walks of `length` letters on a base, over links of `circuits` parallel circuits.
#[derive(Debug, Clone)]
pub(crate) struct Walks {
    pub(crate) base: Base,
    pub(crate) length: u32,
    pub(crate) circuits: u32,
    /// Words of `length` letters.
    words: u32,
}

impl Walks {
    pub(crate) fn new(base: Base, length: u32, circuits: u32) -> Self {
        let words = base.letters().pow(length);
        Self { base, length, circuits, words }
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.base.order * self.words
    }

    /// The rank one letter on.
    pub(crate) fn after(&self, rank: Rank, letter: u32) -> Rank {
        let word = (rank % self.words * self.base.letters() + letter) % self.words;
        self.base.after[letter as usize][self.end(rank) as usize] * self.words + word
    }

    /// The vertex at which the walk of a rank ends.
    pub(crate) fn end(&self, rank: Rank) -> u32 {
        rank / self.words
    }

    /// The letters of a rank, the first first.
    pub(crate) fn letters(&self, rank: Rank) -> Vec<u32> {
        word(rank % self.words, self.base.letters(), self.length)
    }

    /// The circuits of all ranks.
    ///
    /// # Errors
    /// No error: links lead to other ranks.
    pub(crate) fn topology(&self) -> Result<Topology> {
        let wheel = Digit { stride: self.words, radix: self.base.wheel };
        let digits = if wheel.radix > 1 { vec![wheel] } else { Vec::new() };
        let symmetry = Translations::new(self.ranks(), digits)?;
        let mut links = Vec::new();
        for src in symmetry.representatives() {
            let out = (0..self.base.letters()).map(|letter| self.after(src, letter));
            // A letter that leads back at once needs no circuit.
            links.extend(out.filter(|dst| *dst != src).map(|dst| Link { src, dst, count: self.circuits }));
        }
        let shown = |step: &Vec<u32>| match self.base.wheel {
            wheel if wheel == self.base.order => format!("({})", step[0]),
            wheel => format!("({},{})", step[0] % wheel, step[0] / wheel),
        };
        let places: String = self.base.after.iter().map(shown).collect();
        let name = format!("walks:{}x{places}^{}", self.base.order, self.length);
        Topology::new(name, symmetry, links)
    }
}

/// The letters of a number, the first first.
pub(crate) fn word(mut number: u32, letters: u32, length: u32) -> Vec<u32> {
    let mut word = vec![0; length as usize];
    for letter in word.iter_mut().rev() {
        *letter = number % letters;
        number /= letters;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_pass::base::bases;

    /// The adjacency matrix raised to the length joins every rank to the walks that begin where it ends, once each.
    #[test]
    fn one_walk_of_the_length_leads_to_each_walk_that_goes_on() {
        for (order, letters, length) in [(1, 2, 4), (3, 2, 3), (4, 2, 2), (9, 3, 1), (2, 4, 2), (16, 2, 2)] {
            for base in bases(order, letters) {
                let walks = Walks::new(base, length, 1);
                for from in 0..walks.ranks() {
                    let mut ends = vec![from];
                    for _ in 0..length {
                        ends = ends
                            .iter()
                            .flat_map(|&at| (0..letters).map(move |l| (at, l)))
                            .map(|(at, l)| walks.after(at, l))
                            .collect();
                    }
                    ends.sort_unstable();
                    let begins = |rank: &Rank| walks.base.walk_back(walks.end(*rank), &walks.letters(*rank));
                    let expected: Vec<Rank> =
                        (0..walks.ranks()).filter(|rank| begins(rank) == walks.end(from)).collect();
                    assert_eq!(ends, expected);
                }
            }
        }
    }

    #[test]
    fn ports_are_kept_and_symmetry_is_that_of_the_base() {
        for (order, letters, length, circuits) in [(1, 2, 6, 1), (8, 2, 3, 1), (4, 2, 4, 2), (9, 3, 2, 1)] {
            for base in bases(order, letters) {
                let wheel = base.wheel;
                let topology = Walks::new(base, length, circuits).topology().unwrap();
                topology.check_ports(letters * circuits).unwrap();
                assert_eq!(topology.symmetry().order(), wheel);
                // Only walks along one letter that leads nowhere come back at once.
                let loops = if order == 1 { letters } else { 0 };
                let links = u64::from(topology.ranks() * letters - loops) * u64::from(circuits);
                assert_eq!(topology.circuits(), links);
            }
        }
    }
}
