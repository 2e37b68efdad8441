//! The memory that a group's ranks share from the beginning: who is there, what each of them calls, the circuits of the
//! moment, and the first fault.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};

use crate::clock::{Bell, wake_all};
use crate::cutoffs::job::MOST_WORDS;
use crate::memory::file_in_memory;
use crate::system::Shared;

// Words of the group.
const GENERATION: usize = 0;
const ARRIVED: usize = 64;
const STARTED: usize = 128;
const CHANGED: usize = 136;
const FAULT: usize = 192;
const FAULT_LEN: usize = 196;
const FAULT_TEXT: usize = 200;
// The segment with all workspaces: its maker, the descriptor there, and its bytes.
const SEGMENT_PROCESS: usize = 1024;
const SEGMENT_FILE: usize = 1028;
const SEGMENT_BYTES: usize = 1032;
const RANKS: usize = 1088;
// Words of a rank, before its text and its numbers.
const PROCESS: usize = 0;
const DONE: usize = 4;
const LEFT: usize = 8;
const RUNG: usize = 12;
const SLEEPS: usize = 16;
const CALL_LEN: usize = 20;
const TOLD: usize = 24;
const CALL: usize = 64;
const NUMBERS: usize = CALL + MOST_WORDS.next_multiple_of(8);
// Words of a port: where its circuit leads, since when it is lit, and until when it is taken.
const PORT: usize = 24;

/// The memory, as one rank sees it.
#[derive(Debug)]
pub struct Control {
    memory: Shared,
    file: OwnedFd,
    ranks: usize,
    ports: usize,
}

impl Control {
    /// Memory for a group, all zero.
    pub fn create(ranks: u32, ports: u32) -> Result<Self, String> {
        let bytes = bytes_of(ranks as usize, ports as usize);
        let file = file_in_memory("lightloom-group", bytes as u64).map_err(|fault| fault.to_string())?;
        Self::map(file, ranks, ports)
    }

    /// The memory that another rank has made.
    pub fn join(ranks: u32, ports: u32, address: &str) -> Result<Self, String> {
        Self::map(open(address)?, ranks, ports)
    }

    fn map(file: OwnedFd, ranks: u32, ports: u32) -> Result<Self, String> {
        let (ranks, ports) = (ranks as usize, ports as usize);
        let memory = Shared::map(&file, bytes_of(ranks, ports)).map_err(|error| format!("memory: {error}"))?;
        Ok(Self { memory, file, ranks, ports })
    }

    /// The path by which processes of this machine find it.
    pub fn address(&self) -> String {
        address(std::process::id(), self.file.as_raw_fd() as u32)
    }

    fn rank(&self, rank: u32) -> usize {
        RANKS + rank as usize * rank_bytes(self.ranks)
    }

    /// A rank is there.
    pub fn enter(&self, rank: u32) {
        self.memory.word(self.rank(rank) + PROCESS).store(std::process::id(), Ordering::Release);
    }

    /// The process of a rank, 0 where it is not there yet.
    pub fn process(&self, rank: u32) -> u32 {
        self.memory.word(self.rank(rank) + PROCESS).load(Ordering::Acquire)
    }

    /// A rank takes part in nothing more.
    pub fn leave(&self, rank: u32) {
        self.memory.word(self.rank(rank) + LEFT).store(1, Ordering::Release);
    }

    /// Whether a rank has left.
    pub fn has_left(&self, rank: u32) -> bool {
        self.memory.word(self.rank(rank) + LEFT).load(Ordering::Acquire) != 0
    }

    /// The place where a rank sleeps for messages.
    pub fn bell(&self, rank: u32) -> Bell<'_> {
        let base = self.rank(rank);
        Bell { rung: self.memory.word(base + RUNG), sleeps: self.memory.word(base + SLEEPS) }
    }

    /// The number of the meeting that ranks wait for the end of.
    pub fn generation(&self) -> &AtomicU32 {
        self.memory.word(GENERATION)
    }

    /// A rank has come to a meeting; whether it is the last one.
    pub fn arrive(&self, rank: u32, generation: u32) -> bool {
        self.memory.word(self.rank(rank) + DONE).store(generation.wrapping_add(1), Ordering::Relaxed);
        self.memory.word(ARRIVED).fetch_add(1, Ordering::AcqRel) + 1 == self.ranks as u32
    }

    /// Ends a meeting.
    pub fn release(&self, generation: u32) {
        self.memory.word(ARRIVED).store(0, Ordering::Relaxed);
        self.generation().store(generation.wrapping_add(1), Ordering::Release);
        wake_all(self.generation());
    }

    /// Ranks that have not come to a meeting.
    pub fn missing(&self, generation: u32) -> Vec<u32> {
        let came = |rank: u32| self.memory.word(self.rank(rank) + DONE).load(Ordering::Relaxed);
        (0..self.ranks as u32).filter(|&rank| came(rank) != generation.wrapping_add(1)).collect()
    }

    /// The moment at which the step under way began.
    pub fn started(&self) -> &AtomicU64 {
        self.memory.long(STARTED)
    }

    /// The number of circuits that were made for the step under way.
    pub fn changed(&self) -> &AtomicU64 {
        self.memory.long(CHANGED)
    }

    /// What a rank calls.
    pub fn call(&self, rank: u32, words: &str) {
        let base = self.rank(rank);
        let words = &words.as_bytes()[..words.len().min(MOST_WORDS)];
        self.memory.write(base + CALL, words);
        self.memory.word(base + CALL_LEN).store(words.len() as u32, Ordering::Relaxed);
    }

    fn called(&self, rank: u32) -> String {
        let base = self.rank(rank);
        self.text(base + CALL_LEN, base + CALL, MOST_WORDS)
    }

    /// # Errors
    /// Two ranks that call different collectives.
    pub fn compare_calls(&self) -> Result<(), String> {
        let first = self.called(0);
        match (1..self.ranks as u32).map(|rank| (rank, self.called(rank))).find(|(_, call)| *call != first) {
            None => Ok(()),
            Some((rank, call)) => Err(format!(
                "rank 0 calls {first}, and rank {rank} calls {call}; all ranks of a group make the same calls in the \
                 same order"
            )),
        }
    }

    /// A rank's numbers, for all to read; at most one a rank.
    pub fn tell(&self, rank: u32, numbers: &[u64]) {
        let base = self.rank(rank);
        for (place, &number) in numbers.iter().take(self.ranks).enumerate() {
            self.memory.long(base + NUMBERS + 8 * place).store(number, Ordering::Relaxed);
        }
        self.memory.word(base + TOLD).store(numbers.len().min(self.ranks) as u32, Ordering::Relaxed);
    }

    /// The numbers that a rank has told.
    pub fn told(&self, rank: u32) -> Vec<u64> {
        let base = self.rank(rank);
        let count = self.memory.word(base + TOLD).load(Ordering::Relaxed) as usize;
        let number = |place| self.memory.long(base + NUMBERS + 8 * place).load(Ordering::Relaxed);
        (0..count.min(self.ranks)).map(number).collect()
    }

    /// A rank's descriptor of the messages to another.
    pub fn post(&self, rank: u32, to: u32, file: u32) {
        self.memory.word(self.file(rank, to)).store(file + 1, Ordering::Release);
    }

    /// The descriptor of a rank's messages to another, where it has sent one.
    pub fn posted(&self, rank: u32, to: u32) -> Option<u32> {
        self.memory.word(self.file(rank, to)).load(Ordering::Acquire).checked_sub(1)
    }

    fn file(&self, rank: u32, to: u32) -> usize {
        self.rank(rank) + NUMBERS + 8 * self.ranks + 4 * to as usize
    }

    /// Says where the segment is that all ranks map next.
    pub fn announce(&self, file: &OwnedFd, bytes: u64) {
        self.memory.word(SEGMENT_PROCESS).store(std::process::id(), Ordering::Relaxed);
        self.memory.word(SEGMENT_FILE).store(file.as_raw_fd() as u32, Ordering::Relaxed);
        self.memory.long(SEGMENT_BYTES).store(bytes, Ordering::Release);
    }

    /// The bytes of the segment, and where it is.
    pub fn announced(&self) -> (u64, String) {
        let bytes = self.memory.long(SEGMENT_BYTES).load(Ordering::Acquire);
        let word = |at| self.memory.word(at).load(Ordering::Relaxed);
        (bytes, address(word(SEGMENT_PROCESS), word(SEGMENT_FILE)))
    }

    /// Number of ports of all ranks.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The port to which a port's circuit leads, counted from 1; 0 where it has none.
    pub fn end(&self, port: usize) -> &AtomicU32 {
        self.memory.word(self.port(port))
    }

    /// The moment from which a port's circuit is lit.
    pub fn lit(&self, port: usize) -> &AtomicU64 {
        self.memory.long(self.port(port) + 8)
    }

    /// The moment until which a port's circuit is taken.
    pub fn taken(&self, port: usize) -> &AtomicU64 {
        self.memory.long(self.port(port) + 16)
    }

    fn port(&self, port: usize) -> usize {
        RANKS + self.ranks * rank_bytes(self.ranks) + port * PORT
    }

    /// What ends the group, unless something did so before; the words that all ranks get.
    pub fn fail(&self, why: &str) -> String {
        let word = self.memory.word(FAULT);
        if word.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            let words = &why.as_bytes()[..why.len().min(2 * MOST_WORDS)];
            self.memory.write(FAULT_TEXT, words);
            self.memory.word(FAULT_LEN).store(words.len() as u32, Ordering::Relaxed);
            word.store(2, Ordering::Release);
            wake_all(self.generation());
            (0..self.ranks as u32).for_each(|rank| self.bell(rank).ring());
        }
        // The rank that writes may be between its two stores.
        while word.load(Ordering::Acquire) == 1 {
            std::thread::yield_now();
        }
        self.failure().unwrap_or_default()
    }

    /// What ended the group.
    pub fn failure(&self) -> Option<String> {
        let is_over = self.memory.word(FAULT).load(Ordering::Acquire) == 2;
        is_over.then(|| self.text(FAULT_LEN, FAULT_TEXT, 2 * MOST_WORDS))
    }

    fn text(&self, len: usize, at: usize, most: usize) -> String {
        let mut bytes = vec![0; (self.memory.word(len).load(Ordering::Relaxed) as usize).min(most)];
        self.memory.read(at, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The memory of another process, by its path.
pub fn open(address: &str) -> Result<OwnedFd, String> {
    rustix::fs::open(address, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|error| {
        format!(
            "memory: `{address}` of another rank cannot be opened ({error}); all ranks run on one host, as one user"
        )
    })
}

/// The path of a process's descriptor.
pub fn address(process: u32, file: u32) -> String {
    format!("/proc/{process}/fd/{file}")
}

fn rank_bytes(ranks: usize) -> usize {
    (NUMBERS + 12 * ranks).next_multiple_of(64)
}

fn bytes_of(ranks: usize, ports: usize) -> usize {
    RANKS + ranks * rank_bytes(ranks) + ports * PORT
}
