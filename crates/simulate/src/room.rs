//! Room at the far ends of servers, where it is limited.
//!
//! A server may send a packet that goes on only while there is room for it; the room is given back when the last
//! bit has left the next server, one hop delay later (credits, as on InfiniBand links). Nothing is lost; the
//! first in line holds back all behind it.

use std::collections::VecDeque;

use crate::network::Lane;
use crate::runs::{Run, Series};

/// Credits of a lane that are kept apart; more are added up as soon as they can be.
const APART: usize = 1 << 6;

/// The packets on their way from one server to another.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Packets that have left the one and are not yet served by the other.
    pub(crate) runs: VecDeque<Run>,
    /// Packets that have yet to leave the one.
    pub(crate) left: u64,
    /// The time at which room is given back for packets that have left the other, with the bytes of each.
    pub(crate) credits: VecDeque<(Series, u64)>,
}

impl Queue {
    /// Room where nothing is on its way.
    pub(crate) fn new(ends: Lane) -> Self {
        let Lane { from, to } = ends;
        Self { from, to, runs: VecDeque::new(), left: 0, credits: VecDeque::new() }
    }

    /// The time at which its first packet came.
    #[inline]
    pub(crate) fn head_fs(&self) -> u64 {
        self.runs.front().map_or(u64::MAX, |run| run.times.first_fs)
    }

    /// Whether room will be given back that is not yet known of.
    pub(crate) fn is_in_use(&self) -> bool {
        self.left > 0 || !self.runs.is_empty()
    }

    /// Whether so much was given back that it is time to add it up.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.credits.len() > APART
    }

    /// Gives back the room of packets of `size` bytes at `times`.
    pub(crate) fn give_back(&mut self, times: Series, size: u64) {
        let last = self.credits.back_mut().filter(|(_, bytes)| *bytes == size);
        if !last.is_some_and(|(last, _)| last.extend(&times)) {
            self.credits.push_back((times, size));
        }
    }

    fn credit_fs(&self) -> u64 {
        self.credits.front().map_or(u64::MAX, |(times, _)| times.first_fs)
    }

    /// Takes out the first credits, those up to `now_fs` or at least one; returns their bytes.
    fn take_credits(&mut self, now_fs: u64) -> u64 {
        let Some((times, size)) = self.credits.front_mut() else { return 0 };
        let (count, size) = (times.before(now_fs + 1), *size);
        if count == times.count {
            self.credits.pop_front();
        } else {
            times.take(count);
        }
        count * size
    }
}

/// Room at the far end of a server.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Lanes that begin at the server, where room is limited.
    pub(crate) lanes: Vec<u32>,
    /// Room in bytes as of `granted_fs`; room that is given back later is not in it.
    pub(crate) bytes: u64,
    /// The time at which the last of that was given back.
    pub(crate) granted_fs: u64,
    /// Bytes of the first packet in line, where it waits for room.
    wanted: u64,
}

impl Room {
    /// The time before which nothing is sent for want of room, fs.
    pub(crate) fn earliest_fs(&self, queues: &[Queue]) -> u64 {
        if self.bytes >= self.wanted {
            return self.granted_fs;
        }
        self.credit(queues).0.max(self.granted_fs)
    }

    /// The time at which the first credit is given back, and over which lane.
    fn credit(&self, queues: &[Queue]) -> (u64, u32) {
        let credits = self.lanes.iter().map(|&lane| (queues[lane as usize].credit_fs(), lane));
        credits.min().unwrap_or((u64::MAX, 0))
    }

    /// Waits for room for a packet of `size` bytes that could otherwise be sent at `start_fs`, where all credits up to
    /// `known_fs` are known. Fails with a time before which there is no room, where more has to be known.
    pub(crate) fn wait(&mut self, queues: &mut [Queue], size: u64, start_fs: u64, known_fs: u64) -> Result<(), u64> {
        self.wanted = size;
        while self.bytes < size {
            let (credit_fs, lane) = self.credit(queues);
            if credit_fs > known_fs.max(start_fs) || credit_fs == u64::MAX {
                return Err(credit_fs.min(known_fs));
            }
            self.bytes += queues[lane as usize].take_credits(start_fs);
            if credit_fs > start_fs {
                self.granted_fs = credit_fs;
            }
        }
        Ok(())
    }

    /// Bytes that there is room for, and those that are waited for.
    pub(crate) fn held(&self) -> [u64; 2] {
        [self.bytes, self.wanted]
    }

    /// Takes the room of as many of `count` packets of `size` bytes as there is for.
    #[inline]
    pub(crate) fn take(&mut self, size: u64, count: u64) -> u64 {
        let granted = if count == 1 { 1 } else { count.min(self.bytes / size) };
        self.bytes -= granted * size;
        self.wanted = 0;
        granted
    }

    /// Adds up the credits of a lane that begins at the server, which sends nothing before `start_fs`.
    pub(crate) fn gather(&mut self, queue: &mut Queue, start_fs: u64) {
        while queue.credit_fs() <= start_fs {
            self.bytes += queue.take_credits(start_fs);
        }
    }
}
