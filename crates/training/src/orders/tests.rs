//! The order that is found, against all orders: each followed iteration by iteration until two in a row are alike.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::timeline::tests::{PORTS, drawn};

/// All orders of nodes in which each comes after all that it waits for.
fn all_orders(before: &[Vec<usize>], begun: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    if begun.len() == before.len() {
        found.push(begun.clone());
        return;
    }
    for node in 0..before.len() {
        if !begun.contains(&node) && before[node].iter().all(|one| begun.contains(one)) {
            begun.push(node);
            all_orders(before, begun, found);
            begun.pop();
        }
    }
}

#[test]
fn no_order_is_faster_than_the_one_that_is_found() {
    let mut rng = ChaCha8Rng::seed_from_u64(45);
    let (mut better_than_rules, mut proved, mut settled, mut unsettled) = (0, 0, 0, 0);
    for case in 0..1500 {
        let (jobs, uses) = drawn(&mut rng, 6);
        let delay_s = f64::from(case % 4);
        let problem = Problem { jobs: &jobs, ports: PORTS, delay_s, uses: &uses, limits: None };
        let before: Vec<Vec<usize>> = jobs.jobs.iter().map(|job| job.before.clone()).collect();
        let mut orders = Vec::new();
        all_orders(&before, &mut Vec::new(), &mut orders);
        let timelines: Vec<Option<Timeline>> = orders.iter().map(|order| problem.in_order(order)).collect();
        let least_s = timelines.iter().flatten().map(|found| found.total_s).fold(f64::INFINITY, f64::min);
        // An order whose iterations never become alike has no known time.
        let all_settle = timelines.iter().all(Option::is_some);
        let Some(quick) = quickly(&problem) else { continue };
        settled += 1;
        let first = &rules::rules(&problem, &Paths::of(&problem))[0];
        better_than_rules += usize::from(problem.by_rule(first).is_none_or(|found| found.total_s > least_s + 1e-9));
        let found = improved(&problem, quick);
        assert!((found.timeline.total_s - least_s).abs() < 1e-9, "case {case}: {} {least_s}", found.timeline.total_s);
        assert!(found.is_best || !all_settle, "case {case}");
        assert!(found.bound_s <= least_s + 1e-9, "case {case}: {} {least_s}", found.bound_s);
        unsettled += usize::from(!all_settle);
        proved += usize::from(found.bound_s > least_s - 1e-9);
    }
    assert!(unsettled < 5, "{unsettled}");
    assert!(settled > 1400 && better_than_rules > 30 && proved > 800, "{settled} {better_than_rules} {proved}");
}
