//! No bound is above any plan: random problems, every planner and algorithm that serves them.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use collectives::Options;
use lightloom::{Request, Size, Workload, bound, compare, plan};
use model::{
    Collective, CostSettings, Fabric, Hiding, Initial, Overlap, Propagation, ReconfigurationDelay, Routing, Shape,
    Topology, Translations, Window,
};
use planners::PlannerOptions;
use proptest::prelude::*;

fn initials(shape: &Shape) -> Vec<Initial> {
    let ring = topologies::build("ring", shape).unwrap();
    let dark = Topology::new("dark", Translations::cyclic(shape.gpus()), []).unwrap();
    let mut initials = vec![Initial::Free, Initial::Topology(ring), Initial::Topology(dark)];
    if shape.ports() > 1 && shape.gpus() > 3 {
        initials.push(Initial::Topology(topologies::build("kautz", shape).unwrap()));
    }
    initials
}

fn requests() -> impl Strategy<Value = Request> {
    let shapes = (2..=12_u32, 1..=4_u32).prop_map(|(gpus, ports)| Shape::new(gpus, &[], ports).unwrap());
    let fabrics = shapes.prop_flat_map(|shape| (prop::sample::select(initials(&shape)), Just(shape)));
    let delays = prop::array::uniform4(prop_oneof![Just(0.0), 1e-8..2e-5f64]);
    (
        fabrics,
        delays,
        prop::sample::select(Collective::ALL.to_vec()),
        prop_oneof![1..200_000u64, 1_000_000..200_000_000u64],
        prop::sample::select(Propagation::ALL.to_vec()),
        prop::sample::select(Routing::ALL.to_vec()),
    )
        .prop_map(
            |(
                (initial, shape),
                [startup_s, hop_delay_s, fixed_s, per_port_s],
                collective,
                size,
                propagation,
                routing,
            )| {
                Request {
                    fabric: Fabric {
                        shape,
                        bandwidth_bps: 8e11,
                        startup_s,
                        hop_delay_s,
                        reconfiguration: ReconfigurationDelay { fixed_s, per_port_s: per_port_s / 10.0 },
                        initial,
                        // A third hides changes behind dark ports, a fifth some of them behind computation.
                        hiding: Hiding {
                            background: size % 3 == 0,
                            window: Window {
                                every_s: if size % 5 == 0 { fixed_s / 2.0 } else { 0.0 },
                                ..Window::default()
                            },
                        },
                    },
                    workload: Workload::Collective { collective, algorithm: None, options: Options::default() },
                    size: Size::Buffer(size),
                    settings: CostSettings::additive(routing, propagation),
                    routing_is_given: false,
                    planner: None,
                    candidates: None,
                    static_topologies: None,
                    options: PlannerOptions::default(),
                    seed: 1,
                }
            },
        )
}

/// Every line of a comparison is above its own bound, that of the comparison, and all that are known for its algorithm.
fn check(request: &Request) -> Result<(), TestCaseError> {
    // Packets go by a clock of whole femtoseconds, which may round the delay of every hop down.
    let clock_s = if request.settings.overlap == Overlap::Pipelined { 1e-12 } else { 0.0 };
    let any = bound(request).unwrap();
    prop_assert_eq!(any.len(), 1);
    let comparison = compare(request).unwrap();
    for row in &comparison.rows {
        let Ok(outcome) = &row.outcome else { continue };
        let limit_s = outcome.total_s * (1.0 + 1e-12) + clock_s;
        prop_assert!(any[0].seconds() <= limit_s, "{} {row:?}", any[0].seconds());
        prop_assert!(outcome.bound.seconds <= limit_s, "{row:?}");
        prop_assert!(comparison.lower_bound_s <= limit_s, "{row:?}");
        prop_assert!(outcome.bound.seconds >= any[0].seconds(), "{row:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_plan_is_below_its_bounds(request in requests()) {
        check(&request)?;
    }

    #[test]
    fn no_plan_is_below_the_bounds_of_its_algorithm(request in requests()) {
        // Some others run steps of their own under the algorithm's name.
        for planner in ["harvest", "pccl-parallel", "static"] {
            let request = Request { planner: Some(planner.into()), ..request.clone() };
            let Ok(best) = plan(&request) else { continue };
            let Workload::Collective { collective, options, .. } = &request.workload else { unreachable!() };
            let algorithm = Some(best.algorithm.clone());
            let workload = Workload::Collective { collective: *collective, algorithm, options: options.clone() };
            for statement in bound(&Request { workload, ..request }).unwrap() {
                prop_assert!(statement.seconds() <= best.total_s() * (1.0 + 1e-12), "{planner} {statement:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

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
