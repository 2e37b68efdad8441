//! Parts that double their holders in every round, on topologies that take turns.
//!
//! From a round to the next, the ranks left to reach, m at first n, fall to m' = ⌈m/(p+1)⌉ and the circuits lead m',
//! 2m', … p·m' places ahead; after ⌈log_(p+1) n⌉ rounds they begin again. On one port C parts need C − 1 + ⌈log₂ n⌉
//! rounds at least, and such shifts suffice for it: Träff and Ripke, Optimal broadcast for fully connected
//! processor-node networks, J. Parallel Distrib. Comput. 2008.

use model::{Link, Rank, Result, Shape, Topology};

use super::rounds::{Rarity, rounds};
use super::spread::Spread;

/// Topologies that take turns.
#[derive(Debug)]
pub(super) struct Turns {
    topologies: Vec<Topology>,
    links: Vec<Vec<Link>>,
}

impl Turns {
    /// Shifts for `ranks` ranks of `ports` ports each. O(n·p·log n).
    ///
    /// # Errors
    /// The errors of [`Topology::new`].
    pub(super) fn new(ranks: u32, ports: u32) -> Result<Self> {
        let shape = Shape::new(ranks, &[], ports)?;
        let mut topologies = Vec::new();
        let mut left = ranks;
        while left > 1 {
            let shift = left.div_ceil(ports + 1);
            let places: Vec<u32> = (1..=ports).map(|times| times * shift).filter(|&ahead| ahead < left).collect();
            let count = ports / places.len() as u32;
            let places: Vec<String> = places.into_iter().map(|ahead| format!("{ahead}^{count}")).collect();
            topologies.push(topologies::build(&format!("circulant:{}", places.join(",")), &shape)?);
            left = shift;
        }
        let links = topologies.iter().map(Topology::expanded).collect();
        Ok(Self { topologies, links })
    }

    pub(super) fn ranks(&self) -> u32 {
        self.topologies[0].ranks()
    }

    /// Circuits of every rank, of those that carry parts.
    pub(super) fn ports(&self) -> u32 {
        self.topologies.iter().map(Topology::degree).min().unwrap_or(1)
    }

    /// Rounds after which they begin again.
    pub(super) fn period(&self) -> usize {
        self.topologies.len()
    }

    /// All ranks reached from `root`, each round on its own topology.
    pub(super) fn spread(&self, root: Rank, parts: u32) -> Option<Spread> {
        let ranks = self.topologies[0].ranks();
        let links = |round: usize| &self.links[round % self.period()][..];
        let steps = rounds(ranks, root, parts, self.period(), Rarity::Now, links)?;
        Some(Spread { parts, steps, topologies: self.topologies.clone() })
    }
}
