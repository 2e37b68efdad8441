//! The hops of every flow, with the topology and round of each.

use model::{Initial, Rank, ReconfigurationDelay, Topology, Translations, sum_seconds};

/// Flows that start together. Each moves one hop per slot, so a round lasts as many slots as its longest
/// path has hops.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// GPUs on the path of each flow, sender first, receiver last; one path per orbit of flows.
    pub paths: Vec<Vec<Rank>>,
}

impl Round {
    /// Hops of the longest path.
    pub fn hops(&self) -> u32 {
        self.paths.iter().map(|path| path.len().saturating_sub(1) as u32).max().unwrap_or(0)
    }
}

/// A topology and the rounds that run on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The circuits.
    pub topology: Topology,
    /// The rounds, in order.
    pub rounds: Vec<Round>,
}

/// Costs of changes of topology and of hops.
#[derive(Debug, Clone, Copy)]
pub struct Prices<'a> {
    /// T: seconds for one block over one hop.
    pub hop_s: f64,
    /// R: what a change of topology takes.
    pub reconfiguration: &'a ReconfigurationDelay,
    /// Topology before the first stage.
    pub initial: &'a Initial,
}

/// A sequence of topologies with their rounds, as one path per orbit of `symmetry`.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// Group under which topologies and paths are invariant.
    pub symmetry: Translations,
    /// The topologies, in order, each with at least one round.
    pub stages: Vec<Stage>,
}

impl Strategy {
    /// Number of GPUs n.
    pub fn ranks(&self) -> u32 {
        self.symmetry.ranks()
    }

    /// Slots over all rounds: Σ of the longest path of each (§3.1).
    pub fn hops(&self) -> u64 {
        self.rounds().map(|round| u64::from(round.hops())).sum()
    }

    /// The rounds of all stages.
    pub fn rounds(&self) -> impl Iterator<Item = &Round> {
        self.stages.iter().flat_map(|stage| &stage.rounds)
    }

    /// R·d' + T·Σ hops with d' topologies, the first one charged as well (§2.1).
    pub fn cost_s(&self, hop_s: f64, reconfiguration_s: f64) -> f64 {
        self.stages.len() as f64 * reconfiguration_s + self.hops() as f64 * hop_s
    }

    /// This strategy with the stage first whose topology is in force at the start: no flow depends on another, so that
    /// stages may run in any order.
    #[must_use]
    pub fn starting_from(mut self, initial: &Initial) -> Self {
        if let Initial::Topology(initial) = initial
            && let Some(at) = self.stages.iter().position(|stage| stage.topology.same_links(initial))
        {
            self.stages[..=at].rotate_right(1);
        }
        self
    }

    /// Seconds of hops and of the changes of topology, those from the initial topology included.
    pub fn price_s(&self, prices: &Prices) -> f64 {
        let last = self.stages.last().and_then(|stage| prices.initial.before_first(&stage.topology));
        let topologies = last.into_iter().chain(self.stages.iter().map(|stage| &stage.topology));
        let changes = topologies.clone().zip(topologies.skip(1));
        let changes = changes.map(|(from, to)| prices.reconfiguration.between_s(from, to));
        sum_seconds(changes.chain([self.hops() as f64 * prices.hop_s]))
    }
}
