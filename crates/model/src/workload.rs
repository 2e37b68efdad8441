//! A training iteration as a graph of computations, collectives and messages between ranks.

mod byte_matrix;
mod checks;
mod inference;
mod parts;
mod waits;

use std::collections::BTreeSet;
use std::ops::Deref;

use checks::{check_mesh, check_work, short};
use waits::{order_of, waits_of};

use crate::{Error, Rank, Result};

pub use byte_matrix::{ByteMatrix, MatrixUse, NamedMatrix};
pub use inference::Inference;
pub use parts::{Axis, Over, RankGroup, Ranks, Work, WorkloadNode, WorkloadParts};

/// The most nodes of a workload.
pub const MAX_NODES: usize = 1 << 20;

/// The most ranks that all nodes together may name.
const MAX_NAMED_RANKS: usize = 1 << 26;

/// A checked workload: a graph without circles. Reads as its [`WorkloadParts`].
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    parts: WorkloadParts,
    waits: Vec<Vec<usize>>,
    order: Vec<usize>,
}

impl Workload {
    /// # Errors
    /// No nodes or ranks, a mesh of another number of ranks, names used twice, ranks that do not exist or are named
    /// twice, groups of one rank, groups of a collective that overlap or differ in size, a duration or size outside
    /// its range, a matrix of a collective of another kind, number of ranks or size, counts of inference that do not go
    /// together, nodes that wait for each other in a circle.
    pub fn new(parts: WorkloadParts) -> Result<Self> {
        check_mesh(&parts)?;
        if parts.nodes.is_empty() || parts.nodes.len() > MAX_NODES {
            let found = parts.nodes.len();
            return Err(Error::malformed(
                "workload.nodes",
                format!("there are {found} nodes; 1 to {MAX_NODES} are accepted"),
            ));
        }
        let mut ids = BTreeSet::new();
        let mut named = 0;
        for (index, node) in parts.nodes.iter().enumerate() {
            let field = |name: &str| format!("workload.nodes[{index}].{name}");
            if node.id.is_empty() || node.id.chars().any(char::is_control) || !ids.insert(node.id.as_str()) {
                let reason = format!("`{}` is empty, has several lines, or is the id of another node", short(&node.id));
                return Err(Error::malformed(field("id"), reason));
            }
            if node.after.iter().any(|&before| before >= parts.nodes.len()) {
                return Err(Error::malformed(field("after"), "it names a node that does not exist"));
            }
            named += check_work(&parts, &node.work, &field)?;
            if named > MAX_NAMED_RANKS {
                let reason = format!("nodes name more than {MAX_NAMED_RANKS} ranks in all");
                return Err(Error::malformed("workload.nodes", reason));
            }
        }
        if let Some(inference) = &parts.inference {
            inference.check(parts.nodes.len())?;
        }
        let waits = waits_of(&parts);
        let order = order_of(&parts.nodes, &waits)?;
        Ok(Self { parts, waits, order })
    }

    /// The nodes that must have ended before a node begins, ascending: those that it names, and on each of its ranks
    /// the collective before it in its stream.
    pub fn waits_of(&self, node: usize) -> &[usize] {
        &self.waits[node]
    }

    /// The nodes, each after those that it waits for; of those that might come next, the first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The ranks that take part in a node, in ascending order.
    pub fn ranks_of(&self, node: usize) -> Vec<Rank> {
        let mut ranks = match &self.nodes[node].work {
            Work::Compute { ranks, .. } => self.parts.listed(ranks),
            Work::Collective { over, .. } => self.parts.groups_over(over).concat(),
            Work::Send { pairs, .. } => pairs.iter().flat_map(|&(source, destination)| [source, destination]).collect(),
        };
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// The groups that run a collective at once, each in the order of its ranks; empty for other nodes.
    pub fn groups_of(&self, node: usize) -> Vec<Vec<Rank>> {
        match &self.nodes[node].work {
            Work::Collective { over, .. } => self.parts.groups_over(over),
            _ => Vec::new(),
        }
    }

    /// The bytes between the places of every group of a collective; `None` where its blocks are equal.
    pub fn matrix_of(&self, node: usize) -> Option<ByteMatrix> {
        let Work::Collective { matrix: Some(used), .. } = &self.nodes[node].work else { return None };
        let matrix = &self.matrices[used.matrix].matrix;
        Some(if used.transposed { matrix.transposed() } else { matrix.clone() })
    }

    /// The groups of an axis, each by its coordinate along the axis.
    pub fn axis_groups(&self, axis: usize) -> Vec<Vec<Rank>> {
        self.parts.axis_groups(axis)
    }

    /// The name of a node in a summary: `compute`, its axis, its groups, or `sends`.
    pub fn label_of(&self, node: usize) -> String {
        match &self.nodes[node].work {
            Work::Compute { .. } => "compute".into(),
            Work::Collective { over: Over::Axis { axis, .. }, .. } => self.mesh[*axis].name.clone(),
            Work::Collective { over: Over::Groups(groups), .. } => {
                let names: Vec<&str> = groups.iter().take(3).map(|&group| self.groups[group].name.as_str()).collect();
                let more = if groups.len() > names.len() { ", …" } else { "" };
                format!("{}{more}", names.join(", "))
            }
            Work::Send { .. } => "sends".into(),
        }
    }
}

impl Deref for Workload {
    type Target = WorkloadParts;

    fn deref(&self) -> &WorkloadParts {
        &self.parts
    }
}
