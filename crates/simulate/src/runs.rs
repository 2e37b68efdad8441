//! Packets that come at equal intervals, as one run; and what a FIFO server makes of one.

use std::collections::VecDeque;

/// `count` times: `first_fs`, `first_fs + spacing_fs`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Series {
    pub(crate) first_fs: u64,
    pub(crate) spacing_fs: u64,
    pub(crate) count: u64,
}

impl Series {
    /// A single time.
    #[inline]
    pub(crate) fn once(first_fs: u64) -> Self {
        Self { first_fs, spacing_fs: 0, count: 1 }
    }

    /// The last time.
    #[inline]
    pub(crate) fn last_fs(&self) -> u64 {
        self.first_fs + (self.count - 1) * self.spacing_fs
    }

    /// The number of packets before `end_fs`, where the first is.
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

    /// Takes the first `count` out.
    #[inline]
    pub(crate) fn take(&mut self, count: u64) -> Self {
        let taken = Self { count, ..*self };
        self.first_fs += count * self.spacing_fs;
        self.count -= count;
        taken
    }

    /// Appends `next` if both together are one series.
    #[inline]
    pub(crate) fn extend(&mut self, next: &Self) -> bool {
        let gap = next.first_fs - self.last_fs();
        let fits = (self.count == 1 || self.spacing_fs == gap) && (next.count == 1 || next.spacing_fs == gap);
        if fits {
            self.spacing_fs = gap;
            self.count += next.count;
        }
        fits
    }
}

/// Marks of the packets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    /// The first packet of the run is the first of its flow.
    pub(crate) const FIRST: Self = Self(1);
    /// The last packet of the run is the last of its flow.
    pub(crate) const LAST: Self = Self(2);
    /// The run has one packet, which is shorter than the others of its flow.
    pub(crate) const SHORT: Self = Self(4);

    /// Nothing but `self`, if `holds`.
    pub(crate) fn when(self, holds: bool) -> Self {
        if holds { self } else { Self::default() }
    }

    /// The marks of both together.
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// All but `other`.
    #[inline]
    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `other` is among them.
    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// All of them in one number.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.0)
    }

    /// Whether there are no marks.
    #[inline]
    pub(crate) fn are_none(self) -> bool {
        self.0 == 0
    }
}

/// Packets of one stream and one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) times: Series,
    pub(crate) stream: u32,
    pub(crate) marks: Marks,
}

impl Run {
    /// Takes the first `count` packets out.
    #[inline]
    pub(crate) fn take(&mut self, count: u64) -> Self {
        let (mut taken, is_rest) = (*self, count < self.times.count);
        taken.times = self.times.take(count);
        if is_rest {
            taken.marks = taken.marks.without(Marks::LAST);
            self.marks = self.marks.without(Marks::FIRST);
        }
        taken
    }
}

/// Adds a run that is not before the others.
#[inline]
pub(crate) fn append(runs: &mut VecDeque<Run>, next: Run) {
    if let Some(last) = runs.back_mut().filter(|last| last.stream == next.stream) {
        let is_one_size = !last.marks.and(next.marks).has(Marks::SHORT);
        if is_one_size && last.times.extend(&next.times) {
            last.marks = last.marks.and(next.marks);
            return;
        }
    }
    runs.push_back(next);
}

/// When packets that take `wire_fs` and arrive at `times` leave a server that is free from `free_fs` on: first those
/// that must wait, back to back, then those that need not, as they come.
#[inline]
pub(crate) fn serve(times: &Series, wire_fs: u64, free_fs: u64) -> (Series, Option<Series>) {
    let Series { first_fs, spacing_fs, count } = *times;
    if spacing_fs <= wire_fs || count == 1 {
        return (Series { first_fs: first_fs.max(free_fs) + wire_fs, spacing_fs: wire_fs, count }, None);
    }
    let idle = |first_fs, count| Series { first_fs: first_fs + wire_fs, spacing_fs, count };
    if free_fs <= first_fs {
        return (idle(first_fs, count), None);
    }
    let waiting = (free_fs - first_fs).div_ceil(spacing_fs - wire_fs).min(count);
    let backlog = Series { first_fs: free_fs + wire_fs, spacing_fs: wire_fs, count: waiting };
    let rest = (waiting < count).then(|| idle(first_fs + waiting * spacing_fs, count - waiting));
    (backlog, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(series: &Series) -> impl Iterator<Item = u64> + '_ {
        (0..series.count).map(|i| series.first_fs + i * series.spacing_fs)
    }

    proptest! {
        #[test]
        fn a_run_is_served_as_its_packets_one_by_one(
            first_fs in 0_u64..40, spacing_fs in 0_u64..9, count in 1_u64..30, wire_fs in 1_u64..7, free_fs in 0_u64..90
        ) {
            let run = Series { first_fs, spacing_fs, count };
            let mut free = free_fs;
            let expected: Vec<u64> = times(&run).map(|arrival| { free = free.max(arrival) + wire_fs; free }).collect();
            let (backlog, rest) = serve(&run, wire_fs, free_fs);
            let served: Vec<u64> = times(&backlog).chain(rest.iter().flat_map(times)).collect();
            prop_assert_eq!(served, expected);
        }

        #[test]
        fn appended_runs_keep_every_packet(gaps in prop::collection::vec((0_u64..3, 1_u64..4, 0_u64..3, 0_u32..2, 0_u8..8), 1..20)) {
            let (mut runs, mut expected, mut now) = (VecDeque::new(), Vec::new(), 0);
            for (gap, count, spacing_fs, stream, marks) in gaps {
                let marks = Marks(marks);
                let count = if marks.has(Marks::SHORT) { 1 } else { count };
                let run = Run { times: Series { first_fs: now + gap, spacing_fs, count }, stream, marks };
                expected.extend(times(&run.times).map(|time| (time, stream, marks.has(Marks::SHORT))));
                now = run.times.last_fs();
                append(&mut runs, run);
            }
            let of_run = |run: &Run| times(&run.times).map(|time| (time, run.stream, run.marks.has(Marks::SHORT))).collect::<Vec<_>>();
            let kept: Vec<(u64, u32, bool)> = runs.iter().flat_map(of_run).collect();
            prop_assert_eq!(kept, expected);
        }
    }

    #[test]
    fn packets_before_a_time_are_counted() {
        let mut series = Series { first_fs: 10, spacing_fs: 5, count: 4 };
        assert_eq!([11, 15, 16, 25, 26].map(|end| series.before(end)), [1, 1, 2, 3, 4]);
        assert_eq!(times(&series.take(3)).collect::<Vec<_>>(), [10, 15, 20]);
        assert_eq!((series.first_fs, series.count), (25, 1));
    }

    #[test]
    fn the_ends_of_a_flow_stay_with_its_first_and_last_packet() {
        let both = Marks::FIRST.and(Marks::LAST);
        let mut run = Run { times: Series { first_fs: 1, spacing_fs: 1, count: 3 }, stream: 0, marks: both };
        assert_eq!(run.take(2).marks, Marks::FIRST);
        assert_eq!(run.marks, Marks::LAST);
        assert_eq!(run.take(1).marks, Marks::LAST);
    }
}
