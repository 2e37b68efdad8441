//! Times that are known without a simulation.
use crate::plans::by_hand;
use crate::plans::fabric;
use crate::plans::planned;

use by_hand::{by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{Injection, Settings, Symmetry, simulate};
use model::{Collective, Plan};
use planned::planned;
use proptest::prelude::*;

/// Shifted rings in one direction: h = hops = load, W the message on the wire, p a packet on the wire.
/// Σ α + max(h·W + δ, W + h·δ + (h − 1)·p) plus what is reconfigured, fs.
fn burst_fs(plan: &Plan, settings: &Settings) -> u64 {
    let fs = |seconds: f64| (seconds * 1e15).round() as u64;
    let wire =
        |bytes: u64| (u128::from(bytes) * 8_000_000_000_000_000).div_ceil(plan.fabric.bandwidth_bps as u128) as u64;
    let delay = fs(plan.fabric.hop_delay_s);
    let (payload, header) = (u64::from(settings.payload_bytes), u64::from(settings.header_bytes));
    let step_fs = |step: &model::PlanStep| {
        let bytes = (step.transfer_bytes - 1e-6).ceil() as u64;
        let packets = bytes.div_ceil(payload);
        let last = wire(bytes - (packets - 1) * payload + header);
        let packet = if packets > 1 { wire(payload + header) } else { last };
        let (message, hops) = ((packets - 1) * packet + last, u64::from(step.hops));
        let streamed = message + hops * delay + (hops - 1) * packet;
        fs(plan.fabric.startup_s) + fs(step.cost.reconfiguration_s) + (hops * message + delay).max(streamed)
    };
    plan.steps.iter().map(step_fs).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(60)))]

    #[test]
    fn a_burst_on_one_way_rings_takes_the_closed_form(
        log_gpus in 1_u32..7, log_packets in 0_u32..8, delay_ns in prop::sample::select(vec![0, 1, 41, 500, 10_000]),
        header_bytes in prop::sample::select(vec![0_u32, 64]), full in prop::bool::ANY,
        ring in prop::sample::select(vec![Some("shifted-ring:1,one-way"), None])
    ) {
        let gpus = 1 << log_gpus;
        let mut fabric = fabric(&[gpus], 1);
        fabric.hop_delay_s = f64::from(delay_ns) * 1e-9;
        let size = (u64::from(gpus) * 4096) << log_packets;
        let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", size, ring);
        let symmetry = if full { Symmetry::Full } else { Symmetry::Quotient };
        let settings = Settings { header_bytes, symmetry, ..Settings::default() };
        let found = simulate(&plan, &settings).unwrap();
        prop_assert_eq!(found.total_fs, burst_fs(&plan, &settings));
        if delay_ns == 0 {
            prop_assert!(header_bytes > 0 || (found.total_s() / plan.total_s() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn paced_packets_take_the_additive_time(log_gpus in 1_u32..7, delay_ns in prop::sample::select(vec![0, 500, 10_000])) {
        let gpus = 1 << log_gpus;
        let mut fabric = fabric(&[gpus], 1);
        fabric.hop_delay_s = f64::from(delay_ns) * 1e-9;
        let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", 64 << 20, Some("shifted-ring:1,one-way"));
        let settings = Settings { injection: Injection::Paced, ..Settings::default() };
        let found = simulate(&plan, &settings).unwrap();
        prop_assert!((found.total_s() / plan.total_s() - 1.0).abs() < 3e-3, "{} {}", found.total_s(), plan.total_s());
    }
}

/// Packets 0, 2, … go over 2, packets 1, 3, … over 3: the circuits behind the first are busy in turn from the start on.
#[test]
fn a_burst_over_two_paths_leaves_in_packet_order() {
    let circuits = topology(5, &[(0, 1, 1), (1, 2, 1), (1, 3, 1), (2, 4, 1), (3, 4, 1)]);
    let sent = vec![(0, 4, 1, vec![(0.5, vec![0, 1, 2, 4]), (0.5, vec![0, 1, 3, 4])])];
    let plan = by_hand(fabric(&[5], 2), 1 << 24, vec![circuits], &[(0, 1.0, sent)]);
    let (startup, delay, wire) = (500_000_000, 500_000_000, 40_960_000);
    for buffer_bytes in [None, Some(1 << 18)] {
        let step = &simulate(&plan, &Settings { buffer_bytes, ..Settings::default() }).unwrap().steps[0];
        let packets = 64;
        for (src, dst, first) in
            [(0, 1, 0), (1, 2, wire + delay), (1, 3, 2 * wire + delay), (3, 4, 3 * wire + 2 * delay)]
        {
            let circuit = step.circuits.iter().find(|circuit| (circuit.src, circuit.dst) == (src, dst)).unwrap();
            assert_eq!(circuit.first_fs, startup + first, "{src} → {dst}");
        }
        assert_eq!(step.end_fs, startup + (packets + 2) * wire + 3 * delay);
    }
}
