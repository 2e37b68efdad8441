//! The places of chunks: slots of a GPU's buffers, with the data that they hold at the start and must hold at the end.

use model::{Chunks, Collective, Error, Rank, Result};

use super::actions::{Place, Position};
use super::document::{Buffer, Program};

/// Slots of one GPU: input, output, scratch, in a row; in place, input and output share theirs.
pub(super) struct Layout<'a> {
    program: &'a Program,
    chunks: &'a Chunks,
    /// Chunks of a rank's share.
    share: u32,
}

impl<'a> Layout<'a> {
    /// # Errors
    /// A buffer whose stated size is neither 0 nor that of the collective, or a `copy` outside of them.
    pub(super) fn new(program: &'a Program, chunks: &'a Chunks) -> Result<Self> {
        let layout = Self { program, chunks, share: program.chunks / program.ranks() };
        for (rank, gpu) in program.gpus.iter().enumerate() {
            for (key, stated, size) in
                [("i_chunks", gpu.input, layout.input_size()), ("o_chunks", gpu.output, layout.output_size())]
            {
                let in_share = program.in_place && stated == program.chunks;
                if stated != 0 && stated != size && !in_share {
                    return Err(Error::malformed(
                        format!("schedule.gpu[{rank}].{key}"),
                        format!("it is {stated}; {} has {size} chunks in this buffer", program.collective.name()),
                    ));
                }
            }
            for &(input, output) in &gpu.copies {
                if input >= layout.input_size() || output >= layout.output_size() {
                    return Err(Error::malformed(
                        format!("schedule.gpu[{rank}].copy"),
                        format!("input {input} or output {output} is outside of its buffer"),
                    ));
                }
            }
        }
        Ok(layout)
    }

    fn input_size(&self) -> u32 {
        if matches!(self.program.collective, Collective::AllGather | Collective::Gather) {
            self.share
        } else {
            self.program.chunks
        }
    }

    fn output_size(&self) -> u32 {
        if matches!(self.program.collective, Collective::ReduceScatter | Collective::Scatter) {
            self.share
        } else {
            self.program.chunks
        }
    }

    /// Slots of `rank`.
    pub(super) fn slots(&self, rank: Rank) -> usize {
        let outputs = if self.program.in_place { self.program.chunks } else { self.input_size() + self.output_size() };
        (outputs + self.program.gpus[rank as usize].scratch) as usize
    }

    /// First slot of `count` chunks at `place`.
    ///
    /// # Errors
    /// An offset outside of the buffer.
    pub(super) fn slot(&self, at: Position, buffer: Buffer, offset: u32, count: u32) -> Result<usize> {
        let size = match buffer {
            Buffer::Input => self.input_size(),
            Buffer::Output => self.output_size(),
            Buffer::Scratch => self.program.gpus[at.gpu as usize].scratch,
        };
        if offset.checked_add(count).is_none_or(|end| end > size) {
            let name = match buffer {
                Buffer::Input => "i",
                Buffer::Output => "o",
                Buffer::Scratch => "s",
            };
            let reason =
                format!("{count} chunks at offset {offset} do not fit in buffer {name}, which has {size} chunks");
            return Err(Error::malformed(at, reason));
        }
        Ok(self.first_slot(at.gpu, buffer) + offset as usize)
    }

    /// # Errors
    /// As [`Layout::slot`].
    pub(super) fn slots_of(&self, at: Position, place: Place, count: u32) -> Result<Option<std::ops::Range<usize>>> {
        let Place::Slots(buffer, offset) = place else { return Ok(None) };
        let first = self.slot(at, buffer, offset, count)?;
        Ok(Some(first..first + count as usize))
    }

    fn first_slot(&self, rank: Rank, buffer: Buffer) -> usize {
        let (program, share_at) = (self.program, rank * self.share);
        let first = match (buffer, program.in_place, program.collective) {
            (Buffer::Input, true, Collective::AllGather | Collective::Gather)
            | (Buffer::Output, true, Collective::ReduceScatter | Collective::Scatter) => share_at,
            (Buffer::Input, _, _) | (Buffer::Output, true, _) => 0,
            (Buffer::Output, false, _) => self.input_size(),
            (Buffer::Scratch, true, _) => program.chunks,
            (Buffer::Scratch, false, _) => self.input_size() + self.output_size(),
        };
        first as usize
    }

    /// (slot, chunk) of everything that `rank` holds at the start, `copy` elements included.
    pub(super) fn start(&self, rank: Rank) -> Vec<(usize, u32)> {
        let gpu = &self.program.gpus[rank as usize];
        let (input, output) = (self.first_slot(rank, Buffer::Input), self.first_slot(rank, Buffer::Output));
        let held = |offset: u32| {
            let chunk = match self.program.collective {
                Collective::AllReduce
                | Collective::ReduceScatter
                | Collective::Broadcast
                | Collective::Reduce
                | Collective::Scatter => offset,
                Collective::AllGather | Collective::Gather => self.chunks.owned(rank, offset),
                Collective::AllToAll => self.chunks.pair(rank, offset / self.share, offset % self.share),
            };
            self.chunks.starts_at(rank, chunk).then_some(chunk)
        };
        let inputs = (0..self.input_size()).map(|offset| (input + offset as usize, held(offset)));
        let copies = gpu.copies.iter().map(|&(from, to)| (output + to as usize, held(from)));
        inputs.chain(copies).filter_map(|(slot, chunk)| Some((slot, chunk?))).collect()
    }

    /// (slot, chunk) of the output of `rank`.
    pub(super) fn end(&self, rank: Rank) -> impl Iterator<Item = (usize, u32)> {
        let first = self.first_slot(rank, Buffer::Output);
        (0..self.output_size()).map(move |offset| {
            let chunk = match self.program.collective {
                Collective::AllReduce
                | Collective::AllGather
                | Collective::Broadcast
                | Collective::Reduce
                | Collective::Gather => offset,
                Collective::ReduceScatter | Collective::Scatter => self.chunks.owned(rank, offset),
                Collective::AllToAll => self.chunks.pair(offset / self.share, rank, offset % self.share),
            };
            (first + offset as usize, chunk)
        })
    }
}
