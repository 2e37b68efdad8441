//! The longest queue of packets on their way at a server.

use std::collections::VecDeque;

use crate::runs::Series;

/// Bytes of packets on their way (not those that the GPU itself sends) between their arrival and the moment
/// when their last bit is out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    /// Departures of the packets in the queue, with the bytes of each.
    departures: VecDeque<(Series, u64)>,
    bytes: u64,
    /// The most bytes at once.
    pub(crate) most_bytes: u64,
}

impl Backlog {
    /// Counts packets of `size` bytes that arrive as `arrivals` and leave as `departures`, both of the same number, in
    /// the order of service. A packet that leaves when another arrives is gone.
    ///
    /// Packets of a run are all of one size. So the queue grows until the next run begins
    /// to leave; from then until that run is through, it only grows or only shrinks. It is longest at the end of
    /// the first of these times or at the end of the second.
    #[inline]
    pub(crate) fn pass(&mut self, arrivals: &Series, departures: Series, size: u64) {
        let last = self.departures.back_mut().filter(|(_, bytes)| *bytes == size);
        if !last.is_some_and(|(last, _)| last.extend(&departures)) {
            self.departures.push_back((departures, size));
        }
        if arrivals.count == 1 {
            self.drain(arrivals.first_fs);
            self.bytes += size;
            self.most_bytes = self.most_bytes.max(self.bytes);
        } else {
            self.pass_many(*arrivals, size);
        }
    }

    /// The queue, which keeps no record of times before `now_fs`.
    pub(crate) fn departures_after(&self, now_fs: u64) -> &VecDeque<(Series, u64)> {
        static NONE: VecDeque<(Series, u64)> = VecDeque::new();
        let is_past = self.departures.back().is_some_and(|(last, _)| last.last_fs() <= now_fs);
        if is_past { &NONE } else { &self.departures }
    }

    /// Delays all that is in the queue by this time.
    pub(crate) fn delay(&mut self, later_fs: u64) {
        self.departures.iter_mut().for_each(|(times, _)| times.first_fs += later_fs);
    }

    fn pass_many(&mut self, mut left: Series, size: u64) {
        while left.count > 0 {
            self.drain(left.first_fs);
            let (begin_fs, end_fs) =
                self.departures.front().map_or((u64::MAX, u64::MAX), |(front, _)| (front.first_fs, front.last_fs()));
            let growing = left.take(left.before(begin_fs));
            self.bytes += growing.count * size;
            self.most_bytes = self.most_bytes.max(self.bytes);
            if left.count > 0 && left.first_fs < end_fs {
                let steady = left.take(left.before(end_fs));
                self.bytes += steady.count * size;
                self.drain(steady.last_fs());
                self.most_bytes = self.most_bytes.max(self.bytes);
            }
        }
    }

    /// Takes out what has left by `now_fs`.
    #[inline]
    fn drain(&mut self, now_fs: u64) {
        while let Some((front, size)) = self.departures.front_mut() {
            if front.first_fs > now_fs {
                return;
            }
            let gone = front.before(now_fs + 1);
            self.bytes -= gone * *size;
            if gone == front.count {
                self.departures.pop_front();
            } else {
                front.take(gone);
            }
        }
    }
}
