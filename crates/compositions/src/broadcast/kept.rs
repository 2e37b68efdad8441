//! Broadcasts that were made, for the points of a sweep.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Latest, Rank, Result, Shape, Topology};

use super::one_topology::OneTopology;
use super::shifts::Turns;
use super::spread::Spread;
use super::trees::Trees;
use crate::cutoffs::broadcast_kept::MOST_KEPT;
use crate::prices::Prices;

/// The ingredients of Broadcasts of some ranks, ports and root.
#[derive(Debug)]
pub(crate) struct Made {
    root: Rank,
    own: Vec<OneTopology>,
    pub(super) turns: Turns,
    /// For several ports and ranks.
    pub(super) trees: Option<Trees>,
    by_parts: Mutex<BTreeMap<u32, Option<Arc<Spread>>>>,
}

impl Made {
    /// A ring for one port; for more the graphs whose diameter is about the least.
    fn new(ranks: u32, ports: u32, root: Rank) -> Result<Self> {
        let shape = Shape::new(ranks, &[], ports)?;
        let specs: &[&str] = if ports == 1 { &["ring"] } else { &["rewired-de-bruijn", "kautz"] };
        // Kautz graphs of no more ranks than ports and one have loops, others ports without a circuit.
        let built = specs.iter().filter_map(|spec| topologies::build(spec, &shape).ok());
        let own = built.filter_map(|topology| OneTopology::new(topology, root)).collect();
        let trees = (ports > 1 && ranks > 2).then(|| Trees::new(ranks, ports, root)).transpose()?;
        Ok(Self { root, own, turns: Turns::new(ranks, ports)?, trees, by_parts: Mutex::default() })
    }

    /// The topologies, with what it takes to set each up.
    pub(super) fn own(&self, prices: &Prices) -> impl Iterator<Item = (&OneTopology, f64)> {
        let set_up_s = prices.first_change_s();
        self.own.iter().map(move |one| (one, set_up_s))
    }

    pub(super) fn ranks(&self) -> u32 {
        self.turns.ranks()
    }

    /// The broadcast of `parts` parts on topologies that take turns.
    pub(super) fn in_turns(&self, parts: u32) -> Option<Arc<Spread>> {
        let lock = || self.by_parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = lock().get(&parts) {
            return made.clone();
        }
        let made = self.turns.spread(self.root, parts).map(Arc::new);
        lock().insert(parts, made.clone());
        made
    }
}

/// Cache of the latest ingredients: one part by ranks, ports and root, the other by initial topology and root.
#[derive(Debug, Default)]
pub(crate) struct Broadcasts {
    made: Latest<(Key, Arc<Made>), MOST_KEPT>,
    started: Latest<Arc<OneTopology>, MOST_KEPT>,
}

/// Ranks, ports, root.
type Key = (u32, u32, Rank);

impl Broadcasts {
    /// The broadcasts that are made for `ranks` ranks with `ports` ports from `root`.
    ///
    /// # Errors
    /// The errors of [`Turns::new`].
    pub(super) fn of(&self, ranks: u32, ports: u32, root: Rank) -> Result<Arc<Made>> {
        let key = (ranks, ports, root);
        if let Some((_, made)) = self.made.find(|(made_for, _)| *made_for == key) {
            return Ok(made);
        }
        let new = Arc::new(Made::new(ranks, ports, root)?);
        self.made.keep((key, new.clone()));
        Ok(new)
    }

    /// The broadcast on the topology at the start; `None` where the root cannot reach every rank.
    pub(super) fn on(&self, start: &Topology, root: Rank) -> Option<Arc<OneTopology>> {
        if let Some(one) = self.started.find(|one| one.root == root && one.topology == *start) {
            return Some(one);
        }
        let new = Arc::new(OneTopology::new(start.clone(), root)?);
        self.started.keep(new.clone());
        Some(new)
    }
}
