//! No bound is above any plan: random problems, every planner and algorithm that serves them.
use crate::random_requests;

use collectives::Options;
use lightloom::{Request, Workload, bound, compare, plan};
use model::{Overlap, Schedule, Step};
use proptest::prelude::*;
use random_requests::requests;

/// Packets go by a clock of whole femtoseconds, which may round the delay of every hop down.
fn clock_s(request: &Request) -> f64 {
    if request.settings.overlap == Overlap::Pipelined { 1e-12 } else { 0.0 }
}

/// Every line of a comparison is above the bound of the comparison and that for any algorithm.
fn check(request: &Request) -> Result<(), TestCaseError> {
    let any = bound(request).unwrap();
    prop_assert_eq!(any.statements.len(), 1);
    let comparison = compare(request).unwrap();
    for row in &comparison.rows {
        let Ok(outcome) = &row.outcome else { continue };
        let limit_s = outcome.total_s * (1.0 + 1e-12) + clock_s(request);
        prop_assert!(any.statements[0].seconds() <= limit_s, "{} {row:?}", any.statements[0].seconds());
        prop_assert!(comparison.lower_bound_s <= limit_s, "{row:?}");
    }
    prop_assert_eq!(comparison.lower_bound_s, any.statements[0].seconds());
    Ok(())
}

/// Every planner with every algorithm of the request's collective, by name.
fn by_name(request: &Request) -> Vec<Request> {
    let Workload::Collective { collective, options, .. } = &request.workload else { return Vec::new() };
    let algorithms = collectives::REGISTRY.iter().filter(|algorithm| algorithm.collectives().contains(collective));
    let algorithms: Vec<Option<String>> = algorithms.map(|a| Some(a.name().to_string())).chain([None]).collect();
    let planners = planners::REGISTRY.iter().filter(|planner| !planner.capabilities().by_name_only);
    let planners: Vec<Option<String>> = planners.map(|p| Some(p.name().to_string())).chain([None]).collect();
    let workload = |algorithm: &Option<String>| Workload::Collective {
        collective: *collective,
        algorithm: algorithm.clone(),
        options: options.clone(),
    };
    let named = |(algorithm, planner): (&Option<String>, Option<String>)| Request {
        workload: workload(algorithm),
        planner,
        ..request.clone()
    };
    algorithms.iter().flat_map(|a| planners.iter().map(move |p| (a, p.clone()))).map(named).collect()
}

/// No plan of any planner is below the bounds that it shows, nor below what another plan or the verb `bound` shows for
/// a class that it belongs to.
fn check_classes(request: &Request) -> Result<(), TestCaseError> {
    let mut shown: Vec<(String, f64)> = Vec::new();
    let mut made = Vec::new();
    for named in by_name(request) {
        let Ok(best) = plan(&named) else { continue };
        let limit_s = best.total_s() * (1.0 + 1e-12) + clock_s(request);
        if named.leaves_algorithm_open() {
            prop_assert!(best.bound.class.starts_with("any algorithm"), "{:?}", best.bound);
        }
        for bound in [Some(&best.bound), best.narrow_bound.as_ref()].into_iter().flatten() {
            prop_assert!(bound.seconds <= limit_s, "{} {} {bound:?}", best.planner, best.algorithm);
            // Bounds for the plan's own steps bound only that plan.
            if !bound.class.starts_with("the plan's") {
                shown.push((bound.class.clone(), bound.seconds));
            }
        }
        if !named.leaves_algorithm_open() {
            let bounds = bound(&named).unwrap();
            let largest = &bounds.statements[bounds.largest];
            prop_assert!(largest.seconds() <= limit_s, "{:?} {largest:?} {}", named.planner, best.total_s());
            let schedule: &Schedule = &named.schedules().unwrap().0[0];
            let steps: Vec<&Step> = best.steps.iter().map(|step| &step.step).collect();
            if steps == schedule.steps().iter().collect::<Vec<_>>() {
                for statement in &bounds.statements {
                    prop_assert!(statement.seconds() <= limit_s, "{:?} {statement:?}", named.planner);
                }
            }
        }
        let whole_blocks = best.narrow_bound.as_ref().is_some_and(|bound| bound.class.contains("whole blocks"));
        made.push((best.planner.clone(), limit_s, whole_blocks));
    }
    for (class, seconds) in &shown {
        for (planner, limit_s, whole_blocks) in &made {
            let belongs = class.starts_with("any algorithm") || (class.contains("whole blocks") && *whole_blocks);
            prop_assert!(!belongs || seconds <= limit_s, "{planner}: {seconds} s for {class}, above {limit_s} s");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

    #[test]
    fn no_plan_is_below_its_bounds(request in requests()) {
        check(&request)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

    #[test]
    fn no_plan_is_below_the_bound_of_a_class_that_it_belongs_to(request in requests()) {
        check_classes(&request)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(16)))]

    #[test]
    fn no_plan_of_packets_is_below_its_bounds(request in requests()) {
        let mut request = request;
        request.settings.overlap = Overlap::Pipelined;
        check(&request)?;
    }

    #[test]
    fn no_plan_of_a_matrix_is_below_its_bounds(
        request in requests(),
        rows in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0.0), 1.0..1e7f64], 12), 12),
    ) {
        let ranks = request.fabric.shape.gpus() as usize;
        let matrix: Vec<Vec<f64>> = rows.into_iter().take(ranks).map(|row| row[..ranks].to_vec()).collect();
        let sends = |row: usize| (0..ranks).any(|to| to != row && matrix[row][to] > 0.0);
        prop_assume!((0..ranks).any(sends));
        let (workload, size) =
            Workload::select(None, None, Options::default(), None, Some(matrix), None).unwrap();
        check(&Request { workload, size: size.unwrap(), ..request })?;
    }
}
