//! The optical layer of the fabric, where it limits which circuits all groups have at once.
//!
//! Islands of GPUs behind shared ports: of all circuits that are lit at any time, at most as many leave each island,
//! and enter it, as it has ports. A communication counts from the beginning of the change before it to its end, at each
//! island with the most circuits that any of its topologies has there; after it, the circuits that it leaves count
//! until their ports get others or are given up.

mod loads;

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use model::{Error, Fabric, Islands, OpticalLayer, Rank, Result, Shape, Shared, Topology, Work, Workload};
use optics::Optics;

use crate::jobs::{Family, Jobs, groups_of_pairs};

/// Circuits by island: those that leave each, then those that enter each.
pub(crate) type Load = Vec<u32>;

/// The circuits of a communication.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeLoad {
    /// The most at each island, from beginning to end.
    pub(crate) most: Load,
    /// Circuits that stay lit after the end, by the class that holds their ports.
    pub(crate) left: Vec<Load>,
}

/// The groups, and the pairs of messages, of a communication.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    groups: Vec<Vec<Rank>>,
    pairs: Vec<(Rank, Rank)>,
}

/// The circuits of a communication: its place, classes, plan and first topology, and the ports of messages with circuits
/// of their own.
type Key = (usize, usize, Option<usize>, u32, u32);

/// The islands of a fabric, and the places of communications.
pub(crate) struct Layer {
    islands: Islands,
    layer: OpticalLayer,
    shape: Shape,
    /// By class.
    members: Vec<Vec<Rank>>,
    places: Vec<Place>,
    /// By node: index of its place; `None` for computations.
    place_of: Vec<Option<usize>>,
    /// By family: the sets of groups that communicate together.
    groupings: Vec<Vec<Vec<Vec<Rank>>>>,
    known: RwLock<BTreeMap<Key, Arc<NodeLoad>>>,
}

impl Layer {
    /// The layer of a fabric; `None` where it holds whatever its ports hold.
    ///
    /// # Errors
    /// A layer that iterations are not planned for.
    pub(crate) fn of(workload: &Workload, jobs: &Jobs, fabric: &Fabric) -> Result<Option<Self>> {
        let Some(layer) = &fabric.optics else { return Ok(None) };
        let optics = Optics::parse(layer.spelling())?;
        optics.port_map(&fabric.shape)?;
        // Paths through a mesh are looked for when all circuits are known (`paths`).
        if optics.holds_all() || optics.has_paths(&fabric.shape)? {
            return Ok(None);
        }
        let Some(islands) = layer.islands() else {
            let accepts = "crossbar, parallel, islands:AxB or mesh:ROWSxCOLUMNS for an iteration";
            return Err(Error::value("optics", format!("`{}`", layer.spelling()), accepts));
        };
        // An island of all GPUs, or with a port for each of its GPUs' ports, limits nothing.
        let gpus = fabric.shape.gpus();
        let is_ample = u64::from(islands.ports) >= u64::from(islands.gpus.min(gpus)) * u64::from(fabric.shape.ports());
        if islands.gpus >= gpus || is_ample {
            return Ok(None);
        }
        let (mut places, mut numbers) = (Vec::new(), BTreeMap::new());
        let mut groupings = vec![Vec::new(); jobs.families.len()];
        let mut place_of = Vec::with_capacity(workload.nodes.len());
        for (node, stated) in workload.nodes.iter().enumerate() {
            interruption::check();
            let (groups, pairs) = match &stated.work {
                Work::Compute { .. } => {
                    place_of.push(None);
                    continue;
                }
                Work::Collective { .. } => (workload.groups_of(node), Vec::new()),
                Work::Send { pairs, .. } => (groups_of_pairs(workload, pairs).0, pairs.clone()),
            };
            if let Some(family) = jobs.family_of(node).filter(|&family| !groupings[family].contains(&groups)) {
                groupings[family].push(groups.clone());
            }
            let place = Place { groups, pairs };
            place_of.push(Some(*numbers.entry(place).or_insert_with_key(|place| {
                places.push(place.clone());
                places.len() - 1
            })));
        }
        Ok(Some(Self {
            islands,
            layer: layer.clone(),
            shape: fabric.shape.clone(),
            members: jobs.members.clone(),
            places,
            place_of,
            groupings,
            known: RwLock::default(),
        }))
    }

    /// The layer as a group of a family finds it on some ports; `None` where it cannot limit what all groups of it have
    /// at once.
    pub(crate) fn of_family(&self, family: usize, ports: u32) -> Option<OpticalLayer> {
        let crosses = |group: &&Vec<Rank>| group.iter().any(|&rank| self.island(rank) != self.island(group[0]));
        let limits = self.groupings[family].iter().any(|groups| {
            let mut most: BTreeMap<usize, u32> = BTreeMap::new();
            for &rank in groups.iter().filter(crosses).flatten() {
                *most.entry(self.island(rank)).or_insert(0) += ports;
            }
            most.values().any(|&circuits| circuits > self.islands.ports)
        });
        let has_all = |group: &Vec<Rank>| group.iter().copied().eq(0..self.shape.gpus());
        let is_whole = |groups: &Vec<Vec<Rank>>| groups.len() == 1 && has_all(&groups[0]);
        if !limits {
            return None;
        }
        if self.groupings[family].iter().all(is_whole) {
            return Some(self.layer.clone());
        }
        Some(self.layer.shared_by(Shared { shape: self.shape.clone(), groupings: self.groupings[family].clone() }))
    }

    /// # Errors
    /// Circuits of a topology that all groups of a family cannot have at once.
    pub(crate) fn admits(&self, layer: &OpticalLayer, topology: &Topology) -> Result<()> {
        match layer.shared() {
            None => self.islands.circuits(topology).map(|_| ()),
            Some(shared) => shared.joint(topology)?.iter().try_for_each(|all| self.islands.circuits(all).map(|_| ())),
        }
    }

    fn island(&self, rank: Rank) -> usize {
        (rank / self.islands.gpus) as usize
    }

    fn sites(&self) -> usize {
        self.shape.gpus().div_ceil(self.islands.gpus) as usize
    }

    pub(crate) fn nothing(&self) -> Load {
        vec![0; 2 * self.sites()]
    }

    /// Whether so many circuits are no more than ports.
    pub(crate) fn holds(&self, load: &[u32]) -> bool {
        load.iter().all(|&circuits| circuits <= self.islands.ports)
    }

    /// Whether circuits are at an island that has too many.
    pub(crate) fn is_in_the_way(&self, circuits: &[u32], load: &[u32]) -> bool {
        circuits.iter().zip(load).any(|(&own, &all)| own > 0 && all > self.islands.ports)
    }

    /// The groups of a family that cannot have any topology, or none at once, in words.
    pub(crate) fn refused(&self, families: &[Family], family: usize, error: Error) -> Error {
        let at_once = self.groupings[family].iter().any(|groups| groups.len() > 1);
        let [which, otherwise] = if at_once {
            [", whose groups communicate at once,", ": nodes of fewer groups each would take turns"]
        } else {
            ["", ""]
        };
        let (label, layer) = (&families[family].label, self.layer.spelling());
        let reason = format!(
            "{}; no plan for {label}{which} is within the ports of the islands of {layer}{otherwise}",
            error.reason()
        );
        Error::infeasible("optics", reason)
    }
}

/// One load with others on top of it.
pub(crate) fn sum<'a>(mut load: Load, others: impl IntoIterator<Item = &'a Load>) -> Load {
    for other in others {
        load.iter_mut().zip(other).for_each(|(all, circuits)| *all += circuits);
    }
    load
}
