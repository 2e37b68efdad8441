//! Flow level against times that are known.
use crate::plans::by_hand;
use crate::plans::fabric;
use crate::plans::planned;

use by_hand::{by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{Level, Settings, Symmetry, Synchronisation, simulate};
use model::{Collective, Translations};
use planned::planned;
use proptest::prelude::*;

fn flow_level() -> Settings {
    Settings { level: Level::Flow, ..Settings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(60)))]

    /// α + δ·hops + β·m·load, since every circuit of a ring is as busy as every other.
    #[test]
    fn one_way_rings_take_the_additive_time(
        log_gpus in 1_u32..7, log_bytes in 12_u32..20, delay_ns in 0_u32..2000, full in prop::bool::ANY,
        sync in prop::sample::select(Synchronisation::ALL),
        ring in prop::sample::select(vec![Some("shifted-ring:1,one-way"), None])
    ) {
        let mut fabric = fabric(&[1 << log_gpus], 1);
        fabric.hop_delay_s = f64::from(delay_ns) * 1e-9;
        let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", 1 << (log_gpus + log_bytes), ring);
        let symmetry = if full { Symmetry::Full } else { Symmetry::Quotient };
        let found = simulate(&plan, &Settings { symmetry, sync, ..flow_level() }).unwrap();
        prop_assert!((found.total_s() / plan.total_s() - 1.0).abs() < 1e-9, "{} {}", found.total_s(), plan.total_s());
    }
}

/// A line of three circuits; one flow over all and one over each. The long one gets a half of each; the others
/// are through at 2m and the long one then has the line for itself.
#[test]
fn rates_are_max_min_fair() {
    let mut fabric = fabric(&[4], 2);
    (fabric.startup_s, fabric.hop_delay_s) = (0.0, 1e-6);
    let line = topology(4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1)]);
    let sent = vec![
        (0, 3, 2, vec![(1.0, vec![0, 1, 2, 3])]),
        (0, 1, 1, vec![(1.0, vec![0, 1])]),
        (1, 2, 1, vec![(1.0, vec![1, 2])]),
        (2, 3, 1, vec![(1.0, vec![2, 3])]),
    ];
    let plan = by_hand(fabric, 64 << 20, vec![line], &[(0, 3.0, sent)]);
    let found = simulate(&plan, &flow_level()).unwrap();
    let chunk_s = f64::from(1 << 20) * 8.0 / 8e11;
    let received: Vec<f64> =
        found.steps[0].expanded_gpus().iter().map(|gpu| gpu.last_received_fs.unwrap_or(0) as f64 * 1e-15).collect();
    for (received, expected) in
        received.iter().zip([0.0, 2.0 * chunk_s + 1e-6, 2.0 * chunk_s + 1e-6, 3.0 * chunk_s + 3e-6])
    {
        assert!((received - expected).abs() < 1e-12, "{received} {expected}");
    }
    assert_eq!(found.steps[0].symmetry, Translations::trivial(4));
}

/// Two flows over parallel circuits: one link of two circuits is as fast as two links.
#[test]
fn parallel_circuits_add_up() {
    for circuits in 1..5 {
        let mut fabric = fabric(&[2], 8);
        (fabric.startup_s, fabric.hop_delay_s) = (0.0, 0.0);
        let link = topology(2, &[(0, 1, circuits)]);
        let plan = by_hand(fabric, 60 << 20, vec![link], &[(0, 1.0, vec![(0, 1, 64, vec![(1.0, vec![0, 1])])])]);
        let settings = Settings { payload_bytes: 1024, ..flow_level() };
        let found = simulate(&plan, &settings).unwrap();
        let expected = f64::from(60 << 20) * 8.0 / 8e11 / f64::from(circuits);
        assert!((found.total_s() / expected - 1.0).abs() < 1e-9);
    }
}

/// The time of step 0 at flow level, without startup and hop delay, over that of a chunk on a circuit.
fn chunks_of_time(gpus: u32, links: &[(u32, u32, u32)], sent: Vec<by_hand::Sent>, size_bytes: u64) -> Vec<f64> {
    let mut fabric = fabric(&[gpus], 8);
    (fabric.startup_s, fabric.hop_delay_s) = (0.0, 0.0);
    let plan = by_hand(fabric, size_bytes, vec![topology(gpus, links)], &[(0, 1.0, sent)]);
    let found = simulate(&plan, &flow_level()).unwrap();
    let chunk_s = size_bytes as f64 / 64.0 * 8.0 / 8e11;
    let times = found.steps[0].expanded_gpus();
    times.iter().map(|gpu| gpu.last_received_fs.unwrap_or(0) as f64 * 1e-15 / chunk_s).collect()
}

/// 0 sends 2 chunks to 3, and 1 one chunk to 4, both over the circuit 2 → 3, from which 4 is one further. Two transfers
/// share it by halves, so that 1's is through after 2 chunks of time and 0's after 3, however 0's is cut: over one
/// circuit to 2, over two, or by a path that is told twice.
#[test]
fn a_transfer_has_one_share_however_it_is_cut() {
    for (circuits, paths) in [
        (1, vec![(1.0, vec![0, 2, 3])]),
        (2, vec![(1.0, vec![0, 2, 3])]),
        (5, vec![(1.0, vec![0, 2, 3])]),
        (1, vec![(0.5, vec![0, 2, 3]), (0.5, vec![0, 2, 3])]),
        (3, vec![(0.25, vec![0, 2, 3]), (0.75, vec![0, 2, 3])]),
    ] {
        let links = [(0, 2, circuits), (1, 2, 1), (2, 3, 1), (3, 4, 1)];
        let sent = vec![(0, 3, 2, paths.clone()), (1, 4, 1, vec![(1.0, vec![1, 2, 3, 4])])];
        let found = chunks_of_time(5, &links, sent, 64 << 20);
        for (gpu, expected) in [(3, 3.0), (4, 2.0)] {
            assert!((found[gpu] - expected).abs() < 1e-6, "{circuits} {paths:?}: {found:?}");
        }
    }
}

/// Two parallel circuits, or two paths, carry a half each of the smallest transfer; so do fractions of a byte.
#[test]
fn bytes_are_split_by_the_shares_however_few() {
    for size_bytes in [1, 13, 64, 100, 4096] {
        let halves = |links: &[(u32, u32, u32)], paths| chunks_of_time(3, links, vec![(0, 1, 1, paths)], size_bytes)[1];
        let parallel = halves(&[(0, 1, 2)], vec![(1.0, vec![0, 1])]);
        let paths = halves(&[(0, 1, 1), (0, 2, 1), (2, 1, 1)], vec![(0.5, vec![0, 1]), (0.5, vec![0, 2, 1])]);
        // A femtosecond of rounding is a ten-thousandth of a byte.
        assert!((parallel - 0.5).abs() < 0.01 && (paths - 0.5).abs() < 0.01, "{size_bytes}: {parallel} {paths}");
    }
}
