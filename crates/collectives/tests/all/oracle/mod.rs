//! A plain symbolic executor: every transfer of every rank, every chunk, no symmetry.

use model::{Chunks, Op, Schedule, Transfer};

/// The contributors to each (rank, chunk): a bit per rank where the collective reduces, one bit otherwise.
struct Memory {
    chunks: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Memory {
    fn new(chunks: &Chunks) -> Self {
        let ranks = chunks.ranks();
        let words = if chunks.collective().reduces() { ranks.div_ceil(64) as usize } else { 1 };
        let count = chunks.count() as usize;
        let mut memory = Self { chunks: count, words, bits: vec![0; ranks as usize * count * words] };
        for rank in 0..ranks {
            for chunk in (0..chunks.count()).filter(|&chunk| chunks.starts_at(rank, chunk)) {
                let bit = if chunks.collective().reduces() { rank as usize } else { 0 };
                memory.at_mut(rank, chunk)[bit / 64] |= 1 << (bit % 64);
            }
        }
        memory
    }

    fn place(&self, rank: u32, chunk: u32) -> std::ops::Range<usize> {
        let start = (rank as usize * self.chunks + chunk as usize) * self.words;
        start..start + self.words
    }

    fn at(&self, rank: u32, chunk: u32) -> &[u64] {
        &self.bits[self.place(rank, chunk)]
    }

    fn at_mut(&mut self, rank: u32, chunk: u32) -> &mut [u64] {
        let place = self.place(rank, chunk);
        &mut self.bits[place]
    }
}

/// Runs `schedule` and says what is wrong with it, if anything: a rank sends what it does not have, adds
/// a contribution twice, gets a chunk from two ranks to keep, or ends without what it must have.
pub fn execute(schedule: &Schedule) -> Result<(), String> {
    let chunks = schedule.chunks();
    let mut memory = Memory::new(chunks);
    for (index, step) in schedule.steps().iter().enumerate() {
        let transfers = step.expanded(chunks);
        let sent = sent(&memory, &transfers).map_err(|reason| format!("step {index}: {reason}"))?;
        let mut kept = std::collections::BTreeSet::new();
        let moved = transfers.iter().flat_map(|transfer| transfer.chunks.iter().map(move |&chunk| (transfer, chunk)));
        for ((transfer, chunk), content) in moved.zip(sent) {
            let place = memory.at_mut(transfer.dst, chunk);
            match transfer.op {
                Op::Copy if kept.insert((transfer.dst, chunk)) => place.copy_from_slice(&content),
                Op::Copy => return Err(format!("step {index}: rank {} gets chunk {chunk} twice", transfer.dst)),
                Op::Reduce => {
                    for (mine, theirs) in place.iter_mut().zip(&content) {
                        if *mine & theirs != 0 {
                            return Err(format!("step {index}: {} adds to {chunk} twice", transfer.dst));
                        }
                        *mine |= theirs;
                    }
                }
            }
        }
    }
    check_end(&memory, chunks)
}

/// The data on the wire at the barrier, in the order of transfers and their chunks.
fn sent(memory: &Memory, transfers: &[Transfer]) -> Result<Vec<Vec<u64>>, String> {
    let mut sent = Vec::new();
    for transfer in transfers {
        for &chunk in &transfer.chunks {
            let content = memory.at(transfer.src, chunk);
            if content.iter().all(|&word| word == 0) {
                return Err(format!("rank {} does not have chunk {chunk}", transfer.src));
            }
            sent.push(content.to_vec());
        }
    }
    Ok(sent)
}

fn check_end(memory: &Memory, chunks: &Chunks) -> Result<(), String> {
    let complete = if chunks.collective().reduces() { chunks.ranks() } else { 1 };
    for rank in 0..chunks.ranks() {
        for chunk in (0..chunks.count()).filter(|&chunk| chunks.ends_at(rank, chunk)) {
            let count: u32 = memory.at(rank, chunk).iter().map(|word| word.count_ones()).sum();
            if count != complete {
                return Err(format!("rank {rank} ends with {count} of {complete} contributions to chunk {chunk}"));
            }
        }
    }
    Ok(())
}
