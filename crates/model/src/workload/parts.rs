//! The parts of a workload.

use std::collections::BTreeSet;

use super::byte_matrix::{MatrixUse, NamedMatrix};
use super::inference::Inference;
use crate::{Collective, Rank};

/// A dimension of the mesh of ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Name of the axis, such as `tp`.
    pub name: String,
    /// Ranks along it.
    pub size: u32,
}

/// Ranks with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankGroup {
    /// Name of the group.
    pub name: String,
    /// Different ranks; their order is the order of the collective's ranks.
    pub ranks: Vec<Rank>,
}

/// The ranks that take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranks {
    /// All ranks of the workload.
    All,
    /// A named group, by its index.
    Group(usize),
    /// The ranks of this list, each once.
    List(Vec<Rank>),
}

/// The groups that run a collective at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// The groups of an axis, by its index, that lie within some ranks.
    Axis {
        /// Index of the axis.
        axis: usize,
        /// The ranks.
        within: Ranks,
    },
    /// Named groups, by their indices: disjoint and of one size.
    Groups(Vec<usize>),
}

/// The work of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A computation.
    Compute {
        /// The ranks that compute.
        ranks: Ranks,
        /// Duration of the computation, s.
        duration_s: f64,
    },
    /// A collective of one group, or of several at once.
    Collective {
        /// The collective.
        collective: Collective,
        /// Groups.
        over: Over,
        /// m: bytes of one rank's whole buffer; of a matrix, the busiest rank's.
        size_bytes: u64,
        /// The bytes between the places of every group, of an All-to-All whose blocks differ.
        matrix: Option<MatrixUse>,
        /// Collectives of one stream run one at a time, in the order of the nodes.
        stream: Option<String>,
    },
    /// Messages that start together; each rank sends and receives at most one.
    Send {
        /// Sources and destinations.
        pairs: Vec<(Rank, Rank)>,
        /// Bytes of each message.
        size_bytes: u64,
    },
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadNode {
    /// A name of its own.
    pub id: String,
    /// Indices of the nodes that must have ended.
    pub after: Vec<usize>,
    /// Work of the node.
    pub work: Work,
}

/// The parts of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadParts {
    /// Shown to people.
    pub name: Option<String>,
    /// Number of ranks, each a GPU.
    pub ranks: u32,
    /// The mesh, fastest axis first; no axes if there is no mesh.
    pub mesh: Vec<Axis>,
    /// Named groups.
    pub groups: Vec<RankGroup>,
    /// Matrices that collectives name.
    pub matrices: Vec<NamedMatrix>,
    /// Whether AllReduces end with the same bits at every rank.
    pub same_bits: bool,
    /// Floating-point operations of the iteration, over all ranks.
    pub model_flops: Option<f64>,
    /// Floating-point operations per second of which a rank is capable.
    pub peak_flops: Option<f64>,
    /// Prompts, requests and decode steps of an iteration of inference; `None` for other workloads.
    pub inference: Option<Inference>,
    /// The nodes.
    pub nodes: Vec<WorkloadNode>,
}

impl WorkloadParts {
    pub(super) fn listed(&self, ranks: &Ranks) -> Vec<Rank> {
        match ranks {
            Ranks::All => (0..self.ranks).collect(),
            Ranks::Group(group) => self.groups[*group].ranks.clone(),
            Ranks::List(ranks) => ranks.clone(),
        }
    }

    pub(super) fn axis_groups(&self, axis: usize) -> Vec<Vec<Rank>> {
        let stride: u32 = self.mesh[..axis].iter().map(|axis| axis.size).product();
        let size = self.mesh[axis].size;
        let first = (0..self.ranks).filter(|rank| (rank / stride).is_multiple_of(size));
        first.map(|first| (0..size).map(|place| first + place * stride).collect()).collect()
    }

    pub(super) fn groups_over(&self, over: &Over) -> Vec<Vec<Rank>> {
        match over {
            Over::Axis { axis, within: Ranks::All } => self.axis_groups(*axis),
            Over::Axis { axis, within } => {
                let within: BTreeSet<Rank> = self.listed(within).into_iter().collect();
                let all = self.axis_groups(*axis).into_iter();
                all.filter(|group| group.iter().all(|rank| within.contains(rank))).collect()
            }
            Over::Groups(groups) => groups.iter().map(|&group| self.groups[group].ranks.clone()).collect(),
        }
    }
}
