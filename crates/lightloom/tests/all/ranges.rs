//! Any numbers that are accepted give a plan that its own judge takes, or one line that says why not.
use collectives::Options;
use lightloom::{Request, Size, TopologyRef, Workload, plan};
use model::{
    Collective, CostSettings, Error, Fabric, Initial, Overlap, Propagation, ReconfigurationDelay,
    ReconfigurationOverlap, ReconfigurationPolicy, Routing, Shape, Window,
};
use proptest::prelude::*;
use simulate::{Injection, Level, Settings, Symmetry, Synchronisation, simulate};

/// A number of any magnitude between two powers of ten, or zero.
fn magnitude(least: i32, most: i32) -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        12 => (1.0_f64..10.0, least..most).prop_map(|(digits, power)| format!("{digits}e{power}").parse().unwrap()),
        4 => (1_u32..100, least..most).prop_map(|(digits, power)| format!("{digits}e{power}").parse().unwrap()),
    ]
}

/// Delays that are mostly such as fabrics have, and sometimes not.
fn delay() -> impl Strategy<Value = f64> {
    prop_oneof![6 => magnitude(-18, 4), 1 => magnitude(-300, 300)]
}

fn requests() -> impl Strategy<Value = Request> {
    let kinds = prop::sample::select(vec![
        (Collective::AllReduce, "recursive-doubling", "harvest", None),
        (Collective::AllReduce, "ring", "static", Some("ring")),
        (Collective::AllGather, "bruck", "static", Some("shifted-ring:1,one-way")),
        (Collective::AllToAll, "direct", "static", Some("kautz")),
        (Collective::AllToAll, "bruck", "pccl", None),
        (Collective::AllToAll, "direct", "reconfigure-all-to-all", None),
        (Collective::Broadcast, "binomial-tree", "harvest", None),
        (Collective::ReduceScatter, "swing", "bvn", None),
    ]);
    let numbers = (
        prop_oneof![4 => magnitude(6, 16), 1 => magnitude(-3, 300)],
        delay(),
        delay(),
        (delay(), delay(), delay()),
        any::<bool>(),
    );
    let settings = (
        prop::sample::select(Overlap::ALL.to_vec()),
        prop::sample::select(Propagation::ALL.to_vec()),
        prop::sample::select(Routing::ALL.to_vec()),
    );
    let size = prop_oneof![1_u64..10_000, 1_u64..1 << 33, Just(1 << 53)];
    (kinds, numbers, settings, size, (2_u32..9, 1_u32..4, any::<bool>())).prop_map(
        |(kind, numbers, settings, size, (gpus, ports, starts_on_ring))| {
            let (collective, algorithm, planner, topology) = kind;
            let (bandwidth_bps, startup_s, hop_delay_s, (fixed_s, per_port_s, every_s), background) = numbers;
            let shape = Shape::new(gpus, &[], ports).unwrap();
            // Packets are many where sizes are, and are all looked at.
            let size = if settings.0 == Overlap::Pipelined { size.min(1 << 20) } else { size };
            let initial = match topologies::build("ring", &shape) {
                Ok(ring) if starts_on_ring => Initial::Topology(ring),
                _ => Initial::Free,
            };
            Request {
                fabric: Fabric {
                    shape,
                    bandwidth_bps,
                    startup_s,
                    barrier_s: startup_s,
                    hop_delay_s,
                    reconfiguration: ReconfigurationPolicy::new(
                        ReconfigurationDelay::per_port(fixed_s, per_port_s),
                        ReconfigurationOverlap { background, window: Window { every_s, ..Window::default() } },
                    ),
                    initial,
                    optics: None,
                    electrical: None,
                },
                workload: Workload::Collective {
                    collective,
                    algorithm: Some(algorithm.into()),
                    options: Options::default(),
                },
                size: Size::Buffer(size),
                settings: CostSettings { routing: settings.2, propagation: settings.1, overlap: settings.0 },
                routing_is_given: false,
                planner: Some(planner.into()),
                candidates: None,
                static_topologies: topology.map(|name| vec![TopologyRef::Named(name.into())]),
                cache: std::sync::Arc::default(),
                options: planners::PlannerOptions::default(),
                seed: 0,
            }
        },
    )
}

/// An error of the input: one line that names its field.
fn is_of_input(error: &Error) -> bool {
    let text = error.to_string();
    !matches!(error, Error::Rejected { .. }) && !error.field().is_empty() && !text.contains('\n')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(2000)))]

    #[test]
    fn a_planner_and_its_judge_agree(request in requests()) {
        match plan(&request) {
            Ok(plan) => {
                let report = lightloom::verify_plan(&plan);
                prop_assert_eq!(report.first_failure(), None);
                prop_assert!(plan.bound.seconds <= plan.total_s());
                prop_assert!(plan.total_s().is_finite());
                prop_assert_eq!(plan.settings, plan.settings.of_packets());
                let read = formats::plan_from_json(&formats::plan_to_json(&plan)).map(|read| lightloom::verify_plan(&read));
                prop_assert!(read.as_ref().is_ok_and(verify::Report::passed), "{read:?}");
            }
            Err(error) => prop_assert!(is_of_input(&error), "{error:?}"),
        }
    }

    #[test]
    fn what_is_too_long_to_be_simulated_is_said(
        request in requests(), level in prop::sample::select(Level::ALL), header_bytes in 0_u32..=1 << 30,
        injection in prop::sample::select(Injection::ALL), sync in prop::sample::select(Synchronisation::ALL),
        symmetry in prop::sample::select(Symmetry::ALL), barrier_s in delay(),
    ) {
        let size = Size::Buffer(1 << 20);
        let Ok(plan) = plan(&Request { settings: CostSettings::default(), size, ..request }) else { return Ok(()) };
        // Packets are counted one by one in unequal shares: not too many of them.
        let payload_bytes = (plan.size_bytes / 1000).clamp(1, 1 << 30) as u32;
        let barrier_s = if sync == Synchronisation::Barrier { barrier_s } else { 0.0 };
        let settings =
            Settings { level, payload_bytes, header_bytes, injection, sync, symmetry, barrier_s, ..Settings::default() };
        match simulate(&plan, &settings) {
            Ok(found) => prop_assert!(found.total_fs < 1 << 63),
            Err(error) => prop_assert!(is_of_input(&error), "{error:?}"),
        }
    }
}
