//! A program as one rank of a group carries it out: what it takes from other ranks in every step, from where to where.
//!
//! Every rank has a region of the segment, whichever task it carries out, since others may begin the next one before it
//! has taken its results. A region is the rank's workspace; behind it room for data that others take while the places
//! where they lie are written in the same step, twice, since those of a step are put there while others still take
//! those of the step before; then room for what it passes on.

use crate::program::{Copies, PlanProgram};
use crate::request::Program;

/// The circuits of a program, and its times; all times dilated, all 0 where nothing is held back.
#[derive(Debug, Clone, Default)]
pub struct Circuits {
    /// Ports per rank; port p of rank r, both from 0, is number r·ports + p.
    pub ports: u32,
    /// By configuration and transmitter, the number of the port that its circuit leads to.
    pub configurations: Vec<Vec<Option<u32>>>,
    /// The configuration of each step.
    pub held: Vec<u32>,
    /// Nanoseconds for which ports that change before each step are dark.
    pub dark_ns: Vec<u64>,
    /// Nanoseconds before the ranks of a step send.
    pub startup_ns: u64,
    /// Nanoseconds that a circuit takes for a byte.
    pub ns_per_byte: f64,
    /// Nanoseconds from one end of a circuit to the other.
    pub hop_ns: u64,
}

/// Bytes that are copied within a rank's region, or taken from another's: offsets in the two regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub source: u64,
    pub destination: u64,
    pub size: u64,
    pub is_reduction: bool,
}

/// Data that a rank takes from the memory of the rank before it on their path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pull {
    pub from: u32,
    /// The ports whose circuits lead from there to here.
    pub ports: Vec<u32>,
    pub bytes: u64,
    pub pieces: Vec<Piece>,
}

/// A step of one rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StepTask {
    /// Copies of own data that others take, made before the step begins.
    pub packed: Vec<Piece>,
    /// Pulls by hop: one hop begins when all ranks have ended the one before.
    pub hops: Vec<Vec<Pull>>,
}

/// A program for one rank.
#[derive(Debug, Clone)]
pub struct Task {
    pub(super) circuits: Circuits,
    pub(super) steps: Vec<StepTask>,
    /// Copies from the input, whose offsets are sources, and to the output, whose offsets are destinations.
    pub(super) loads: Vec<Piece>,
    pub(super) stores: Vec<Piece>,
    /// Bytes of the rank's input and output.
    pub(super) input_bytes: u64,
    pub(super) output_bytes: u64,
    /// Bytes of the largest region.
    pub(super) bytes: u64,
}

impl Task {
    /// The part of a rank in a program that runs over these circuits.
    ///
    /// # Errors
    /// In words: circuits that do not fit to the program, or a path on which one is missing.
    pub fn new(made: &PlanProgram, circuits: Circuits, rank: u32) -> Result<Self, String> {
        let program = &made.program;
        let ports = program.ranks as usize * circuits.ports as usize;
        let fits = |&held: &u32| circuits.configurations.get(held as usize).is_some_and(|one| one.len() == ports);
        if [circuits.held.len(), circuits.dark_ns.len()] != [program.steps as usize; 2]
            || !circuits.held.iter().all(fits)
            || rank >= program.ranks
        {
            return Err("steps, circuits and ranks do not fit together".into());
        }
        let packs: Vec<Vec<bool>> = (0..program.steps as usize).map(|step| packing(program, step)).collect();
        let regions = Regions::of(program, &packs);
        let mut steps = Vec::new();
        for (step, packs) in packs.iter().enumerate() {
            steps.push(step_of(program, &circuits, &regions, step, packs, rank)?);
        }
        Ok(Self {
            loads: copies_of(&made.loads, rank),
            stores: copies_of(&made.stores, rank),
            input_bytes: made.input_bytes[rank as usize],
            output_bytes: made.output_bytes[rank as usize],
            bytes: regions.bytes,
            steps,
            circuits,
        })
    }
}

/// What lies where in the regions of all ranks.
struct Regions {
    /// By whether the step is an odd one, then by rank.
    packed: [Vec<u64>; 2],
    passed: Vec<u64>,
    bytes: u64,
}

impl Regions {
    fn of(program: &Program, packs: &[Vec<bool>]) -> Self {
        let ranks = program.ranks as usize;
        let (mut packed, mut passed) = (vec![0; ranks], vec![0; ranks]);
        for (step, packs) in packs.iter().enumerate() {
            let (mut sent, mut relayed) = (vec![0; ranks], vec![0; ranks]);
            for message in program.of_step(step) {
                let (path, bytes) = (program.path(message), program.message_bytes(message));
                if packs[path[0] as usize] {
                    sent[path[0] as usize] += bytes;
                }
                path[1..path.len() - 1].iter().for_each(|&rank| relayed[rank as usize] += bytes);
            }
            for rank in 0..ranks {
                packed[rank] = sent[rank].max(packed[rank]);
                passed[rank] = relayed[rank].max(passed[rank]);
            }
        }
        let mut regions = Self { packed: Default::default(), passed: Vec::new(), bytes: 0 };
        for rank in 0..ranks {
            let mut end = program.workspace_bytes[rank].next_multiple_of(64);
            for of_steps in &mut regions.packed {
                of_steps.push(end);
                end += packed[rank].next_multiple_of(64);
            }
            regions.passed.push(end);
            regions.bytes = regions.bytes.max(end + passed[rank]);
        }
        regions
    }
}

/// By rank, whether data that it sends in a step lie where data of the same step arrive.
fn packing(program: &Program, step: usize) -> Vec<bool> {
    let mut written: Vec<Vec<(u64, u64)>> = vec![Vec::new(); program.ranks as usize];
    for message in program.of_step(step) {
        let path = program.path(message);
        for segment in program.segments(message) {
            let begin = program.destination_offset[segment];
            written[path[path.len() - 1] as usize].push((begin, begin + program.size_bytes[segment]));
        }
    }
    for ranges in &mut written {
        ranges.sort_unstable();
        // Where a range lies within one before it, its end does not come first.
        let mut end = 0;
        for range in ranges.iter_mut() {
            end = end.max(range.1);
            range.1 = end;
        }
    }
    let mut packs = vec![false; program.ranks as usize];
    for message in program.of_step(step) {
        let source = program.path(message)[0] as usize;
        packs[source] |= program.segments(message).any(|segment| {
            let (begin, size) = (program.source_offset[segment], program.size_bytes[segment]);
            let before = written[source].partition_point(|range| range.0 < begin + size);
            before > 0 && written[source][before - 1].1 > begin
        });
    }
    packs
}

/// What one rank does in a step.
fn step_of(
    program: &Program,
    circuits: &Circuits,
    regions: &Regions,
    step: usize,
    packs: &[bool],
    rank: u32,
) -> Result<StepTask, String> {
    let longest = program.of_step(step).map(|message| program.path(message).len() - 1).max().unwrap_or(0);
    let mut made = StepTask { packed: Vec::new(), hops: vec![Vec::new(); longest] };
    let configuration = &circuits.configurations[circuits.held[step] as usize];
    let (mut packed, mut passed) = (regions.packed[step % 2].clone(), regions.passed.clone());
    for message in program.of_step(step) {
        let (path, bytes) = (program.path(message), program.message_bytes(message));
        let source = path[0];
        let mut held: Vec<(u64, u64)> =
            program.segments(message).map(|one| (program.source_offset[one], program.size_bytes[one])).collect();
        if packs[source as usize] {
            let begin = packed[source as usize];
            if source == rank {
                made.packed.extend(joined(&held, &[(begin, bytes, false)]));
            }
            held = vec![(begin, bytes)];
            packed[source as usize] += bytes;
        }
        for (hop, pair) in path.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            let kept: Vec<(u64, u64, bool)> = if hop + 2 == path.len() {
                let segments = program.segments(message);
                let kept =
                    |one: usize| (program.destination_offset[one], program.size_bytes[one], program.is_reduction[one]);
                segments.map(kept).collect()
            } else {
                let begin = passed[to as usize];
                passed[to as usize] += bytes;
                vec![(begin, bytes, false)]
            };
            if to == rank {
                let first = from * circuits.ports;
                let leads = |&port: &u32| configuration[port as usize].is_some_and(|end| end / circuits.ports == to);
                let ports: Vec<u32> = (first..first + circuits.ports).filter(leads).collect();
                if ports.is_empty() {
                    return Err(format!("step {step} has no circuit from rank {from} to rank {to}"));
                }
                made.hops[hop].push(Pull { from, ports, bytes, pieces: joined(&held, &kept) });
            }
            held = kept.iter().map(|one| (one.0, one.1)).collect();
        }
    }
    Ok(made)
}

/// Pieces that are contiguous at both ends, of two ways to cut the same data.
fn joined(sources: &[(u64, u64)], destinations: &[(u64, u64, bool)]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut sources = sources.iter().copied();
    let (mut source, mut left) = (0, 0);
    for &(mut destination, mut size, is_reduction) in destinations {
        while size > 0 {
            if left == 0 {
                let Some(next) = sources.next() else { break };
                (source, left) = next;
                continue;
            }
            let part = size.min(left);
            pieces.push(Piece { source, destination, size: part, is_reduction });
            (source, destination) = (source + part, destination + part);
            (size, left) = (size - part, left - part);
        }
    }
    pieces
}

fn copies_of(copies: &Copies, rank: u32) -> Vec<Piece> {
    let own = (0..copies.rank.len()).filter(|&one| copies.rank[one] == rank);
    own.map(|one| Piece {
        source: copies.source_offset[one],
        destination: copies.destination_offset[one],
        size: copies.size_bytes[one],
        is_reduction: false,
    })
    .collect()
}
