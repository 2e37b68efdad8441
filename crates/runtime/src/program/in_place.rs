//! All collectives but All-to-All: a rank's workspace is the whole buffer, in which every chunk has one place.

use model::Plan;

use super::copies::Copies;
use super::layout::{Layout, Slots, cut, sizes};

/// The part of the buffer that a rank begins or ends with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// The whole buffer.
    Whole,
    /// The rank's own share.
    Own,
    /// The whole buffer at the root, nothing at other ranks.
    OfRoot,
}

/// The layout of a buffer of this many elements, where ranks begin with the part `given` and end with the part `got`.
pub(super) fn layout_of(plan: &Plan, (given, got): (Part, Part), elements: u64) -> Layout {
    let ranks = plan.chunks.ranks();
    let shares = cut(elements, ranks);
    let part_at = |part: Part, rank: usize| match part {
        Part::Whole => (0, elements),
        Part::Own => (shares[rank], shares[rank + 1] - shares[rank]),
        Part::OfRoot if plan.chunks.root() == Some(rank as u32) => (0, elements),
        Part::OfRoot => (0, 0),
    };
    let (mut loads, mut stores) = (Copies::default(), Copies::default());
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for rank in 0..ranks as usize {
        let (begin, size) = part_at(given, rank);
        loads.push(rank, 0, begin, size);
        inputs.push(size);
        let (begin, size) = part_at(got, rank);
        stores.push(rank, begin, 0, size);
        outputs.push(size);
    }
    let mut begins = cut(elements, plan.chunks.count());
    let chunks = sizes(&begins);
    begins.pop();
    let workspaces = vec![elements; ranks as usize];
    Layout { blocks: None, inputs, outputs, workspaces, loads, stores, chunks, slots: Slots::InPlace(begins) }
}
