//! Baselines: closed forms, and the comparison of §5.2 for equal blocks.

use all_to_all::{Prices, baselines, best, check, workloads};
use bounds::all_to_all_hops;
use model::{Initial, ReconfigurationDelay, Shape};

#[test]
fn each_serves_every_flow() {
    for (n, ports) in [(8, 1), (8, 2), (16, 2), (15, 2), (16, 3)] {
        let random = workloads::random(n, 32e6, 5);
        for strategy in [
            baselines::fast(n, ports).unwrap(),
            baselines::topo_opt(n, ports).unwrap(),
            baselines::mixnet(&random, ports).unwrap(),
        ] {
            check(&strategy, ports).unwrap();
            assert!(strategy.hops() >= all_to_all_hops(n, ports, strategy.stages.len() as u32));
        }
    }
}

/// §5.2: with one port DirectConnect and TopoOpt are one ring, and shortest paths are the linear program's.
#[test]
fn one_port_makes_them_one_ring() {
    for n in [8u32, 13, 16] {
        let ring = u64::from(n * (n - 1) / 2);
        let topo_opt = baselines::topo_opt(n, 1).unwrap();
        assert_eq!((topo_opt.stages.len(), topo_opt.hops()), (1, ring));
        let circuits = topo_opt.stages[0].topology.clone();
        let direct = baselines::direct_connect(circuits).unwrap();
        assert!((direct.load - ring as f64).abs() < 1e-9);
        assert_eq!(baselines::mixnet(&workloads::random(n, 1.0, 2), 1).unwrap().hops(), ring);
    }
}

/// FAST is one hop for every flow and a topology for every `ports` of them.
#[test]
fn fast_reconfigures_for_every_matching() {
    for (n, ports, topologies) in [(8, 1, 7), (8, 2, 4), (64, 2, 32)] {
        let fast = baselines::fast(n, ports).unwrap();
        assert_eq!((fast.stages.len(), fast.hops()), (topologies, topologies as u64));
    }
}

#[test]
fn mixnet_gives_circuits_to_the_largest_flows() {
    let n = 12;
    let mut matrix = workloads::uniform(n, 1.0);
    for rank in 0..n as usize {
        matrix[rank][(rank + 5) % n as usize] = 9.0;
    }
    let strategy = baselines::mixnet(&matrix, 2).unwrap();
    let links = strategy.stages[0].topology.expanded();
    assert!((0..n).all(|rank| links.iter().any(|link| (link.src, link.dst) == (rank, (rank + 5) % n))));
}

/// §5.2, fig. 11 for equal blocks: at some R between the extremes the best strategy is well below both FAST and
/// the fixed topologies; nowhere above any of them that is made of rounds.
#[test]
fn no_baseline_of_rounds_is_better_and_some_delay_separates_them() {
    for (n, ports) in [(8, 1), (16, 1), (32, 1), (64, 1), (16, 2), (32, 2), (64, 2)] {
        let fast = baselines::fast(n, ports).unwrap();
        let topo_opt = baselines::topo_opt(n, ports).unwrap();
        let shape = Shape::new(n, &[], ports).unwrap();
        let mut largest_gain: f64 = 0.0;
        for exponent in -2..14 {
            let delay_s = 2f64.powi(exponent);
            let reconfiguration = ReconfigurationDelay::constant(delay_s);
            let prices = Prices { hop_s: 1.0, reconfiguration, initial: &Initial::Free };
            let ours = best(&shape, &prices).unwrap().cost_s(1.0, delay_s);
            let rival = fast.cost_s(1.0, delay_s).min(topo_opt.cost_s(1.0, delay_s));
            assert!(ours <= rival * (1.0 + 1e-12), "n {n}, {ports} ports, R = {delay_s}: {ours} {rival}");
            largest_gain = largest_gain.max(1.0 - ours / rival);
        }
        assert!(largest_gain > 0.1, "n {n}, {ports} ports: {largest_gain}");
    }
}
