//! The work of a server on the first packets in line: it waits for room, sends them, and notes it.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;

use model::Result;

use super::{AHEAD, Fifo, head};
use crate::clock::{LIMIT_FS, too_long};
use crate::network::SENDER;
use crate::packet::Packet;
use crate::room::Queue;
use crate::runs::{Marks, Run, Series, append, serve};

/// Whether packets were sent; where they have to wait for room, until when at least, fs.
type Served = std::result::Result<(), u64>;

impl Fifo<'_> {
    /// Serves the packets of `lane`, the first in line at `server`, that arrive before `end_fs`; what is ahead of
    /// others stops at `floor_fs`. Where they have to wait for room, until when at least.
    pub(super) fn serve_lane(&mut self, server: usize, lane: usize, end_fs: u64, floor_fs: u64) -> Result<Served> {
        while let Some(&front) = self.queues[lane].runs.front() {
            let came_fs = front.times.first_fs;
            if came_fs >= end_fs || self.is_ahead && came_fs >= floor_fs {
                break;
            }
            let count = match self.granted(server, &front, front.times.before(end_fs)) {
                Ok(count) => count,
                Err(until_fs) => return Ok(Err(until_fs)),
            };
            let runs = &mut self.queues[lane].runs;
            let run = match runs.front_mut() {
                Some(first) if count < front.times.count => first.take(count),
                _ => runs.pop_front().unwrap_or(front),
            };
            self.send(server, run)?;
        }
        Ok(Ok(()))
    }

    /// Serves the first packets that the GPU of `server` has handed over, of those that came before `end_fs`. Where
    /// they have to wait for room, until when at least.
    pub(super) fn serve_line(&mut self, server: usize, end_fs: u64) -> Result<Served> {
        let Some(&Reverse((order, line))) = self.servers[server].lines.peek() else { return Ok(Ok(())) };
        if let Some(trunk) = (line as usize).checked_sub(self.lines.len()) {
            return self.serve_trunk(server, trunk);
        }
        // The next line is a child of the root. At the time of its first packet, the line with the lower key goes
        // first.
        let next = match self.servers[server].lines.as_slice() {
            [_, Reverse((left, _)), Reverse((right, _)), ..] => *left.min(right),
            [_, Reverse((only, _))] => *only,
            _ => u128::MAX >> 1,
        };
        let turn_fs = (next >> 64) as u64 + u64::from((order as u64) < next as u64);
        let waiting = self.lines[line as usize];
        let count = match self.granted(server, &waiting, waiting.times.before(end_fs.min(turn_fs))) {
            Ok(count) => count,
            Err(until_fs) => return Ok(Err(until_fs)),
        };
        let rest = &mut self.lines[line as usize];
        let run = rest.take(count);
        let has_tail = self.network.flows[line as usize].tail.is_some() && !run.marks.has(Marks::SHORT);
        if rest.times.count == 0 && has_tail {
            rest.times.count = 1;
            rest.marks = Marks::LAST.and(Marks::SHORT);
        }
        let rest = rest.times;
        if let Some(mut first) = self.servers[server].lines.peek_mut() {
            if rest.count > 0 {
                *first = head(rest.first_fs, order as u64, line as usize);
            } else {
                PeekMut::pop(first);
            }
        }
        self.send(server, run)?;
        Ok(Ok(()))
    }

    /// Serves the next packets of `trunk`, the first in line at `server`.
    fn serve_trunk(&mut self, server: usize, trunk: usize) -> Result<Served> {
        let Some((flow, packet)) = self.trunks.first(self.network, trunk) else { return Ok(Ok(())) };
        let begin_fs = self.servers[server].line_fs().max(self.servers[server].free_fs);
        let dealt = if self.is_limited {
            let short = Marks::SHORT.when(packet != self.network.packet);
            let stream = self.network.flows[flow as usize].streams.start as u32;
            let next = Run { times: Series::once(self.servers[server].line_fs()), stream, marks: short };
            if let Err(until_fs) = self.granted(server, &next, 1) {
                return Ok(Err(until_fs));
            }
            let times = Series::once(begin_fs.max(self.servers[server].room.granted_fs) + packet.wire_fs);
            let run = self.trunks.run(self.network, flow, times);
            self.trunks.skip(self.network, trunk);
            vec![run]
        } else {
            self.trunks.deal(self.network, trunk, begin_fs, AHEAD as u64)
        };
        if self.trunks.first(self.network, trunk).is_none() {
            self.servers[server].lines.pop();
        }
        for run in dealt {
            let state = &mut self.servers[server];
            state.left -= run.times.count;
            state.free_fs = state.free_fs.max(run.times.last_fs());
            if state.free_fs >= LIMIT_FS {
                return Err(too_long());
            }
            // At the first hop arrivals are not recorded.
            self.pass(server, &run, run.times, packet);
        }
        Ok(Ok(()))
    }

    /// The number of the first `count` packets of `run` that there is room for; without room, the earliest time of
    /// some.
    #[inline]
    fn granted(&mut self, server: usize, run: &Run, count: u64) -> std::result::Result<u64, u64> {
        if !self.is_limited || self.network.next_lane(run.stream) == SENDER {
            return Ok(count);
        }
        let size = self.size(run).bytes;
        let room = &mut self.servers[server].room;
        if room.bytes < size {
            let state = &self.servers[server];
            let start_fs = run.times.first_fs.max(state.free_fs);
            let known = |queue: &Queue| self.servers[queue.to as usize].next_fs.max(self.first_fs) + self.credit_fs;
            let known_fs = state.room.lanes.iter().map(|&lane| &self.queues[lane as usize]);
            let known_fs = known_fs.filter(|queue| queue.is_in_use()).map(known).min().unwrap_or(u64::MAX);
            self.servers[server].room.wait(&mut self.queues, size, start_fs, known_fs)?;
        }
        Ok(self.servers[server].room.take(size, count))
    }

    #[inline]
    fn size(&self, run: &Run) -> Packet {
        if run.marks.has(Marks::SHORT) {
            let stream = &self.network.streams[run.stream as usize];
            return self.network.flows[stream.flow as usize].tail.unwrap_or(self.network.packet);
        }
        self.network.packet
    }

    /// Sends `run` from `server`, the first in line.
    #[inline]
    fn send(&mut self, server: usize, mut run: Run) -> Result<()> {
        let packet = self.size(&run);
        let state = &mut self.servers[server];
        let (first, rest) = serve(&run.times, packet.wire_fs, state.free_fs.max(state.room.granted_fs));
        state.left -= run.times.count;
        state.free_fs = rest.as_ref().unwrap_or(&first).last_fs();
        if state.free_fs >= LIMIT_FS {
            return Err(too_long());
        }
        if let Some(rest) = rest {
            let taken = run.take(first.count);
            self.pass(server, &taken, first, packet);
            self.pass(server, &run, rest, packet);
        } else {
            self.pass(server, &run, first, packet);
        }
        Ok(())
    }

    /// Notes that the packets that came as `run` leave `server`, and sends them on.
    #[inline]
    fn pass(&mut self, server: usize, run: &Run, departures: Series, packet: Packet) {
        self.has_sent = true;
        if !run.marks.are_none() {
            self.ledger.note(self.network, run, departures.first_fs - packet.wire_fs, departures.last_fs());
        }
        let lane = self.network.streams[run.stream as usize].lane;
        if lane != SENDER {
            self.servers[server].backlog.pass(&run.times, departures, packet.bytes);
            if self.is_limited {
                let queue = &mut self.queues[lane as usize];
                let first_fs = departures.first_fs + self.network.hop.delay_fs;
                queue.give_back(Series { first_fs, ..departures }, packet.bytes);
                if queue.is_long() {
                    let feeder = &mut self.servers[queue.from as usize];
                    feeder.room.gather(queue, feeder.free_fs);
                }
            }
        }
        let next = self.network.next_lane(run.stream);
        if next != SENDER {
            let queue = &mut self.queues[next as usize];
            queue.left -= departures.count;
            let first_fs = self.network.hop.onward(departures.first_fs, packet);
            let times = Series { first_fs, ..departures };
            append(&mut queue.runs, Run { times, stream: run.stream + 1, marks: run.marks });
            self.is_ahead |= queue.runs.len() > AHEAD;
        }
    }
}
