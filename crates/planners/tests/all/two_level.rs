//! FAST on servers: every byte's way followed, shares, matchings, times by hand and bounds.

use std::collections::BTreeMap;

use lightloom_planners::two_level::{FastOnServers, ServerNetwork, fast_on_servers};
use proptest::prelude::*;

/// 1 B/s over circuits, 8 B/s within servers, no delays.
fn network(server_gpus: u32) -> ServerNetwork {
    ServerNetwork {
        server_gpus,
        electrical_bytes_per_s: 8.0,
        electrical_step_s: 0.0,
        optical_bytes_per_s: 1.0,
        optical_step_s: 0.0,
        reconfiguration_s: 0.0,
    }
}

/// Executes the schedule: what is where, GPU by GPU, with electrical moves inside servers and one circuit per GPU in a
/// stage. Returns what arrived, `[(src, dst)]`, of pairs in different servers.
fn executed(matrix: &[Vec<f64>], m: u32, found: &FastOnServers) -> BTreeMap<(u32, u32), f64> {
    let n = matrix.len() as u32;
    // Bytes at (holder, src, dst): at first with their owners.
    let mut held: BTreeMap<(u32, u32, u32), f64> = BTreeMap::new();
    for (src, row) in (0..n).zip(matrix) {
        for (dst, &bytes) in (0..n).zip(row) {
            held.insert((src, src, dst), bytes);
        }
    }
    for stage in &found.stages {
        // One circuit out of and into a GPU: GPU i of the server to GPU i of its match.
        let mut circuits: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut senders, mut receivers): (Vec<u32>, Vec<u32>) = stage.pairs.iter().copied().unzip();
        for servers in [&mut senders, &mut receivers] {
            let pairs = servers.len();
            servers.sort_unstable();
            servers.dedup();
            assert_eq!(servers.len(), pairs, "a matching");
        }
        for &(from, to) in &stage.pairs {
            assert_ne!(from, to);
            circuits.extend((0..m).map(|i| (from * m + i, to * m + i)));
        }
        for parcel in &stage.parcels {
            assert!(parcel.bytes > 0.0);
            assert_eq!(parcel.src / m, parcel.sender / m, "balancing stays in the server");
            assert_eq!(circuits.get(&parcel.sender), Some(&parcel.receiver));
            assert_eq!(parcel.receiver / m, parcel.dst / m, "redistribution stays in the server");
            for (from, to) in
                [(parcel.src, parcel.sender), (parcel.sender, parcel.receiver), (parcel.receiver, parcel.dst)]
            {
                let there = held.get_mut(&(from, parcel.src, parcel.dst)).expect("it holds them");
                *there -= parcel.bytes;
                assert!(
                    *there >= -1e-9 * (1.0 + matrix[parcel.src as usize][parcel.dst as usize]),
                    "{from} sends {there}"
                );
                *held.entry((to, parcel.src, parcel.dst)).or_insert(0.0) += parcel.bytes;
            }
        }
    }
    let arrived = held.into_iter().filter(|&((at, src, dst), _)| at == dst && src / m != dst / m);
    arrived.map(|((_, src, dst), bytes)| ((src, dst), bytes)).collect()
}

/// Bytes that each GPU sends over circuits, to each server.
fn sent(found: &FastOnServers, m: u32) -> BTreeMap<(u32, u32), f64> {
    let mut sent = BTreeMap::new();
    for parcel in found.stages.iter().flat_map(|stage| &stage.parcels) {
        *sent.entry((parcel.sender, parcel.receiver / m)).or_insert(0.0) += parcel.bytes;
    }
    sent
}

/// Two servers of two GPUs. GPU 0 has 8 bytes for GPU 3, nothing else crosses: 4 go by GPU 1, whose peer is GPU 3, and
/// 4 by GPU 2, which hands them on.
#[test]
fn one_flow_by_hand() {
    let mut matrix = vec![vec![0.0; 4]; 4];
    matrix[0][3] = 8.0;
    let found = fast_on_servers(&matrix, &network(2)).unwrap();
    let [stage] = &found.stages[..] else { panic!("one matching") };
    assert_eq!(stage.pairs, [(0, 1)]);
    let mut ways: Vec<_> = stage.parcels.iter().map(|p| (p.src, p.sender, p.receiver, p.dst, p.bytes)).collect();
    ways.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(ways, [(0, 0, 2, 3, 4.0), (0, 1, 3, 3, 4.0)]);
    // 4 bytes to GPU 1 at 8 B/s, 4 over each circuit at 1 B/s, 4 from GPU 2 to GPU 3.
    assert_eq!((found.before_s, stage.optical_s, found.after_s, found.inside_s), (0.5, 4.0, 0.5, 0.0));
    assert_eq!((found.total_s, found.bound_s), (5.0, 4.0));
    // A change of 2 s hides the balancing; a stage's own delay and those of phases are added.
    let slow = ServerNetwork { reconfiguration_s: 2.0, optical_step_s: 0.25, electrical_step_s: 0.125, ..network(2) };
    let found = fast_on_servers(&matrix, &slow).unwrap();
    assert_eq!((found.before_s, found.after_s), (2.0, 0.625));
    assert_eq!((found.total_s, found.bound_s), (2.0 + 4.25 + 0.625, 2.0 + 4.25));
}

/// Equal blocks need no balancing. N servers of m GPUs: N − 1 stages, each of m·m blocks per pair of servers, m over each
/// circuit, m − 1 of them for other GPUs; the m − 1 blocks within servers hide.
#[test]
fn equal_blocks_in_closed_form() {
    for (servers, m) in [(2, 2), (3, 4), (8, 8)] {
        let n = servers * m;
        let found = fast_on_servers(&vec![vec![16.0; n]; n], &network(m as u32)).unwrap();
        let (stage_s, handed_s) = (16.0 * m as f64, 2.0 * (m - 1) as f64);
        assert_eq!(found.stages.len(), servers - 1);
        assert!(found.stages.iter().all(|stage| (stage.optical_s - stage_s).abs() < 1e-9 * stage_s));
        assert!(found.stages[1..].iter().all(|stage| (stage.electrical_s - handed_s).abs() < 1e-9 * stage_s));
        let total_s = (servers - 1) as f64 * stage_s + handed_s;
        assert_eq!((found.before_s, found.inside_s), (0.0, 0.0));
        assert!((found.total_s - total_s).abs() < 1e-9 * total_s, "{} {total_s}", found.total_s);
        assert!((found.bound_s - (total_s - handed_s)).abs() < 1e-9 * total_s);
    }
}

/// Where nothing crosses, all is sent within servers at once.
#[test]
fn one_server_needs_no_circuit() {
    let found = fast_on_servers(&vec![vec![8.0; 4]; 4], &network(4)).unwrap();
    assert_eq!((found.stages.len(), found.total_s, found.bound_s), (0, 3.0, 3.0));
}

#[test]
fn wrong_matrices_and_servers_are_refused_by_name() {
    let field = |matrix: &[Vec<f64>], network: &ServerNetwork| {
        fast_on_servers(matrix, network).unwrap_err().field().to_string()
    };
    let good = vec![vec![1.0; 4]; 4];
    for m in [0, 1, 3, 8] {
        assert_eq!(field(&good, &network(m)), "electrical");
    }
    let mut bad = good.clone();
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        bad[1][2] = wrong;
        assert_eq!(field(&bad, &network(2)), "matrix");
    }
    bad[1].pop();
    assert_eq!(field(&bad, &network(2)), "matrix");
    assert_eq!(field(&vec![vec![0.0; 4]; 4], &network(2)), "matrix");
    assert_eq!(field(&good, &ServerNetwork { electrical_bytes_per_s: 0.0, ..network(2) }), "electrical");
    assert_eq!(field(&good, &ServerNetwork { optical_bytes_per_s: f64::NAN, ..network(2) }), "bandwidth");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

    #[test]
    fn every_byte_arrives_over_equal_shares(
        servers in 2usize..6, m in 2usize..5, delays in any::<bool>(),
        entries in prop::collection::vec(prop_oneof![2 => Just(0.0), 3 => 0.5f64..1e6, 1 => 1e6f64..1e9], 400),
    ) {
        let n = servers * m;
        let matrix: Vec<Vec<f64>> = (0..n).map(|src| entries[src * 20..src * 20 + n].to_vec()).collect();
        prop_assume!((0..n).any(|src| (0..n).any(|dst| src != dst && matrix[src][dst] > 0.0)));
        let mut network = network(m as u32);
        if delays {
            (network.electrical_step_s, network.optical_step_s, network.reconfiguration_s) = (1e-3, 1.0, 1e5);
        }
        let found = fast_on_servers(&matrix, &network).unwrap();
        let arrived = executed(&matrix, m as u32, &found);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs() + 1e-3);
        let (mut busiest, mut moved) = (0.0, BTreeMap::new());
        for (src, row) in matrix.iter().enumerate() {
            for (dst, &sent) in row.iter().enumerate().filter(|(dst, _)| dst / m != src / m) {
                let bytes = arrived.get(&(src as u32, dst as u32)).copied().unwrap_or(0.0);
                prop_assert!(close(bytes, sent), "{src} to {dst}: {bytes} of {sent}");
                *moved.entry((src / m, dst / m)).or_insert(0.0) += sent;
            }
        }
        // Every GPU of a server sends the same to each other server, and balancing moves no more than that needs.
        let shares = sent(&found, m as u32);
        for (&(from, to), &total) in moved.iter().filter(|(_, total)| **total > 0.0) {
            let share = total / m as f64;
            for i in 0..m {
                prop_assert!(close(shares[&((from * m + i) as u32, to as u32)], share));
            }
            let row = |src: usize| matrix[src][to * m..to * m + m].iter().sum::<f64>();
            let least: f64 = (from * m..from * m + m).map(|src| (row(src) - share).max(0.0)).sum();
            let of_pair = found.stages.iter().flat_map(|stage| &stage.parcels).filter(|parcel| {
                (parcel.src as usize / m, parcel.dst as usize / m) == (from, to) && parcel.src != parcel.sender
            });
            prop_assert!(close(of_pair.map(|parcel| parcel.bytes).sum(), least) || least < 1e-9 * total);
        }
        for server in 0..servers {
            let out: f64 = moved.iter().filter(|((from, _), _)| *from == server).map(|(_, bytes)| bytes).sum();
            let into: f64 = moved.iter().filter(|((_, to), _)| *to == server).map(|(_, bytes)| bytes).sum();
            busiest = f64::max(busiest, out.max(into));
        }
        // Circuits send for as long as those of the busiest server must, and no time is below the bound.
        let changes = found.stages.len().saturating_sub(1) as f64 * network.reconfiguration_s;
        let delays_s = changes + found.stages.len() as f64 * network.optical_step_s;
        let optical_s: f64 = found.stages.iter().map(|stage| stage.optical_s).sum();
        prop_assert!(close(optical_s - delays_s, busiest / m as f64), "{optical_s} {delays_s} {busiest}");
        prop_assert!(found.total_s >= found.bound_s * (1.0 - 1e-9));
        prop_assert!(found.total_s >= (optical_s + found.before_s + found.after_s) * (1.0 - 1e-9));
        prop_assert!(found.stages.len() <= servers * servers - 2 * servers + 2);
    }
}
