//! A million waits: how long from the controller's word until a rank that waits goes on, against a channel of the
//! standard library between the same threads; and a wait for circuits that are up already.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a bench says what it measured")]

use std::hint::black_box;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Instant;

use lightloom_gate::{Controller, Progress, Rank};

const WAITS: u64 = 1_000_000;
const FOREVER: u64 = u64::MAX;

fn main() {
    let path = std::env::temp_dir().join(format!("lightloom-gate-bench-{}", std::process::id()));
    let controller = Controller::create(&path, 1, 1).expect("a gate");
    let rank = Rank::open(&path, 0, FOREVER).expect("it opens");

    // Round trips: the rank waits for a step whose circuits are not up, the controller for its being done.
    let mut took_ns: Vec<u64> = thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let one = |step| {
                let began = Instant::now();
                rank.wait_for(step, FOREVER).expect("it is up");
                rank.done(step).expect("it was up");
                began.elapsed().as_nanos() as u64
            };
            (0..WAITS).map(one).collect()
        });
        for step in 0..WAITS {
            assert_eq!(controller.wait_done(step, FOREVER), Progress::Done);
            controller.publish(step + 1);
        }
        waits.join().expect("a rank")
    });
    took_ns.sort_unstable();
    let at = |share: f64| took_ns[((WAITS - 1) as f64 * share) as usize];
    println!(
        "gate: {WAITS} waits, round trip: median {} ns, 99 % {} ns, 99.99 % {} ns, longest {} ns",
        at(0.5),
        at(0.99),
        at(0.9999),
        at(1.0)
    );
    let gate_s = took_ns.iter().sum::<u64>() as f64 / 1e9 / WAITS as f64;
    ratio::report("gate: round trip", gate_s, "two channels", two_channels_s());

    let began = Instant::now();
    for _ in 0..WAITS {
        black_box(rank.wait_for(black_box(0), FOREVER)).expect("it is up");
    }
    println!("gate: wait for circuits that are up: {} ns", began.elapsed().as_nanos() as f64 / WAITS as f64);
}

fn two_channels_s() -> f64 {
    let (ask, asked) = sync_channel::<u64>(1);
    let (answer, answered) = sync_channel::<u64>(1);
    thread::scope(|scope| {
        scope.spawn(move || asked.iter().try_for_each(|step| answer.send(step)));
        let began = Instant::now();
        for step in 0..WAITS {
            ask.send(step).expect("it hears");
            assert_eq!(answered.recv(), Ok(step));
        }
        drop(ask);
        began.elapsed().as_secs_f64() / WAITS as f64
    })
}
