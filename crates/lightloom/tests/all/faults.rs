//! Plans around what is broken: every single fault, and several at once. [`plan`] returns only what `verify` accepts,
//! whose check of faults shares no code with planning.

use std::sync::Arc;

use collectives::Options;
use lightloom::{Request, Size, Workload, plan, verify_plan};
use model::{
    Collective, CostSettings, Fabric, Fault, Faults, Initial, Link, Plan, PlanParts, ReconfigurationPolicy, Result,
    Shape, Topology, Translations,
};
use planners::Cache;
use proptest::prelude::*;

/// A fabric of 800 Gbit/s a port, all delays 500 ns, on which a change of circuits takes 10 µs.
pub(crate) fn fabric(gpus: u32, ports: u32, faults: Faults, initial: Initial) -> Fabric {
    Fabric {
        shape: Shape::new(gpus, &[], ports).unwrap().with_faults(faults).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        barrier_s: 0.0,
        hop_delay_s: 5e-7,
        reconfiguration: ReconfigurationPolicy::constant(1e-5),
        initial,
        optics: None,
        electrical: None,
    }
}

/// A request that leaves algorithm and planner open.
pub(crate) fn request(fabric: Fabric, collective: Collective, size_bytes: u64, cache: &Arc<Cache>) -> Request {
    Request {
        fabric,
        workload: Workload::Collective { collective, algorithm: None, options: Options::default() },
        size: Size::Buffer(size_bytes),
        settings: CostSettings::default(),
        routing_is_given: false,
        planner: None,
        candidates: None,
        static_topologies: None,
        options: planners::PlannerOptions::default(),
        seed: 0,
        cache: cache.clone(),
    }
}

fn planned(fabric: Fabric, collective: Collective, size_bytes: u64, cache: &Arc<Cache>) -> Result<Plan> {
    fabric.shape.check_serves(collective, None)?;
    plan(&request(fabric, collective, size_bytes, cache))
}

/// Whether a rank has to send (or, not `sends`, to receive) in a collective whose root is rank 0.
fn takes_part(collective: Collective, rank: u32, sends: bool) -> bool {
    match collective {
        Collective::AllReduce | Collective::ReduceScatter | Collective::AllGather | Collective::AllToAll => true,
        Collective::Broadcast | Collective::Scatter => (rank == 0) == sends,
        Collective::Reduce | Collective::Gather => (rank == 0) != sends,
    }
}

/// Single faults of eight GPUs; those that are alike but for numbers once or twice. GPUs that fail are left to the
/// options, which take them out of the ranks.
fn single_faults(ports: u32) -> Vec<Fault> {
    let mut all = vec![Fault::Switch(ports - 1), Fault::Link(0, 1), Fault::Link(2, 5), Fault::OneWay(6, 3)];
    for gpu in [0, 5] {
        all.extend([Fault::Transmitter { gpu, port: 0 }, Fault::Receiver { gpu, port: ports - 1 }]);
    }
    all
}

#[test]
#[ignore = "large: make test-large"]
fn every_single_fault_is_planned_around() {
    let cache = Arc::new(Cache::default());
    for ports in 1..=4 {
        for &collective in Collective::ALL {
            let healthy = planned(fabric(8, ports, Faults::default(), Initial::Free), collective, 1 << 20, &cache);
            let healthy_s = healthy.unwrap().total_s();
            for fault in single_faults(ports) {
                let faults: Faults = [fault].into_iter().collect();
                let found = planned(fabric(8, ports, faults, Initial::Free), collective, 1 << 20, &cache);
                let is_cut_off = ports == 1
                    && match fault {
                        Fault::Switch(_) => true,
                        Fault::Transmitter { gpu, .. } => takes_part(collective, gpu, true),
                        Fault::Receiver { gpu, .. } => takes_part(collective, gpu, false),
                        _ => false,
                    };
                match found {
                    Ok(plan) => {
                        assert!(!is_cut_off, "{collective:?} {fault} on {ports} ports");
                        // A fault leaves half of the ports of some GPU at least, or is gone around.
                        assert!(plan.total_s() <= 4.0 * healthy_s, "{collective:?} {fault} on {ports} ports");
                    }
                    Err(error) => {
                        assert!(is_cut_off, "{collective:?} {fault} on {ports} ports: {error}");
                        assert_eq!(error.field(), "failed");
                    }
                }
            }
        }
    }
}

#[test]
fn a_dead_link_costs_nothing_where_some_pair_is_unused() {
    let cache = Arc::new(Cache::default());
    for collective in [Collective::AllReduce, Collective::AllGather, Collective::Broadcast] {
        let seconds = |faults: Faults| {
            planned(fabric(16, 2, faults, Initial::Free), collective, 1 << 24, &cache).unwrap().total_s()
        };
        let healthy_s = seconds(Faults::default());
        for fault in [Fault::Link(0, 1), Fault::Link(3, 4), Fault::OneWay(8, 9)] {
            assert!(seconds([fault].into_iter().collect()) <= healthy_s * (1.0 + 1e-9), "{collective:?} {fault}");
        }
    }
}

/// A dead plane leaves every GPU one port fewer: what is planned for that many ports serves.
#[test]
fn a_dead_plane_is_never_slower_than_a_port_less_for_all() {
    let cache = Arc::<Cache>::default();
    for &collective in Collective::ALL {
        for (ports, log_size) in [(2, 12), (3, 28)] {
            let dead = fabric(8, ports, [Fault::Switch(ports - 1)].into_iter().collect(), Initial::Free);
            let fewer = fabric(8, ports - 1, Faults::default(), Initial::Free);
            let [dead, fewer] =
                [dead, fewer].map(|on| planned(on, collective, 1 << log_size, &cache).unwrap().total_s());
            assert!(dead <= fewer * (1.0 + 1e-9), "{collective:?} {ports} {log_size}: {dead} {fewer}");
        }
    }
}

#[test]
fn shards_by_ports_make_a_large_all_reduce_faster_than_a_port_less_for_all() {
    let cache = Arc::new(Cache::default());
    let seconds = |faults: Faults| {
        planned(fabric(16, 2, faults, Initial::Free), Collective::AllReduce, 1 << 28, &cache).unwrap().total_s()
    };
    let dead_port = [Fault::Transmitter { gpu: 3, port: 1 }, Fault::Receiver { gpu: 3, port: 1 }];
    let (weak_s, less_s) =
        (seconds(dead_port.into_iter().collect()), seconds([Fault::Switch(1)].into_iter().collect()));
    assert!(weak_s < 0.75 * less_s, "{weak_s} s and {less_s} s");
}

/// `verify` refuses a plan whose fabric has a fault that its circuits do not heed.
#[test]
fn what_uses_a_broken_part_is_refused() {
    let cache = Arc::new(Cache::default());
    let whole = planned(fabric(4, 2, Faults::default(), Initial::Free), Collective::AllToAll, 1 << 20, &cache).unwrap();
    let links: Vec<Link> = whole.topologies[whole.steps[0].topology].expanded();
    let Link { src, dst, .. } = links[0];
    let of = |fault: Fault| {
        let parts = PlanParts::clone(&whole);
        let shape = parts.fabric.shape.clone().with_faults([fault].into_iter().collect()).unwrap();
        let fabric = Fabric { shape, ..parts.fabric.clone() };
        verify_plan(&Plan::new(PlanParts { fabric, ..parts }).unwrap())
    };
    for fault in [Fault::Gpu(src), Fault::Link(src.min(dst), src.max(dst)), Fault::OneWay(src, dst)] {
        assert_eq!(of(fault).first_failure().map(|check| check.name), Some("failed"), "{fault}");
    }
    let uses_all = |gpu: u32| links.iter().filter(|link| link.src == gpu).map(|link| link.count).sum::<u32>() == 2;
    if uses_all(src) {
        let fault = Fault::Transmitter { gpu: src, port: 0 };
        assert_eq!(of(fault).first_failure().map(|check| check.name), Some("failed"));
    }
}

fn any_fault(gpus: u32, ports: u32) -> impl Strategy<Value = Fault> {
    let pair = move || (0..gpus, 1..gpus).prop_map(move |(src, ahead)| (src, (src + ahead) % gpus));
    prop_oneof![
        (0..gpus, 0..ports).prop_map(|(gpu, port)| Fault::Transmitter { gpu, port }),
        (0..gpus, 0..ports).prop_map(|(gpu, port)| Fault::Receiver { gpu, port }),
        pair().prop_map(|(a, b)| Fault::Link(a.min(b), a.max(b))),
        pair().prop_map(|(src, dst)| Fault::OneWay(src, dst)),
        (0..ports).prop_map(Fault::Switch),
    ]
}

fn ring(gpus: u32) -> Topology {
    let links = (0..gpus).map(|src| Link { src, dst: (src + 1) % gpus, count: 1 });
    Topology::new("ring", Translations::trivial(gpus), links).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(32)))]

    /// With several faults on two ports or more there is a plan, from any start, or no port of some GPU is left. No
    /// bound is above it (`verify`).
    #[test]
    fn several_faults_are_planned_around(
        (gpus, ports, faults) in (4u32..9, 2u32..5).prop_flat_map(|(gpus, ports)| {
            (Just(gpus), Just(ports), prop::collection::vec(any_fault(gpus, ports), 1..4))
        }),
        collective in prop::sample::select(Collective::ALL),
        log_size in 10u32..28,
        start in 0u32..3,
    ) {
        let faults: Faults = faults.into_iter().collect();
        let shape = Shape::new(gpus, &[], ports).unwrap().with_faults(faults.clone()).unwrap();
        let initial = match start {
            0 => Initial::Free,
            1 => Initial::Repeated,
            _ => Initial::Topology(shape.working_part(ring(gpus)).unwrap()),
        };
        let found = planned(fabric(gpus, ports, faults.clone(), initial), collective, 1 << log_size, &Arc::default());
        if model::WorkingPorts::of(&shape).least() >= 1 && !faults.all().iter().any(|fault| matches!(fault, Fault::Link(..) | Fault::OneWay(..))) {
            prop_assert!(found.is_ok(), "{} {:?}: {}", faults, collective, found.unwrap_err());
        } else if let Err(error) = found {
            prop_assert!(!matches!(error, model::Error::Rejected { .. }), "{} {:?}: {}", faults, collective, error);
        }
    }
}
