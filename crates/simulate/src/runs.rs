//! Packets of one stream that come at equal intervals, as one run; and what a FIFO server makes of one.

use std::collections::VecDeque;

use crate::packet::Packet;

/// `count` packets of one size at `first_fs`, `first_fs + spacing_fs`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first_fs: u64,
    pub(crate) spacing_fs: u64,
    pub(crate) count: u64,
    pub(crate) packet: Packet,
}

impl Run {
    /// Time of the last packet.
    pub(crate) fn last_fs(&self) -> u64 {
        self.first_fs + (self.count - 1) * self.spacing_fs
    }

    /// Number of packets before `end_fs`, where the first is.
    #[inline]
    pub(crate) fn before(&self, end_fs: u64) -> u64 {
        if self.count == 1 || self.first_fs + self.spacing_fs >= end_fs {
            return 1;
        }
        if self.last_fs() < end_fs {
            return self.count;
        }
        (end_fs - self.first_fs).div_ceil(self.spacing_fs)
    }

    /// Takes the first `count` packets out.
    #[inline]
    pub(crate) fn take(&mut self, count: u64) -> Self {
        let taken = Self { count, ..*self };
        self.first_fs += count * self.spacing_fs;
        self.count -= count;
        taken
    }

    /// Appends `next` if both together are one run.
    fn extend(&mut self, next: &Self) -> bool {
        if self.packet != next.packet {
            return false;
        }
        let gap = next.first_fs - self.last_fs();
        let fits = (self.count == 1 || self.spacing_fs == gap) && (next.count == 1 || next.spacing_fs == gap);
        if fits {
            self.spacing_fs = gap;
            self.count += next.count;
        }
        fits
    }
}

/// Adds a run that is not before the others.
#[inline]
pub(crate) fn append(runs: &mut VecDeque<Run>, next: Run) {
    if !runs.back_mut().is_some_and(|last| last.extend(&next)) {
        runs.push_back(next);
    }
}

/// When the packets that arrive as `run` leave a server that is free from `free_fs` on: first those that must
/// wait, back to back, then those that need not, as they come.
#[inline]
pub(crate) fn serve(run: &Run, free_fs: u64) -> (Run, Option<Run>) {
    let Run { first_fs, spacing_fs, count, packet } = *run;
    let wire_fs = packet.wire_fs;
    if spacing_fs <= wire_fs || count == 1 {
        return (Run { first_fs: first_fs.max(free_fs) + wire_fs, spacing_fs: wire_fs, count, packet }, None);
    }
    let idle = |first_fs, count| Run { first_fs: first_fs + wire_fs, spacing_fs, count, packet };
    if free_fs <= first_fs {
        return (idle(first_fs, count), None);
    }
    let waiting = (free_fs - first_fs).div_ceil(spacing_fs - wire_fs).min(count);
    let backlog = Run { first_fs: free_fs + wire_fs, spacing_fs: wire_fs, count: waiting, packet };
    let rest = (waiting < count).then(|| idle(first_fs + waiting * spacing_fs, count - waiting));
    (backlog, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(run: &Run) -> impl Iterator<Item = u64> + '_ {
        (0..run.count).map(|i| run.first_fs + i * run.spacing_fs)
    }

    proptest! {
        #[test]
        fn a_run_is_served_as_its_packets_one_by_one(
            first_fs in 0_u64..40, spacing_fs in 0_u64..9, count in 1_u64..30, wire_fs in 1_u64..7, free_fs in 0_u64..90
        ) {
            let run = Run { first_fs, spacing_fs, count, packet: Packet { bytes: 1, wire_fs } };
            let mut free = free_fs;
            let expected: Vec<u64> = times(&run).map(|arrival| { free = free.max(arrival) + wire_fs; free }).collect();
            let (backlog, rest) = serve(&run, free_fs);
            let served: Vec<u64> = times(&backlog).chain(rest.iter().flat_map(times)).collect();
            prop_assert_eq!(served, expected);
        }

        #[test]
        fn appended_runs_keep_every_time(gaps in prop::collection::vec((0_u64..3, 1_u64..4, 0_u64..3), 1..20)) {
            let packet = Packet { bytes: 1, wire_fs: 1 };
            let (mut runs, mut expected, mut now) = (VecDeque::new(), Vec::new(), 0);
            for (gap, count, spacing_fs) in gaps {
                let run = Run { first_fs: now + gap, spacing_fs, count, packet };
                expected.extend(times(&run));
                now = run.last_fs();
                append(&mut runs, run);
            }
            let kept: Vec<u64> = runs.iter().flat_map(times).collect();
            prop_assert_eq!(kept, expected);
        }
    }

    #[test]
    fn packets_before_a_time_are_counted() {
        let mut run = Run { first_fs: 10, spacing_fs: 5, count: 4, packet: Packet { bytes: 1, wire_fs: 1 } };
        assert_eq!([11, 15, 16, 25, 26].map(|end| run.before(end)), [1, 1, 2, 3, 4]);
        assert_eq!(times(&run.take(3)).collect::<Vec<_>>(), [10, 15, 20]);
        assert_eq!((run.first_fs, run.count), (25, 1));
    }
}
