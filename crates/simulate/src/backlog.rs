//! The longest queue of packets on their way at a server.

use std::collections::VecDeque;

use crate::runs::{Run, append};

/// Bytes of packets on their way (not those that the GPU itself sends) between their arrival and the moment
/// when their last bit is out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    /// Departures of the packets in the queue.
    departures: VecDeque<Run>,
    bytes: u64,
    /// Most bytes at once.
    pub(crate) most_bytes: u64,
}

impl Backlog {
    /// Counts packets that arrive as `arrivals` and leave as `departures`, both of the same number, in the order
    /// of service; `are_full` says whether they are of full size. A packet that leaves when another arrives is
    /// gone.
    ///
    /// Packets of a run are all of full size, or there is but one. So the queue grows until the next run begins
    /// to leave; from then until that run is through, it only grows or only shrinks. It is longest at the end of
    /// the first of these times or at the end of the second.
    pub(crate) fn pass(&mut self, arrivals: &Run, departures: Run, are_full: bool) {
        if are_full {
            append(&mut self.departures, departures);
        } else {
            self.departures.push_back(departures);
        }
        if arrivals.count == 1 {
            self.drain(arrivals.first_fs);
            self.bytes += arrivals.packet.bytes;
            self.most_bytes = self.most_bytes.max(self.bytes);
            return;
        }
        let mut left = *arrivals;
        while left.count > 0 {
            self.drain(left.first_fs);
            let (begin_fs, end_fs) =
                self.departures.front().map_or((u64::MAX, u64::MAX), |front| (front.first_fs, front.last_fs()));
            let growing = left.take(left.before(begin_fs));
            self.bytes += growing.count * growing.packet.bytes;
            self.most_bytes = self.most_bytes.max(self.bytes);
            if left.count > 0 && left.first_fs < end_fs {
                let steady = left.take(left.before(end_fs));
                self.bytes += steady.count * steady.packet.bytes;
                self.drain(steady.last_fs());
                self.most_bytes = self.most_bytes.max(self.bytes);
            }
        }
    }

    /// Takes out what has left by `now_fs`.
    fn drain(&mut self, now_fs: u64) {
        while let Some(front) = self.departures.front_mut() {
            if front.first_fs > now_fs {
                return;
            }
            let gone = front.before(now_fs + 1);
            self.bytes -= gone * front.packet.bytes;
            if gone == front.count {
                self.departures.pop_front();
            } else {
                front.take(gone);
            }
        }
    }
}
