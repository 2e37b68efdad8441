//! A million waits of several ranks: none sleeps for ever, and none goes on before its circuits are up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use lightloom_gate::{Controller, Progress, Rank};

use crate::folder::Folder;

const RANKS: u32 = 4;
const STEPS: u64 = 250_000;
/// A wait that takes this long has missed its wake-up; it ends the test.
const LOST_NS: u64 = 120_000_000_000;

#[test]
#[ignore = "large: make test-large"]
fn no_wake_up_of_a_million_is_lost() {
    let folder = Folder::new();
    let controller = Controller::create(&folder.gate(), RANKS, 1).expect("a gate");
    // The circuits as they are, and how many ranks still need them.
    let circuits = AtomicU64::new(u64::MAX);
    thread::scope(|scope| {
        for rank in 0..RANKS {
            let (path, circuits) = (folder.gate(), &circuits);
            scope.spawn(move || {
                let gate = Rank::open(&path, rank, LOST_NS).expect("it opens");
                for step in 0..STEPS {
                    assert_eq!(gate.wait_for(step, LOST_NS), Ok(()), "rank {rank}, step {step}");
                    assert_eq!(circuits.load(Ordering::SeqCst), step, "rank {rank}");
                    gate.done(step).expect("it was up");
                }
            });
        }
        for step in 0..STEPS {
            assert_eq!(controller.wait_done(step, LOST_NS.wrapping_mul(1 << 20)), Progress::Done, "step {step}");
            circuits.store(step, Ordering::SeqCst);
            controller.publish(step + 1);
        }
        while controller.wait_done(STEPS, u64::MAX) != Progress::AllLeft {}
    });
}
