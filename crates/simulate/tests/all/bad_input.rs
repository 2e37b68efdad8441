//! Plans that cannot be simulated are refused in one line that names the field.
use crate::plans::by_hand;
use crate::plans::fabric;
use crate::plans::planned;

use by_hand::{by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{Forwarding, Injection, Level, Settings, Symmetry, Synchronisation, simulate};
use model::{Collective, Error, Plan};
use planned::planned;

fn ring_plan() -> Plan {
    planned(fabric(&[8], 1), Collective::AllReduce, "recursive-doubling", 1 << 20, Some("shifted-ring:1,one-way"))
}

fn refusal(plan: &Plan, settings: Settings) -> String {
    let text = simulate(plan, &settings).unwrap_err().to_string();
    assert!(!text.contains('\n'));
    text
}

#[test]
fn settings_out_of_range_are_refused() {
    let plan = ring_plan();
    let base = Settings::default();
    for (settings, field) in [
        (Settings { payload_bytes: 0, ..base }, "packet_size"),
        (Settings { payload_bytes: u32::MAX, ..base }, "packet_size"),
        (Settings { header_bytes: u32::MAX, ..base }, "header_size"),
        (Settings { barrier_s: -1.0, ..base }, "barrier"),
        (Settings { barrier_s: f64::NAN, ..base }, "barrier"),
        (Settings { barrier_s: 1e9, ..base }, "barrier"),
        (Settings { barrier_s: 1e-6, sync: Synchronisation::Dataflow, ..base }, "barrier"),
        (Settings { buffer_bytes: Some(4095), ..base }, "buffer"),
        (Settings { buffer_bytes: Some(1 << 20), level: Level::Flow, ..base }, "buffer"),
    ] {
        let text = refusal(&plan, settings);
        assert!(text.starts_with(&format!("{field}: ")), "{text}");
    }
}

#[test]
fn cut_through_in_no_time_is_refused() {
    let mut fabric = fabric(&[8], 1);
    fabric.hop_delay_s = 0.0;
    let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", 1 << 20, Some("shifted-ring:1,one-way"));
    let cut_through = Settings { forwarding: Forwarding::CutThrough, ..Settings::default() };
    assert!(refusal(&plan, cut_through).starts_with("forwarding: "));
    assert!(simulate(&plan, &Settings { header_bytes: 1, ..cut_through }).is_ok());
}

#[test]
fn plans_of_hours_are_refused() {
    let mut fabric = fabric(&[8], 1);
    fabric.bandwidth_bps = 1e3;
    let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", 1 << 33, Some("shifted-ring:1,one-way"));
    for level in Level::ALL {
        for symmetry in Symmetry::ALL {
            for injection in Injection::ALL {
                let settings =
                    Settings { level: *level, symmetry: *symmetry, injection: *injection, ..Settings::default() };
                let text = refusal(&plan, settings);
                assert!(text.contains("9223 s"), "{text}");
            }
        }
    }
}

/// Each GPU of a one-way ring sends to the one two hops away: once every buffer is full, nobody moves.
#[test]
fn packets_that_wait_for_each_other_are_reported() {
    let mut fabric = fabric(&[8], 1);
    fabric.hop_delay_s = 1e-6;
    let plan = planned(fabric, Collective::AllReduce, "recursive-doubling", 1 << 20, Some("shifted-ring:1,one-way"));
    let full = Settings { buffer_bytes: Some(8192), symmetry: Symmetry::Full, ..Settings::default() };
    let text = refusal(&plan, full);
    assert!(text.starts_with("buffer: ") && text.contains("0 → 1, 1 → 2"), "{text}");
    assert!(refusal(&plan, Settings { symmetry: Symmetry::Quotient, ..full }).starts_with("buffer: "));
    assert!(simulate(&plan, &Settings { buffer_bytes: Some(1 << 20), ..full }).is_ok());
}

#[test]
fn routes_that_are_not_the_steps_are_refused() {
    let line = topology(3, &[(0, 1, 1), (1, 2, 1)]);
    for (path, says) in [
        (vec![0, 2], "no circuit 0 → 2"),
        (vec![0, 1], "has no path, or a path between other GPUs"),
        (vec![], "has no path, or a path between other GPUs"),
        (vec![0, 1, 9, 2], "no circuit"),
    ] {
        let sent = vec![(0, 2, 1, vec![(1.0, path)])];
        let plan = by_hand(fabric(&[3], 2), 1 << 20, vec![line.clone()], &[(0, 1.0, sent)]);
        let error = simulate(&plan, &Settings::default()).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }) && error.to_string().contains(says), "{error}");
    }
    let sent = vec![(0, 2, 1, vec![(f64::NAN, vec![0, 1, 2])])];
    let plan = by_hand(fabric(&[3], 2), 1 << 20, vec![line], &[(0, 1.0, sent)]);
    assert!(simulate(&plan, &Settings::default()).unwrap_err().to_string().contains("shares"));
}

#[test]
fn more_packets_than_can_be_dealt_out_are_refused() {
    let square = topology(4, &[(0, 1, 1), (1, 3, 1), (0, 2, 1), (2, 3, 1)]);
    let sent = vec![(0, 3, 64, vec![(0.5, vec![0, 1, 3]), (0.5, vec![0, 2, 3])])];
    let plan = by_hand(fabric(&[4], 2), 1 << 40, vec![square], &[(0, 0.5, sent)]);
    assert!(refusal(&plan, Settings { payload_bytes: 1, ..Settings::default() }).starts_with("packet_size: "));
}

#[test]
fn names_are_read_back() {
    for choice in Synchronisation::ALL {
        assert_eq!(Synchronisation::parse(choice.name()), Ok(*choice));
    }
    let text = Injection::parse("bust").unwrap_err().to_string();
    assert!(text.starts_with("injection: ") && text.contains("`burst`"), "{text}");
}
