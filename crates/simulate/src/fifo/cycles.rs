//! Paced senders in step: where all that is under way comes back after a time, but later by that time, it comes back
//! again and again, and what is in between need not be simulated.
//!
//! The network is stopped every few intervals of the senders, when all packets that arrive before are served and no
//! others. The rest of the simulation depends on the packets that are under way and on those that the senders have yet
//! to hand over. If the one is as it was at an earlier stop, all goes on as it did between the two until a sender has
//! nothing more to hand over. How long queues take to come to that, and after how many intervals they come back, is not
//! known: each stop is compared with the last one whose number is a power of two (Brent, *An improved Monte Carlo
//! factorization algorithm*, 1980, §2).

use std::cmp::Reverse;

use super::Fifo;
use super::stops::{Cycles, Stopped};
use crate::clock::LIMIT_FS;
use crate::cutoffs::fifo_cycles::{FEWEST, MOST};
use crate::runs::{Run, Series};

impl Fifo<'_> {
    /// Begins to look for what comes back, after flows were released or packets left out.
    pub(super) fn watch(&mut self, active: &[usize], now_fs: u64) {
        self.cycles = Cycles::default();
        let lines = || active.iter().flat_map(|&server| &self.servers[server].lines);
        let (mut interval_fs, mut most) = (1, 0);
        for &Reverse((_, line)) in lines() {
            let Some(Run { times, .. }) = self.lines.get(line as usize) else { return };
            most = most.max(times.count);
            interval_fs = match interval_fs.max(times.spacing_fs) {
                _ if times.count == 1 => interval_fs,
                longest if times.spacing_fs > 0 && longest % interval_fs.min(times.spacing_fs) == 0 => longest,
                _ => return,
            };
        }
        if most >= FEWEST {
            // No more stops than rounds.
            let between_fs = self.lookahead_fs.div_ceil(interval_fs).saturating_mul(interval_fs);
            self.cycles = Cycles { stop_fs: now_fs.checked_add(between_fs), between_fs, ..Cycles::default() };
        }
    }

    /// Looks at the network, which is stopped, and lets it go on. Leaves out the packets of all intervals that are like
    /// the last one. Returns whether the times that follow are above the limit.
    pub(super) fn stopped(&mut self, active: &[usize]) -> bool {
        let Some(stop_fs) = self.cycles.stop_fs else { return false };
        for queue in &mut self.queues {
            self.servers[queue.from as usize].room.gather(queue, self.first_fs);
        }
        let now = self.look(active, stop_fs);
        let cycles = &mut self.cycles;
        cycles.stops += 1;
        let Some(before) = cycles.before.take_if(|before| before.comes_back(&now)) else {
            let goes_on = cycles.stops < MOST;
            cycles.stop_fs = stop_fs.checked_add(cycles.between_fs).filter(|_| goes_on);
            if cycles.stops.is_power_of_two() {
                cycles.before = Some(now);
            }
            return false;
        };
        let sent = before.lines.iter().zip(&now.lines).map(|(before, now)| (before.1 - now.1, now.1));
        let times = sent.map(|(sent, left)| (left - 1).checked_div(sent).unwrap_or(0)).min().unwrap_or(0);
        let later_fs = times.checked_mul(now.now_fs - before.now_fs).filter(|later_fs| *later_fs < LIMIT_FS);
        let Some(later_fs) = later_fs.filter(|later_fs| stop_fs + later_fs < LIMIT_FS) else { return true };
        if times > 0 {
            self.leave_out(active, &before, &now, times, later_fs);
        }
        self.cycles = Cycles::default();
        false
    }

    fn look(&self, active: &[usize], stop_fs: u64) -> Stopped {
        let (mut under_way, mut lines) = (Vec::new(), Vec::new());
        let after = |time_fs: u64| time_fs.wrapping_sub(stop_fs);
        let series =
            |to: &mut Vec<u64>, times: &Series| to.extend([after(times.first_fs), times.spacing_fs, times.count]);
        // A time that is earlier than anything that can be sent makes no difference.
        let not_past = |time_fs: u64| after(time_fs.max(self.first_fs));
        under_way.push(after(self.first_fs));
        for &server in active {
            let state = &self.servers[server];
            under_way.extend([server as u64, not_past(state.free_fs), not_past(state.room.granted_fs)]);
            under_way.extend(state.room.held());
            let mut heads: Vec<u32> = state.lines.iter().map(|Reverse((_, line))| *line).collect();
            heads.sort_unstable();
            under_way.push(heads.len() as u64);
            for line in heads {
                let Some(Run { times, marks, .. }) = self.lines.get(line as usize) else { continue };
                lines.push((line, times.count));
                under_way.extend([after(times.first_fs), times.spacing_fs, marks.bits()]);
            }
            for &lane in &self.network.inward[server] {
                let queue = &self.queues[lane as usize];
                under_way.push(queue.runs.len() as u64);
                for run in &queue.runs {
                    series(&mut under_way, &run.times);
                    under_way.extend([u64::from(run.stream), run.marks.bits()]);
                }
                under_way.push(queue.credits.len() as u64);
                for (times, size) in &queue.credits {
                    series(&mut under_way, times);
                    under_way.push(*size);
                }
            }
            let departures = state.backlog.departures_after(self.first_fs.min(self.head_fs(server)));
            under_way.push(departures.len() as u64);
            for (times, size) in departures {
                series(&mut under_way, times);
                under_way.push(*size);
            }
        }
        let servers = active.iter().map(|&server| self.servers[server].left).collect();
        let lanes = self.queues.iter().map(|queue| queue.left).collect();
        Stopped { now_fs: stop_fs, under_way, lines, servers, lanes }
    }

    /// Leaves out what is sent in `times` intervals that are like the one from `before` to `now`: all that is under way
    /// is `later_fs` later.
    fn leave_out(&mut self, active: &[usize], before: &Stopped, now: &Stopped, times: u64, later_fs: u64) {
        for (before, now) in before.lines.iter().zip(&now.lines) {
            let line = &mut self.lines[now.0 as usize].times;
            line.count -= times * (before.1 - now.1);
            line.first_fs += later_fs;
        }
        for (&server, (before, now)) in active.iter().zip(before.servers.iter().zip(&now.servers)) {
            let state = &mut self.servers[server];
            state.left -= times * (before - now);
            state.free_fs += later_fs;
            state.next_fs += later_fs;
            state.room.granted_fs += later_fs;
            state.backlog.delay(later_fs);
            let heads = std::mem::take(&mut state.lines).into_iter();
            state.lines =
                heads.map(|Reverse((order, line))| Reverse((order + (u128::from(later_fs) << 64), line))).collect();
        }
        for (queue, (before, now)) in self.queues.iter_mut().zip(before.lanes.iter().zip(&now.lanes)) {
            queue.left -= times * (before - now);
            queue.runs.iter_mut().for_each(|run| run.times.first_fs += later_fs);
            queue.credits.iter_mut().for_each(|(times, _)| times.first_fs += later_fs);
        }
    }
}
