//! The nodes that each node waits for, and an order in which each comes after all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::checks::short;
use super::parts::{Over, Ranks, Work, WorkloadNode, WorkloadParts};
use crate::cutoffs::workload_waits::MOST_NAMED;
use crate::{Error, Rank, Result};

/// By node: the nodes that must have ended, ascending. These are the ones that it names, and on each of a collective's
/// ranks the one before it in its stream.
pub(super) fn waits_of(parts: &WorkloadParts) -> Vec<Vec<usize>> {
    let mut streams: BTreeMap<&str, Stream> = BTreeMap::new();
    let mut waits: Vec<Vec<usize>> = parts.nodes.iter().map(|node| node.after.clone()).collect();
    for (index, node) in parts.nodes.iter().enumerate() {
        if let Work::Collective { stream: Some(stream), over, .. } = &node.work {
            waits[index].extend(streams.entry(stream).or_default().before(parts, over, index));
        }
        waits[index].sort_unstable();
        waits[index].dedup();
    }
    waits
}

/// The last collective of a stream on each rank.
#[derive(Default)]
struct Stream {
    /// The last one of all ranks.
    of_all: Option<usize>,
    /// The nodes after it.
    of_rank: BTreeMap<Rank, usize>,
}

impl Stream {
    /// The collectives before one that is now the last on its ranks.
    fn before(&mut self, parts: &WorkloadParts, over: &Over, index: usize) -> Vec<usize> {
        if matches!(over, Over::Axis { within: Ranks::All, .. }) {
            let of_all = self.of_all.replace(index).filter(|_| self.of_rank.len() < parts.ranks as usize);
            return std::mem::take(&mut self.of_rank).into_values().chain(of_all).collect();
        }
        let ranks = parts.groups_over(over).into_iter().flatten();
        ranks.filter_map(|rank| self.of_rank.insert(rank, index).or(self.of_all)).collect()
    }
}

/// The nodes, each after those that it waits for; of those that might come next, the first.
///
/// # Errors
/// Nodes that wait for each other in a circle.
pub(super) fn order_of(nodes: &[WorkloadNode], waits: &[Vec<usize>]) -> Result<Vec<usize>> {
    let mut missing: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (index, waits) in waits.iter().enumerate() {
        waits.iter().for_each(|&before| followers[before].push(index));
    }
    let none_missing = (0..nodes.len()).filter(|&index| missing[index] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = none_missing.map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for &follower in &followers[index] {
            missing[follower] -= 1;
            if missing[follower] == 0 {
                ready.push(Reverse(follower));
            }
        }
    }
    match missing.iter().position(|&missing| missing > 0) {
        None => Ok(order),
        Some(stuck) => Err(circle(nodes, waits, &missing, stuck)),
    }
}

/// Names a circle of nodes, each with the next one that it waits for; `stuck` waits for it or is part of it.
fn circle(nodes: &[WorkloadNode], waits: &[Vec<usize>], missing: &[usize], stuck: usize) -> Error {
    let mut path = vec![stuck];
    let mut place: BTreeMap<usize, usize> = BTreeMap::from([(stuck, 0)]);
    // Every node that is missing waits for another that is missing, so that the way ends where it comes back to itself.
    while let Some(&next) = waits[path[path.len() - 1]].iter().find(|&&before| missing[before] > 0) {
        if let Some(&first) = place.get(&next) {
            path.drain(..first);
            break;
        }
        place.insert(next, path.len());
        path.push(next);
    }
    let names = |at: usize| nodes[path[at]].after.contains(&path[(at + 1) % path.len()]);
    // Only streams lead back to earlier nodes, so that some node of the circle names the next.
    let first = (0..path.len()).filter(|&at| names(at)).min_by_key(|&at| path[at]).unwrap_or(0);
    let link = |at: usize| {
        let at = (first + at) % path.len();
        let (node, before) = (&nodes[path[at]], &nodes[path[(at + 1) % path.len()]]);
        let how = match &node.work {
            Work::Collective { stream: Some(stream), .. } if !names(at) => format!(", in stream `{}`", short(stream)),
            _ => String::new(),
        };
        format!("`{}` comes after `{}`{how}", short(&node.id), short(&before.id))
    };
    let mut links: Vec<String> = (0..path.len().min(MOST_NAMED)).map(link).collect();
    if path.len() > MOST_NAMED {
        links.push(format!("… ({} nodes)", path.len()));
    }
    let field = format!("workload.nodes[{}].after", path[first]);
    Error::malformed(field, format!("nodes wait for each other in a circle: {}", links.join("; ")))
}
