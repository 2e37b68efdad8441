//! For benches: median times of two ways to do the same, measured in one run, and their ratio.
#![expect(clippy::print_stdout, reason = "a bench reports its ratios")]

use std::hint::black_box;
use std::time::Instant;

/// Median seconds of one call of `run`, over `samples` samples of at least a millisecond each, after one
/// sample that does not count.
pub fn median_s<T>(samples: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut calls = 1_u32;
    let mut seconds = Vec::with_capacity(samples);
    while seconds.len() <= samples {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(run());
        }
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed < 1e-3 && calls < 1 << 24 {
            calls *= 2;
            seconds.clear();
        } else {
            seconds.push(elapsed / f64::from(calls));
        }
    }
    let mut counted = seconds.split_off(1);
    counted.sort_unstable_by(f64::total_cmp);
    counted[counted.len() / 2]
}

/// Prints both times and how many times faster the first is.
pub fn report(what: &str, ours_s: f64, reference: &str, reference_s: f64) {
    println!("{what}: {} against {} for {reference}: {:.1}x", show(ours_s), show(reference_s), reference_s / ours_s);
}

/// Prints one time.
pub fn report_alone(what: &str, seconds: f64) {
    println!("{what}: {}", show(seconds));
}

fn show(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
