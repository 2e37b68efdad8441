//! The choice of a call against all rows tried one by one.

use nccl_tuner_lightloom::{Choice, Row, choose};
use proptest::prelude::*;

fn row() -> impl Strategy<Value = Row> {
    let protocol = prop_oneof![Just(None), (0..3usize).prop_map(Some)];
    (0..5usize, 2..4u64, 0..7usize, protocol, 0..5u32, 0..50u32, 0..50u32).prop_map(
        |(collective, ranks, algorithm, protocol, channels, fixed, slope)| Row {
            topology: "ring".into(),
            collective,
            ranks,
            algorithm,
            protocol,
            channels,
            fixed_us: f64::from(fixed),
            us_per_mib: f64::from(slope),
        },
    )
}

proptest! {
    #[test]
    fn no_other_row_that_nccl_can_do_is_faster(
        rows in prop::collection::vec(row(), 0..12),
        own in prop::collection::vec(-1..20i32, 21),
        collective in 0..5usize,
        ranks in 2..4u64,
        mib in 0..8u64,
    ) {
        let own_us = |algorithm: usize, protocol: usize| {
            Some(own[3 * algorithm + protocol] as f32).filter(|&time| time >= 0.0)
        };
        let chosen = choose(&rows, collective, ranks, mib << 20, 3, own_us);
        // Every way that a row allows, with the time that decides, NCCL's own time next.
        let mut ways = Vec::new();
        for (place, one) in rows.iter().enumerate() {
            for protocol in 0..3 {
                let allowed = one.protocol.is_none_or(|wanted| wanted == protocol);
                let time = own[3 * one.algorithm + protocol];
                if one.collective == collective && one.ranks == ranks && allowed && time >= 0 {
                    let total = one.fixed_us + one.us_per_mib * mib as f64;
                    let way = Choice { algorithm: one.algorithm, protocol, channels: one.channels };
                    ways.push((total as i64, place, time, protocol, way));
                }
            }
        }
        let best = ways.into_iter().min_by_key(|&(total, place, time, protocol, _)| (total, place, time, protocol));
        prop_assert_eq!(chosen, best.map(|(.., way)| way));
    }
}
