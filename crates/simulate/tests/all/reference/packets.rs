//! The packets of a step, cut from its transfers and put on circuits, and their times on these.

use std::collections::{BTreeMap, BTreeSet};

use lightloom_simulate::{Injection, Settings};
use model::{Plan, Rank, Topology};

/// (src, dst, number among the parallel circuits).
pub type Circuit = (Rank, Rank, u32);

/// A packet of a step.
pub struct Packet {
    /// Circuits on its way.
    pub way: Vec<usize>,
    pub bytes: u64,
    pub wire_fs: u64,
    /// Step, arc, path, circuit in parallel, number on the path.
    pub order: (usize, usize, usize, usize, usize),
    /// Number in the transfer.
    pub number: usize,
    /// Sender and receiver.
    pub ends: (Rank, Rank),
}

/// The time of whole bytes on a circuit, fs; whole rates only.
pub fn time_on_wire(plan: &Plan, bytes: u64) -> u64 {
    (u128::from(bytes) * 8_000_000_000_000_000).div_ceil(plan.fabric.bandwidth_bps as u128) as u64
}

/// The time of bytes that need not be whole ones.
fn time_of_part(plan: &Plan, bytes: f64) -> u64 {
    match bytes.fract() == 0.0 {
        true => time_on_wire(plan, bytes as u64),
        // A rounding error is no femtosecond.
        false => (bytes * 8e15 / plan.fabric.bandwidth_bps * (1.0 - 1e-12)).ceil() as u64,
    }
}

/// The circuits of a topology.
pub fn circuits(topology: &Topology) -> Vec<Circuit> {
    topology.expanded().iter().flat_map(|link| (0..link.count).map(|k| (link.src, link.dst, k))).collect()
}

/// Every packet of a step, and when it is handed over after the start of the step.
pub fn all_packets(
    plan: &Plan,
    settings: &Settings,
    index: usize,
    number: &BTreeMap<Circuit, usize>,
) -> Vec<(Packet, u64)> {
    let up: BTreeSet<Circuit> = circuits(&plan.topologies[plan.steps[index].topology]).into_iter().collect();
    let step = &plan.steps[index];
    let group = &step.routes.symmetry;
    let weights: BTreeMap<(Rank, Rank), f64> =
        step.step.traffic().expanded().iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
    let (payload, header) = (u64::from(settings.payload_bytes), u64::from(settings.header_bytes));
    let largest_bytes = step.step.share() * plan.size_bytes as f64;
    // A whole number but for rounding is that number.
    let exact = |bytes: f64| {
        let whole = bytes.round();
        if whole > 0.5 && (bytes - whole).abs() <= 1e-6 + bytes * 4e-15 { whole } else { bytes }
    };
    // Packet by packet, what is left of this many bytes.
    let cut = |bytes: f64| -> Vec<f64> {
        let left = |nth: u64| bytes - (nth * payload) as f64;
        (0..).map(left).take_while(|left| *left > 0.0).map(|left| left.min(payload as f64)).collect()
    };
    // Bytes on the busiest circuit over those of the largest transfer.
    let mut carried: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
    for routed in &step.routes.arcs {
        for path in &routed.paths {
            for (element, hop) in group.elements().into_iter().flat_map(|e| path.nodes.windows(2).map(move |h| (e, h)))
            {
                let ends = (group.apply(element, hop[0]), group.apply(element, hop[1]));
                *carried.entry(ends).or_insert(0.0) += weights[&(routed.src, routed.dst)] * path.share;
            }
        }
    }
    let parallel = |(src, dst): (Rank, Rank)| (0..).take_while(|&k| up.contains(&(src, dst, k))).count() as f64;
    let load = carried.iter().map(|(ends, amount)| amount / parallel(*ends)).fold(0.0, f64::max);
    let mut packets = Vec::new();
    for (arc, routed) in step.routes.arcs.iter().enumerate() {
        let cut_up = cut(exact(largest_bytes * weights[&(routed.src, routed.dst)]));
        // Packet by packet to the path that is furthest behind.
        let mut sizes: Vec<Vec<(u64, f64)>> = vec![Vec::new(); routed.paths.len()];
        for (nth, size) in (0..).zip(cut_up) {
            let behind = |path: usize| routed.paths[path].share * (nth + 1) as f64 - sizes[path].len() as f64;
            let mut best = 0;
            for path in 1..routed.paths.len() {
                // A rounding error of shares counts for nothing.
                if behind(path) > behind(best) + 1e-9 {
                    best = path;
                }
            }
            sizes[best].push((nth, size + header as f64));
        }
        for (path, sizes) in sizes.iter().enumerate() {
            let largest = exact(largest_bytes);
            let on_wire = largest + (cut(largest).len() as u64 * header) as f64;
            let spread_fs = on_wire * 8e15 / plan.fabric.bandwidth_bps * load;
            let interval_fs = match settings.injection {
                Injection::Burst => 0,
                Injection::Paced => (spread_fs / sizes.len() as f64 * (1.0 - 1e-12)).ceil() as u64,
            };
            for element in group.elements() {
                let nodes: Vec<Rank> =
                    routed.paths[path].nodes.iter().map(|&node| group.apply(element, node)).collect();
                let count = |pair: &[Rank]| (0..).take_while(|&k| up.contains(&(pair[0], pair[1], k))).count();
                let cycle = nodes.windows(2).map(count).fold(1, lcm).min(sizes.len().max(1));
                for (nth, &(in_transfer, size)) in sizes.iter().enumerate() {
                    let parallel = nth % cycle;
                    let circuit = |pair: &[Rank]| number[&(pair[0], pair[1], (parallel % count(pair)) as u32)];
                    let way = nodes.windows(2).map(circuit).collect();
                    let order = (index, arc, path, parallel, nth);
                    let ends = (nodes[0], nodes[nodes.len() - 1]);
                    let (wire_fs, number, bytes) = (time_of_part(plan, size), in_transfer as usize, size.ceil() as u64);
                    let packet = Packet { way, bytes, wire_fs, order, number, ends };
                    packets.push((packet, nth as u64 * interval_fs));
                }
            }
        }
    }
    packets
}

fn lcm(a: usize, b: usize) -> usize {
    (1..=b).map(|k| a * k).find(|multiple| multiple % b == 0).unwrap_or(a)
}
