//! Baselines: closed forms, and the comparison of §5.2 for equal blocks.

use bounds::all_to_all_hops;
use lightloom_block_rounds::{Prices, baselines, best, check, without_empty_flows, workloads};
use model::{Initial, ReconfigurationDelay, Shape};

#[test]
fn each_serves_every_flow() {
    for (n, ports) in [(8, 1), (8, 2), (16, 2), (15, 2), (16, 3)] {
        let random = workloads::random(n, 32e6, 5);
        for strategy in [baselines::topo_opt(n, ports).unwrap(), baselines::mixnet(&random, ports).unwrap()] {
            check(&strategy, ports).unwrap();
            assert!(strategy.hops() >= all_to_all_hops(n, ports, strategy.stages.len() as u32));
        }
    }
}

/// §5.2: with one port TopoOpt and MixNet are one ring.
#[test]
fn one_port_makes_them_one_ring() {
    for n in [8u32, 13, 16] {
        let ring = u64::from(n * (n - 1) / 2);
        let topo_opt = baselines::topo_opt(n, 1).unwrap();
        assert_eq!((topo_opt.stages.len(), topo_opt.hops()), (1, ring));
        assert_eq!(baselines::mixnet(&workloads::random(n, 1.0, 2), 1).unwrap().hops(), ring);
    }
}

/// Flows without bytes are left out, with the rounds and topologies that are then empty; the others stay.
#[test]
fn empty_flows_are_left_out() {
    let mut matrix = vec![vec![0.0; 9]; 9];
    (matrix[2][7], matrix[7][3]) = (5.0, 1.0);
    for strategy in [baselines::topo_opt(9, 2).unwrap(), baselines::mixnet(&matrix, 2).unwrap()] {
        let left = without_empty_flows(&strategy, &matrix).unwrap();
        let mut ends: Vec<(u32, u32)> =
            left.rounds().flat_map(|round| &round.paths).map(|path| (path[0], path[path.len() - 1])).collect();
        ends.sort_unstable();
        assert_eq!(ends, [(2, 7), (7, 3)]);
        assert!(left.hops() <= strategy.hops());
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

/// §5.2, fig. 11 for equal blocks: at some R between the extremes the best strategy is well below both FAST, ⌈(n−1)/k⌉
/// topologies of one hop, and the fixed topologies; nowhere above any of them that is made of rounds.
#[test]
fn no_baseline_of_rounds_is_better_and_some_delay_separates_them() {
    for (n, ports) in [(8u32, 1u32), (16, 1), (32, 1), (64, 1), (16, 2), (32, 2), (64, 2)] {
        let matchings = f64::from((n - 1).div_ceil(ports));
        let topo_opt = baselines::topo_opt(n, ports).unwrap();
        let shape = Shape::new(n, &[], ports).unwrap();
        let mut largest_gain: f64 = 0.0;
        for exponent in -2..14 {
            let delay_s = 2f64.powi(exponent);
            let reconfiguration = ReconfigurationDelay::constant(delay_s);
            let prices = Prices { hop_s: 1.0, reconfiguration: &reconfiguration, initial: &Initial::Free };
            let ours = best(&shape, &prices, f64::INFINITY).unwrap().unwrap().cost_s(1.0, delay_s);
            let rival = (matchings * (1.0 + delay_s)).min(topo_opt.cost_s(1.0, delay_s));
            assert!(ours <= rival * (1.0 + 1e-12), "n {n}, {ports} ports, R = {delay_s}: {ours} {rival}");
            largest_gain = largest_gain.max(1.0 - ours / rival);
        }
        assert!(largest_gain > 0.1, "n {n}, {ports} ports: {largest_gain}");
    }
}
