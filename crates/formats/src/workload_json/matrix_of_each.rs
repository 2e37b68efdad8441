//! All-to-Alls with a matrix for each of their groups become a node for each; nodes that wait for one wait for all.

use std::collections::BTreeMap;

use model::{Axis, Error, Rank, Result};

use super::text::{InferenceText, MatrixText, Names, NodeText, RanksText};
use crate::cutoffs::workload_json::{MOST_RANKS_OF_EACH, MOST_WAITS_OF_EACH};

/// The nodes, each with its place in the list that is given; those with a list of matrices as one for each group:
/// `id.0`, `id.1`, ...
///
/// # Errors
/// A list of another number of matrices than there are groups, with `ranks`, or of too many ranks; an inference that
/// names such a node.
pub(super) fn spread(
    nodes: Vec<NodeText>,
    ranks: u32,
    mesh: &[Axis],
    inference: Option<&InferenceText>,
) -> Result<Vec<(usize, NodeText)>> {
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut made = Vec::with_capacity(nodes.len());
    let mut listed = 0;
    for (index, node) in nodes.into_iter().enumerate() {
        if !node.has_matrix_of_each() {
            made.push((index, node));
            continue;
        }
        let id = node.id.clone();
        let of_groups = one_of_each(index, node, ranks, mesh)?;
        listed += of_groups.iter().map(NodeText::listed_ranks).sum::<usize>();
        if listed > MOST_RANKS_OF_EACH {
            let reason = format!("lists of matrices are of more than {MOST_RANKS_OF_EACH} ranks in all");
            return Err(Error::malformed(format!("workload.nodes[{index}].matrix"), reason));
        }
        parts.insert(id, of_groups.iter().map(|part| part.id.clone()).collect());
        made.extend(of_groups.into_iter().map(|part| (index, part)));
    }
    for (key, named) in inference.into_iter().flat_map(InferenceText::named) {
        if named.is_some_and(|id| parts.contains_key(id)) {
            let reason = "it names a node with a matrix for each group; it takes a node of one end";
            return Err(Error::malformed(format!("workload.inference.{key}"), reason));
        }
    }
    let mut waits_in_all = 0;
    for (index, node) in &mut made {
        if node.after.iter().any(|before| parts.contains_key(before)) {
            waits_in_all += node.after.iter().map(|before| parts.get(before).map_or(1, Vec::len)).sum::<usize>();
            if waits_in_all > MOST_WAITS_OF_EACH {
                let reason = format!(
                    "groups with matrices of their own wait for one another more than {MOST_WAITS_OF_EACH} times; let \
                     them wait for a computation of 0 s between them"
                );
                return Err(Error::malformed(format!("workload.nodes[{index}].after"), reason));
            }
            let waits = std::mem::take(&mut node.after).into_iter();
            node.after = waits.flat_map(|before| parts.get(&before).cloned().unwrap_or_else(|| vec![before])).collect();
        }
    }
    Ok(made)
}

/// A node for each group.
fn one_of_each(index: usize, node: NodeText, ranks: u32, mesh: &[Axis]) -> Result<Vec<NodeText>> {
    let field = |key: &str| format!("workload.nodes[{index}].{key}");
    let Some(MatrixText::OfEach(matrices)) = &node.matrix else { return Ok(vec![node]) };
    if node.ranks.is_some() {
        let reason = "a list of matrices goes with all groups of an axis, or with a list of groups";
        return Err(Error::malformed(field("ranks"), reason));
    }
    let places: Vec<Place> = match (&node.axis, &node.group) {
        (Some(axis), None) => match mesh.iter().position(|known| known.name == *axis) {
            // The node itself says that there is no such axis.
            None => return Ok(vec![NodeText { matrix: matrices.first().cloned().map(MatrixText::One), ..node }]),
            Some(axis) => axis_groups(ranks, mesh, axis).map(Place::Ranks).collect(),
        },
        (None, Some(Names::Several(names))) => names.iter().cloned().map(Place::Group).collect(),
        (None, Some(Names::One(name))) => vec![Place::Group(name.clone())],
        _ => return Err(Error::malformed(field("matrix"), "there must be either `axis` or `group`")),
    };
    if places.len() != matrices.len() {
        let reason =
            format!("its length is {}; it takes a matrix for each group, {} here", matrices.len(), places.len());
        return Err(Error::malformed(field("matrix"), reason));
    }
    let parts = places.into_iter().zip(matrices).enumerate().map(|(place, (of, matrix))| {
        let (ranks, group) = match of {
            Place::Ranks(ranks) => (Some(RanksText::List(ranks)), None),
            Place::Group(name) => (None, Some(Names::One(name))),
        };
        NodeText {
            id: format!("{}.{place}", node.id),
            ranks,
            group,
            matrix: Some(MatrixText::One(matrix.clone())),
            ..node.clone()
        }
    });
    Ok(parts.collect())
}

/// Who runs a part.
enum Place {
    /// The group of an axis with these ranks.
    Ranks(Vec<Rank>),
    Group(String),
}

/// The groups of an axis by their first ranks; none where the sizes are not those of the ranks, which is refused later.
fn axis_groups(ranks: u32, mesh: &[Axis], axis: usize) -> impl Iterator<Item = Vec<Rank>> {
    let product = |axes: &[Axis]| axes.iter().try_fold(1u32, |all, axis| all.checked_mul(axis.size));
    let (size, stride) = (mesh[axis].size, product(&mesh[..axis]).unwrap_or(0));
    let is_whole = product(mesh) == Some(ranks) && size > 0;
    let first = (0..if is_whole { ranks } else { 0 }).filter(move |rank| (rank / stride).is_multiple_of(size));
    first.map(move |first| (0..size).map(|place| first + place * stride).collect())
}

impl NodeText {
    fn has_matrix_of_each(&self) -> bool {
        matches!(self.matrix, Some(MatrixText::OfEach(_)))
    }

    fn listed_ranks(&self) -> usize {
        if let Some(RanksText::List(ranks)) = &self.ranks { ranks.len() } else { 0 }
    }
}

impl InferenceText {
    fn named(&self) -> [(&'static str, Option<&String>); 2] {
        [("first_token", self.first_token.as_ref()), ("caches", self.caches.as_ref())]
    }
}
