//! Answers to related questions agree: what is left open is never worse than what is named, a start is never worse than
//! another one and a change, and the lines below a plan are those of the comparison.
use crate::random_requests;

use collectives::Options;
use lightloom::{Request, Workload, baselines, compare, plan};
use model::{Collective, Initial, Overlap, ReconfigurationDelay, ReconfigurationOverlap, ReconfigurationPolicy};
use proptest::prelude::*;
use random_requests::{initials, requests};

/// Times that differ by less are equal.
const TOLERANCE: f64 = 1.0 + 1e-9;

fn with_algorithm(request: &Request, algorithm: &str) -> Request {
    let collective = request.collective();
    let workload = Workload::Collective { collective, algorithm: Some(algorithm.into()), options: Options::default() };
    Request { workload, ..request.clone() }
}

fn algorithms(collective: Collective) -> impl Iterator<Item = &'static str> {
    let all = collectives::REGISTRY.iter().filter(move |algorithm| algorithm.collectives().contains(&collective));
    all.map(|algorithm| algorithm.name())
}

/// The planners that run where none is named, and none.
fn planners() -> impl Iterator<Item = Option<&'static str>> {
    let all = planners::REGISTRY.iter().filter(|planner| !planner.capabilities().by_name_only);
    all.map(|planner| Some(planner.name())).chain([None])
}

fn with_planner(request: &Request, planner: Option<&str>) -> Request {
    Request { planner: planner.map(Into::into), ..request.clone() }
}

fn total_s(request: &Request) -> Option<f64> {
    plan(request).ok().map(|plan| plan.total_s())
}

fn pipelined(request: Request, size_is_odd: bool) -> Request {
    let mut request = request;
    if size_is_odd {
        request.settings.overlap = Overlap::Pipelined;
    }
    request
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(48)))]

    #[test]
    fn what_is_left_open_is_never_above_what_is_named(request in requests(), in_packets in prop::bool::weighted(0.1)) {
        let request = pipelined(request, in_packets);
        let open_s = total_s(&request).unwrap();
        for planner in planners() {
            for algorithm in algorithms(request.collective()) {
                let named = with_algorithm(&with_planner(&request, planner), algorithm);
                let named_s = total_s(&named).unwrap_or(f64::INFINITY);
                prop_assert!(open_s <= named_s * TOLERANCE, "{planner:?} {algorithm}: {named_s} s, auto {open_s} s");
            }
            let named_s = total_s(&with_planner(&request, planner)).unwrap_or(f64::INFINITY);
            prop_assert!(open_s <= named_s * TOLERANCE, "{planner:?}: {named_s} s, auto {open_s} s");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

    #[test]
    fn the_lines_below_a_plan_are_those_of_the_comparison(
        request in requests(),
        in_packets in prop::bool::weighted(0.1),
        named in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut request = pipelined(request, in_packets);
        if let Some(named) = named {
            let all: Vec<&str> = algorithms(request.collective()).collect();
            request = with_algorithm(&request, all[named.index(all.len())]);
        }
        let Ok(comparison) = compare(&request) else {
            prop_assert!(plan(&request).is_err());
            return Ok(());
        };
        let rows = baselines(&request, None).unwrap();
        let best = plan(&request).unwrap();
        // For a plan that is known they are the same but for rounding.
        let beside = baselines(&request, Some(&best)).unwrap();
        prop_assert_eq!(beside.len(), rows.len());
        for row in &rows {
            let of_planner = |other: &&lightloom::Row| other.planner == row.planner && other.algorithm == row.algorithm;
            let (row, other) = (&row.outcome, &beside.iter().find(of_planner).unwrap().outcome);
            let (Ok(row), Ok(other)) = (row, other) else {
                prop_assert_eq!(row, other);
                continue;
            };
            prop_assert!((other.total_s / row.total_s - 1.0).abs() <= 1e-9 && other.reconfigurations == row.reconfigurations);
        }
        // A named algorithm is kept by a plan; a planner that is named may answer it by another.
        let kept = request.kept_algorithm();
        let first = comparison.rows.iter().find(|row| kept.is_none_or(|name| name == row.algorithm)).unwrap();
        // Routes may come out shorter than the front says.
        prop_assert!((best.total_s() / first.outcome.as_ref().unwrap().total_s - 1.0).abs() <= 1e-9);
        prop_assert_eq!(&best.algorithm, &first.algorithm);
        let times = comparison.rows.iter().filter_map(|row| row.outcome.as_ref().ok()).map(|outcome| outcome.total_s);
        prop_assert!(times.clone().is_sorted());
        prop_assert!(times.fold(f64::INFINITY, f64::min) * TOLERANCE + 1e-12 >= comparison.lower_bound_s);
        // The first line of each planner that has a time, in the same order; lines without one say why.
        let mut expected = Vec::new();
        for row in comparison.rows.into_iter().filter(|row| row.outcome.is_ok()) {
            if !expected.iter().any(|other: &lightloom::Row| other.planner == row.planner) {
                expected.push(row);
            }
        }
        let (served, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.outcome.is_ok());
        prop_assert_eq!(served, expected);
        prop_assert!(others.iter().all(|row| row.planner == "never-change"), "{others:?}");
    }
}

/// The request from a start, where changes cost the same whatever circuits change.
fn from_start(request: &Request, initial: &Initial) -> Request {
    let mut request = request.clone();
    request.fabric.initial = initial.clone();
    let policy = &request.fabric.reconfiguration;
    let overlap = ReconfigurationOverlap { background: false, ..policy.overlap().clone() };
    request.fabric.reconfiguration =
        ReconfigurationPolicy::new(ReconfigurationDelay::constant(policy.delay().fixed_s()), overlap);
    request
}

/// Whether a planner may set up any topology that a start may be. The others keep to the rules of their papers, which
/// let them go on with a start that they would not set up; `weave`, which makes the best plan, fills a start with
/// chunks.
fn sets_up_any_start(planner: Option<&str>) -> bool {
    matches!(planner, Some("harvest" | "static" | "bvn" | "short-circuit"))
}

fn is_dark(initial: &Initial) -> bool {
    matches!(initial, Initial::Topology(topology) if topology.links().is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(32)))]

    #[test]
    fn no_start_is_worse_than_another_and_a_change(request in requests(), in_packets in prop::bool::weighted(0.1)) {
        let request = pipelined(request, in_packets);
        let delay_s = request.fabric.reconfiguration.delay().fixed_s();
        let starts = initials(&request.fabric.shape);
        let name = |start: &Initial| start.given().map_or("free".to_string(), |topology| topology.name().to_string());
        for planner in planners() {
            let from = |start: &Initial| total_s(&with_planner(&from_start(&request, start), planner));
            let times: Vec<(&Initial, Option<f64>)> = starts.iter().map(|start| (start, from(start))).collect();
            for (x, x_s) in &times {
                for (y, y_s) in &times {
                    // By packets only these two choose.
                    let chooses = !in_packets || matches!(planner, Some("harvest" | "static"));
                    if !(sets_up_any_start(planner) && chooses || is_dark(y) || **y == Initial::Free) {
                        continue;
                    }
                    let Some(y_s) = y_s else { continue };
                    let x_s = x_s.unwrap_or(f64::INFINITY);
                    let limit_s = if is_dark(y) || **x == Initial::Free { *y_s } else { y_s + delay_s };
                    let (x, y) = (name(x), name(y));
                    prop_assert!(x_s <= limit_s * TOLERANCE, "{planner:?} from {x}: {x_s} s, from {y}: {y_s} s");
                }
            }
        }
    }
}
