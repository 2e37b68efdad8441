//! Congestion control: what no control changes, what every control keeps, and what symmetry keeps.
use crate::plans::by_hand;
use crate::plans::fabric;
use crate::plans::planned;

use by_hand::{by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{
    CongestionControl, Forwarding, Injection, Level, ReconfigurationScope, Settings, Simulation, Symmetry,
    Synchronisation, simulate,
};
use model::{Collective, Initial, Plan, Rank, ReconfigurationPolicy};
use planned::planned;
use proptest::prelude::*;

/// Chunks of the buffer of a plan by hand.
const CHUNKS: u64 = 64;

fn control(text: &str) -> CongestionControl {
    CongestionControl::parse(text).unwrap()
}

fn under(text: &str) -> Settings {
    Settings { congestion_control: control(text), payload_bytes: 1000, ..Settings::default() }
}

/// `senders` GPUs send `packets` packets each to one receiver, over a GPU that all of it passes.
fn into_one(senders: u32, packets: u64) -> Plan {
    let (hub, receiver) = (senders, senders + 1);
    let links: Vec<(Rank, Rank, u32)> =
        (0..senders).map(|sender| (sender, hub, 1)).chain([(hub, receiver, 1)]).collect();
    let sent = (0..senders).map(|sender| (sender, receiver, 1, vec![(1.0, vec![sender, hub, receiver])])).collect();
    let gpus = senders + 2;
    by_hand(fabric(&[gpus], senders), packets * 1000 * CHUNKS, vec![topology(gpus, &links)], &[(0, 1.0, sent)])
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let kinds = prop::sample::select(vec![
        (vec![8], 1, Collective::AllReduce, "recursive-doubling", Some("shifted-ring:1,one-way")),
        (vec![12], 2, Collective::AllToAll, "bruck", Some("ring")),
        (vec![12], 3, Collective::AllToAll, "direct", None),
        (vec![3, 4], 4, Collective::AllToAll, "direct", Some("torus")),
        (vec![4, 4], 4, Collective::AllReduce, "swing", Some("torus")),
        (vec![16], 4, Collective::AllToAll, "pairwise-xor", Some("hypercube")),
        (vec![13], 2, Collective::Broadcast, "binary-tree", Some("ring")),
    ]);
    (kinds, 1_u64..100, prop::sample::select(vec![0.0, 30e-9, 500e-9])).prop_map(
        |((dims, ports, collective, algorithm, topology), size, hop_delay_s)| {
            let mut fabric = fabric(&dims, ports);
            fabric.hop_delay_s = hop_delay_s;
            fabric.reconfiguration = ReconfigurationPolicy::constant(200e-9);
            fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
            planned(fabric, collective, algorithm, size * 4099, topology)
        },
    )
}

fn any_settings() -> impl Strategy<Value = Settings> {
    (
        prop::sample::select(vec![
            "dcqcn:kmin=2KB,kmax=20KB,alpha_interval=100ns,decrease_interval=400ns,increase_interval=2us",
            "dcqcn:kmin=1KB,kmax=1KB,notification_interval=1us,byte_counter=8KB,increase_interval=1us,seed=3",
            "window:threshold=3KB",
            "window:threshold=1KB,initial_window=2KB,gain=1",
        ]),
        prop::sample::select(Forwarding::ALL),
        prop::sample::select(Synchronisation::ALL),
        prop::sample::select(ReconfigurationScope::ALL),
    )
        .prop_map(|(text, forwarding, sync, reconfiguration)| Settings {
            congestion_control: control(text),
            payload_bytes: 1000,
            header_bytes: 30,
            forwarding,
            sync,
            reconfiguration,
            ..Settings::default()
        })
}

fn expanded(mut found: Simulation) -> Simulation {
    for step in &mut found.steps {
        (step.circuits, step.gpus) = (step.expanded_circuits(), step.expanded_gpus());
        step.symmetry = model::Translations::trivial(step.symmetry.ranks());
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(100)))]

    #[test]
    fn bytes_arrive_once_and_circuits_keep_to_their_rate(plan in any_plan(), settings in any_settings()) {
        let found = simulate(&plan, &settings).unwrap();
        let free = simulate(&plan, &Settings { congestion_control: CongestionControl::None, ..settings }).unwrap();
        let amounts = |found: &Simulation| (found.packets, found.packet_hops, found.payload_bytes, found.wire_bytes);
        prop_assert_eq!(amounts(&found), amounts(&free));
        for (step, same) in found.steps.iter().zip(&free.steps) {
            for (circuit, same) in step.circuits.iter().zip(&same.circuits) {
                prop_assert_eq!((circuit.bytes, circuit.packets, circuit.busy_fs), (same.bytes, same.packets, same.busy_fs));
                prop_assert!(circuit.packets == 0 || circuit.last_fs - circuit.first_fs >= circuit.busy_fs);
            }
        }
    }

    #[test]
    fn packets_on_orbits_take_the_times_of_all(plan in any_plan(), settings in any_settings()) {
        let full = simulate(&plan, &Settings { symmetry: Symmetry::Full, ..settings }).unwrap();
        prop_assert_eq!(expanded(simulate(&plan, &settings).unwrap()), full);
    }

    /// A closed form: nothing waits, so that nothing is marked, and every packet leaves as soon as the one before it.
    #[test]
    fn a_flow_alone_takes_its_time_without_control(
        packets in 1_u64..300, hops in 1_u32..5, delay_ns in 0_u32..2000, text in prop::sample::select(vec!["dcqcn", "window"])
    ) {
        let gpus = hops + 1;
        let links: Vec<(Rank, Rank, u32)> = (0..hops).map(|gpu| (gpu, gpu + 1, 1)).collect();
        let mut fabric = fabric(&[gpus], 1);
        fabric.hop_delay_s = f64::from(delay_ns) * 1e-9;
        let sent = vec![(0, hops, 1, vec![(1.0, (0..gpus).collect())])];
        let plan = by_hand(fabric, packets * 1000 * CHUNKS, vec![topology(gpus, &links)], &[(0, 1.0, sent)]);
        let found = simulate(&plan, &under(text)).unwrap();
        let wire_fs = 10_000_000;
        let hops = u64::from(hops);
        prop_assert_eq!(found.total_fs, 500_000_000 + (packets + hops - 1) * wire_fs + hops * u64::from(delay_ns) * 1_000_000);
        prop_assert_eq!(found.congestion.marked_packets, 0);
        prop_assert_eq!(found.steps[0].circuits.last().unwrap().queue_bytes, if hops > 1 { 1000 } else { 0 });
    }
}

/// The shares of flows into one circuit are equal in the long run, and keep it busy.
#[test]
fn flows_into_one_circuit_get_equal_shares() {
    for (text, least_utilisation) in [("dcqcn:increase_interval=50us", 0.7), ("window:threshold=300KB", 0.95)] {
        for senders in [2, 4] {
            let plan = into_one(senders, 40_000);
            let found = simulate(&plan, &under(text)).unwrap();
            let step = &found.steps[0];
            let ends: Vec<u64> = step.gpus.iter().filter_map(|gpu| gpu.last_sent_fs).collect();
            let (first, last) = (ends.iter().min().unwrap(), ends.iter().max().unwrap());
            let busy_fs = 10_000_000 * 40_000 * u64::from(senders);
            assert!(found.total_fs > busy_fs, "{text}");
            let utilisation = busy_fs as f64 / found.total_fs as f64;
            assert!(utilisation > least_utilisation, "{text} {senders}: {utilisation}");
            assert!(*first as f64 > 0.85 * *last as f64, "{text} {senders}: {ends:?}");
            assert!(found.congestion.marked_packets > 0 && found.congestion.decreases > 0);
            assert_eq!(found.congestion.notifications == 0, text.starts_with("window"));
        }
    }
}

/// Queues stay near the thresholds; without control all that senders have waits.
#[test]
fn control_keeps_queues_short() {
    let plan = into_one(8, 10_000);
    let longest = |settings: &Settings| {
        let found = simulate(&plan, settings).unwrap();
        found.steps[0].circuits.iter().map(|circuit| circuit.queue_bytes).max().unwrap()
    };
    let free = longest(&Settings { payload_bytes: 1000, ..Settings::default() });
    // Seven of eight packets wait while senders send: 7/8 of all.
    assert!(free > 69_000_000, "{free}");
    // K = 2.4 MB at 800 Gbit/s; the first windows, 250 kB each, hardly fill it.
    assert!(longest(&under("window")) < 5_000_000);
    assert!(longest(&under("window:threshold=100KB")) < 1_900_000);
}

#[test]
fn a_receiver_is_silent_between_notifications() {
    let found = simulate(&into_one(4, 20_000), &under("dcqcn:notification_interval=50us")).unwrap();
    let most = 4 * (found.total_fs / 50_000_000_000 + 1);
    assert!((1..=most).contains(&found.congestion.notifications), "{:?}", found.congestion);
    assert!(found.congestion.marked_packets > most);
}

#[test]
fn settings_that_do_not_go_with_control_are_refused() {
    let (plan, base) = (into_one(2, 10), under("dcqcn"));
    for (settings, field) in [
        (Settings { level: Level::Flow, ..base }, "level: "),
        (Settings { injection: Injection::Paced, ..base }, "injection: "),
        (Settings { buffer_bytes: Some(1 << 20), ..base }, "buffer: "),
        (under("dcqcn:kmin=2KB,kmax=1KB"), "congestion_control: "),
        (under("dcqcn:least_rate=900Gbps"), "congestion_control: "),
    ] {
        let text = simulate(&plan, &settings).unwrap_err().to_string();
        assert!(text.starts_with(field) && !text.contains('\n'), "{text}");
    }
}
