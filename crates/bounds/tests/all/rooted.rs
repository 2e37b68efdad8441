//! Reduce, Gather and Scatter: by what they have in common with a Broadcast, and by hand.

use lightloom_bounds::any_algorithm;
use model::{Collective, CostSettings, Initial, Link, Topology, Translations};

use crate::any_algorithm::{PRICES, bound, fabric};

/// A Reduce is a Broadcast backwards, and so is its brute force; from a start, on the circuits turned round.
#[test]
fn a_reduce_is_bounded_like_the_broadcast_that_it_is_backwards() {
    for prices in PRICES {
        for ranks in 2..=6 {
            let of = |collective| bound(collective, ranks, prices, 1);
            assert_eq!(of(Collective::Reduce), of(Collective::Broadcast), "{prices:?}, {ranks} ranks");
        }
    }
    // In a star inwards, all reach rank 0 by a hop, and it reaches nobody.
    let links = (1..5).map(|src| Link { src, dst: 0, count: 1 });
    let inwards = Topology::new("inwards", Translations::trivial(5), links).unwrap();
    let seconds = |collective, start: &Topology, size_bytes| {
        let mut fabric = fabric(5, 4, [1.0, 1.0, 0.0, 100.0]);
        fabric.initial = Initial::Topology(start.clone());
        any_algorithm(collective, None, &fabric, CostSettings::default(), size_bytes).seconds() * 1e6
    };
    for (collective, start) in [
        (Collective::Reduce, &inwards),
        (Collective::Gather, &inwards),
        (Collective::Broadcast, &inwards.reversed().unwrap()),
        (Collective::Scatter, &inwards.reversed().unwrap()),
    ] {
        assert!((seconds(collective, start, 1) - 2.0).abs() < 1e-6, "{collective:?}");
        // The other way round nobody is reached without a change of 100.
        assert!(seconds(collective, &start.reversed().unwrap(), 1) > 100.0, "{collective:?}");
    }
}

/// By hand: n − 1 of n shares pass d ports, over as many hops as a Broadcast of nothing takes.
#[test]
fn the_shares_of_all_others_pass_the_root_s_ports() {
    for collective in [Collective::Gather, Collective::Scatter] {
        // Where all are neighbours of the root: α + δ + (n − 1)/(n·d).
        for ranks in 2..=9 {
            let fabric = fabric(ranks, ranks - 1, [3.0, 2.0, 0.0, 100.0]);
            let size_bytes = 1 << 20;
            let bytes_us = 8e6 * f64::from(size_bytes) / fabric.bandwidth_bps;
            let found = any_algorithm(collective, None, &fabric, CostSettings::default(), u64::from(size_bytes as u32));
            let expected = 5.0 + bytes_us / f64::from(ranks);
            assert!((found.seconds() * 1e6 / expected - 1.0).abs() < 1e-9, "{collective:?} {ranks}");
        }
        // One port, four ranks: one step on a ring of three hops, or with cheap changes two steps of a hop.
        for (prices, latency_us) in [([1.0, 1.0, 0.0, 100.0], 4.0), ([0.1, 1.0, 0.0, 0.0], 2.2)] {
            let found = any_algorithm(collective, None, &fabric(4, 1, prices), CostSettings::default(), 1);
            assert!((found.seconds() * 1e6 - latency_us).abs() < 1e-3, "{collective:?} {}", found.seconds() * 1e6);
        }
    }
}
