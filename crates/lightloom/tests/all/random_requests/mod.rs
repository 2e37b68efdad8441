//! Random requests.

use collectives::Options;
use lightloom::{Request, Size, Workload};
use model::{
    Collective, CostSettings, Fabric, Initial, Propagation, ReconfigurationDelay, ReconfigurationOverlap,
    ReconfigurationPolicy, Routing, Shape, Topology, Translations, Window,
};
use planners::PlannerOptions;
use proptest::prelude::*;

/// Starts that a fabric of the shape may have.
pub fn initials(shape: &Shape) -> Vec<Initial> {
    let dark = Topology::new("dark", Translations::cyclic(shape.gpus()), []).unwrap();
    let named = ["ring", "shifted-ring:2", "shifted-ring:3", "torus", "kautz", "hypercube", "grid"];
    let named = named.iter().filter_map(|spec| topologies::build(spec, shape).ok());
    let given = std::iter::once(dark).chain(named).map(Initial::Topology);
    std::iter::once(Initial::Free).chain(given).collect()
}

/// Requests for any algorithm by any planner, on up to 12 GPUs.
pub fn requests() -> impl Strategy<Value = Request> {
    let dims = prop_oneof![
        3 => (2..=12_u32).prop_map(|gpus| vec![gpus]),
        1 => prop::sample::select(vec![vec![2, 2], vec![2, 4], vec![3, 3], vec![2, 2, 2], vec![3, 4]]),
    ];
    let shapes = (dims, 1..=4_u32).prop_map(|(dims, ports)| Shape::new(dims.iter().product(), &dims, ports).unwrap());
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
                let ports = shape.ports();
                Request {
                    fabric: Fabric {
                        shape,
                        bandwidth_bps: 8e11,
                        startup_s,
                        barrier_s: 0.0,
                        hop_delay_s,
                        reconfiguration: ReconfigurationPolicy::new(
                            match size % 4 {
                                1 => {
                                    let by_port = (0..ports).map(|port| fixed_s + f64::from(port) * per_port_s);
                                    ReconfigurationDelay::of_switches(0.0, by_port.collect())
                                }
                                _ => ReconfigurationDelay::per_port(fixed_s, per_port_s / 10.0),
                            },
                            // A third hides changes behind dark ports, a fifth some of them behind computation.
                            ReconfigurationOverlap {
                                background: size % 3 == 0,
                                window: Window {
                                    every_s: if size % 5 == 0 { fixed_s / 2.0 } else { 0.0 },
                                    ..Window::default()
                                },
                            },
                        ),
                        initial,
                        optics: None,
                        electrical: None,
                    },
                    workload: Workload::Collective { collective, algorithm: None, options: Options::default() },
                    size: Size::Buffer(size),
                    settings: CostSettings::additive(routing, propagation),
                    routing_is_given: false,
                    planner: None,
                    candidates: None,
                    static_topologies: None,
                    cache: std::sync::Arc::default(),
                    options: PlannerOptions::default(),
                    seed: 1,
                }
            },
        )
}
