//! In stage k every rank signals rank + 2^k, and sleeps until it is signalled (Hensgen, Finkel and Manber,
//! International Journal of Parallel Programming 17(1), 1988, with a futex for their spinning).
//!
//! After ⌈log₂ n⌉ stages every rank has heard, directly or through others, from all ranks.

use std::sync::atomic::Ordering;

use crate::barrier::{Barrier, Kind, LINE, has_come};
use crate::clock::{wait_while, wake_all};
use crate::system::Shared;

/// A word a rank and stage, on lines of their own.
pub static DISSEMINATION: Kind = Kind {
    name: "dissemination",
    summary: "⌈log₂ n⌉ stages: each rank signals another, twice as far every time, and waits for its signal (futex)",
    source: "Hensgen, Finkel and Manber 1988",
    footprint: |ranks| ranks * stages(ranks).max(1) * LINE,
    make: |memory, ranks, _| Box::new(Dissemination { memory, ranks, stages: stages(ranks) }),
};

struct Dissemination<'a> {
    memory: &'a Shared,
    ranks: usize,
    stages: usize,
}

fn stages(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

impl Barrier for Dissemination<'_> {
    fn wait(&self, rank: usize, round: u32) {
        for stage in 0..self.stages {
            let told = self.word((rank + (1 << stage)) % self.ranks, stage);
            told.store(round, Ordering::Release);
            wake_all(told);
            let mine = self.word(rank, stage);
            loop {
                let counted = mine.load(Ordering::Acquire);
                if has_come(counted, round) {
                    break;
                }
                wait_while(mine, counted, None);
            }
        }
    }
}

impl Dissemination<'_> {
    fn word(&self, rank: usize, stage: usize) -> &std::sync::atomic::AtomicU32 {
        self.memory.word((rank * self.stages + stage) * LINE)
    }
}
