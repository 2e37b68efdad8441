//! What a program leaves in the workspaces, by moving bytes in one process, and what may be measured of it.

use std::ops::Range;

use lightloom_runtime::{Reduction, Report, Request, Run, StepSetting};

use crate::drawn::ELEMENT_BYTES;

/// How many messages were passed on, segments reduced, changes of circuits waited for, and such hidden behind a window.
#[derive(Debug, Default)]
pub struct Seen {
    pub forwarded: usize,
    pub reduced: usize,
    pub dark: usize,
    pub hidden: usize,
}

/// Compares what a run left and measured with the program.
pub fn check(request: &Request, before: &[u8], report: &Report, after: &[u8], case: u32, seen: &mut Seen) {
    assert_eq!(report.runs.len(), request.runs as usize);
    assert!(workspaces(request, before) == after, "case {case}: other bytes in the workspaces: {request:?}");
    for run in &report.runs {
        check_bytes(request, run, case);
        check_times(request, run, case);
    }
    let program = &request.program;
    seen.forwarded += (0..program.messages()).filter(|&message| program.path(message).len() > 2).count();
    seen.reduced += program.is_reduction.iter().filter(|&&reduces| reduces).count();
    let dark = |hidden: bool| {
        let changed = request.steps.iter().filter_map(|step| Some((step, dark_ns(request, step)?)));
        changed.filter(|(step, dark_ns)| (*dark_ns <= step.window_ns) == hidden).count()
    };
    seen.dark += dark(false);
    seen.hidden += dark(true);
}

/// The dark time of the change before a step.
fn dark_ns(request: &Request, step: &StepSetting) -> Option<u64> {
    step.needs.first().map(|&change| request.changes[change as usize].dark_ns)
}

/// Every message of a step takes what its source held before the step, and is kept in the order of messages.
fn workspaces(request: &Request, first: &[u8]) -> Vec<u8> {
    let program = &request.program;
    let place = |rank: u32, offset: u64, size: u64| -> Range<usize> {
        let begin = (request.workspace_offset[rank as usize] + offset) as usize;
        begin..begin + size as usize
    };
    let mut held = first.to_vec();
    for step in 0..program.steps {
        let before = held.clone();
        for message in (0..program.messages()).filter(|&message| program.step[message] == step) {
            let path = program.path(message);
            for segment in program.segments(message) {
                let size = program.size_bytes[segment];
                let sent = &before[place(path[0], program.source_offset[segment], size)];
                let kept = &mut held[place(path[path.len() - 1], program.destination_offset[segment], size)];
                if program.is_reduction[segment] {
                    reduce(request.reduction, kept, sent);
                } else {
                    kept.copy_from_slice(sent);
                }
            }
        }
    }
    held
}

fn reduce(reduction: Reduction, kept: &mut [u8], sent: &[u8]) {
    let element = ELEMENT_BYTES as usize;
    for (kept, sent) in kept.chunks_exact_mut(element).zip(sent.chunks_exact(element)) {
        let [a, b] = [&*kept, sent].map(|bytes| i32::from_ne_bytes(bytes.try_into().expect("four bytes")));
        let one = if reduction == Reduction::Sum { a.wrapping_add(b) } else { a.max(b) };
        kept.copy_from_slice(&one.to_ne_bytes());
    }
}

/// Ranks pass on, and circuits between two ranks carry, what the paths of messages say.
fn check_bytes(request: &Request, run: &Run, case: u32) {
    let program = &request.program;
    let (ranks, ports) = (program.ranks as usize, request.ports as usize);
    for (step, setting) in request.steps.iter().enumerate() {
        let mut passed_on = vec![0; ranks];
        let mut carried = vec![vec![0; ranks]; ranks];
        for message in (0..program.messages()).filter(|&message| program.step[message] as usize == step) {
            let (path, bytes) = (program.path(message), program.message_bytes(message));
            path[1..path.len() - 1].iter().for_each(|&rank| passed_on[rank as usize] += bytes);
            path.windows(2).for_each(|hop| carried[hop[0] as usize][hop[1] as usize] += bytes);
        }
        let measured = &run.ranks[step * ranks..(step + 1) * ranks];
        assert!(measured.iter().map(|rank| rank.forwarded_bytes).eq(passed_on), "case {case}, step {step}: passed on");
        for (port, end) in request.configurations[setting.configuration as usize].iter().enumerate() {
            let used = &run.circuits[step * ranks * ports + port];
            match end {
                None => assert_eq!(used.bytes, 0, "case {case}, step {step}: dark port {port} carried bytes"),
                Some(end) => carried[port / ports][*end as usize / ports] -= used.bytes,
            }
        }
        assert!(carried.iter().flatten().all(|&left| left == 0), "case {case}, step {step}: carried");
    }
}

/// Nothing begins before what it waits for: the step before, dark time, windows, startup, the rate of circuits and hops.
fn check_times(request: &Request, run: &Run, case: u32) {
    let (ranks, all_ports) = (request.program.ranks as usize, request.all_ports());
    let mut end_ns = 0;
    for (step, (setting, times)) in request.steps.iter().zip(&run.steps).enumerate() {
        assert_eq!(times.begun_ns, end_ns, "case {case}, step {step}: it begins where the one before ends");
        let dark_ns = dark_ns(request, setting).unwrap_or(0);
        assert_eq!(times.asked_ns, times.begun_ns);
        assert!(times.acknowledged_ns >= times.asked_ns + dark_ns, "case {case}, step {step}: dark time");
        let least_ns = (times.begun_ns + setting.window_ns).max(setting.earliest_ns);
        assert_eq!(times.start_ns, times.acknowledged_ns.max(least_ns));
        let started_ns = times.start_ns + setting.startup_ns;
        for rank in &run.ranks[step * ranks..(step + 1) * ranks] {
            assert!(started_ns <= rank.started_ns && rank.started_ns <= rank.received_ns, "case {case}, step {step}");
            assert!(rank.received_ns <= rank.arrived_ns && rank.arrived_ns <= times.end_ns, "case {case}, step {step}");
        }
        let circuits = &request.configurations[setting.configuration as usize];
        let used = run.circuits[step * all_ports..(step + 1) * all_ports].iter().enumerate();
        for (from, used) in used.filter(|(_, used)| used.bytes > 0) {
            let least_ns = circuit_ns(request, from, circuits[from].expect("a circuit"), used.bytes);
            assert!(used.first_ns >= started_ns, "case {case}, step {step}: a packet before startup");
            assert!(used.last_ns + 1 >= used.first_ns + least_ns, "case {case}, step {step}: faster than the circuit");
            assert!(used.last_ns <= times.end_ns, "case {case}, step {step}: a packet behind the end");
        }
        end_ns = times.end_ns;
    }
    let windows_ns: u64 = request.steps.iter().map(|step| step.window_ns).sum();
    assert_eq!(run.measured_ns, end_ns - windows_ns, "case {case}");
}

/// Nanoseconds of so many bytes on the circuit from one port to another, written from what a pace means.
fn circuit_ns(request: &Request, from: usize, to: u32, bytes: u64) -> u64 {
    let (ranks, ports) = (request.program.ranks as usize, request.ports as usize);
    let pair = from / ports * ranks + to as usize / ports;
    let (of_port, of_pair) = (&request.paces.of_port, &request.paces.of_pair);
    let byte_ns = request.ns_per_byte * if of_port.is_empty() { 1.0 } else { of_port[from % ports] };
    let byte_ns = byte_ns * if of_pair.is_empty() { 1.0 } else { of_pair[pair] };
    let hops = &request.paces.hop_of_pair_ns;
    (bytes as f64 * byte_ns) as u64 + if hops.is_empty() { request.hop_ns } else { hops[pair] }
}
