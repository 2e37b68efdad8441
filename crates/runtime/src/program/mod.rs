//! A plan as a program: which bytes of which workspaces its ranks send in every step, along which paths.
//!
//! ```text
//!  Plan ─▶ Sent: chunks by transfer ─▶ Layout: slots of chunks ─▶ runs of elements ─▶ messages and their segments
//!     └──────────────────────────▶ paths, with their shares ────────────────────────▶─┘
//! ```
//!
//! The data from a rank to another in a step are one row of elements, chunk after chunk. Each path takes its share of
//! the row; elements that are contiguous in both workspaces are one segment.

mod copies;
mod data;
mod in_place;
mod layout;
mod messages;
mod pair_slots;
mod pairwise;
mod refusal;
mod sent;

use std::num::NonZeroU64;

use model::{Collective, Plan, Result};

pub use crate::cutoffs::program::MOST_MOVED;
use crate::request::Program;
pub use copies::Copies;
use copies::in_bytes;
pub use data::Data;
use in_place::Part;
use layout::{Layout, buffer_of};
use messages::messages_of;
use refusal::refuse;
use sent::Sent;

/// The most bytes of a workspace, and elements that all steps send: signed numbers of 64 bits count them.
const COUNTABLE: u64 = i64::MAX as u64;

/// A plan for data of elements of a given size; sizes and offsets in bytes, all of them whole elements.
///
/// A rank has an input, an output and a workspace, whose bytes are zero at first. `loads` copies inputs to workspaces;
/// then come the steps; then `stores` copies workspaces to outputs. In a step every message carries what its source's
/// workspace held when the step began; it is applied when all have arrived. The share of rank r in the data of a
/// ReduceScatter and an AllGather is elements ⌊r·E/n⌋ to ⌊(r+1)·E/n⌋ of E; only the root has the input of a Broadcast or Scatter and
/// the output of a Reduce or Gather.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanProgram {
    /// The workspaces, and the messages by step, source and destination; one for each path with something on it.
    pub program: Program,
    /// All-to-All of n ranks: the number of elements that rank s has for rank d, at `s·n + d`; the input of s has them
    /// by d, the output of d by s. `None` for other collectives.
    pub blocks: Option<Vec<u64>>,
    /// Bytes of each rank's input.
    pub input_bytes: Vec<u64>,
    /// Bytes of each rank's output.
    pub output_bytes: Vec<u64>,
    /// From inputs to workspaces, before the first step.
    pub loads: Copies,
    /// From workspaces to outputs, after the last step.
    pub stores: Copies,
}

/// The program of a plan that has passed the verifier, for these data of elements of this many bytes. Costs O(k·log k) for k chunks
/// that are sent and O(g·log g) for g GPUs on all paths.
///
/// # Errors
/// Errors name `plan`: its steps move more than [`MOST_MOVED`] chunks, or have more GPUs on paths than are written out;
/// its buffer holds no element; its data are more than offsets of 63 bits count; a rank sends a chunk that it does not
/// have, which no judge lets pass; GPUs forward that do not take part; blocks that are not those of its ranks, or that
/// it has no path for.
pub fn program_of(plan: &Plan, element_bytes: NonZeroU64, data: &Data) -> Result<PlanProgram> {
    if plan.chunks.forwarding() > 0 {
        return Err(refuse("GPUs that do not take part forward data in this plan; such plans are not run"));
    }
    let sent = Sent::of(plan)?;
    let layout = layout_of(plan, &sent, element_bytes, data)?;
    let mut program = messages_of(plan, &sent, &layout)?;
    let to_bytes = |elements: Vec<u64>| in_bytes(elements, element_bytes);
    program.workspace_bytes = to_bytes(layout.workspaces);
    program.source_offset = to_bytes(program.source_offset);
    program.destination_offset = to_bytes(program.destination_offset);
    program.size_bytes = to_bytes(program.size_bytes);
    Ok(PlanProgram {
        program,
        blocks: layout.blocks,
        input_bytes: to_bytes(layout.inputs),
        output_bytes: to_bytes(layout.outputs),
        loads: layout.loads.in_bytes(element_bytes),
        stores: layout.stores.in_bytes(element_bytes),
    })
}

/// The layout of a plan's data.
///
/// # Errors
/// A buffer that holds no element; more data than can be counted.
fn layout_of(plan: &Plan, sent: &Sent, element_bytes: NonZeroU64, data: &Data) -> Result<Layout> {
    let parts = match plan.collective() {
        Collective::AllToAll => None,
        Collective::AllReduce => Some((Part::Whole, Part::Whole)),
        Collective::ReduceScatter => Some((Part::Whole, Part::Own)),
        Collective::AllGather => Some((Part::Own, Part::Whole)),
        Collective::Broadcast => Some((Part::OfRoot, Part::Whole)),
        Collective::Reduce => Some((Part::Whole, Part::OfRoot)),
        Collective::Gather => Some((Part::Own, Part::OfRoot)),
        Collective::Scatter => Some((Part::OfRoot, Part::Own)),
    };
    let layout = match (parts, data) {
        (None, _) => pairwise::layout_of(plan, sent, element_bytes, data)?,
        (Some(parts), Data::Elements(elements)) => in_place::layout_of(plan, parts, *elements),
        (Some(parts), Data::OfPlan) => in_place::layout_of(plan, parts, buffer_of(plan, element_bytes)?),
        (Some(_), Data::Blocks(_)) => return Err(refuse("blocks of data are given, and it is no All-to-All")),
    };
    let largest = layout.workspaces.iter().copied().max().unwrap_or(0);
    if largest.checked_mul(element_bytes.get()).is_none_or(|bytes| bytes > COUNTABLE) {
        return Err(refuse(format!("the workspace of a rank has more than {COUNTABLE} bytes")));
    }
    let moved: u128 = sent.all_chunks().iter().map(|&chunk| u128::from(layout.chunks[chunk as usize])).sum();
    if moved > u128::from(COUNTABLE) {
        return Err(refuse(format!("its steps send more than {COUNTABLE} elements")));
    }
    Ok(layout)
}
