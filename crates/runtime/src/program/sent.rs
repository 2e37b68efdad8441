//! All chunks that a plan's steps send.

use std::ops::Range;

use model::{Op, Plan, Rank, Result, transfers_of};

use super::refusal::refuse;
use crate::cutoffs::program::MOST_MOVED;

/// A transfer, with the place of its chunks among those of all transfers.
#[derive(Debug)]
pub(super) struct SentChunks {
    pub source: Rank,
    pub destination: Rank,
    pub is_reduction: bool,
    pub place: Range<usize>,
}

/// The transfers of all steps in order, within a step by source and destination.
pub(super) struct Sent {
    transfers: Vec<SentChunks>,
    /// The begin of each step's transfers, and the end of the last step's.
    step_offsets: Vec<usize>,
    chunks: Vec<u32>,
}

impl Sent {
    /// # Errors
    /// More chunks than a program is made of.
    pub fn of(plan: &Plan) -> Result<Self> {
        let mut sent = Self { transfers: Vec::new(), step_offsets: vec![0], chunks: Vec::new() };
        for step in interruption::checked(&plan.steps) {
            for transfer in transfers_of(plan, step)? {
                let begin = sent.chunks.len();
                sent.chunks.extend(transfer.chunks);
                sent.transfers.push(SentChunks {
                    source: transfer.src,
                    destination: transfer.dst,
                    is_reduction: transfer.op == Op::Reduce,
                    place: begin..sent.chunks.len(),
                });
            }
            if sent.chunks.len() > MOST_MOVED {
                return Err(refuse(format!("its steps move more than {MOST_MOVED} chunks; fewer are run")));
            }
            sent.step_offsets.push(sent.transfers.len());
        }
        Ok(sent)
    }

    /// The transfers of all steps.
    pub fn transfers(&self) -> &[SentChunks] {
        &self.transfers
    }

    /// The transfers of a step from a rank to another.
    pub fn row(&self, step: usize, source: Rank, destination: Rank) -> &[SentChunks] {
        let of_step = &self.transfers[self.step_offsets[step]..self.step_offsets[step + 1]];
        let begin = of_step.partition_point(|one| (one.source, one.destination) < (source, destination));
        let count = of_step[begin..].partition_point(|one| (one.source, one.destination) == (source, destination));
        &of_step[begin..begin + count]
    }

    /// The chunks of a transfer, ascending.
    pub fn chunks(&self, transfer: &SentChunks) -> &[u32] {
        &self.chunks[transfer.place.clone()]
    }

    /// All chunks that are sent, each as often as it is sent.
    pub fn all_chunks(&self) -> &[u32] {
        &self.chunks
    }
}
