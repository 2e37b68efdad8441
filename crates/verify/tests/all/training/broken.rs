//! Each rule, broken by one change of a plan that is right, fails its check, and the detail names where.

use model::{Collective, CostSettings, Initial, ReconfigurationPolicy, TrainingPlan, Work, Workload, WorkloadParts};

use super::failures;
use super::group_plans::{CHANGE_S, all_gather, fabric};
use super::timer::{Item, PORTS, TP, timed};

const SIZE: u64 = 1 << 20;

fn gather(axis: usize, ports: &[u32], shifts: &[u32], returns: bool) -> Item {
    let (ports, shifts) = (ports.to_vec(), shifts.to_vec());
    Item::Gather { axis, size_bytes: SIZE, ports, shifts, initial: Some(1), returns }
}

/// n0 computes; n1 gathers over tp, on ring 1 and then ring 3; n2 goes over that ring 3; n3 gathers over dp; n4
/// computes; n5 has circuits of its own on the port of n3.
fn carried() -> TrainingPlan {
    let routed = Item::Routed { pairs: vec![(0, 1), (1, 2)], size_bytes: SIZE, ports: vec![0, 1], shift: 3 };
    let direct = Item::Direct { pairs: vec![(1, 6)], size_bytes: SIZE, ports: vec![2], returns: false };
    timed(&[
        Item::Compute { duration_s: 5e-6 },
        gather(0, &[0, 1], &[1, 3], false),
        routed,
        gather(1, &[2], &[1], false),
        Item::Compute { duration_s: 4e-6 },
        direct,
    ])
}

/// Both gathers go back to ring 1, the first of them after a change.
fn resting() -> TrainingPlan {
    timed(&[
        gather(0, &[0], &[1, 2], true),
        gather(1, &[1], &[1], true),
        Item::Compute { duration_s: 3e-6 },
        gather(0, &[0], &[1, 1], true),
    ])
}

type Change = fn(&mut TrainingPlan);

fn check(right: fn() -> TrainingPlan, cases: &[(&str, &str, Change)]) {
    assert_eq!(failures(&right()), []);
    for (index, (name, place, change)) in cases.iter().enumerate() {
        let mut wrong = right();
        change(&mut wrong);
        let failed = failures(&wrong);
        let found = failed.iter().find(|(check, _)| check == name);
        assert!(found.is_some_and(|(_, detail)| detail.contains(place)), "case {index}, {name} {place}: {failed:?}");
    }
}

/// The plan's workload, changed.
fn change_workload(training: &mut TrainingPlan, change: impl FnOnce(&mut WorkloadParts)) {
    let mut parts: WorkloadParts = (*training.workload).clone();
    change(&mut parts);
    training.workload = Workload::new(parts).unwrap();
}

/// An event that begins later by so much, with all that comes later.
fn shift(training: &mut TrainingPlan, from: usize, by_s: f64) {
    for event in &mut training.events[from..] {
        (event.start_s, event.end_s) = (event.start_s + by_s, event.end_s + by_s);
    }
}

#[test]
fn events_lack_nothing() {
    check(
        carried,
        &[
            ("events", "there are 5 events for 6 nodes", |t| drop(t.events.pop())),
            ("events", "node `n1`", |t| t.events[1].plan = None),
            ("events", "node `n1`", |t| t.events[1].plan = Some(9)),
            ("events", "node `n1`: its plan is for 2 GPUs", |t| t.events[1].plan = Some(1)),
            ("events", "node `n2`", |t| t.events[2].plan = Some(0)),
            ("events", "node `n3`", |t| t.events[3].ports.clear()),
            ("events", "node `n3`", |t| t.events[3].ports = vec![PORTS]),
            ("events", "node `n1`", |t| t.events[1].ports = vec![1, 0]),
            ("events", "node `n4`", |t| t.events[4].ports = vec![0]),
            ("events", "node `n4`", |t| t.events[4].reconfigured = true),
            ("events", "node `n4`", |t| t.events[4].start_s = f64::NAN),
            ("events", "node `n4`", |t| t.events[4].end_s = 0.0),
            ("events", "node `n4`", |t| t.events[4].waits_for = Some(6)),
            ("events", "8 GPUs", |t| change_workload(t, |parts| (parts.ranks, parts.mesh[1].size) = (12, 3))),
            ("events", "9 GPUs", |t| t.fabric = fabric(9, PORTS, Initial::Free)),
            ("events", "not constant", |t| {
                t.fabric.reconfiguration = model::ReconfigurationDelay::per_port(CHANGE_S, 1e-9).into();
            }),
        ],
    );
}

#[test]
fn plans_are_those_of_their_nodes() {
    check(
        carried,
        &[
            ("plans", "plan 0, of node `n1`: startup", |t| {
                let mut parts = (*t.plans[0]).clone();
                parts.steps[0].cost.startup_s *= 2.0;
                t.plans[0] = model::Plan::new(parts).unwrap();
            }),
            ("plans", "node `n1`: its plan is of 4096 bytes", |t| {
                t.plans[0] = all_gather(TP, 2, 4096, &[1, 3], Some(1));
            }),
            ("plans", "node `n1`: its plan is for 1 ports", |t| t.plans[0] = all_gather(TP, 1, SIZE, &[1, 3], Some(1))),
            ("plans", "node `n1`: its plan is of all-gather, not reduce-scatter", |t| {
                change_workload(t, |parts| {
                    if let Work::Collective { collective, .. } = &mut parts.nodes[1].work {
                        *collective = Collective::ReduceScatter;
                    }
                });
            }),
            ("plans", "node `n1`: the bandwidth", |t| t.fabric.bandwidth_bps *= 2.0),
            ("plans", "node `n1`: the startup", |t| t.fabric.startup_s *= 2.0),
            ("plans", "node `n1`: the hop delay", |t| t.fabric.hop_delay_s *= 2.0),
            ("plans", "node `n1`: its plan charges reconfigurations", |t| {
                t.fabric.reconfiguration = ReconfigurationPolicy::constant(2.0 * CHANGE_S);
            }),
        ],
    );
}

#[test]
fn events_take_their_time_and_follow_each_other() {
    check(
        carried,
        &[
            ("durations", "node `n0`", |t| t.events[0].end_s -= 1e-9),
            ("durations", "node `n1`", |t| t.events[1].start_s += 1e-9),
            ("durations", "node `n2`", |t| t.events[2].end_s -= 1e-9),
            ("durations", "node `n5`", |t| t.events[5].start_s += 1e-9),
            ("durations", "node `n5`", |t| t.events[5].ports = vec![0, 2]),
            ("dependencies", "node `n1`: starts at", |t| t.events[0].end_s += 1e-9),
            ("dependencies", "before the end of node `n1`", |t| t.events[2].start_s -= 1e-9),
            // n4 at the same time as n0: both compute on all ranks.
            ("computations", "rank 0: starts at", |t| {
                change_workload(t, |parts| parts.nodes[4].after.clear());
                (t.events[4].start_s, t.events[4].end_s) = (2e-6, 6e-6);
            }),
            // n3 at the same time as n1, both of one stream.
            ("streams", "node `n3`, rank 0: starts at", |t| {
                change_workload(t, |parts| parts.nodes[3].after.clear());
                let by_s = t.events[3].start_s - t.events[1].start_s;
                (t.events[3].start_s, t.events[3].end_s) = (t.events[1].start_s, t.events[3].end_s - by_s);
            }),
        ],
    );
}

#[test]
fn ports_have_one_holder_and_its_circuits() {
    check(
        carried,
        &[
            ("held-ports", "node `n3`, rank 0, port 1: starts at", |t| {
                t.events[3].ports = vec![1];
                t.events[3].start_s -= 1e-6;
            }),
            ("circuits", "node `n1`, rank 0, port 0: has other circuits", |t| t.events[1].reconfigured = false),
            ("circuits", "node `n2`: reconfigured is true", |t| t.events[2].reconfigured = true),
            ("circuits", "node `n3`, rank 1, port 2: has other circuits", |t| t.events[3].reconfigured = false),
            ("circuits", "node `n2`: rank 0, port 0", |t| t.events[2].ports = vec![0]),
            ("circuits", "node `n2`: rank 1, port 2", |t| t.events[2].ports = vec![2]),
            // Not within one group; and a group that has not these circuits.
            ("circuits", "node `n2`: rank 4, port 0", |t| {
                change_workload(t, |parts| parts.nodes[2].work = Work::Send { pairs: vec![(0, 4)], size_bytes: SIZE });
            }),
            // Circuits only of the message have no path for others, and must be set up.
            ("circuits", "node `n2`, rank 0, port 0: has other circuits", |t| t.events[2].direct = true),
            ("circuits", "node `n3`: reconfigured is true", |t| t.events[5].direct = false),
        ],
    );
}

#[test]
fn circuits_stand_while_a_message_goes_over_them() {
    // The message from 0 to 2 goes by way of 1, whose port the last one wants for circuits of its own.
    let routed = Item::Routed { pairs: vec![(0, 2)], size_bytes: SIZE, ports: vec![0], shift: 1 };
    let direct = Item::Direct { pairs: vec![(1, 5)], size_bytes: 4096, ports: vec![0], returns: false };
    let right = timed(&[gather(0, &[0], &[1, 1], false), routed, direct]);
    assert_eq!(failures(&right), []);
    let [over, own] = [&right.events[1], &right.events[2]];
    assert!((own.start_s - over.end_s - CHANGE_S).abs() < 1e-15);
    let mut wrong = right.clone();
    change_workload(&mut wrong, |parts| parts.nodes[2].after = vec![0]);
    let by_s = over.start_s - over.end_s;
    shift(&mut wrong, 2, by_s);
    let failed = failures(&wrong);
    let (check, detail) = &failed[0];
    assert_eq!(*check, "held-ports");
    assert!(detail.starts_with("node `n2`, rank 1, port 0: starts at "), "{detail}");
    assert!(detail.contains("node `n1` has the port until"), "{detail}");
}

#[test]
fn ports_rest_in_one_topology() {
    check(
        resting,
        &[
            ("resting", "node `n3`, rank 0, port 0: goes back", |t| {
                t.plans[2] = all_gather(TP, 1, SIZE, &[1, 1], Some(3));
            }),
            ("resting", "node `n1`, rank 0, port 0: goes back", |t| t.events[1].ports = vec![0]),
            // Without a resting topology it finds nothing in place and goes back with a change.
            ("circuits", "node `n3`, rank 0, port 0: has other circuits", |t| {
                t.plans[2] = all_gather(TP, 1, SIZE, &[1, 1], None);
            }),
            // Its last circuits are not those that the next needs.
            ("circuits", "node `n3`, rank 0, port 0: has other circuits", |t| t.events[0].returns = false),
            // The change back takes its time.
            ("held-ports", "node `n3`, rank 0, port 0: starts at", |t| {
                let by_s = t.events[3].start_s - t.events[2].end_s;
                t.events[3].start_s -= by_s;
                t.events[3].end_s -= by_s;
            }),
        ],
    );
}

#[test]
fn waits_are_explained() {
    check(
        carried,
        &[
            ("waits", "node `n5`: starts at", |t| shift(t, 5, 1e-9)),
            ("waits", "node `n4`: starts at", |t| t.events[4].waits_for = Some(1)),
            ("waits", "is said to wait for the iteration's begin", |t| t.events[4].waits_for = None),
            ("exposed", "node `n1`", |t| t.events[1].reconfiguration_exposed_s += 1e-9),
            ("exposed", "node `n4`", |t| t.events[4].reconfiguration_exposed_s += 1e-9),
            ("reconfigurations", "2 reconfigurations are stated, and 3 events", |t| t.reconfigurations -= 1),
            ("reconfigurations", "of exposed reconfigurations are stated", |t| t.reconfiguration_exposed_s += 1e-9),
            ("reconfigurations", "hidden and", |t| t.reconfiguration_hidden_s += 1e-9),
            ("reconfigurations", "hidden and", |t| t.reconfiguration_hidden_s = f64::NAN),
        ],
    );
}

#[test]
fn sums_are_recomputed() {
    check(
        carried,
        &[
            ("total", "the last to end is node `n5`", |t| t.total_s *= 1.0 + 1e-8),
            ("compute", "computations take 0.000009 s", |t| t.compute_s *= 1.0 + 1e-6),
            ("critical-path", "add up to", |t| t.critical_path_s[0].1 += 1e-9),
            ("critical-path", "`compute` is stated", |t| {
                let at =
                    |t: &TrainingPlan, label| t.critical_path_s.iter().position(|(name, _)| name == label).unwrap();
                let (compute, tp) = (at(t, "compute"), at(t, "tp"));
                t.critical_path_s[compute].1 += 1e-9;
                t.critical_path_s[tp].1 -= 1e-9;
            }),
            ("critical-path", "is stated twice", |t| t.critical_path_s.push(("tp".into(), 0.0))),
            ("critical-path", "`compute` is stated as 0 s", |t| t.critical_path_s[0].0 = "other".into()),
            ("critical-path", "node `n3`: starts at", |t| t.events[3].waits_for = Some(3)),
            ("critical-path", "node `n5`: starts at", |t| t.events[5].waits_for = None),
            ("bound", "is not a time", |t| t.bound.seconds = f64::NAN),
            ("bound", "the iteration takes", |t| t.bound.seconds = t.total_s * (1.0 + 1e-6)),
            ("recomputed-bound", "the longest chain takes", |t| t.bound.seconds = t.total_s * (1.0 - 1e-6)),
            ("order-bound", "is not a time", |t| t.order_bound_s = f64::NAN),
            ("order-bound", "the iteration takes", |t| t.order_bound_s = t.total_s * (1.0 + 1e-6)),
            ("policies", "`carry`, the plan's own policy, is stated as", |t| t.policies[0].1 = Some(1.0)),
            ("policies", "`carry`, the plan's own policy, is without a time", |t| drop(t.policies.remove(0))),
            ("policies", "`static` takes", |t| t.policies[1].1 = Some(t.bound.seconds / 2.0)),
            ("policies", "`carry` is stated twice", |t| t.policies.push(("carry".into(), None))),
        ],
    );
    // The work of a port takes as long as that iteration; where its end is put off, the bound is below.
    check(
        carried,
        &[("order-bound", "recomputed as", |t| {
            shift(t, 5, 1e-6);
            t.total_s += 1e-6;
            t.order_bound_s = t.total_s * (1.0 - 1e-6);
        })],
    );
}

#[test]
fn waits_that_lead_nowhere_end() {
    let mut training = timed(&[Item::Compute { duration_s: 0.0 }, Item::Compute { duration_s: 1e-6 }]);
    assert_eq!(failures(&training), []);
    training.events[0].waits_for = Some(0);
    let failed = failures(&training);
    assert_eq!(failed[1], ("critical-path", "node `n0`: its waits lead back to itself".into()));
}

#[test]
fn a_port_that_always_changes_bounds_every_order() {
    // Two axes take turns on a port: whichever is first, it is dark before both.
    let mut training = timed(&[gather(0, &[0], &[1, 1], false), gather(1, &[0], &[1], false)]);
    change_workload(&mut training, |parts| parts.nodes.iter_mut().for_each(|node| node.after.clear()));
    let events_s: f64 = training.events.iter().map(|event| event.end_s - event.start_s).sum();
    for (dark, holds) in [(2.0, true), (2.0 + 1e-3, false)] {
        training.order_bound_s = events_s + dark * CHANGE_S;
        assert_eq!(failures(&training).iter().all(|(check, _)| *check != "order-bound"), holds);
    }
}

#[test]
fn a_bound_by_each_of_its_terms_passes_and_no_larger_one() {
    // Computation only; a chain of gathers; many messages between two ranks on all ports.
    let compute = [Item::Compute { duration_s: 1e-3 }];
    let gathers: Vec<Item> = (0..3).map(|_| gather(0, &[0, 1, 2], &[1, 1], false)).collect();
    let direct =
        |source| Item::Direct { pairs: vec![(source, 6)], size_bytes: 1 << 24, ports: vec![0], returns: false };
    let messages: Vec<Item> = (0..4).map(direct).collect();
    let group = fabric(TP, PORTS, Initial::Free);
    let any = bounds::any_algorithm(Collective::AllGather, None, &group, CostSettings::default(), SIZE);
    let message_s = 5e-7 + 3e-7 + f64::from(1 << 24) / 3.0 / 1e11;
    for (items, bound_s) in [(&compute[..], 1e-3), (&gathers, 3.0 * any.seconds()), (&messages, 4.0 * message_s)] {
        let mut training = timed(items);
        training.bound.seconds = bound_s;
        assert_eq!(failures(&training), []);
        training.bound.seconds = bound_s * (1.0 + 1e-6);
        assert!(failures(&training).iter().any(|(check, _)| *check == "recomputed-bound"), "{items:?}");
    }
    // Without dependencies, rank 6 still receives all four: at 3 ports, no sooner than the bytes take.
    let mut training = timed(&messages);
    change_workload(&mut training, |parts| parts.nodes.iter_mut().for_each(|node| node.after.clear()));
    let bytes_s = 4.0 * f64::from(1 << 24) / 3.0 / 1e11;
    for (bound_s, holds) in [(bytes_s, true), (bytes_s * (1.0 + 1e-6), false)] {
        training.bound.seconds = bound_s;
        assert_eq!(failures(&training).iter().all(|(check, _)| *check != "recomputed-bound"), holds);
    }
    // A rank holds its ports for what it receives as for what it sends.
    let passed_on = [(0, 6), (6, 1)].map(|pair| Item::Direct {
        pairs: vec![pair],
        size_bytes: 1 << 24,
        ports: vec![0],
        returns: false,
    });
    let mut training = timed(&passed_on);
    change_workload(&mut training, |parts| parts.nodes.iter_mut().for_each(|node| node.after.clear()));
    for (bound_s, holds) in [(bytes_s / 2.0, true), (bytes_s / 2.0 * (1.0 + 1e-6), false)] {
        training.bound.seconds = bound_s;
        assert_eq!(failures(&training).iter().all(|(check, _)| *check != "recomputed-bound"), holds);
    }
}

#[test]
fn bytes_that_must_pass_ports_bound_what_depends_on_nothing() {
    // Multiples of the buffer that pass a rank among four, in the direction in which more must pass; three ports.
    let parts = [
        (Collective::AllReduce, 1.5),
        (Collective::ReduceScatter, 0.75),
        (Collective::AllGather, 0.75),
        (Collective::AllToAll, 0.75),
        (Collective::Broadcast, 1.0),
        (Collective::Reduce, 1.0),
        (Collective::Gather, 0.75),
        (Collective::Scatter, 0.75),
    ];
    let gathers: Vec<Item> = (0..8).map(|_| gather(0, &[0, 1, 2], &[1, 1], false)).collect();
    for (of, part) in parts {
        let mut training = timed(&gathers);
        change_workload(&mut training, |parts| {
            for node in &mut parts.nodes {
                node.after.clear();
                if let Work::Collective { collective, stream, .. } = &mut node.work {
                    (*collective, *stream) = (of, None);
                }
            }
        });
        let bytes_s = 8.0 * part * SIZE as f64 / 3.0 / 1e11;
        // However long the gathers take that stand for them here.
        let last = training.events.last_mut().unwrap();
        last.end_s = last.end_s.max(1e-3);
        for (bound_s, holds) in [(bytes_s, true), (bytes_s * (1.0 + 1e-4), false)] {
            training.bound.seconds = bound_s;
            assert_eq!(failures(&training).iter().all(|(check, _)| *check != "recomputed-bound"), holds, "{of:?}");
        }
    }
}
