//! The lateness of sleeps: a histogram in shared memory, four bins to an octave of nanoseconds, one process writing.

use std::sync::atomic::Ordering;

use crate::report::Lateness;
use crate::system::Shared;

const BINS: usize = 4 * 64;
const MOST: usize = 8 * BINS;
/// Bytes of a histogram.
pub const FOOTPRINT: usize = MOST + 8;

/// A view of a histogram.
#[derive(Debug, Clone, Copy)]
pub struct LatenessLog<'a> {
    memory: &'a Shared,
    base: usize,
}

impl<'a> LatenessLog<'a> {
    /// The histogram at an offset that is a multiple of 8.
    pub fn new(memory: &'a Shared, base: usize) -> Self {
        Self { memory, base }
    }

    /// Counts a sleep that ended late by this time.
    pub fn count(&self, late_ns: u64) {
        self.memory.long(self.base + 8 * bin(late_ns)).fetch_add(1, Ordering::Relaxed);
        self.memory.long(self.base + MOST).fetch_max(late_ns, Ordering::Relaxed);
    }

    /// All of several histograms together; a quantile is the upper end of its bin, at most 19 % too much.
    pub fn summary(logs: &[Self]) -> Lateness {
        let read = |log: &Self, at: usize| log.memory.long(log.base + at).load(Ordering::Relaxed);
        let counts: Vec<u64> = (0..BINS).map(|bin| logs.iter().map(|log| read(log, 8 * bin)).sum()).collect();
        let sleeps: u64 = counts.iter().sum();
        let most_ns = logs.iter().map(|log| read(log, MOST)).max().unwrap_or(0);
        let quantile = |hundredths: u64| {
            let mut left = (sleeps * hundredths).div_ceil(100);
            let found = counts.iter().position(|&count| {
                left = left.saturating_sub(count);
                left == 0
            });
            found.map_or(0, |bin| upper_ns(bin).min(most_ns))
        };
        Lateness { sleeps, median_ns: quantile(50), most_of_99_ns: quantile(99), most_ns }
    }
}

fn bin(ns: u64) -> usize {
    let ns = ns.max(4);
    let octave = ns.ilog2() as usize;
    4 * octave + (ns >> (octave - 2) & 3) as usize
}

fn upper_ns(bin: usize) -> u64 {
    let quarters = 5 + (bin as u64 & 3);
    (u128::from(quarters) << (bin / 4) >> 2).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::file_in_memory;

    #[test]
    fn quantiles_are_of_all_logs() {
        let memory = Shared::map(file_in_memory("late", 2 * FOOTPRINT as u64).unwrap(), 2 * FOOTPRINT).unwrap();
        let logs = [0, FOOTPRINT].map(|base| LatenessLog::new(&memory, base));
        assert_eq!(LatenessLog::summary(&logs), Lateness::default());
        for late_ns in 1..=98 {
            logs[late_ns as usize % 2].count(1000 + late_ns);
        }
        logs[0].count(50_000);
        logs[1].count(70_000);
        let found = LatenessLog::summary(&logs);
        assert_eq!((found.sleeps, found.most_ns), (100, 70_000));
        assert!((1050..=1280).contains(&found.median_ns), "{found:?}");
        assert!((50_000..=60_000).contains(&found.most_of_99_ns), "{found:?}");
    }

    #[test]
    fn bins_hold_what_they_say() {
        for ns in [5, 7, 8, 1000, 123_456_789, u64::MAX / 2] {
            assert!(upper_ns(bin(ns)) >= ns && upper_ns(bin(ns)) <= ns + ns / 4 + 1, "{ns}");
        }
    }
}
