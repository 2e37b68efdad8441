//! DCQCN against another simulator: completion times of small cases by the model of it in ns-3 that Li et al., *HPCC:
//! high precision congestion control*, SIGCOMM 2019, published. `tests/data/dcqcn_ns3.csv` has the times.
use crate::plans::by_hand;
use crate::plans::fabric;

use std::collections::BTreeSet;

use by_hand::{by_hand, topology};
use fabric::fabric;
use lightloom_simulate::{CongestionControl, Settings, simulate};
use model::{Plan, Rank};

const TIMES: &str = include_str!("../data/dcqcn_ns3.csv");
/// Seeds of which the mean time is taken.
const SEEDS: u32 = 20;
/// The largest difference of the times of a case.
const TOLERANCE: f64 = 0.05;
/// Chunks of the buffer of a plan by hand.
const CHUNKS: u64 = 64;
/// Bytes of an acknowledgement there, which ends a flow.
const ACKNOWLEDGEMENT_BITS: u64 = 60 * 8;

struct Flow {
    path: Vec<Rank>,
    bytes: u64,
    /// Time from the start to the last acknowledgement, for each run there, ns.
    acknowledged_ns: Vec<u64>,
}

struct Case {
    name: String,
    gbps: u64,
    hop_delay_ns: u64,
    payload_bytes: u32,
    header_bytes: u32,
    flows: Vec<Flow>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in TIMES.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(';').collect();
        let number = |column: usize| cells[column].parse::<u64>().unwrap();
        let path = cells[5].split('-').map(|node| node.parse().unwrap()).collect();
        let acknowledged_ns = cells[7..].iter().map(|cell| cell.parse().unwrap()).collect();
        let flow = Flow { path, bytes: number(6), acknowledged_ns };
        match cases.last_mut().filter(|case| case.name == cells[0]) {
            Some(case) => case.flows.push(flow),
            None => cases.push(Case {
                name: cells[0].into(),
                gbps: number(1),
                hop_delay_ns: number(2),
                payload_bytes: number(3) as u32,
                header_bytes: number(4) as u32,
                flows: vec![flow],
            }),
        }
    }
    cases
}

impl Case {
    /// One step with the flows of the case: hosts and switches there are GPUs here.
    fn plan(&self) -> Plan {
        let gpus = 1 + self.flows.iter().flat_map(|flow| flow.path.iter().copied()).max().unwrap();
        let links: BTreeSet<(Rank, Rank, u32)> =
            self.flows.iter().flat_map(|flow| flow.path.windows(2).map(|hop| (hop[0], hop[1], 1))).collect();
        let chunk = (1..=CHUNKS)
            .map(|most| self.flows.iter().map(|flow| flow.bytes).max().unwrap() / most)
            .find(|chunk| self.flows.iter().all(|flow| flow.bytes % chunk == 0))
            .unwrap();
        let sent = self.flows.iter().map(|flow| {
            let ends = (flow.path[0], flow.path[flow.path.len() - 1]);
            (ends.0, ends.1, (flow.bytes / chunk) as u32, vec![(1.0, flow.path.clone())])
        });
        let mut fabric = fabric(&[gpus], 16);
        fabric.bandwidth_bps = self.gbps as f64 * 1e9;
        fabric.startup_s = 0.0;
        fabric.hop_delay_s = self.hop_delay_ns as f64 * 1e-9;
        let links: Vec<_> = links.into_iter().collect();
        by_hand(fabric, chunk * CHUNKS, vec![topology(gpus, &links)], &[(0, 1.0, sent.collect())])
    }

    /// Mean completion time by ns-3, from the start to the last byte received, µs.
    fn theirs_us(&self) -> f64 {
        let runs = self.flows[0].acknowledged_ns.len();
        let received_ns = |flow: &Flow, run: usize| {
            let hops = flow.path.len() as u64 - 1;
            flow.acknowledged_ns[run] - hops * (self.hop_delay_ns + ACKNOWLEDGEMENT_BITS / self.gbps)
        };
        let total_ns = |run| self.flows.iter().map(|flow| received_ns(flow, run)).max().unwrap();
        (0..runs).map(total_ns).sum::<u64>() as f64 / runs as f64 / 1e3
    }

    /// Mean completion time by this simulator, µs.
    fn ours_us(&self) -> f64 {
        let plan = self.plan();
        let of_seed = |seed| {
            let settings = Settings {
                payload_bytes: self.payload_bytes,
                header_bytes: self.header_bytes,
                congestion_control: CongestionControl::parse(&format!("dcqcn:seed={seed}")).unwrap(),
                ..Settings::default()
            };
            simulate(&plan, &settings).unwrap().total_s() * 1e6
        };
        (0..SEEDS).map(of_seed).sum::<f64>() / f64::from(SEEDS)
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "`cargo test -- --nocapture dcqcn` shows the times")]
#[ignore = "large: make test-large"]
fn completion_times_are_those_of_ns3() {
    let cases = cases();
    assert!(cases.len() >= 20);
    let mut off = Vec::new();
    for case in &cases {
        let (theirs_us, ours_us) = (case.theirs_us(), case.ours_us());
        let difference = ours_us / theirs_us - 1.0;
        println!("{:45} ns-3 {theirs_us:8.1} µs, here {ours_us:8.1} µs, {:+.1} %", case.name, difference * 100.0);
        if difference.abs() > TOLERANCE {
            off.push((&case.name, difference));
        }
    }
    assert!(off.is_empty(), "{off:?}");
}
