//! The places of data: the arrays that users give and get, and the slots of chunks in the workspaces of ranks.
//!
//! A buffer of E elements in C equal chunks is cut at whole elements: chunk c holds elements ⌊c·E/C⌋ to ⌊(c+1)·E/C⌋.
//! Where chunks have sizes of their own, a part of an element in the data from one rank to another counts as a whole
//! one.

use std::num::NonZeroU64;

use model::{Plan, Rank, Result, counted};

use super::copies::Copies;
use super::pair_slots::PairSlots;
use super::refusal::refuse;

/// The layout of all data; sizes and offsets in elements, those of `loads` and `stores` too.
pub(super) struct Layout {
    /// Elements by source and destination, for an All-to-All.
    pub blocks: Option<Vec<u64>>,
    /// Size of each rank's input.
    pub inputs: Vec<u64>,
    /// Size of each rank's output.
    pub outputs: Vec<u64>,
    /// Size of each rank's workspace.
    pub workspaces: Vec<u64>,
    /// Copies from inputs to workspaces.
    pub loads: Copies,
    /// Copies from workspaces to outputs.
    pub stores: Copies,
    /// Size of each chunk.
    pub chunks: Vec<u64>,
    /// Slots of the chunks.
    pub slots: Slots,
}

/// The places of chunks in the workspaces of ranks.
pub(super) enum Slots {
    /// A chunk begins at one place in every workspace.
    InPlace(Vec<u64>),
    /// A chunk begins at places of its own at its source, at its destination, and at ranks that forward it.
    Pairs(PairSlots),
}

impl Slots {
    /// The place of the chunk in the rank's workspace, in elements.
    ///
    /// # Errors
    /// A rank that never has the chunk.
    pub fn offset(&self, rank: Rank, chunk: u32) -> Result<u64> {
        let found = match self {
            Self::InPlace(begins) => Some(begins[chunk as usize]),
            Self::Pairs(slots) => slots.offset(rank, chunk),
        };
        found.ok_or_else(|| refuse(format!("rank {rank} sends chunk {chunk}, which it does not have")))
    }
}

/// The whole elements of a rank's buffer, at least one.
pub(super) fn buffer_of(plan: &Plan, element_bytes: NonZeroU64) -> Result<u64> {
    match plan.size_bytes / element_bytes {
        0 => {
            let (held, element) = (counted(plan.size_bytes, "byte"), counted(element_bytes.get(), "byte"));
            Err(refuse(format!("its buffer of {held} holds no element of {element}")))
        }
        elements => Ok(elements),
    }
}

/// The begin of each of `parts` parts of a buffer, and the end of the last one.
pub(super) fn cut(elements: u64, parts: u32) -> Vec<u64> {
    let begins = (0..=u64::from(parts)).map(|part| u128::from(part) * u128::from(elements) / u128::from(parts));
    // No begin is more than `elements`.
    begins.map(|begin| begin as u64).collect()
}

/// The sizes of the parts between these bounds.
pub(super) fn sizes(bounds: &[u64]) -> Vec<u64> {
    bounds.windows(2).map(|ends| ends[1] - ends[0]).collect()
}
