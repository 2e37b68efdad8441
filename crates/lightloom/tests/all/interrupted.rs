//! Calls that are told to end do, by every planner, and leave nothing behind that a later call would notice.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use collectives::Options;
use interruption::{Interrupted, Token, Watch, within};
use lightloom::{Request, Size, Workload, compare, plan};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};
use planners::REGISTRY;

fn request(collective: Collective, algorithm: Option<&str>, gpus: u32, ports: u32, planner: Option<&str>) -> Request {
    Request {
        fabric: Fabric {
            shape: Shape::new(gpus, &[], ports).unwrap(),
            bandwidth_bps: 8e11,
            startup_s: 500e-9,
            barrier_s: 0.0,
            hop_delay_s: 500e-9,
            reconfiguration: ReconfigurationPolicy::constant(1e-6),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        },
        workload: Workload::Collective {
            collective,
            algorithm: algorithm.map(Into::into),
            options: Options::default(),
        },
        size: Size::Buffer(1 << 20),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: planner.map(Into::into),
        candidates: None,
        static_topologies: None,
        cache: std::sync::Arc::default(),
        options: planners::PlannerOptions::default(),
        seed: 0,
    }
}

/// Problems of which every planner takes some.
fn problems(planner: &str) -> impl Iterator<Item = Request> {
    [
        (Collective::AllToAll, None, 24, 2),
        (Collective::AllGather, None, 20, 3),
        (Collective::AllReduce, Some("recursive-doubling"), 16, 2),
        (Collective::AllReduce, Some("ring"), 6, 1),
    ]
    .into_iter()
    .map(move |(collective, algorithm, gpus, ports)| request(collective, algorithm, gpus, ports, Some(planner)))
}

/// The result of `work` where the check of that number on this thread tells it to end, and how many checks there were.
fn ended_at<T>(number: u64, work: impl FnOnce() -> T) -> (Result<T, Interrupted>, u64) {
    let checks = Rc::new(Cell::new(0));
    let counted = checks.clone();
    let watch = Watch::new(Duration::ZERO, move || {
        counted.set(counted.get() + 1);
        counted.get() == number
    });
    (within(&Token::default(), Some(watch), work), checks.get())
}

#[test]
fn every_planner_ends_at_its_first_check() {
    for planner in REGISTRY.iter().map(|planner| planner.name()) {
        let served = problems(planner).filter(|request| plan(request).is_ok());
        let mut count = 0;
        for request in served {
            count += 1;
            let (ended, checks) = ended_at(1, || plan(&request).is_ok());
            assert_eq!((ended, checks), (Err(Interrupted), 1), "{planner}");
        }
        assert!(count > 0, "{planner} takes none of the problems");
    }
}

#[test]
fn what_was_interrupted_is_planned_as_if_it_had_not_been() {
    for planner in REGISTRY.iter().map(|planner| planner.name()) {
        for request in problems(planner) {
            let Ok(expected) = plan(&request) else { continue };
            let (_, checks) = ended_at(u64::MAX, || plan(&request));
            // The same cache again, interrupted here and there.
            let request = Request { cache: std::sync::Arc::default(), ..request };
            for part in 1..=4 {
                let (ended, _) = ended_at((checks * part / 5).max(1), || plan(&request));
                assert!(ended.is_err() || ended == Ok(Ok(expected.clone())), "{planner}");
            }
            assert_eq!(plan(&request).as_ref(), Ok(&expected), "{planner}");
        }
    }
}

#[test]
fn comparisons_have_no_line_that_was_interrupted() {
    let request = request(Collective::AllToAll, None, 24, 2, None);
    let (expected, checks) = ended_at(u64::MAX, || compare(&request));
    let request = Request { cache: std::sync::Arc::default(), ..request };
    for part in 0..8 {
        let (ended, _) = ended_at((checks * part / 8).max(1), || compare(&request));
        assert!(ended.is_err() || ended == expected);
    }
    assert_eq!(Ok(compare(&request)), expected);
}
