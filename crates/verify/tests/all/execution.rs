//! The quotient's verdict is that of every rank written out, and that of a naive executor.
#[allow(dead_code, reason = "each test file uses a part of them")]
use crate::schedules;

use std::collections::BTreeSet;

use model::{Chunks, Collective, Op, Schedule, Step, Transfer, Translations};
use proptest::prelude::*;
use schedules::{
    all_reduce_of, binomial_broadcast, direct_all_to_all, doubling_all_gather, forget_symmetry, one_step_all_reduce,
    ring_all_gather, xor_all_gather,
};

fn valid() -> Vec<Schedule> {
    let mut all = Vec::new();
    for n in [2, 4, 8, 16] {
        all.extend([
            doubling_all_gather(n, 2),
            doubling_all_gather(n, 3).reversed().unwrap(),
            all_reduce_of(&doubling_all_gather(n, 1)),
            all_reduce_of(&xor_all_gather(n)),
            binomial_broadcast(n),
        ]);
    }
    for n in [2, 3, 5, 12] {
        all.extend([
            ring_all_gather(n),
            all_reduce_of(&ring_all_gather(n)),
            direct_all_to_all(n),
            one_step_all_reduce(n),
        ]);
    }
    all
}

/// A set of contributors per (rank, chunk), every transfer written out, no orbit, no bit set.
fn naive_verdict(schedule: &Schedule) -> bool {
    let chunks = schedule.chunks();
    let reduces = schedule.collective().reduces();
    let mut state: Vec<Vec<BTreeSet<u32>>> = (0..chunks.ranks())
        .map(|rank| {
            let own = |chunk| if chunks.starts_at(rank, chunk) { BTreeSet::from([rank]) } else { BTreeSet::new() };
            (0..chunks.count()).map(own).collect()
        })
        .collect();
    for step in schedule.steps() {
        let before = state.clone();
        let mut written = std::collections::BTreeMap::new();
        for transfer in step.expanded(chunks) {
            for &chunk in &transfer.chunks {
                let content = &before[transfer.src as usize][chunk as usize];
                if content.is_empty() || (!reduces && transfer.op == Op::Reduce) {
                    return false;
                }
                let target = &mut state[transfer.dst as usize][chunk as usize];
                let first = written.entry((transfer.dst, chunk)).or_insert((transfer.op, content.clone()));
                match transfer.op {
                    _ if first.0 != transfer.op => return false,
                    Op::Copy if reduces && first.1 != *content => return false,
                    Op::Copy => *target = content.clone(),
                    Op::Reduce if !target.is_disjoint(content) => return false,
                    Op::Reduce => target.extend(content),
                }
            }
        }
    }
    (0..chunks.ranks()).all(|rank| {
        (0..chunks.count()).filter(|&chunk| chunks.ends_at(rank, chunk)).all(|chunk| {
            let held = &state[rank as usize][chunk as usize];
            if reduces { held.len() == chunks.ranks() as usize } else { !held.is_empty() }
        })
    })
}

fn failed(schedule: &Schedule) -> Vec<&'static str> {
    lightloom_verify::schedule(schedule).checks.iter().filter(|check| !check.passed).map(|check| check.name).collect()
}

#[test]
fn valid_schedules_pass_with_and_without_symmetry() {
    for schedule in valid() {
        let name = format!("{} {} n={}", schedule.algorithm(), schedule.collective().name(), schedule.ranks());
        assert_eq!(lightloom_verify::schedule(&schedule).first_failure(), None, "{name}");
        assert_eq!(lightloom_verify::schedule(&forget_symmetry(&schedule)).first_failure(), None, "{name}");
        assert!(naive_verdict(&schedule), "{name}");
    }
}

#[test]
fn mixed_symmetries_meet() {
    // Each step written under another group: Z_8, XOR, none.
    let gather = doubling_all_gather(8, 1);
    let chunks = gather.chunks().clone();
    let mut steps = gather.steps().to_vec();
    let period = Translations::periodic(8, 2);
    let two_orbits = steps[1].expanded(&chunks).into_iter().filter(|transfer| period.canonical(transfer.src).1 == 0);
    steps[1] = Step::new(period.clone(), two_orbits, &chunks).unwrap();
    steps[2] = Step::new(Translations::trivial(8), steps[2].expanded(&chunks), &chunks).unwrap();
    assert!(lightloom_verify::schedule(&Schedule::new("mixed", chunks, steps).unwrap()).passed());
}

#[test]
fn each_fault_fails_its_check() {
    let gather = Chunks::even(Collective::AllGather, 4, 1).unwrap();
    let reduce = Chunks::even(Collective::AllReduce, 4, 1).unwrap();
    let transfer = |src, dst, op, chunks: &[u32]| Transfer { src, dst, op, chunks: chunks.to_vec() };
    let fails = |chunks: &Chunks, transfers: Vec<Transfer>, name: &str, says: &str| {
        let step = Step::new(Translations::trivial(4), transfers, chunks).unwrap();
        let report = lightloom_verify::schedule(&Schedule::new("faulty", chunks.clone(), vec![step]).unwrap());
        let check = report.checks.iter().find(|check| check.name == name).unwrap();
        assert!(!check.passed && check.detail.contains(says), "{name}: {}", check.detail);
    };
    fails(&gather, vec![transfer(0, 1, Op::Copy, &[2])], "held", "step 0: rank 0 sends chunk 2 to 1");
    fails(&gather, vec![transfer(0, 1, Op::Reduce, &[0])], "counted-once", "reduces nothing");
    fails(&gather, vec![transfer(0, 1, Op::Copy, &[0])], "postcondition", "rank 0 ends without chunk 1");
    let clash = vec![transfer(0, 2, Op::Copy, &[1]), transfer(1, 2, Op::Copy, &[1])];
    fails(&reduce, clash, "one-writer", "ranks 0 and 1 write chunk 1 of rank 2");
    let mixed = vec![transfer(0, 2, Op::Reduce, &[1]), transfer(1, 2, Op::Copy, &[1])];
    fails(&reduce, mixed, "one-writer", "ranks 0 and 1 write chunk 1 of rank 2");
    let twice = vec![transfer(0, 2, Op::Reduce, &[3]), transfer(0, 2, Op::Reduce, &[3])];
    fails(&reduce, twice, "counted-once", "contribution of rank 0 to chunk 3 twice");
    let partial = vec![transfer(0, 2, Op::Reduce, &[3])];
    fails(&reduce, partial, "postcondition", "rank 0 ends with chunk 0 without the contribution of rank 1");
}

#[test]
fn transfers_of_a_step_read_the_state_before_it() {
    // Forwarding within one step does not work: rank 2 needs what 1 has only after the step.
    let chunks = Chunks::buffer(Collective::Broadcast, 3, 0, 1).unwrap();
    let transfers = [(0, 1), (1, 2)].map(|(src, dst)| Transfer { src, dst, op: Op::Copy, chunks: vec![0] });
    let step = Step::new(Translations::trivial(3), transfers, &chunks).unwrap();
    assert_eq!(failed(&Schedule::new("chain", chunks, vec![step]).unwrap()), ["held", "postcondition"]);
}

#[test]
fn state_that_no_machine_holds_is_not_attempted() {
    let chunks = Chunks::buffer(Collective::AllReduce, 65_536, 0, 1 << 20).unwrap();
    let transfer = Transfer { src: 0, dst: 1, op: Op::Reduce, chunks: vec![0] };
    let step = Step::new(Translations::trivial(65_536), [transfer], &chunks).unwrap();
    assert_eq!(failed(&Schedule::new("huge", chunks, vec![step]).unwrap()), ["execution"]);
}

#[test]
fn a_thousand_ranks_on_one_orbit() {
    assert!(lightloom_verify::schedule(&all_reduce_of(&doubling_all_gather(1024, 1))).passed());
    assert!(lightloom_verify::schedule(&all_reduce_of(&xor_all_gather(1024))).passed());
    assert!(lightloom_verify::schedule(&direct_all_to_all(1024)).passed());
}

proptest! {
    /// One transfer of one step is changed; all three executors must still agree.
    #[test]
    fn verdicts_agree_on_damaged_schedules(
        which in any::<prop::sample::Index>(), step in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), damage in 0u32..4, by in 1u32..40,
    ) {
        let all = valid();
        let schedule = which.get(&all);
        let chunks = schedule.chunks().clone();
        let (n, count) = (chunks.ranks(), chunks.count());
        let mut steps = schedule.steps().to_vec();
        let index = step.index(steps.len());
        let mut transfers = steps[index].transfers().to_vec();
        let target = at.index(transfers.len());
        match damage {
            0 => transfers[target].dst = (transfers[target].dst + by) % n,
            1 => transfers[target].op = if transfers[target].op == Op::Copy { Op::Reduce } else { Op::Copy },
            2 => for chunk in &mut transfers[target].chunks { *chunk = (*chunk + by) % count },
            _ => { let again = transfers[target].clone(); transfers.push(again); }
        }
        if transfers[target].src == transfers[target].dst { return Ok(()); }
        steps[index] = Step::new(steps[index].symmetry().clone(), transfers, &chunks).unwrap();
        let damaged = Schedule::new("damaged", chunks, steps).unwrap();
        let verdict = failed(&damaged);
        prop_assert_eq!(&verdict, &failed(&forget_symmetry(&damaged)));
        prop_assert_eq!(verdict.is_empty(), naive_verdict(&damaged));
    }
}

/// A sum that replaces what a rank had: the first sender's is copied, the others' are added.
#[test]
fn a_copy_may_be_added_to_in_the_order_of_senders() {
    let chunks = Chunks::buffer(Collective::AllReduce, 4, 0, 1).unwrap();
    let transfer = |src, dst, op| Transfer { src, dst, op, chunks: vec![0] };
    // On the de Bruijn graph of words of two bits: u → 2u and 2u + 1 mod 4, sums passed on twice.
    let step = || {
        let transfers = vec![
            transfer(0, 1, Op::Copy),
            transfer(2, 1, Op::Reduce),
            transfer(2, 0, Op::Reduce),
            transfer(1, 2, Op::Copy),
            transfer(3, 2, Op::Reduce),
            transfer(1, 3, Op::Reduce),
        ];
        Step::new(Translations::trivial(4), transfers, &chunks).unwrap()
    };
    let report = lightloom_verify::schedule(&Schedule::new("passed on", chunks.clone(), vec![step(), step()]).unwrap());
    assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
    // Once is too few, three times too many.
    for times in [1, 3] {
        let steps = (0..times).map(|_| step()).collect();
        assert!(!lightloom_verify::schedule(&Schedule::new("passed on", chunks.clone(), steps).unwrap()).passed());
    }
}
