//! Bounds for any algorithm, against the best of all schedules of whole blocks on all one-port topologies of a few
//! ranks.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use lightloom_bounds::any_algorithm;
use model::{
    Collective, CostSettings, Fabric, Initial, Link, Overlap, Propagation, ReconfigurationPolicy, Routing, Shape,
    Topology, Translations,
};

/// Startup, hop delay, seconds of a block on a circuit, reconfiguration delay, in a unit of which there are 10^6 in a
/// second.
pub const PRICES: [[f64; 4]; 7] = [
    [1.0, 1.0, 1.0, 1.0],
    [1.0, 0.0, 5.0, 0.0],
    [0.0, 1.0, 2.0, 3.0],
    [5.0, 1.0, 1.0, 20.0],
    [0.5, 0.5, 8.0, 2.0],
    [2.0, 3.0, 0.25, 0.5],
    [0.0, 0.0, 1.0, 4.0],
];

pub fn fabric(ranks: u32, ports: u32, [startup, hop, _, change]: [f64; 4]) -> Fabric {
    Fabric {
        shape: Shape::new(ranks, &[], ports).unwrap(),
        bandwidth_bps: 8e12,
        startup_s: startup * 1e-6,
        barrier_s: 0.0,
        hop_delay_s: hop * 1e-6,
        reconfiguration: ReconfigurationPolicy::constant(change * 1e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}

/// The bound in the prices' unit, where a block is so much of the buffer.
pub fn bound(collective: Collective, ranks: u32, prices: [f64; 4], blocks: u32) -> f64 {
    // A megabyte takes a millionth of a second.
    let size_bytes = (prices[2] * f64::from(blocks) * 1e6) as u64;
    let settings = CostSettings::default();
    any_algorithm(collective, None, &fabric(ranks, 1, prices), settings, size_bytes).seconds() * 1e6
}

/// Where the circuit of each rank goes, for all permutations; a rank that keeps its own has none.
fn permutations(ranks: usize) -> Vec<Vec<usize>> {
    (0..ranks).fold(vec![Vec::new()], |all, _| {
        let longer = |some: &Vec<usize>| {
            let free = (0..ranks).filter(|to| !some.contains(to));
            free.map(|to| [&some[..], &[to]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// Circuits from one rank to another, if they are joined.
fn path(next: &[usize], from: usize, to: usize) -> Option<Vec<usize>> {
    let (mut at, mut circuits) = (from, Vec::new());
    while at != to {
        circuits.push(at);
        at = next[at];
        if at == from {
            return None;
        }
    }
    Some(circuits)
}

/// A step's moves, each over its path; the time of the step.
fn step_s<'a>(ranks: usize, paths: impl Iterator<Item = &'a Vec<usize>>, prices: [f64; 4]) -> f64 {
    let (mut hops, mut loads) = (0, vec![0; ranks]);
    for path in paths {
        hops = hops.max(path.len());
        path.iter().for_each(|&circuit| loads[circuit] += 1);
    }
    let load = loads.into_iter().max().unwrap_or(0);
    prices[0] + prices[1] * hops as f64 + prices[2] * f64::from(load)
}

/// Least time from a state to one that is final, over all sequences of topologies, of which `given` is in force before
/// the first step if there is one: `moves` gives all steps on one of them from one state, as the state after and the
/// time, and states only grow.
fn least(
    start: u32,
    given: Option<&Vec<usize>>,
    last: impl Fn(u32) -> bool,
    topologies: &[Vec<usize>],
    change: f64,
    moves: impl Fn(u32, &[usize]) -> Vec<(u32, f64)>,
) -> f64 {
    let set_up = |topology| if given.is_none_or(|given| given == topology) { 0.0 } else { change };
    let mut best: BTreeMap<u32, Vec<f64>> = BTreeMap::from([(start, topologies.iter().map(set_up).collect())]);
    let mut found = f64::INFINITY;
    while let Some((state, times)) = best.pop_first() {
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        if last(state) {
            found = found.min(least);
            continue;
        }
        for (index, next) in topologies.iter().enumerate() {
            let before = times[index].min(least + change);
            for (after, time) in moves(state, next) {
                let times = best.entry(after).or_insert_with(|| vec![f64::INFINITY; topologies.len()]);
                times[index] = times[index].min(before + time);
            }
        }
    }
    found
}

/// All subsets of the bits of a mask but the empty one.
fn subsets(mask: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(mask), move |&some| some.checked_sub(1).map(|less| less & mask))
        .take_while(|&some| some > 0)
}

/// As [`least`], where states may come back: settled in the order of their times, which are whole numbers of quarters.
fn least_of_any(
    start: u32,
    last: impl Fn(u32) -> bool,
    topologies: usize,
    change: f64,
    mut moves: impl FnMut(u32, usize) -> Vec<(u32, f64)>,
) -> f64 {
    let quarters = |time: f64| (4.0 * time).round() as u64;
    let mut open: BinaryHeap<Reverse<(u64, u32, usize)>> = (0..topologies).map(|t| Reverse((0, start, t))).collect();
    let mut settled = BTreeSet::new();
    while let Some(Reverse((time, state, topology))) = open.pop() {
        if !settled.insert((state, topology)) {
            continue;
        }
        if last(state) {
            return time as f64 / 4.0;
        }
        open.extend((0..topologies).map(|other| Reverse((time + quarters(change), state, other))));
        open.extend(
            moves(state, topology).into_iter().map(|(after, s)| Reverse((time + quarters(s), after, topology))),
        );
    }
    f64::INFINITY
}

/// All ranks get blocks, block b from rank `origins[b]`: bit b·ranks + r says that r holds it.
fn least_spreading(ranks: usize, origins: &[usize], given: Option<&Vec<usize>>, prices: [f64; 4]) -> f64 {
    let blocks = origins.len();
    let all = (1_u32 << (ranks * blocks)) - 1;
    let start = origins.iter().enumerate().map(|(block, origin)| 1 << (block * ranks + origin)).sum();
    least(
        start,
        given,
        |state| state == all,
        &permutations(ranks),
        prices[3],
        |state, next| {
            // The nearest holder before a rank: its path is part of those from all others.
            let nearest: Vec<Option<Vec<usize>>> = (0..ranks * blocks)
                .map(|bit| {
                    let holders = (0..ranks).filter(|from| state >> (bit / ranks * ranks + from) & 1 == 1);
                    holders.filter_map(|from| path(next, from, bit % ranks)).min_by_key(Vec::len)
                })
                .collect();
            let reached = (0..ranks * blocks).filter(|&bit| state >> bit & 1 == 0 && nearest[bit].is_some());
            let reached: u32 = reached.map(|bit| 1 << bit).sum();
            let moved = |some: u32| {
                let paths = nearest.iter().enumerate().filter(|(bit, _)| some >> bit & 1 == 1);
                (state | some, step_s(ranks, paths.filter_map(|(_, path)| path.as_ref()), prices))
            };
            subsets(reached).map(moved).collect()
        },
    )
}

#[test]
#[ignore = "large: make test-large"]
fn no_all_gather_of_four_ranks_and_no_broadcast_of_six_is_faster() {
    for prices in PRICES {
        // Four ranks take seconds each.
        for ranks in 2..=if prices[3] > 2.0 { 4 } else { 3 } {
            let (bound, least) = (
                bound(Collective::AllGather, ranks, prices, ranks),
                least_spreading(ranks as usize, &(0..ranks as usize).collect::<Vec<_>>(), None, prices),
            );
            assert!(bound <= least * (1.0 + 1e-9), "{prices:?}, {ranks} ranks: {bound} {least}");
            // The relaxation is not far below whole blocks.
            assert!(bound >= 0.8 * least, "{prices:?}, {ranks} ranks: {bound} {least}");
        }
        for ranks in 2..=6 {
            let (bound, least) =
                (bound(Collective::Broadcast, ranks, prices, 1), least_spreading(ranks as usize, &[0], None, prices));
            assert!(bound <= least * (1.0 + 1e-9), "{prices:?}, {ranks} ranks: {bound} {least}");
        }
    }
}

#[test]
fn no_broadcast_in_parts_is_faster_from_any_start() {
    for prices in PRICES {
        for (ranks, parts) in [(3, 2), (3, 3), (4, 2)] {
            let origins = vec![0; parts as usize];
            let free = bound(Collective::Broadcast, ranks, prices, parts);
            let least = least_spreading(ranks as usize, &origins, None, prices);
            assert!(free <= least * (1.0 + 1e-9), "{prices:?}, {ranks} ranks, {parts} parts: {free} {least}");
            // Parts that cannot be cut further wait for each other: on a ring without delays two take twice as long.
            assert!(free >= 0.49 * least, "{prices:?}, {ranks} ranks, {parts} parts: {free} {least}");
            for next in permutations(ranks as usize) {
                let links = next.iter().enumerate().filter(|(src, dst)| src != *dst);
                let links = links.map(|(src, &dst)| Link { src: src as u32, dst: dst as u32, count: 1 });
                let Ok(given) = Topology::new("given", Translations::trivial(ranks), links) else { continue };
                if given.links().is_empty() {
                    continue;
                }
                let mut fabric = fabric(ranks, 1, prices);
                fabric.initial = Initial::Topology(given);
                let size_bytes = (prices[2] * f64::from(parts) * 1e6) as u64;
                let settings = CostSettings::default();
                let bound = any_algorithm(Collective::Broadcast, None, &fabric, settings, size_bytes).seconds() * 1e6;
                let least = least_spreading(ranks as usize, &origins, Some(&next), prices);
                assert!(free <= bound && bound <= least * (1.0 + 1e-9), "{prices:?} {next:?}: {free} {bound} {least}");
            }
        }
    }
}

#[test]
fn a_broadcast_stays_on_a_ring_for_as_many_hops_as_it_has_or_pays_for_a_change() {
    // By hand: one step and all 15 hops.
    let mut fabric = fabric(16, 2, [1.0, 1.0, 0.0, 100.0]);
    let ring = [Link { src: 0, dst: 1, count: 2 }];
    fabric.initial = Initial::Topology(Topology::new("ring", Translations::cyclic(16), ring).unwrap());
    let of = |fabric: &Fabric| any_algorithm(Collective::Broadcast, None, fabric, CostSettings::default(), 1).seconds();
    assert!((of(&fabric) - 16e-6).abs() < 1e-10, "{}", of(&fabric));
    fabric.reconfiguration = ReconfigurationPolicy::constant(3e-6);
    // A path has only one rank that reaches all others: here by a step of two hops.
    let mut path = self::fabric(3, 1, [1.0, 1.0, 0.0, 100.0]);
    let links = [(0, 1), (1, 2)].map(|(src, dst)| Link { src, dst, count: 1 });
    path.initial = Initial::Topology(Topology::new("path", Translations::trivial(3), links).unwrap());
    assert!((of(&path) - 3e-6).abs() < 1e-10, "{}", of(&path));
    // On two ports 1 + 2 + 4 + 8 + 16 ranks within four hops are enough: a startup, four hops and a change.
    assert!((of(&fabric) - 8e-6).abs() < 1e-10, "{}", of(&fabric));
}

#[test]
fn no_all_to_all_of_three_ranks_is_faster() {
    const RANKS: usize = 3;
    let pairs: Vec<(usize, usize)> = (0..9).map(|pair| (pair / 3, pair % 3)).filter(|(src, dst)| src != dst).collect();
    let topologies = permutations(RANKS);
    // A digit of three for each block: where it is.
    let place = |state: u32, block: usize| state as usize / 3_usize.pow(block as u32) % 3;
    let state_of =
        |place: fn(&(usize, usize)) -> usize| pairs.iter().rev().fold(0, |state, pair| 3 * state + place(pair) as u32);
    let (start, last) = (state_of(|pair| pair.0), state_of(|pair| pair.1));
    for prices in PRICES {
        let moves = |state: u32, topology: usize| {
            let next = &topologies[topology];
            let way = |from: usize| [0, 1, 2].map(|to| path(next, from, to));
            let ways = [way(0), way(1), way(2)];
            let moved = |after: u32| {
                let paths = (0..pairs.len()).map(|block| ways[place(state, block)][place(after, block)].as_ref());
                let joined = paths.clone().all(|path| path.is_some());
                joined.then(|| (after, step_s(RANKS, paths.flatten(), prices)))
            };
            (0..3_u32.pow(6)).filter_map(moved).collect()
        };
        let least = least_of_any(start, |state| state == last, topologies.len(), prices[3], moves);
        let bound = bound(Collective::AllToAll, RANKS as u32, prices, RANKS as u32);
        assert!(bound <= least * (1.0 + 1e-9) && bound >= 0.6 * least, "{prices:?}: {bound} {least}");
    }
}

#[test]
fn no_all_reduce_of_one_chunk_on_three_ranks_is_faster() {
    const RANKS: usize = 3;
    // Three bits for each rank: whose contributions are in its sum. Sums that share some cannot be added; then the
    // receiver keeps the other one instead.
    let held = |state: u32, rank: usize| state >> (3 * rank) & 7;
    let topologies = permutations(RANKS);
    for prices in PRICES {
        let sent = |chosen: u32| (0..9).filter(move |pair| chosen >> pair & 1 == 1).map(|pair| (pair / 3, pair % 3));
        let time = |next: &Vec<usize>, chosen: u32| {
            let paths = sent(chosen).map(|(src, dst)| path(next, src, dst).filter(|path| !path.is_empty()));
            let paths: Option<Vec<Vec<usize>>> = paths.collect();
            paths.map(|paths| (chosen, step_s(RANKS, paths.iter(), prices)))
        };
        let steps: Vec<Vec<(u32, f64)>> =
            topologies.iter().map(|next| (1..1 << 9).filter_map(|chosen| time(next, chosen)).collect()).collect();
        let moves = |state: u32, topology: usize| {
            let moved = |&(chosen, time): &(u32, f64)| {
                let after = sent(chosen).fold(state, |after, (src, dst)| {
                    let (own, got) = (held(after, dst), held(state, src));
                    let sum = if own & got == 0 { own | got } else { got };
                    after & !(7 << (3 * dst)) | sum << (3 * dst)
                });
                (after, time)
            };
            steps[topology].iter().map(moved).collect()
        };
        let least = least_of_any(0b100_010_001, |state| state == 0b111_111_111, topologies.len(), prices[3], moves);
        let bound = bound(Collective::AllReduce, RANKS as u32, prices, 1);
        assert!(bound <= least * (1.0 + 1e-9), "{prices:?}: {bound} {least}");
    }
}

/// Phases of `radix` ranks each: on one topology a ring of radix − 1 steps, or one step that sends to all radix − 1.
/// Their cost, in the prices' unit, is told by their definition.
fn composed(phases: &[(u32, bool)], prices: [f64; 4]) -> f64 {
    let [startup, hop, block, change] = prices;
    let mut held = 1.0;
    let mut total = change * (phases.len() - 1) as f64;
    for &(radix, ring) in phases {
        let others = f64::from(radix - 1);
        total += match ring {
            true => others * (startup + hop + block * held),
            false => startup + others * hop + block * held * others * (others + 1.0) / 2.0,
        };
        held *= f64::from(radix);
    }
    total
}

#[test]
fn compositions_of_rings_and_direct_phases_are_above_it_and_near() {
    let mut worst: f64 = 1.0;
    for (startup, hop, block, change) in [
        (1.7, 1.0, 0.01, 1.0),
        (1.7, 1.0, 2.6, 1.0),
        (1.7, 1.0, 2.6, 100.0),
        (0.5, 0.5, 20.0, 10.0),
        (1.0, 1.0, 1.0, 5.0),
    ] {
        let prices = [startup, hop, block, change];
        let mut least = f64::INFINITY;
        let mut open: Vec<Vec<(u32, bool)>> = vec![Vec::new()];
        while let Some(phases) = open.pop() {
            let left = 64 / phases.iter().map(|(radix, _)| radix).product::<u32>();
            if left == 1 {
                least = least.min(composed(&phases, prices));
            }
            for radix in (2..=left).filter(|radix| left % radix == 0) {
                open.extend([true, false].map(|ring| [&phases[..], &[(radix, ring)]].concat()));
            }
        }
        let bound = bound(Collective::AllGather, 64, prices, 64);
        assert!(bound <= least * (1.0 + 1e-9), "{prices:?}: {bound} {least}");
        worst = worst.max(least / bound);
    }
    assert!(worst < 1.05, "the best composition takes {worst} times the bound");
}

#[test]
fn settings_only_weaken_it_and_a_dark_start_adds_a_change() {
    for &collective in Collective::ALL {
        for ports in 1..4 {
            let mut fabric = fabric(12, ports, [1.0, 2.0, 0.0, 7.0]);
            let of = |fabric: &Fabric, propagation, overlap| {
                let settings = CostSettings { overlap, ..CostSettings::additive(Routing::ConcurrentFlow, propagation) };
                any_algorithm(collective, None, fabric, settings, 24_000_000).seconds()
            };
            let additive = of(&fabric, Propagation::Hops, Overlap::Additive);
            assert!(of(&fabric, Propagation::InverseThroughput, Overlap::Additive) <= additive);
            assert!(of(&fabric, Propagation::Hops, Overlap::Pipelined) <= additive);
            let dark = Topology::new("dark", Translations::cyclic(12), []).unwrap();
            fabric.initial = Initial::Topology(dark);
            let later = of(&fabric, Propagation::Hops, Overlap::Additive);
            assert!((later - additive - 7e-6).abs() < 1e-15, "{later} {additive}");
        }
    }
}

#[test]
fn reduce_scatter_is_all_gather_backwards() {
    for prices in PRICES {
        assert_eq!(bound(Collective::ReduceScatter, 24, prices, 24), bound(Collective::AllGather, 24, prices, 24));
    }
}
