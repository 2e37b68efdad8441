//! Iterations with times worked out by hand, and groups that run at once.

use model::{
    Axis, Collective, Initial, Over, RankGroup, Ranks, TrainingEvent, TrainingPlan, Work, Workload, WorkloadNode,
    WorkloadParts,
};

use super::failures;
use super::group_plans::{CHANGE_S, all_gather, all_gather_s, fabric};
use super::timer::{Item, assemble, timed};

const SIZE: u64 = 1 << 20;

fn gather(ports: &[u32], shifts: &[u32]) -> Item {
    Item::Gather {
        axis: 0,
        size_bytes: SIZE,
        ports: ports.to_vec(),
        shifts: shifts.to_vec(),
        initial: None,
        returns: false,
    }
}

#[test]
fn a_change_is_hidden_behind_computation_over_the_end_of_the_iteration() {
    // One gather on ring 1, then ring 2: port 0 must go back to ring 1 before the next iteration's.
    let compute = |duration_s| Item::Compute { duration_s };
    let takes_s = all_gather_s(4, 1, SIZE, &[1, 2]);
    // Ring 1: α + δ + 256 KiB; ring 2: a change, α + δ + 512 KiB.
    let by_hand_s = 2.0 * 8e-7 + 1e-5 + 7.86432e-6;
    assert!((takes_s - by_hand_s).abs() < 1e-15);
    for (before_s, after_s, exposed_s) in [(0.0, 0.0, 1e-5), (3e-6, 0.0, 7e-6), (3e-6, 4e-6, 3e-6), (8e-6, 4e-6, 0.0)] {
        let training = timed(&[compute(before_s), gather(&[0], &[1, 2]), compute(after_s)]);
        assert_eq!(failures(&training), []);
        assert!((training.total_s - (before_s + after_s + takes_s + exposed_s)).abs() < 1e-15);
        assert!((training.reconfiguration_exposed_s - exposed_s).abs() < 1e-15);
        assert_eq!(training.reconfigurations, 1);
    }
    // A ring that stays needs no change.
    let training = timed(&[compute(0.0), gather(&[0], &[1, 1]), compute(0.0)]);
    assert_eq!((failures(&training), training.reconfigurations), (vec![], 0));
}

/// All-gathers that start together, each of these groups on these ports.
fn together(ranks: u32, nodes: &[(&[&[u32]], &[u32])]) -> TrainingPlan {
    let named: Vec<&[u32]> = nodes.iter().flat_map(|(groups, _)| groups.iter().copied()).collect();
    let groups =
        named.iter().enumerate().map(|(index, ranks)| RankGroup { name: format!("g{index}"), ranks: ranks.to_vec() });
    let mut next = 0;
    let mut of_nodes = nodes.iter().map(|(groups, _)| {
        next += groups.len();
        Over::Groups((next - groups.len()..next).collect())
    });
    let workload = Workload::new(WorkloadParts {
        name: None,
        ranks,
        mesh: Vec::new(),
        groups: groups.collect(),
        matrices: Vec::new(),
        same_bits: false,
        model_flops: None,
        peak_flops: None,
        inference: None,
        nodes: (0..nodes.len()).map(|index| gather_node(index, of_nodes.next().unwrap())).collect(),
    })
    .unwrap();
    at_once(workload, nodes.iter().map(|(groups, ports)| (groups[0].len() as u32, ports.to_vec())).collect())
}

fn gather_node(index: usize, over: Over) -> WorkloadNode {
    let work =
        Work::Collective { collective: Collective::AllGather, over, size_bytes: SIZE, matrix: None, stream: None };
    WorkloadNode { id: format!("a{index}"), after: Vec::new(), work }
}

fn at_once(workload: Workload, nodes: Vec<(u32, Vec<u32>)>) -> TrainingPlan {
    let (mut events, mut plans) = (Vec::new(), Vec::new());
    for (size, ports) in nodes {
        let shifts = vec![1; size.ilog2() as usize];
        events.push(TrainingEvent {
            start_s: 0.0,
            end_s: all_gather_s(size, ports.len() as u32, SIZE, &shifts),
            plan: Some(plans.len()),
            ports: ports.clone(),
            reconfigured: false,
            returns: false,
            direct: false,
            topology: None,
            reconfiguration_exposed_s: 0.0,
            waits_for: None,
            gives_up: Vec::new(),
        });
        plans.push(all_gather(size, ports.len() as u32, SIZE, &shifts, None));
    }
    let ranks = workload.ranks;
    assemble(workload, fabric(ranks, 2, Initial::Free), events, plans, 0.0)
}

#[test]
fn sixteen_groups_of_8_take_as_long_as_one() {
    let axis = |name: &str, size| Axis { name: name.into(), size };
    let workload = Workload::new(WorkloadParts {
        name: None,
        ranks: 128,
        mesh: vec![axis("tp", 8), axis("dp", 16)],
        groups: Vec::new(),
        matrices: Vec::new(),
        same_bits: false,
        model_flops: None,
        peak_flops: None,
        inference: None,
        nodes: vec![gather_node(0, Over::Axis { axis: 0, within: Ranks::All })],
    })
    .unwrap();
    let training = at_once(workload, vec![(8, vec![0, 1])]);
    assert_eq!(failures(&training), []);
    assert!((training.total_s - training.plans[0].total_s()).abs() < 1e-18);
}

#[test]
fn groups_share_a_rank_and_not_a_port_at_once() {
    assert_eq!(failures(&together(4, &[(&[&[0, 1]], &[0]), (&[&[2, 3]], &[0])])), []);
    assert_eq!(failures(&together(4, &[(&[&[0, 1], &[2, 3]], &[0]), (&[&[1, 2]], &[1])])), []);
    let failed = failures(&together(4, &[(&[&[0, 1], &[2, 3]], &[0]), (&[&[1, 2]], &[0])]));
    let (check, detail) = &failed[0];
    assert_eq!(*check, "held-ports");
    assert!(detail.starts_with("node `a1`, rank 1, port 0: starts at 0 s, node `a0` has the port until"), "{detail}");
}

#[test]
fn one_port_for_two_groups_needs_changes_between() {
    // The second starts when the first ends; its port at rank 1 was the first's, over the end of the iteration too.
    let mut training = together(3, &[(&[&[0, 1]], &[0]), (&[&[1, 2]], &[0])]);
    let takes_s = training.events[0].end_s;
    for (event, start_s) in training.events.iter_mut().zip([CHANGE_S, 2.0 * CHANGE_S + takes_s]) {
        (event.start_s, event.end_s) = (start_s, start_s + takes_s);
        (event.reconfigured, event.reconfiguration_exposed_s) = (true, CHANGE_S);
    }
    training.events[1].waits_for = Some(0);
    let right = |training: &TrainingPlan| {
        let TrainingPlan { workload, fabric, events, plans, .. } = training.clone();
        assemble(workload, fabric, events, plans, 0.0)
    };
    assert_eq!(failures(&right(&training)), []);
    assert!((right(&training).total_s - 2.0 * (takes_s + CHANGE_S)).abs() < 1e-15);
    // Not dark for long enough: within the iteration, and over its end.
    for (index, by_s) in [(1, 1e-6), (0, 1e-6)] {
        let mut early = training.clone();
        for event in &mut early.events[index..] {
            (event.start_s, event.end_s) = (event.start_s - by_s, event.end_s - by_s);
        }
        early.events[index].reconfiguration_exposed_s -= by_s;
        let failed = failures(&right(&early));
        let (check, detail) = &failed[0];
        assert_eq!(*check, "circuits");
        let named = format!("node `a{index}`, rank 1, port 0: starts at ");
        assert!(detail.starts_with(&named) && detail.contains("dark until"), "{detail}");
    }
}
