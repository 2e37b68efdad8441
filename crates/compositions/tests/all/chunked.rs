//! Chunks over one topology compute their collective over its circuits, in the time that they say or the least there
//! is.

use std::collections::BTreeMap;

use lightloom_compositions::{Libraries, chunked};
use model::{Collective, Fabric, Initial, Link, Rank, ReconfigurationPolicy, Schedule, Shape, Topology, Translations};
use proptest::prelude::*;

const CHUNKED: [Collective; 3] = [Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce];

fn fabric(shape: Shape, initial: Topology) -> Fabric {
    Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: 5e-7,
        barrier_s: 0.0,
        hop_delay_s: 5e-7,
        reconfiguration: ReconfigurationPolicy::constant(1.0),
        initial: Initial::Topology(initial),
        optics: None,
        electrical: None,
    }
}

/// Seconds by the transfers: of every step a microsecond, and the bytes of its busiest circuit.
fn seconds(schedule: &Schedule, topology: &Topology, size_bytes: u64) -> f64 {
    let circuits: BTreeMap<(Rank, Rank), u32> =
        topology.expanded().iter().map(|link| ((link.src, link.dst), link.count)).collect();
    let (chunks, mut total_s) = (schedule.chunks(), 0.0);
    let chunk_s = size_bytes as f64 / f64::from(chunks.count()) * 8.0 / 8e11;
    for step in schedule.steps() {
        let mut carried: BTreeMap<(Rank, Rank), usize> = BTreeMap::new();
        for transfer in step.expanded(chunks) {
            *carried.entry((transfer.src, transfer.dst)).or_insert(0) += transfer.chunks.len();
        }
        let load = |(link, number): (&(Rank, Rank), &usize)| *number as f64 / f64::from(circuits[link]);
        total_s += 1e-6 + carried.iter().map(load).fold(0.0, f64::max) * chunk_s;
    }
    total_s
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(100)))]

    #[test]
    fn every_topology_serves_every_collective(
        gpus in 2u32..14, extra in prop::collection::vec((0u32..14, 0u32..14, 1u32..3), 0..30), log_size in 4u32..32,
    ) {
        let ring = (0..gpus).map(|src| Link { src, dst: (src + 1) % gpus, count: 1 });
        let others = extra.iter().map(|&(src, dst, count)| Link { src: src % gpus, dst: dst % gpus, count });
        let links = ring.chain(others.filter(|link| link.src != link.dst));
        let topology = Topology::new("any", Translations::trivial(gpus), links).unwrap().with_found_symmetry();
        let fabric = fabric(Shape::new(gpus, &[], 70).unwrap(), topology.clone());
        for collective in CHUNKED {
            let found = chunked(&Libraries::default(), collective, &topology, &fabric, 1 << log_size).unwrap();
            let composition = found.compose(1 << 20).unwrap().unwrap();
            let report = verify::schedule(&composition.schedule);
            prop_assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
            let total_s = seconds(&composition.schedule, &topology, 1 << log_size);
            prop_assert!(total_s >= found.least_s() * (1.0 - 1e-12), "{} {}", total_s, found.least_s());
        }
    }
}

/// As few steps as the farthest rank is hops away, and every rank takes chunks in over all circuits all the time: no
/// algorithm of one hop a step does with less.
#[test]
fn usual_fabrics_take_the_least_time_there_is() {
    for (spec, dims, ports, steps, blocks) in [
        ("torus", &[8, 8][..], 4, 8, 63.0 / 4.0),
        ("grid", &[8, 8], 4, 14, 63.0 / 2.0),
        ("torus", &[8, 8, 4], 6, 10, 255.0 / 6.0),
        ("torus", &[4, 4, 4], 6, 6, 63.0 / 6.0),
        ("torus", &[32, 32], 4, 32, 1023.0 / 4.0),
        ("hypercube", &[32], 5, 5, 31.0 / 5.0),
        ("ring", &[16], 2, 8, 15.0 / 2.0),
    ] {
        let gpus = dims.iter().product();
        let shape = Shape::new(gpus, if dims.len() > 1 { dims } else { &[] }, ports).unwrap();
        let topology = topologies::build(spec, &shape).unwrap();
        let fabric = fabric(shape, topology.clone());
        let size_bytes = 1u64 << 30;
        for collective in CHUNKED {
            let found = chunked(&Libraries::default(), collective, &topology, &fabric, size_bytes).unwrap();
            let composition = found.compose(1 << 20).unwrap().unwrap();
            let total_s = seconds(&composition.schedule, &topology, size_bytes) * (1.0 + 1e-12);
            let pass_s = f64::from(steps) * 1e-6 + blocks * size_bytes as f64 / f64::from(gpus) * 8.0 / 8e11;
            if collective == Collective::AllReduce {
                // Two passes, which overlap where ranks differ.
                assert!((found.least_s()..2.001 * pass_s).contains(&total_s), "{spec} {dims:?} {total_s} {pass_s}");
            } else {
                assert!((pass_s..1.001 * pass_s).contains(&total_s), "{spec} {dims:?} {total_s} {pass_s}");
            }
            assert!(verify::schedule(&composition.schedule).first_failure().is_none());
        }
    }
}

/// At a corner a ReduceScatter sends and an AllGather receives, so that both together take less than their sum.
#[test]
fn an_all_reduce_of_much_data_on_a_grid_overlaps_its_passes() {
    let shape = Shape::new(64, &[8, 8], 4).unwrap();
    let grid = topologies::build("grid", &shape).unwrap();
    let fabric = fabric(shape, grid.clone());
    let of = |collective, size_bytes| {
        let found = chunked(&Libraries::default(), collective, &grid, &fabric, size_bytes).unwrap();
        let composition = found.compose(1 << 20).unwrap().unwrap();
        let report = verify::schedule(&composition.schedule);
        assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
        seconds(&composition.schedule, &grid, size_bytes)
    };
    let (gathered_s, reduced_s) = (of(Collective::AllGather, 1 << 30), of(Collective::AllReduce, 1 << 30));
    assert!(reduced_s < 1.75 * gathered_s, "{reduced_s} {gathered_s}");
    // With little data one pass after the other has as many steps.
    assert!(of(Collective::AllReduce, 1 << 10) <= 2.0 * of(Collective::AllGather, 1 << 10) * 1.01);
}
