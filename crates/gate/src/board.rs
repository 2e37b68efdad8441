//! The board: a file in shared memory whose words say what is up, who is done, and how it ends.
//!
//! Every process that has it open holds a byte of the file: byte 0 the controller, byte 1 + r rank r. The system lets go
//! of it when the process ends, however it ends, so that nobody is waited for in vain.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use runtime::{Bell, Shared, is_held};

/// The first word of a board: its magic number, with the version of its layout.
const MAGIC: u64 = u64::from_be_bytes(*b"LLGATE\0\x01");
/// The places of its words. What different processes write is on different cache lines.
const RANKS: usize = 8;
const STEPS: usize = 12;
const BELL_OF_RANKS: usize = 64;
const UP: usize = 128;
const END: usize = 136;
const LOST: usize = 140;
const BELL_OF_CONTROLLER: usize = 192;
const WANTED: usize = 256;
const FIRST_RANK: usize = 320;
const LINE: usize = 64;
/// Within the line of a rank, after the steps that it is done with.
const PRESENCE: usize = 8;

/// The byte that the controller holds.
pub(crate) const CONTROLLER: u32 = 0;

/// A rank that was never there, is there, or has left.
pub(crate) const ABSENT: u32 = 0;
pub(crate) const JOINED: u32 = 1;
pub(crate) const LEFT: u32 = 2;

/// The board of a gate.
#[derive(Debug)]
pub struct Board {
    file: File,
    memory: Shared,
    /// The number of ranks.
    pub ranks: u32,
    /// The steps of one run.
    pub steps: u32,
}

impl Board {
    /// Makes the board in an empty file.
    pub fn make(file: File, ranks: u32, steps: u32) -> io::Result<Self> {
        let bytes = footprint(ranks);
        file.set_len(bytes as u64)?;
        let memory = Shared::map(&file, bytes)?;
        memory.word(RANKS).store(ranks, Ordering::Relaxed);
        memory.word(STEPS).store(steps, Ordering::Relaxed);
        memory.long(0).store(MAGIC, Ordering::SeqCst);
        Ok(Self { file, memory, ranks, steps })
    }

    /// Opens the board in a file; `None` where the file holds something else.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = File::options().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        if length < footprint(1) as u64 {
            return Ok(None);
        }
        let head = Shared::map(&file, FIRST_RANK)?;
        let (ranks, steps) = (head.word(RANKS).load(Ordering::Relaxed), head.word(STEPS).load(Ordering::Relaxed));
        if head.long(0).load(Ordering::SeqCst) != MAGIC || length != footprint(ranks) as u64 {
            return Ok(None);
        }
        let memory = Shared::map(&file, footprint(ranks))?;
        Ok(Some(Self { file, memory, ranks, steps }))
    }

    /// The file, whose bytes processes hold.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether another opening of the board holds a byte of it; where the system does not say, it does.
    pub fn is_held(&self, byte: u32) -> bool {
        is_held(&self.file, byte).unwrap_or(true)
    }

    /// Rung when more steps may begin, and at the end.
    pub fn bell_of_ranks(&self) -> Bell<'_> {
        self.bell(BELL_OF_RANKS)
    }

    /// Rung when a rank is there, waits, is done with a step, or leaves.
    pub fn bell_of_controller(&self) -> Bell<'_> {
        self.bell(BELL_OF_CONTROLLER)
    }

    /// The number of steps whose circuits are, or were, up.
    pub fn up(&self) -> &AtomicU64 {
        self.memory.long(UP)
    }

    /// 0, or the status with which ranks are told that no more circuits come up.
    pub fn end(&self) -> &AtomicU32 {
        self.memory.word(END)
    }

    /// The rank that was lost, where that is the end.
    pub fn lost(&self) -> &AtomicU32 {
        self.memory.word(LOST)
    }

    /// The largest number of steps that any rank has waited for.
    pub fn wanted(&self) -> &AtomicU64 {
        self.memory.long(WANTED)
    }

    /// The number of steps that a rank is done with.
    pub fn done(&self, rank: u32) -> &AtomicU64 {
        self.memory.long(FIRST_RANK + LINE * rank as usize)
    }

    /// Whether a rank is there.
    pub fn presence(&self, rank: u32) -> &AtomicU32 {
        self.memory.word(FIRST_RANK + LINE * rank as usize + PRESENCE)
    }

    fn bell(&self, place: usize) -> Bell<'_> {
        Bell { rung: self.memory.word(place), sleeps: self.memory.word(place + 4) }
    }
}

fn footprint(ranks: u32) -> usize {
    FIRST_RANK + LINE * ranks as usize
}
