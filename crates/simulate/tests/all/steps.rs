//! When steps begin: barriers or dataflow, all circuits dark or those that change, by times worked out by hand.
use crate::plans::by_hand;
use crate::plans::fabric;

use by_hand::{by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{Level, ReconfigurationScope, Settings, Synchronisation, simulate};
use model::{Initial, Plan, ReconfigurationDelay, ReconfigurationOverlap, ReconfigurationPolicy};

const STARTUP_FS: u64 = 500_000_000;
const HOP_FS: u64 = 300_000_000;
const DARK_FS: u64 = 10_000_000_000;
/// A chunk of 1 MiB at 800 Gbit/s.
const CHUNK_FS: u64 = 10_485_760_000;

/// 0 → 1 sends two chunks, then one; 2 → 3 sends one, then 2 → 0 does, whose circuit replaces that of 2 → 3.
fn plan() -> Plan {
    let mut fabric = fabric(&[4], 1);
    fabric.hop_delay_s = 300e-9;
    let first = topology(4, &[(0, 1, 1), (2, 3, 1)]);
    let second = topology(4, &[(0, 1, 1), (2, 0, 1)]);
    fabric.initial = Initial::Topology(first.clone());
    let one_hop = |src, dst, chunks| (src, dst, chunks, vec![(1.0, vec![src, dst])]);
    let steps =
        [(0, 1.0, vec![one_hop(0, 1, 2), one_hop(2, 3, 1)]), (1, 1.0, vec![one_hop(0, 1, 1), one_hop(2, 0, 1)])];
    by_hand(fabric, 64 << 20, vec![first, second], &steps)
}

fn ends(settings: Settings) -> [u64; 3] {
    let mut ends = Vec::new();
    for level in Level::ALL {
        let found = simulate(&plan(), &Settings { level: *level, ..settings }).unwrap();
        let gpus = found.steps[1].expanded_gpus();
        ends.push([1, 0].map(|gpu: usize| gpus[gpu].last_received_fs.unwrap()).into_iter().chain([found.total_fs]));
    }
    let [packets, flows] = [0, 1].map(|level| ends[level].clone().collect::<Vec<_>>());
    assert_eq!(packets, flows);
    [packets[0], packets[1], packets[2]]
}

#[test]
fn barriers_hold_everybody() {
    let first_fs = STARTUP_FS + 2 * CHUNK_FS + HOP_FS;
    let second_fs = STARTUP_FS + CHUNK_FS + HOP_FS;
    let global = first_fs + DARK_FS + second_fs;
    assert_eq!(ends(Settings::default()), [global; 3]);
    let ports = Settings { reconfiguration: ReconfigurationScope::Ports, ..Settings::default() };
    assert_eq!(ends(ports), [first_fs + second_fs, global, global]);
    let barrier = Settings { barrier_s: 1e-6, ..Settings::default() };
    assert_eq!(ends(barrier), [global + 1_000_000_000; 3]);
}

#[test]
fn under_dataflow_everybody_goes_on_alone() {
    let global = Settings { sync: Synchronisation::Dataflow, ..Settings::default() };
    // Dark from when the last GPU, 1, is ready.
    let up_fs = STARTUP_FS + 2 * CHUNK_FS + HOP_FS + DARK_FS;
    assert_eq!(ends(global), [up_fs + STARTUP_FS + CHUNK_FS + HOP_FS; 3]);
    // 0 goes on when it has sent; 2 → 0 is set up when 2 → 3 has passed.
    let ports = Settings { reconfiguration: ReconfigurationScope::Ports, ..global };
    let first = 2 * STARTUP_FS + 3 * CHUNK_FS + HOP_FS;
    let second = 2 * STARTUP_FS + 2 * CHUNK_FS + 2 * HOP_FS + DARK_FS;
    assert_eq!(ends(ports), [first, second, first.max(second)]);
}

/// 0 → 1 and 2 → 3 send two chunks each; 0 → 1 and 1 → 2 send one each, on ports of 1 and 2 that were dark; 2 → 3 sends
/// one on the ports that it gave up. All changes are made in the background.
fn in_background(delay_fs: u64) -> Plan {
    let mut fabric = fabric(&[4], 1);
    fabric.hop_delay_s = 300e-9;
    let overlap = ReconfigurationOverlap { background: true, ..ReconfigurationOverlap::default() };
    fabric.reconfiguration = ReconfigurationPolicy::constant(delay_fs as f64 / 1e15).with_overlap(overlap);
    let first = topology(4, &[(0, 1, 1), (2, 3, 1)]);
    let second = topology(4, &[(0, 1, 1), (1, 2, 1)]);
    let one_hop = |src, dst, chunks| (src, dst, chunks, vec![(1.0, vec![src, dst])]);
    let steps = [
        (0, 1.0, vec![one_hop(0, 1, 2), one_hop(2, 3, 2)]),
        (1, 1.0, vec![one_hop(0, 1, 1), one_hop(1, 2, 1)]),
        (0, 1.0, vec![one_hop(2, 3, 1)]),
    ];
    fabric.initial = Initial::Topology(first.clone());
    by_hand(fabric, 64 << 20, vec![first, second], &steps)
}

#[test]
fn what_the_background_hides_stops_no_traffic() {
    let (first_fs, other_fs) = (STARTUP_FS + 2 * CHUNK_FS + HOP_FS, STARTUP_FS + CHUNK_FS + HOP_FS);
    let total = |delay_fs, settings: Settings| simulate(&in_background(delay_fs), &settings).unwrap().total_fs;
    for reconfiguration in [ReconfigurationScope::Global, ReconfigurationScope::Ports] {
        let settings = Settings { reconfiguration, ..Settings::default() };
        // Both changes are hidden; then what the steps leave of 40 µs.
        assert_eq!(total(DARK_FS, settings), first_fs + 2 * other_fs);
        let long_fs = 4 * DARK_FS;
        assert_eq!(total(long_fs, settings), 2 * long_fs + other_fs);
        let plan = in_background(long_fs);
        assert!((plan.total_s() * 1e15 - (2 * long_fs + other_fs) as f64).abs() < 10.0, "{}", plan.total_s());

        let alone = Settings { sync: Synchronisation::Dataflow, ..settings };
        // 1 goes on when it has two chunks, and sends at once; 2 when it has that chunk.
        assert_eq!(total(DARK_FS, alone), first_fs + 2 * other_fs);
        // 1 → 2 is up 40 µs after the beginning, and 0 → 1 does not wait for it; 2 → 3 is dark when its chunks have
        // passed, and up 40 µs after that.
        let found = simulate(&in_background(long_fs), &alone).unwrap();
        let received = |step: usize, gpu: usize| found.steps[step].expanded_gpus()[gpu].last_received_fs;
        assert_eq!(received(1, 1), Some(2 * STARTUP_FS + 3 * CHUNK_FS + HOP_FS));
        assert_eq!(received(1, 2), Some(long_fs + other_fs));
        assert_eq!(received(2, 3), Some(first_fs + long_fs + other_fs));
    }
}

/// Both circuits of 0 are replaced, the near one on the slow port, the far one on the fast port.
#[test]
fn every_circuit_waits_for_the_switch_of_its_port() {
    let mut fabric = fabric(&[6], 2);
    fabric.hop_delay_s = 300e-9;
    fabric.reconfiguration = ReconfigurationDelay::of_switches(0.0, vec![1e-6, 9e-6]).into();
    let topologies = vec![topology(6, &[(0, 1, 1), (0, 2, 1)]), topology(6, &[(0, 5, 1), (0, 3, 1)])];
    let one_hop = |dst| (0, dst, 1, vec![(1.0, vec![0, dst])]);
    let steps = [(0, 1.0, vec![one_hop(1), one_hop(2)]), (1, 1.0, vec![one_hop(5), one_hop(3)])];
    let plan = by_hand(fabric, 64 << 20, topologies, &steps);
    let step_fs = STARTUP_FS + CHUNK_FS + HOP_FS;
    let received = |reconfiguration, gpu: usize| {
        let found = simulate(&plan, &Settings { reconfiguration, ..Settings::default() }).unwrap();
        found.steps[1].expanded_gpus()[gpu].last_received_fs
    };
    let (slow_fs, fast_fs) = (9_000_000_000, 1_000_000_000);
    assert_eq!([5, 3].map(|gpu| received(ReconfigurationScope::Global, gpu)), [Some(2 * step_fs + slow_fs); 2]);
    let ports = [5, 3].map(|gpu| received(ReconfigurationScope::Ports, gpu));
    assert_eq!(ports, [slow_fs, fast_fs].map(|dark_fs| Some(2 * step_fs + dark_fs)));
}
