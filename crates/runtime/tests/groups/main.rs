//! Random programs, carried out one after the other by ranks that are threads here, against an interpreter that moves
//! bytes in one place. Ranks that come early must not disturb those that are still at the program before.
#![cfg(target_os = "linux")]

#[path = "../random_programs/drawn.rs"]
mod drawn;

use drawn::ELEMENT_BYTES;
use lightloom_runtime::{Circuits, Copies, Element, Member, PlanProgram, Reduction, Request, Task};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PATIENCE_NS: u64 = 60_000_000_000;
/// Programs that follow each other without a wait between them.
const IN_A_ROW: usize = 4;

/// The program, with sums alone: messages of different lengths arrive in another order than they are listed.
fn drawn(rng: &mut ChaCha8Rng, like: Option<&Request>) -> (Request, Vec<u8>) {
    loop {
        let (mut request, workspaces) = drawn::request(rng);
        if like.is_none_or(|one| (one.program.ranks, one.ports) == (request.program.ranks, request.ports)) {
            request.program.is_reduction.iter_mut().for_each(|one| *one = true);
            return (request, workspaces);
        }
    }
}

fn task(request: &Request, rank: u32) -> Task {
    let sizes = request.program.workspace_bytes.clone();
    let ranks = sizes.len();
    let whole = Copies {
        rank: (0..ranks as u32).collect(),
        source_offset: vec![0; ranks],
        destination_offset: vec![0; ranks],
        size_bytes: sizes.clone(),
    };
    let made = PlanProgram {
        program: request.program.clone(),
        blocks: None,
        input_bytes: sizes.clone(),
        output_bytes: sizes,
        loads: whole.clone(),
        stores: whole,
    };
    let dark_ns = request.steps.iter().map(|step| step.needs.first().map_or(0, |_| 20_000)).collect();
    let circuits = Circuits {
        ports: request.ports,
        configurations: request.configurations.clone(),
        held: request.steps.iter().map(|step| step.configuration).collect(),
        dark_ns,
        startup_ns: 1000,
        ns_per_byte: request.ns_per_byte,
        hop_ns: 1000,
    };
    Task::new(&made, circuits, rank).expect("a task")
}

fn part(whole: &[u8], rank: u32, ranks: u32) -> std::ops::Range<usize> {
    let size = whole.len() / ranks as usize;
    rank as usize * size..(rank as usize + 1) * size
}

/// Every message of a step takes what its source held before the step.
fn interpreted(request: &Request, first: &[u8]) -> Vec<u8> {
    let program = &request.program;
    let mut held = first.to_vec();
    for step in 0..program.steps {
        let before = held.clone();
        for message in program.of_step(step as usize) {
            let path = program.path(message);
            let [source, destination] =
                [path[0], path[path.len() - 1]].map(|rank| part(first, rank, program.ranks).start as u64);
            for segment in program.segments(message) {
                for at in (0..program.size_bytes[segment]).step_by(ELEMENT_BYTES as usize) {
                    let from = (source + program.source_offset[segment] + at) as usize;
                    let to = (destination + program.destination_offset[segment] + at) as usize;
                    let number = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().expect("four bytes"));
                    let [sent, kept] = [number(&before[from..from + 4]), number(&held[to..to + 4])];
                    let one =
                        if request.reduction == Reduction::Sum { kept.wrapping_add(sent) } else { kept.max(sent) };
                    held[to..to + 4].copy_from_slice(&one.to_ne_bytes());
                }
            }
        }
    }
    held
}

#[test]
fn programs_in_a_row_leave_what_an_interpreter_leaves() {
    let mut rng = ChaCha8Rng::seed_from_u64(draws::seed(31));
    let (mut passed_on, mut changed) = (0, 0);
    for case in 0..draws::cases(150) {
        let first = drawn(&mut rng, None);
        let (ranks, ports) = (first.0.program.ranks, first.0.ports);
        let mut row = vec![first];
        while row.len() < IN_A_ROW {
            row.push(drawn(&mut rng, Some(&row[0].0)));
        }
        let leader = Member::create(ranks, ports).expect("a group");
        let address = leader.address();
        let late = rng.random_range(0..ranks);
        let run = |rank: u32, member: &Member| {
            let carried = row.iter().map(|(request, workspaces)| {
                let mut own = workspaces[part(workspaces, rank, ranks)].to_vec();
                let kind = (Element::Int32, request.reduction);
                let course = member
                    .execute(&task(request, rank), "a program", kind, None, &mut own, PATIENCE_NS)
                    .expect("carried");
                if rank == late {
                    std::thread::yield_now();
                }
                assert_eq!(course.steps.len(), request.steps.len());
                (own, course.steps.iter().filter(|step| step.changed > 0).count())
            });
            carried.collect::<Vec<_>>()
        };
        let (run, address) = (&run, &address);
        let found: Vec<Vec<(Vec<u8>, usize)>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..ranks)
                .map(|rank| scope.spawn(move || run(rank, &Member::join(rank, ranks, ports, address).expect("joined"))))
                .collect();
            let own = run(0, &leader);
            [own].into_iter().chain(others.into_iter().map(|one| one.join().expect("a rank"))).collect()
        });
        for (place, (request, workspaces)) in row.iter().enumerate() {
            let whole: Vec<u8> = found.iter().flat_map(|of_rank| of_rank[place].0.clone()).collect();
            assert!(whole == interpreted(request, workspaces), "case {case}, program {place}: {request:?}");
            changed += found[0][place].1;
            let program = &request.program;
            passed_on += (0..program.messages()).filter(|&message| program.path(message).len() > 2).count();
        }
    }
    assert!(passed_on > 50 && changed > 50, "too few: {passed_on} passed on, {changed} changed");
}

#[test]
fn all_ranks_hear_the_same_fault() {
    let leader = Member::create(3, 1).expect("a group");
    let address = leader.address();
    let heard: Vec<String> = std::thread::scope(|scope| {
        let call = |rank: u32, word: &'static str| {
            let address = &address;
            scope.spawn(move || {
                let member = Member::join(rank, 3, 1, address).expect("joined");
                let fault = member.meet(word, PATIENCE_NS).expect_err("a fault");
                assert_eq!(member.meet(word, PATIENCE_NS), Err(fault.clone()));
                fault
            })
        };
        let others = [call(1, "one thing"), call(2, "another")];
        let own = leader.meet("one thing", PATIENCE_NS).expect_err("a fault");
        [own].into_iter().chain(others.into_iter().map(|one| one.join().expect("a rank"))).collect()
    });
    assert!(heard.iter().all(|fault| *fault == heard[0]), "{heard:?}");
    assert!(heard[0].starts_with("rank 0 calls one thing, its collective 1, and rank 2 calls another"), "{}", heard[0]);
}

#[test]
fn who_does_not_come_is_named() {
    let leader = Member::create(2, 1).expect("a group");
    let fault = leader.meet("something", 1_000_000).expect_err("nobody else is there");
    assert_eq!(fault, "rank 1 did not come within the timeout of 0.001 s to something, its collective 1");
    let member = Member::join(1, 2, 1, &leader.address()).expect("joined");
    assert_eq!(member.meet("something", PATIENCE_NS), Err(fault));
}
