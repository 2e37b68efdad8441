//! Ways for all ranks to wait for each other, over memory that they share: a file and a line of the registry each.

mod central;
mod dissemination;
mod flags;

use crate::barrier::Kind;

/// All barriers, in the order in which they are shown.
pub static REGISTRY: &[&Kind] = &[&flags::FLAGS, &central::CENTRAL, &dissemination::DISSEMINATION];

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::REGISTRY;
    use crate::memory::file_in_memory;
    use crate::system::Shared;

    #[test]
    fn nobody_leaves_before_all_have_come() {
        const ROUNDS: u32 = 200;
        for kind in REGISTRY {
            for ranks in [2, 3, 5, 8] {
                let bytes = (kind.footprint)(ranks);
                let memory = Shared::map(file_in_memory("barrier", bytes as u64).unwrap(), bytes).unwrap();
                let came: Vec<AtomicU32> = (0..ranks).map(|_| AtomicU32::new(0)).collect();
                let (memory, came) = (&memory, &came);
                std::thread::scope(|scope| {
                    for rank in 0..ranks {
                        scope.spawn(move || {
                            let barrier = (kind.make)(memory, ranks, false);
                            for round in 1..=ROUNDS {
                                came[rank].store(round, Ordering::Relaxed);
                                barrier.wait(rank, round);
                                let least = came.iter().map(|one| one.load(Ordering::Relaxed)).min();
                                assert!(least >= Some(round), "{}: {ranks} ranks, round {round}", kind.name);
                            }
                        });
                    }
                });
            }
        }
    }
}
