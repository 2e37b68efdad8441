//! Timelines of random jobs, followed port by port.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::jobs::{Job, Jobs};
use crate::library::Entry;
use crate::orders::quickly;

pub(crate) const PORTS: u32 = 3;

/// Jobs of up to four classes, and what each communication uses.
pub(crate) fn drawn(rng: &mut ChaCha8Rng, most: usize) -> (Jobs, Vec<Option<Use>>) {
    let classes = rng.random_range(1..=4usize);
    let (mut jobs, mut uses) = (Vec::new(), Vec::new());
    for node in 0..rng.random_range(1..=most) {
        let before: Vec<usize> = (0..node).filter(|_| rng.random_bool(0.2)).collect();
        let mut members: Vec<usize> = (0..classes).filter(|_| rng.random_bool(0.6)).collect();
        if members.is_empty() {
            members.push(rng.random_range(0..classes));
        }
        let duration_s = f64::from(rng.random_range(0..5u32));
        if rng.random_bool(0.3) {
            jobs.push(Job { task: Task::Compute { duration_s }, classes: members, before });
            uses.push(None);
            continue;
        }
        let mut numbers = || members.iter().map(|_| rng.random_range(0..2u32)).collect::<Vec<u32>>();
        let (groups, pairs) = (numbers(), numbers());
        let around = (0..classes).map(|_| rng.random_range(0..2u32)).collect();
        let task = Task::Communicate { kind: 0, lane: 0, groups, pairs, around };
        jobs.push(Job { task, classes: members, before });
        let first = rng.random_range(0..PORTS);
        let ports = (first, rng.random_range(first + 1..=PORTS));
        let [first, last] = [(); 2].map(|()| TopologyId(rng.random_range(0..3)));
        let direct = rng.random_bool(0.2);
        let through = !direct && rng.random_bool(0.2);
        let entry = Entry { plan: Some(0), duration_s, first, last, direct, keeps: first == last, through };
        // Messages with circuits of their own do not begin or end with a resting topology.
        let ways = [None, None, None, Some(None), Some(Some(TopologyId(0)))];
        let returns = ways[rng.random_range(0..if entry.direct { 4 } else { 5 })];
        uses.push(Some(Use { ports, entry, returns }));
    }
    let order = (0..jobs.len()).collect();
    let mut followers = vec![Vec::new(); jobs.len()];
    for (node, job) in jobs.iter().enumerate() {
        job.before.iter().for_each(|&before| followers[before].push(node));
    }
    let all = (0..classes).collect();
    let members = vec![Vec::new(); classes];
    (Jobs { jobs, followers, order, classes, all, members, families: Vec::new(), kinds: Vec::new() }, uses)
}

/// A use of a port: node, begin, end with a change back to the resting topology, and circuits at both.
type Held = (usize, f64, f64, Circuits, Circuits);

/// The groups of a class in a communication without circuits of its own; `None` where it does not hold its ports.
fn group(jobs: &Jobs, node: usize, used: &Use, class: usize) -> Option<u32> {
    let Task::Communicate { groups, around, .. } = &jobs.jobs[node].task else { return None };
    if used.entry.through {
        return Some(around[class]);
    }
    jobs.jobs[node].classes.iter().position(|&one| one == class).map(|place| groups[place])
}

/// The uses of a port of a class, in their order.
fn held(jobs: &Jobs, uses: &[Option<Use>], found: &Timeline, delay_s: f64, class: usize, port: u32) -> Vec<Held> {
    let mut held: Vec<Held> = Vec::new();
    for &node in &found.order {
        let (Some(used), event, job) = (uses[node], found.events[node], &jobs.jobs[node]) else { continue };
        let Some(group) = group(jobs, node, &used, class) else { continue };
        if !(used.ports.0..used.ports.1).contains(&port) {
            continue;
        }
        let Task::Communicate { pairs, .. } = &job.task else { continue };
        let rests = used.returns.flatten();
        let circuits = |topology: TopologyId| {
            if used.entry.direct {
                let place = job.classes.iter().position(|&one| one == class).expect("its class");
                (pairs[place], OF_MESSAGES, used.ports)
            } else {
                (group, topology.0, used.ports)
            }
        };
        // Where the plan begins with the topology in which the port rests, the port has it already.
        let first =
            if rests == Some(used.entry.first) && !used.entry.direct { RESTING } else { circuits(used.entry.first) };
        let (last, back_s) = match used.returns {
            None => (circuits(used.entry.last), 0.0),
            Some(_) if rests == Some(used.entry.last) => (RESTING, 0.0),
            Some(_) => (RESTING, delay_s),
        };
        held.push((node, event.start_s, event.end_s + back_s, first, last));
    }
    held
}

#[test]
fn nothing_overlaps_and_the_iteration_repeats() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let mut settled = 0;
    for case in 0..1000 {
        let (jobs, uses) = drawn(&mut rng, 10);
        let delay_s = f64::from(rng.random_range(0..4u32));
        let problem = Problem { jobs: &jobs, ports: PORTS, delay_s, uses: &uses, limits: None };
        let Some(found) = quickly(&problem) else { continue };
        settled += 1;
        let events = &found.events;
        assert_eq!(found.total_s, events.iter().map(|event| event.end_s).fold(0.0, f64::max), "case {case}");
        for (node, (job, event)) in jobs.jobs.iter().zip(events).enumerate() {
            let kept = job.before.iter().all(|&before| events[before].end_s <= event.start_s);
            assert!(kept, "case {case}, node {node}: begins before what it waits for ends");
            let takes_s = match (&job.task, uses[node]) {
                (Task::Compute { duration_s }, _) => *duration_s,
                (_, used) => used.map_or(0.0, |used| used.entry.duration_s),
            };
            assert_eq!(event.end_s - event.start_s, takes_s, "case {case}, node {node}");
            assert!((0.0..=delay_s).contains(&event.exposed_s), "case {case}, node {node}");
        }
        let mut reconfigured = vec![false; events.len()];
        for class in 0..jobs.classes {
            for port in 0..PORTS {
                let held = held(&jobs, &uses, &found, delay_s, class, port);
                for (index, &(node, start_s, _, needs, _)) in held.iter().enumerate() {
                    // Before the first use of an iteration was the last one of the iteration before.
                    let period_s = if index == 0 { found.total_s } else { 0.0 };
                    let (_, _, until_s, _, has) = held[(index + held.len() - 1) % held.len()];
                    let used = uses[node].expect("a communication");
                    let in_place = has == needs
                        || (needs == RESTING && !used.entry.direct && {
                            let group = group(&jobs, node, &used, class).expect("its class");
                            has == (group, used.entry.first.0, used.ports)
                        });
                    let change_s = if in_place { 0.0 } else { delay_s };
                    reconfigured[node] |= !in_place;
                    let free_s = until_s - period_s + change_s;
                    assert!(start_s >= free_s - 1e-9, "case {case}, node {node}, port {port}: {start_s} < {free_s}");
                }
            }
        }
        let stated: Vec<bool> = events.iter().map(|event| event.reconfigured).collect();
        assert_eq!(stated, reconfigured, "case {case}");
    }
    assert!(settled > 900, "{settled}");
}
