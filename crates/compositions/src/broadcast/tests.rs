//! Broadcasts compared with bounds for every Broadcast.

use model::{Link, Rank, Shape, Topology};

use super::cheapest_steps;
use super::one_topology::OneTopology;
use super::rounds::{Rarity, rounds};
use super::shifts::Turns;
use super::spread::Spread;

fn built(spec: &str, gpus: u32, ports: u32) -> Topology {
    topologies::build(spec, &Shape::new(gpus, &[], ports).unwrap()).unwrap()
}

/// Every part arrives, and no circuit carries two in a round.
fn check(spread: &Spread, root: Rank, circuits: impl Fn(usize, Rank, Rank) -> u32) {
    let composition = spread.composition(spread.topologies[0].ranks(), root).unwrap();
    let report = verify::schedule(&composition.schedule);
    assert!(report.first_failure().is_none(), "{:?}", report.first_failure());
    for (round, sends) in spread.steps.iter().enumerate() {
        for (&(src, dst), parts) in sends {
            assert!(parts.len() as u32 <= circuits(round, src, dst), "round {round}: {src} → {dst}");
        }
    }
}

/// Circuits from one rank to another.
fn count(links: &[Link], src: Rank, dst: Rank) -> u32 {
    links.iter().filter(|link| (link.src, link.dst) == (src, dst)).map(|link| link.count).sum()
}

#[test]
fn rounds_on_one_topology_are_as_few_as_the_farthest_rank_allows() {
    // `more`: the most rounds above C/p + D − 1, in which the last part reaches the farthest rank. With three ports or
    // more, the root cannot give the last parts of all ports to enough ranks in time.
    for (spec, gpus, ports, more) in [
        ("ring", 9, 1, 0),
        ("rewired-de-bruijn", 16, 2, 0),
        ("rewired-de-bruijn", 64, 2, 0),
        ("rewired-de-bruijn", 27, 3, 1),
        ("rewired-de-bruijn", 60, 3, 2),
        ("rewired-de-bruijn", 64, 4, 2),
    ] {
        let one = OneTopology::new(built(spec, gpus, ports), 0).unwrap();
        assert_eq!(one.width, ports);
        let links = one.topology.expanded();
        for times in [1, 2, 5, 16, 40] {
            let spread = one.in_parts(times * ports).unwrap();
            check(&spread, 0, |_, src, dst| count(&links, src, dst));
            let (rounds, least) = (spread.steps.len() as u32, times + one.tree.depth() - 1);
            assert!((least..=least + more).contains(&rounds), "{spec} {gpus} {ports} {times}: {rounds} {least}");
        }
    }
}

#[test]
fn where_all_are_joined_the_last_round_brings_what_the_others_got_before() {
    // In each round the root gives each of p ranks one part; the other ranks have that part one round later: p − 1
    // rounds and one more.
    for ports in 2..8 {
        let one = OneTopology::new(built("kautz", ports + 1, ports), 1).unwrap();
        let links = one.topology.expanded();
        for rounds in 1..9 {
            let parts = one.most_parts(rounds);
            assert_eq!(parts, ports * (rounds - 1) + 1);
            let spread = one.in_parts(parts).unwrap();
            check(&spread, 1, |_, src, dst| count(&links, src, dst));
            assert_eq!(spread.steps.len() as u32, rounds);
        }
    }
}

#[test]
fn on_topologies_that_take_turns_one_port_needs_three_rounds_more_at_most_than_the_least() {
    for gpus in [2, 3, 5, 8, 17, 24, 33, 60, 64, 100] {
        let turns = Turns::new(gpus, 1).unwrap();
        for parts in [1, 2, 4, 16, 50] {
            for root in [0, gpus / 2] {
                let spread = turns.spread(root, parts).unwrap();
                let links: Vec<Vec<Link>> = spread.topologies.iter().map(Topology::expanded).collect();
                check(&spread, root, |round, src, dst| count(&links[round % links.len()], src, dst));
                // One more rank in a round for each that has a part, and the root sends one part a round.
                let least = parts - 1 + gpus.next_power_of_two().ilog2();
                let more = if gpus.is_power_of_two() { 0 } else { 3 };
                assert!((least..=least + more).contains(&(spread.steps.len() as u32)), "{gpus} GPUs, {parts} parts");
            }
        }
    }
}

#[test]
fn floods_and_scatters_reach_all_from_any_root_in_the_hops_of_their_steps() {
    for (spec, gpus, ports) in [("rewired-de-bruijn", 24, 2), ("kautz", 21, 3), ("ring", 7, 2), ("hypercube", 16, 4)] {
        for root in [0, 5] {
            let one = OneTopology::new(built(spec, gpus, ports), root).unwrap();
            let gathered = one.gathered().unwrap();
            let ones = |depth: u32| vec![1; depth as usize];
            for spread in [
                one.flood(&ones(one.tree.depth())),
                one.flood(&[one.tree.depth()]),
                one.scatter_gather(gathered, &ones(gathered.depth())),
                one.scatter_gather(gathered, &[gathered.depth() - 1, 1]),
            ] {
                check(&spread, root, |_, _, _| u32::MAX);
            }
        }
    }
}

#[test]
fn a_rank_that_cannot_be_reached_has_no_broadcast() {
    let links = [Link { src: 0, dst: 1, count: 1 }, Link { src: 2, dst: 0, count: 1 }];
    assert!(rounds(3, 0, 4, 1, Rarity::Now, |_| &links).is_none());
}

#[test]
fn the_cheapest_steps_are_the_least_of_all_ways_to_cut_the_hops() {
    // Some costs without a pattern.
    let step_s = |from: u32, hops: u32| f64::from((from * 7 + hops * hops * 3 + hops * from * 5) % 11 + 1);
    fn all(depth: u32) -> Vec<Vec<u32>> {
        let after = |first: u32| all(depth - first).into_iter().map(move |rest| [&[first], &rest[..]].concat());
        if depth == 0 { vec![Vec::new()] } else { (1..=depth).flat_map(after).collect() }
    }
    for depth in 1..8 {
        let cost = |hops: &Vec<u32>| {
            let mut from = 0;
            hops.iter()
                .map(|&hops| {
                    let s = step_s(from, hops);
                    from += hops;
                    s
                })
                .sum::<f64>()
        };
        let least = all(depth).iter().map(cost).fold(f64::INFINITY, f64::min);
        let (seconds, hops) = cheapest_steps(depth, step_s);
        assert_eq!((seconds, cost(&hops)), (least, least));
    }
}
