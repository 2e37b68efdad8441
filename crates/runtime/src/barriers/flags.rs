//! Every rank writes its own entry of an array, and looks at all of them until all are written (HARVEST, section 6.2,
//! figure 12).
//!
//! An entry counts rounds where the paper flips a bit: a rank that looks late would not see that a bit was flipped
//! twice.

use std::sync::atomic::Ordering;

use crate::barrier::{Barrier, Kind, LINE, has_come};
use crate::system::Shared;

/// Looks before the core is given to others, where every rank may have its own.
const SPINS: u32 = 2000;

/// An entry a rank, on lines of their own.
pub static FLAGS: Kind = Kind {
    name: "flags",
    summary: "each rank flips its own entry of an array, and polls until all are flipped",
    source: "HARVEST §6.2",
    footprint: |ranks| ranks * LINE,
    make: |memory, ranks, spins| Box::new(Flags { memory, ranks, spins }),
};

struct Flags<'a> {
    memory: &'a Shared,
    ranks: usize,
    spins: bool,
}

impl Barrier for Flags<'_> {
    fn wait(&self, rank: usize, round: u32) {
        self.memory.word(rank * LINE).store(round, Ordering::Release);
        for other in 0..self.ranks {
            let entry = self.memory.word(other * LINE);
            let mut looked = 0;
            while !has_come(entry.load(Ordering::Acquire), round) {
                looked += 1;
                if self.spins && looked < SPINS {
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
        }
    }
}
