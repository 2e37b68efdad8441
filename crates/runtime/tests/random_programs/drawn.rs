//! Random programs: circuits between random ports, and messages of random segments along them, straight or through others.

use lightloom_runtime::{Change, Element, Paces, Program, Reduction, Request, StepSetting};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Bytes of an int32, of which all data are: sums wrap around, so that they are the same in any order.
pub const ELEMENT_BYTES: u64 = 4;
/// Elements of a rank's workspace.
const ELEMENTS: u64 = 96;
const CONFIGURATIONS: u32 = 3;
/// A run that a busy machine delays is no fault.
const PATIENCE_NS: u64 = 120_000_000_000;

/// A program with its circuits and times, and what the workspaces hold first, one after the other.
pub fn request(rng: &mut ChaCha8Rng) -> (Request, Vec<u8>) {
    let (ranks, ports, steps) = (rng.random_range(2..=5), rng.random_range(1..=3), rng.random_range(1..=5));
    let configurations: Vec<Vec<Option<u32>>> = (0..CONFIGURATIONS).map(|_| circuits(rng, ranks, ports)).collect();
    let initial = rng.random_range(0..CONFIGURATIONS);
    let mut held = initial;
    let mut changes = Vec::new();
    let startup_ns = rng.random_range(0..20_000);
    let settings: Vec<StepSetting> =
        (0..steps).map(|step| setting(rng, step, startup_ns, &mut held, &mut changes)).collect();
    let mut program = Program {
        ranks,
        steps,
        workspace_bytes: vec![ELEMENTS * ELEMENT_BYTES; ranks as usize],
        gpu_offsets: vec![0],
        segment_offsets: vec![0],
        ..Program::default()
    };
    for (step, setting) in (0..).zip(&settings) {
        let circuits = &configurations[setting.configuration as usize];
        for _ in 0..rng.random_range(0..=4) {
            let path = path(rng, circuits, ranks, ports);
            message(rng, &mut program, step, &path);
        }
    }
    let request = Request {
        workspace_offset: (0..u64::from(ranks)).map(|rank| rank * ELEMENTS * ELEMENT_BYTES).collect(),
        program,
        element: Element::Int32,
        reduction: if rng.random_bool(0.5) { Reduction::Sum } else { Reduction::Max },
        ports,
        configurations,
        initial,
        parties: vec![(0..ranks).collect()],
        port_sets: vec![(0..ports).collect()],
        steps: settings,
        changes,
        ns_per_byte: rng.random_range(0.0..20.0),
        hop_ns: 20_000,
        paces: paces(rng, ranks, ports),
        packet_bytes: rng.random_range(64..=300),
        runs: rng.random_range(1..=2),
        warm_ups: rng.random_range(0..=1),
        asks_priority: false,
        probe_ns: 0,
        has_outside_switch: false,
        namespaces: None,
        deadline_factor: 1.0,
        deadline_floor_ns: PATIENCE_NS,
    };
    let workspaces = (0..ranks as u64 * ELEMENTS * ELEMENT_BYTES).map(|_| rng.random()).collect();
    (request, workspaces)
}

/// Where the circuit of each transmitter leads: to another port each, some of them nowhere.
fn circuits(rng: &mut ChaCha8Rng, ranks: u32, ports: u32) -> Vec<Option<u32>> {
    let mut ends: Vec<u32> = (0..ranks * ports).collect();
    ends.shuffle(rng);
    let leads = |(port, end): (u32, u32)| (port / ports != end / ports && rng.random_bool(0.9)).then_some(end);
    (0..).zip(ends).map(leads).collect()
}

/// A step that holds the configuration of the step before, or changes to another one.
fn setting(rng: &mut ChaCha8Rng, step: u32, startup_ns: u64, held: &mut u32, changes: &mut Vec<Change>) -> StepSetting {
    let after: Vec<u32> = step.checked_sub(1).into_iter().collect();
    let mut needs = Vec::new();
    if rng.random_bool(0.5) {
        let configuration = (*held + rng.random_range(1..CONFIGURATIONS)) % CONFIGURATIONS;
        needs.push(changes.len() as u32);
        changes.push(Change {
            from: *held,
            configuration,
            dark_ns: rng.random_range(0..500_000),
            after: after.clone(),
            after_changes: Vec::new(),
            follows: Vec::new(),
        });
        *held = configuration;
    }
    StepSetting {
        party: 0,
        port_set: 0,
        configuration: *held,
        after,
        needs,
        window_ns: if rng.random_bool(0.3) { rng.random_range(0..500_000) } else { 0 },
        startup_ns,
        earliest_ns: if rng.random_bool(0.3) { rng.random_range(0..2_000_000) } else { 0 },
        spread_ns: if rng.random_bool(0.3) { rng.random_range(0..500_000) } else { 0 },
        ..StepSetting::default()
    }
}

/// Ranks along circuits, none of them twice; a single one where no circuit leaves the first.
fn path(rng: &mut ChaCha8Rng, circuits: &[Option<u32>], ranks: u32, ports: u32) -> Vec<u32> {
    let mut path = vec![rng.random_range(0..ranks)];
    for _ in 0..rng.random_range(1..=3) {
        let last = path[path.len() - 1] as usize * ports as usize;
        let ends = circuits[last..last + ports as usize].iter().flatten().map(|end| end / ports);
        let next: Vec<u32> = ends.filter(|rank| !path.contains(rank)).collect();
        if next.is_empty() {
            break;
        }
        path.push(next[rng.random_range(0..next.len())]);
    }
    path
}

/// Adds a message of one to three segments, which may overlap in the workspace that they are read from.
fn message(rng: &mut ChaCha8Rng, program: &mut Program, step: u32, path: &[u32]) {
    if path.len() < 2 {
        return;
    }
    program.step.push(step);
    program.gpus.extend(path);
    program.gpu_offsets.push(program.gpus.len() as u64);
    for _ in 0..rng.random_range(1..=3) {
        let size = rng.random_range(1..=ELEMENTS);
        let mut offset = || rng.random_range(0..=ELEMENTS - size) * ELEMENT_BYTES;
        program.source_offset.push(offset());
        program.destination_offset.push(offset());
        program.size_bytes.push(size * ELEMENT_BYTES);
        program.is_reduction.push(rng.random_bool(0.5));
    }
    program.segment_offsets.push(program.size_bytes.len() as u64);
}

/// Circuits that are alike, or slower by port or by pair of ranks.
fn paces(rng: &mut ChaCha8Rng, ranks: u32, ports: u32) -> Paces {
    let mut slowness = |of: u32| -> Vec<f64> { (0..of).map(|_| rng.random_range(1.0..4.0)).collect() };
    let (of_port, of_pair) = (slowness(ports), slowness(ranks * ranks));
    let hop_of_pair_ns = (0..ranks * ranks).map(|_| rng.random_range(0..20_000)).collect();
    match rng.random_range(0..3) {
        0 => Paces::default(),
        1 => Paces { of_port, ..Paces::default() },
        _ => Paces { of_pair, hop_of_pair_ns, ..Paces::default() },
    }
}
