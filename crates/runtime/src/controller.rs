//! The controller: starts the processes of a run, leads them from step to step, and ends them all at the first fault.

mod change;
mod driver_calls;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;

use change::{Asked, Waited, deadline_of};

use crate::board::{Board, Phase};
use crate::children::Children;
use crate::clock::{now_ns, sleep_until, timespec};
use crate::course::{Course, check};
use crate::driver::{Driver, OwnSwitch};
use crate::fault::{Fault, When, Who};
use crate::kernel_ports::KernelPorts;
use crate::lateness::LatenessLog;
use crate::memory::check_free;
use crate::outside::OutsideSwitch;
use crate::owner::Owner;
use crate::rank::Rank;
use crate::report::{ChangeTimes, Granted, RankTimes, Report, Run, StepTimes};
use crate::request::{Change, Request};
use crate::share::{StepShare, shares};
use crate::system::{Shared, end, real_time};
use crate::transport::SharedMemory;

// Real-time priorities: what holds time comes first.
const SWITCH_PRIORITY: i32 = 30;
const CONTROLLER_PRIORITY: i32 = 20;
const RANK_PRIORITY: i32 = 10;
/// Before the first step, in which all processes get to sleep.
const SETTLE_NS: u64 = 2_000_000;
/// Most time that it takes to put the first data back.
const RESET_NS_PER_BYTE: u64 = 1;
/// The process that asked for a run hears of it at least so often.
const SILENT_NS: u64 = 1_000_000_000;
/// Time that processes have to end once they are told to.
const END_NS: u64 = 1_000_000_000;

/// A step that ranks were released for, to be ended by a moment at the latest.
struct Step {
    step: usize,
    allowed_ns: u64,
    until_ns: u64,
}

struct Controller<'a> {
    request: &'a Request,
    board: &'a Board,
    children: Children,
    owner: &'a dyn Owner,
    /// Drivers that are asked for a configuration, one after the other.
    drivers: Vec<Box<dyn Driver + 'a>>,
    /// Runs that were measured, and when that was said last.
    measured: u32,
    said_ns: u64,
}

/// Runs what is asked for on the workspaces in `file`, and says what was measured; `owner` asked for it.
///
/// The calling process has one thread. The workspaces then hold what the last run left.
///
/// # Errors
/// The fault that ended it; no process is left.
pub fn run(request: &Request, file: &OwnedFd, owner: &dyn Owner) -> Result<Report, Fault> {
    check(request).map_err(|error| Fault::system("the request was refused", error))?;
    let shares = shares(request).map_err(|(step, from, to)| Fault::Failed {
        who: Who::Rank(from),
        when: When::Step(step),
        why: format!("the configuration has no circuit to rank {to}"),
    })?;
    check_free(private_bytes(request, &shares))?;
    let board = Board::new(request)?;
    let workspaces = Shared::map(file, workspaces_len(request)).map_err(|error| Fault::system("memory", error))?;
    let is_locked = request.asks_priority && board.memory().lock() && workspaces.lock();
    let segment_begins = segment_begins(request);
    let mut children = Children::default();
    children.start(Who::Switch, || {
        prepare(request, &board, request.program.ranks as usize, SWITCH_PRIORITY);
        match &request.namespaces {
            None => crate::switch::serve(request, &board),
            Some(namespaces) => crate::kernel_switch::serve(request, namespaces, &board),
        }
    })?;
    for (number, shares) in (0..).zip(&shares) {
        children.start(Who::Rank(number), || {
            prepare(request, &board, number as usize, RANK_PRIORITY);
            let Some(namespaces) = &request.namespaces else {
                let transport = SharedMemory::new(&board, number as usize, request.ports as usize);
                Rank::new(request, &board, number, shares, &segment_begins, &workspaces, transport).serve()
            };
            let incoming_packets = shares.iter().map(|share| share.incoming_packets).max().unwrap_or(0);
            match KernelPorts::open(&board, request, namespaces, number, incoming_packets) {
                Ok(ports) => Rank::new(request, &board, number, shares, &segment_begins, &workspaces, ports).serve(),
                Err(why) => {
                    board.fail(&board.failed(Who::Rank(number), why));
                    end(1)
                }
            }
        })?;
    }
    if request.asks_priority {
        // Asked for, never required; whether all others got it is reported.
        let _ = real_time(CONTROLLER_PRIORITY);
    }
    let own: Box<dyn Driver> = Box::new(OwnSwitch(&board));
    let outside = request.has_outside_switch.then(|| -> Box<dyn Driver> { Box::new(OutsideSwitch::new(owner)) });
    let drivers = outside.into_iter().chain([own]).collect();
    let mut controller = Controller { request, board: &board, children, owner, drivers, measured: 0, said_ns: 0 };
    let mut report = controller.all_runs()?;
    report.granted.locked = is_locked;
    Ok(report)
}

impl<'a> Controller<'a> {
    fn all_runs(&mut self) -> Result<Report, Fault> {
        let mut report = Report::default();
        if self.request.probe_ns > 0 {
            self.board.release(Phase::Probe);
            self.wait_for_ranks(self.request.deadline_ns(self.request.probe_ns), When::Before)?;
        }
        for number in 0..self.request.warm_ups + self.request.runs {
            let is_measured = number >= self.request.warm_ups;
            let run = self.one_run(is_measured)?;
            if is_measured {
                report.runs.push(run);
                self.measured += 1;
                self.say_progress();
            }
        }
        self.board.release(Phase::Quit);
        let end_ns = now_ns() + END_NS;
        while !self.children.are_over() && now_ns() < end_ns {
            sleep_until(now_ns() + END_NS / 1000);
        }
        let ranks = self.request.program.ranks as usize;
        let of_ranks = |log: fn(&Board, usize) -> LatenessLog<'_>| {
            LatenessLog::summary(&(0..ranks).map(|rank| log(self.board, rank)).collect::<Vec<_>>())
        };
        report.probe = of_ranks(Board::probe);
        report.ranks = of_ranks(Board::running);
        report.switch = LatenessLog::summary(&[self.board.running(ranks)]);
        report.granted = Granted { real_time: self.board.all_granted(), locked: false };
        Ok(report)
    }

    fn one_run(&mut self, is_measured: bool) -> Result<Run, Fault> {
        self.board.measure(false);
        let first = Asked { change: None, from: None, configuration: self.request.initial, dark_ns: 0 };
        let mut asked = vec![self.ask(first, 0, now_ns())?];
        while self.made(&mut asked, When::Before)?.is_empty() {
            self.sleep(deadline_of(&asked), When::Before)?;
        }
        self.board.release(Phase::Reset);
        let bytes: u64 = self.request.program.workspace_bytes.iter().sum();
        self.wait_for_ranks(self.request.deadline_ns(bytes.saturating_mul(RESET_NS_PER_BYTE)), When::Before)?;
        self.board.measure(is_measured);
        self.board.release(Phase::Run);
        let begun_ns = now_ns() + SETTLE_NS;
        sleep_until(begun_ns);
        let course = self.all_steps(begun_ns)?;
        self.wait_for_ranks(self.request.deadline_ns(0), When::After)?;
        Ok(self.collect(begun_ns, course))
    }

    /// Lets ranks go for every step, and asks for every change of circuits, once all that it waits for is over: which
    /// ranks and switch say, not when the controller woke up for it.
    fn all_steps(&mut self, begun_ns: u64) -> Result<Course<'a>, Fault> {
        let request = self.request;
        let mut course = Course::new(request, begun_ns).ok_or(Fault::Abandoned)?;
        let mut under_way: Vec<Step> = Vec::new();
        let mut asked: Vec<Waited> = Vec::new();
        while !course.is_over() {
            // Switches outside are asked for one change after the other.
            while self.drivers.len() == 1 || asked.is_empty() {
                let Some(change) = course.next_change() else { break };
                let Change { from, configuration, dark_ns, .. } = request.changes[change];
                let what = Asked { change: Some(change), from: Some(from), configuration, dark_ns };
                asked.push(self.ask(what, 0, course.changes[change].asked_ns)?);
            }
            while let Some(step) = course.next_step() {
                let start_ns = course.steps[step].start_ns;
                self.board.let_go(step, start_ns, request.party(step));
                let allowed_ns =
                    request.deadline_ns(request.steps[step].predicted_ns) + start_ns.saturating_sub(now_ns());
                under_way.push(Step { step, allowed_ns, until_ns: now_ns() + allowed_ns });
            }
            let when = under_way.first().map_or_else(|| self.board.when(), |one| When::Step(one.step));
            let made = self.made(&mut asked, when)?;
            let ended: Vec<Step> = under_way
                .extract_if(.., |one| self.board.arrived_in(one.step) == request.party(one.step).len())
                .collect();
            if made.is_empty() && ended.is_empty() {
                if let Some(late) = under_way.iter().find(|one| one.until_ns <= now_ns()) {
                    return Err(self.late_in(late));
                }
                let until_ns = under_way.iter().map(|one| one.until_ns).min().unwrap_or(u64::MAX);
                self.sleep(until_ns.min(deadline_of(&asked)), when)?;
            }
            for (change, done_ns) in made.into_iter().filter_map(|(change, done_ns)| Some((change?, done_ns))) {
                course.change_made(change, done_ns);
            }
            for Step { step, .. } in ended {
                let arrived = request.party(step).iter().map(|&rank| self.board.times(step, rank as usize).arrived_ns);
                course.step_ended(step, arrived.max().unwrap_or(begun_ns));
            }
        }
        Ok(course)
    }

    fn wait_for_ranks(&mut self, allowed_ns: u64, when: When) -> Result<(), Fault> {
        let end_ns = now_ns() + allowed_ns;
        while self.board.arrived() < self.request.program.ranks as usize {
            if now_ns() >= end_ns {
                return Err(self.late(self.board.missing(), None, allowed_ns, when));
            }
            self.sleep(end_ns, when)?;
        }
        Ok(())
    }

    fn late_in(&self, Step { step, allowed_ns, .. }: &Step) -> Fault {
        let is_missing = |rank: &u32| self.board.times(*step, *rank as usize).arrived_ns == 0;
        let missing = self.request.party(*step).iter().copied().filter(is_missing).collect();
        self.late(missing, Some(*step), *allowed_ns, When::Step(*step))
    }

    /// The process that the others wait for, as far as can be told.
    fn late(&self, missing: Vec<u32>, step: Option<usize>, allowed_ns: u64, when: When) -> Fault {
        let seconds = allowed_ns as f64 / 1e9;
        if let Some(who) = self.children.stopped() {
            return Fault::Stopped { who, when, seconds };
        }
        let first = missing.first().copied().unwrap_or(0);
        let who = if missing.len() > 1 { Who::Ranks(missing.len() as u32, first) } else { Who::Rank(first) };
        let what = match step.and_then(|step| self.board.came(first as usize, step)) {
            Some((came, wanted)) if came < wanted && !missing.is_empty() => {
                format!("get more than {came} of {wanted} bytes")
            }
            _ => "arrive".into(),
        };
        Fault::Late { who, what, seconds, when }
    }

    fn say_progress(&mut self) {
        self.owner.progress(self.measured);
        self.said_ns = now_ns();
    }

    /// Sleeps until something happened or a moment has come.
    fn sleep(&mut self, until_ns: u64, when: When) -> Result<(), Fault> {
        if now_ns() >= self.said_ns + SILENT_NS {
            self.say_progress();
        }
        let bell = self.board.controller_bell();
        let watched = [Some(bell), self.owner.descriptor()].into_iter().flatten().chain(self.children.descriptors());
        let mut polled: Vec<PollFd<'_>> =
            watched.map(|one: BorrowedFd<'_>| PollFd::from_borrowed_fd(one, PollFlags::IN)).collect();
        let left = timespec(until_ns.saturating_sub(now_ns()).min(SILENT_NS));
        match poll(&mut polled, Some(&left)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Fault::system("waiting for processes", error)),
        }
        let _ = rustix::io::read(self.board.controller_bell(), &mut [0; 8]);
        self.owner.listen()?;
        if let Some(found) = self.board.failure() {
            return Err(Fault::Found(found));
        }
        match self.children.ended(when) {
            // The process may have sent its reason just before it ended.
            Some(ended) => Err(self.board.failure().map_or(ended, Fault::Found)),
            None => Ok(()),
        }
    }

    fn collect(&self, begun_ns: u64, course: Course<'_>) -> Run {
        let since = |moment_ns: u64| moment_ns.saturating_sub(begun_ns);
        let (count, ranks, ports) = (course.steps.len(), self.request.program.ranks as usize, self.request.all_ports());
        let of_rank = |step, rank| {
            let times = self.board.times(step, rank);
            let RankTimes { released_ns, started_ns, sent_ns, received_ns, arrived_ns, forwarded_bytes } = times;
            let [released_ns, started_ns, sent_ns, received_ns, arrived_ns] =
                [released_ns, started_ns, sent_ns, received_ns, arrived_ns].map(since);
            RankTimes { released_ns, started_ns, sent_ns, received_ns, arrived_ns, forwarded_bytes }
        };
        let of_circuit = |step, port| {
            let mut used = self.board.take_use(step, port);
            (used.first_ns, used.last_ns) = (since(used.first_ns), since(used.last_ns));
            used
        };
        let places = |width: usize| (0..count).flat_map(move |step| (0..width).map(move |place| (step, place)));
        let ranks = places(ranks).map(|(step, rank)| of_rank(step, rank)).collect();
        let circuits = places(ports).map(|(step, port)| of_circuit(step, port)).collect();
        let end_ns = course.steps.iter().map(|step| step.end_ns).max().unwrap_or(begun_ns);
        let windows_ns: u64 = self.request.steps.iter().map(|step| step.window_ns).sum();
        let of_step = |times: StepTimes| StepTimes {
            begun_ns: since(times.begun_ns),
            asked_ns: since(times.asked_ns),
            acknowledged_ns: since(times.acknowledged_ns),
            start_ns: since(times.start_ns),
            end_ns: since(times.end_ns),
        };
        let of_change = |times: ChangeTimes| ChangeTimes {
            asked_ns: since(times.asked_ns),
            acknowledged_ns: since(times.acknowledged_ns),
        };
        Run {
            measured_ns: since(end_ns).saturating_sub(windows_ns),
            steps: course.steps.into_iter().map(of_step).collect(),
            changes: course.changes.into_iter().map(of_change).collect(),
            ranks,
            circuits,
        }
    }
}

/// The first work of every process: priority, sleeps that end on time, pages at hand.
fn prepare(request: &Request, board: &Board, process: usize, priority: i32) {
    if request.asks_priority {
        board.grant(process, real_time(priority).is_ok());
    }
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    board.memory().touch();
}

/// Memory of the processes in addition to the workspaces, bytes.
fn private_bytes(request: &Request, shares: &[Vec<StepShare>]) -> u64 {
    let staged = |rank: &Vec<StepShare>| rank.iter().map(|share| share.staged_bytes).max().unwrap_or(0);
    shares.iter().map(staged).sum::<u64>() + request.program.workspace_bytes.iter().sum::<u64>()
}

fn workspaces_len(request: &Request) -> usize {
    let ends = request.workspace_offset.iter().zip(&request.program.workspace_bytes);
    ends.map(|(offset, bytes)| offset.saturating_add(*bytes)).max().unwrap_or(0) as usize
}

/// The place where every segment begins in its message.
fn segment_begins(request: &Request) -> Vec<u64> {
    let program = &request.program;
    let mut begins = Vec::with_capacity(program.size_bytes.len());
    for message in 0..program.messages() {
        let mut begin = 0;
        for segment in program.segments(message) {
            begins.push(begin);
            begin += program.size_bytes[segment];
        }
    }
    begins
}
