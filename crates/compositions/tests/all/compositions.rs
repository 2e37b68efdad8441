//! Compositions compute their collective and cost what their phases say.
use lightloom_compositions::{Libraries, compositions};
use model::{
    Chunks, Collective, CostSettings, Fabric, Initial, Link, ReconfigurationPolicy, Shape, Topology, Translations,
};
use proptest::prelude::*;

fn ring(gpus: u32, ports: u32) -> Topology {
    let back = gpus - 1;
    let links = if ports.is_multiple_of(2) && gpus > 2 {
        vec![Link { src: 0, dst: 1, count: ports / 2 }, Link { src: 0, dst: back, count: ports / 2 }]
    } else {
        vec![Link { src: 0, dst: 1, count: ports }]
    };
    Topology::new("ring", Translations::cyclic(gpus), links).unwrap()
}

fn fabric(gpus: u32, ports: u32, change_s: f64, from_ring: bool) -> Fabric {
    Fabric {
        shape: Shape::new(gpus, &[], ports).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        barrier_s: 0.0,
        hop_delay_s: 5e-7,
        reconfiguration: ReconfigurationPolicy::constant(change_s),
        initial: if from_ring { Initial::Topology(ring(gpus, ports)) } else { Initial::Free },
        optics: None,
        electrical: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(150)))]

    #[test]
    fn every_composition_computes_its_collective(
        gpus in 2u32..40, ports in 1u32..5, from_ring: bool, log_size in 4u32..34, change in -8i32..-2,
        which in 0..Collective::ALL.len(), root in 0u32..40,
    ) {
        let fabric = fabric(gpus, ports, 10f64.powi(change), from_ring);
        let settings = CostSettings::default();
        let chunks = match Collective::ALL[which] {
            collective if collective.has_root() => Chunks::rooted(collective, gpus, root % gpus, 1).unwrap(),
            collective => Chunks::even(collective, gpus, 1).unwrap(),
        };
        let found = compositions(&Libraries::default(), &chunks, &fabric, settings, 1u64 << log_size).unwrap();
        prop_assert!(!found.is_empty());
        for composition in found {
            let report = verify::schedule(&composition.schedule);
            prop_assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
            for topology in &composition.topologies {
                topology.check_ports(ports).unwrap();
            }
        }
    }
}

#[test]
#[ignore = "large: make test-large"]
fn every_divisor_structure_is_executed() {
    for gpus in [12, 16, 24, 36, 48, 60, 64] {
        for ports in [1, 2, 3, 4] {
            let settings = CostSettings::default();
            let libraries = Libraries::default();
            for &collective in Collective::ALL {
                let chunks = Chunks::even(collective, gpus, 1).unwrap();
                for (log_size, change_s) in [(10, 1e-8), (10, 1e-5), (20, 1e-6), (24, 1e-5), (28, 1e-4), (33, 1e-3)] {
                    for from_ring in [false, true] {
                        let fabric = fabric(gpus, ports, change_s, from_ring);
                        for found in compositions(&libraries, &chunks, &fabric, settings, 1 << log_size).unwrap() {
                            let report = verify::schedule(&found.schedule);
                            let failure = report.first_failure();
                            assert!(failure.is_none(), "{gpus} {ports} {collective:?} {log_size} {failure:?}");
                        }
                    }
                }
            }
        }
    }
}
