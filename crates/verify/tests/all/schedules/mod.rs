//! Small schedules written out from their definitions, for the tests of this crate.

use model::{Chunks, Collective, Op, Schedule, Step, Transfer, Translations};

pub fn ring_all_gather(n: u32) -> Schedule {
    let chunks = Chunks::even(Collective::AllGather, n, 1).unwrap();
    let steps = (0..n - 1).map(|i| {
        let transfer = Transfer { src: 0, dst: 1, op: Op::Copy, chunks: vec![(n - i) % n] };
        Step::new(Translations::cyclic(n), [transfer], &chunks).unwrap()
    });
    Schedule::new("ring", chunks.clone(), steps.collect()).unwrap()
}

/// u sends the 2^i blocks that end at its own to u + 2^i; n is a power of two.
pub fn doubling_all_gather(n: u32, parts: u32) -> Schedule {
    let chunks = Chunks::even(Collective::AllGather, n, parts).unwrap();
    let steps = (0..n.ilog2()).map(|i| {
        let blocks = (0..1 << i).map(|back| (n - back) % n);
        let chunks_sent = blocks.flat_map(|owner| (0..parts).map(move |part| owner * parts + part)).collect();
        let transfer = Transfer { src: 0, dst: 1 << i, op: Op::Copy, chunks: chunks_sent };
        Step::new(Translations::cyclic(n), [transfer], &chunks).unwrap()
    });
    Schedule::new("recursive-doubling", chunks.clone(), steps.collect()).unwrap()
}

/// The XOR exchange: u swaps all that it has with u ^ 2^i, written under the group of XORs.
pub fn xor_all_gather(n: u32) -> Schedule {
    let chunks = Chunks::even(Collective::AllGather, n, 1).unwrap();
    let steps = (0..n.ilog2()).map(|i| {
        let transfer = Transfer { src: 0, dst: 1 << i, op: Op::Copy, chunks: (0..1 << i).collect() };
        Step::new(Translations::xor(n), [transfer], &chunks).unwrap()
    });
    Schedule::new("halving-doubling", chunks.clone(), steps.collect()).unwrap()
}

pub fn all_reduce_of(gather: &Schedule) -> Schedule {
    Schedule::reduce_then_gather(&gather.reversed().unwrap(), gather).unwrap()
}

pub fn direct_all_to_all(n: u32) -> Schedule {
    let chunks = Chunks::even(Collective::AllToAll, n, 1).unwrap();
    let steps = (1..n).map(|d| {
        let transfer = Transfer { src: 0, dst: d, op: Op::Copy, chunks: vec![chunks.pair(0, d, 0)] };
        Step::new(Translations::cyclic(n), [transfer], &chunks).unwrap()
    });
    Schedule::new("direct", chunks.clone(), steps.collect()).unwrap()
}

/// Everyone reduces into everyone at once: AllReduce in one step, with many writers to every chunk.
pub fn one_step_all_reduce(n: u32) -> Schedule {
    let chunks = Chunks::even(Collective::AllReduce, n, 1).unwrap();
    let transfers = (1..n).map(|d| Transfer { src: 0, dst: d, op: Op::Reduce, chunks: (0..n).collect() });
    let step = Step::new(Translations::cyclic(n), transfers, &chunks).unwrap();
    Schedule::new("one-step", chunks, vec![step]).unwrap()
}

pub fn binomial_broadcast(n: u32) -> Schedule {
    let chunks = Chunks::even(Collective::Broadcast, n, 2).unwrap();
    let steps = (0..n.ilog2()).map(|i| {
        let transfers = (0..1 << i).map(|src| Transfer { src, dst: src + (1 << i), op: Op::Copy, chunks: vec![0, 1] });
        Step::new(Translations::trivial(n), transfers, &chunks).unwrap()
    });
    Schedule::new("binomial", chunks.clone(), steps.collect()).unwrap()
}

/// The same transfers, every one written out.
pub fn forget_symmetry(schedule: &Schedule) -> Schedule {
    let chunks = schedule.chunks().clone();
    let trivial = Translations::trivial(chunks.ranks());
    let steps =
        schedule.steps().iter().map(|step| Step::new(trivial.clone(), step.expanded(&chunks), &chunks).unwrap());
    Schedule::new(schedule.algorithm(), chunks.clone(), steps.collect()).unwrap()
}
