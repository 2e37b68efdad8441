//! Properties of every simulation: bytes arrive once, circuits keep to their rate, nothing is sent before it can be.
use crate::plans::fabric;
use crate::plans::planned;

use std::collections::BTreeMap;

use fabric::fabric;
use lightloom_simulate::{Forwarding, Injection, Level, ReconfigurationScope, Settings, Synchronisation, simulate};
use model::{Collective, Initial, Plan, ReconfigurationPolicy};
use planned::planned;
use proptest::prelude::*;

fn any_plan() -> impl Strategy<Value = Plan> {
    let kinds = prop::sample::select(vec![
        (vec![8], 1, Collective::AllReduce, "recursive-doubling", Some("shifted-ring:1,one-way")),
        (vec![16], 1, Collective::AllReduce, "recursive-doubling", None),
        (vec![12], 2, Collective::AllToAll, "bruck", None),
        (vec![12], 3, Collective::AllToAll, "direct", None),
        (vec![3, 4], 4, Collective::AllToAll, "direct", Some("torus")),
        (vec![4, 4], 4, Collective::AllReduce, "swing", Some("torus")),
        (vec![16], 2, Collective::Broadcast, "binomial-tree", None),
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
        prop::sample::select(Level::ALL),
        prop::sample::select(Injection::ALL),
        prop::sample::select(Forwarding::ALL),
        prop::sample::select(Synchronisation::ALL),
        prop::sample::select(ReconfigurationScope::ALL),
        prop::sample::select(vec![None, Some(4000)]),
    )
        .prop_map(|(level, injection, forwarding, sync, reconfiguration, buffer)| Settings {
            level,
            payload_bytes: 1000,
            header_bytes: 30,
            injection,
            forwarding,
            sync,
            reconfiguration,
            buffer_bytes: buffer.filter(|_| level == Level::Packet),
            ..Settings::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(300)))]

    #[test]
    fn bytes_time_and_causes_are_kept(plan in any_plan(), settings in any_settings()) {
        let Ok(found) = simulate(&plan, &settings) else {
            prop_assert!(settings.buffer_bytes.is_some());
            return Ok(());
        };
        let startup_fs = (plan.fabric.startup_s * 1e15).round() as u64;
        let hop_fs = (plan.fabric.hop_delay_s * 1e15).round() as u64;
        let byte_fs = 8e15 / plan.fabric.bandwidth_bps;
        let mut payload = 0.0;
        for (step, planned) in found.steps.iter().zip(&plan.steps) {
            let arcs = planned.step.traffic().expanded();
            payload += arcs.iter().map(|arc| arc.weight * planned.transfer_bytes).sum::<f64>();
            let circuits = step.expanded_circuits();
            for circuit in circuits.iter().filter(|circuit| circuit.packets > 0) {
                // Bytes are told in whole ones, those of a packet that is cut short rounded up; its time is that of
                // what it has.
                let (busy, messages) = (circuit.bytes as f64 * byte_fs, arcs.len() as f64);
                let rounding = circuit.packets as f64 + messages * byte_fs;
                prop_assert!((circuit.busy_fs as f64 - busy).abs() <= rounding, "{circuit:?}");
                prop_assert!(circuit.last_fs - circuit.first_fs + 1 >= circuit.busy_fs, "{circuit:?}");
                if settings.reconfiguration == ReconfigurationScope::Global && planned.reconfigured {
                    prop_assert!(circuit.first_fs >= step.start_fs + step.reconfiguration_fs + startup_fs);
                }
            }
            for gpu in step.expanded_gpus() {
                prop_assert!(gpu.first_send_fs.is_none_or(|first| first >= gpu.ready_fs + startup_fs));
                prop_assert!(gpu.first_send_fs <= gpu.last_sent_fs);
                prop_assert!(gpu.last_received_fs.is_none_or(|last| last >= hop_fs && last <= step.end_fs));
            }
        }
        prop_assert!((found.payload_bytes as f64 - payload).abs() <= 0.5 * found.steps.len() as f64 + 1e-6 * payload);
        for pair in found.steps.windows(2) {
            for (before, after) in pair[0].expanded_gpus().into_iter().zip(pair[1].expanded_gpus()) {
                let done = before.last_received_fs.max(before.last_sent_fs).unwrap_or(before.ready_fs);
                prop_assert!(after.ready_fs >= done.max(before.ready_fs));
            }
        }
        let total = found.circuits().iter().map(|circuit| circuit.bytes).sum::<u64>();
        // At flow level the bytes of a circuit are those nearest to its exact part, in each step that it carries
        // something.
        let rounding = if settings.level == Level::Flow { found.circuits().len() * found.steps.len() } else { 0 };
        prop_assert!(total.abs_diff(found.wire_bytes) <= rounding as u64, "{total} {}", found.wire_bytes);
        prop_assert!(found.circuits().iter().all(|circuit| circuit.utilisation <= 1.0));
    }

    /// A circuit that is set up sends nothing until the circuits before it at its two ports are through and the
    /// dark time is over.
    #[test]
    fn nothing_is_sent_on_a_dark_circuit(plan in any_plan(), settings in any_settings()) {
        let settings = Settings { reconfiguration: ReconfigurationScope::Ports, ..settings };
        let Ok(found) = simulate(&plan, &settings) else { return Ok(()) };
        let hop_fs = (plan.fabric.hop_delay_s * 1e15).round() as u64;
        for pair in found.steps.windows(2) {
            let key = |c: &lightloom_simulate::CircuitUse| (c.src, c.dst, c.circuit);
            let [before, after]: [BTreeMap<_, _>; 2] =
                [&pair[0], &pair[1]].map(|step| step.expanded_circuits().iter().map(|c| (key(c), *c)).collect());
            for new in after.values().filter(|c| c.packets > 0 && !before.contains_key(&key(c))) {
                for old in before.values().filter(|c| c.packets > 0 && !after.contains_key(&key(c))) {
                    if old.src == new.src || old.dst == new.dst {
                        prop_assert!(new.first_fs >= old.last_fs + hop_fs + pair[1].reconfiguration_fs);
                    }
                }
            }
        }
    }

    /// Where every GPU does the same, nobody waits at a barrier.
    #[test]
    fn dataflow_is_as_slow_as_barriers_where_all_are_alike(
        log_gpus in 1_u32..6, log_packets in 0_u32..6, delay_ns in 0_u32..800, injection in prop::sample::select(Injection::ALL)
    ) {
        let mut fabric = fabric(&[1 << log_gpus], 1);
        fabric.hop_delay_s = f64::from(delay_ns) * 1e-9;
        let size = 4096 << (log_gpus + log_packets);
        let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", size, Some("shifted-ring:1,one-way"));
        let settings = Settings { injection, ..Settings::default() };
        let dataflow = Settings { sync: Synchronisation::Dataflow, ..settings };
        prop_assert_eq!(simulate(&plan, &settings).unwrap().total_fs, simulate(&plan, &dataflow).unwrap().total_fs);
    }
}
