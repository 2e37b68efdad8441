//! A counter of those who came; the last one begins the next round, for which the others sleep (Mellor-Crummey and
//! Scott, ACM TOCS 9(1), 1991, section 3.1, with a futex for their spinning).

use std::sync::atomic::Ordering;

use crate::barrier::{Barrier, Kind, LINE};
use crate::clock::{wait_while, wake_all};
use crate::system::Shared;

const CAME: usize = 0;
const ROUNDS: usize = LINE;

/// The barrier of two words.
pub static CENTRAL: Kind = Kind {
    name: "central",
    summary: "ranks count themselves in one word of memory; the last one wakes the others (futex)",
    source: "Mellor-Crummey and Scott 1991, §3.1",
    footprint: |_| 2 * LINE,
    make: |memory, ranks, _| Box::new(Central { memory, ranks }),
};

struct Central<'a> {
    memory: &'a Shared,
    ranks: usize,
}

impl Barrier for Central<'_> {
    fn wait(&self, _rank: usize, round: u32) {
        let (came, rounds) = (self.memory.word(CAME), self.memory.word(ROUNDS));
        if came.fetch_add(1, Ordering::AcqRel) + 1 == self.ranks as u32 {
            came.store(0, Ordering::Relaxed);
            rounds.store(round, Ordering::Release);
            wake_all(rounds);
        } else {
            while rounds.load(Ordering::Acquire) != round {
                wait_while(rounds, round.wrapping_sub(1), None);
            }
        }
    }
}
