//! The results of a simulation.

use std::collections::BTreeMap;

use model::{Rank, Translations};
use serde::{Deserialize, Serialize};

use crate::clock::seconds;
use crate::congestion::CongestionTotals;

/// Use of one circuit in one step, or of every circuit of its orbit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitUse {
    /// Transmitting GPU.
    pub src: Rank,
    /// Receiving GPU.
    pub dst: Rank,
    /// Number among the parallel circuits of the link.
    pub circuit: u32,
    /// Bytes sent, headers included.
    pub bytes: u64,
    /// Packets sent; at flow level those that its flows stand for.
    pub packets: u64,
    /// First bit out, fs; 0 where nothing is sent.
    pub first_fs: u64,
    /// Last bit out, fs; 0 where nothing is sent.
    pub last_fs: u64,
    /// Time in which bits were sent, fs.
    pub busy_fs: u64,
    /// Most bytes of packets on their way that it held at once, from their arrival until their last bit was out;
    /// over all steps where they are simulated as one (dataflow); 0 at flow level.
    pub queue_bytes: u64,
}

/// Times of one GPU in one step, or of every GPU of its orbit, fs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuTimes {
    /// The GPU.
    pub gpu: Rank,
    /// The time at which the GPU had all data of the steps before, after the barrier if there is one.
    pub ready_fs: u64,
    /// The time at which the first bit leaves the GPU; `None` where it sends nothing.
    pub first_send_fs: Option<u64>,
    /// The time at which the last bit of its own data leaves the GPU; `None` where it sends nothing.
    pub last_sent_fs: Option<u64>,
    /// The time at which the last bit for the GPU arrives; `None` where it receives nothing.
    pub last_received_fs: Option<u64>,
}

/// One step. Circuits and GPUs are one per orbit of `symmetry`.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedStep {
    /// The time at which the first GPU was ready for the step, fs.
    pub start_fs: u64,
    /// Dark time before it, fs: all circuits are dark from `start_fs` on where reconfiguration is global.
    pub reconfiguration_fs: u64,
    /// Startup latency, fs.
    pub startup_fs: u64,
    /// The time at which the last bit was received, fs.
    pub end_fs: u64,
    /// The group of which one GPU was simulated.
    pub symmetry: Translations,
    /// Use of circuits, by (src, dst, circuit).
    pub circuits: Vec<CircuitUse>,
    /// Times of each GPU.
    pub gpus: Vec<GpuTimes>,
}

impl SimulatedStep {
    /// Time from the start of the step to its end, fs.
    pub fn duration_fs(&self) -> u64 {
        self.end_fs - self.start_fs
    }

    /// The use of every circuit, by (src, dst, circuit). O(circuits).
    pub fn expanded_circuits(&self) -> Vec<CircuitUse> {
        let moved = |element: u32, rank: Rank| self.symmetry.apply(element, rank);
        let all = self.symmetry.elements().into_iter().flat_map(|element| {
            self.circuits.iter().map(move |circuit| CircuitUse {
                src: moved(element, circuit.src),
                dst: moved(element, circuit.dst),
                ..*circuit
            })
        });
        let mut all: Vec<CircuitUse> = all.collect();
        all.sort_unstable_by_key(|circuit| (circuit.src, circuit.dst, circuit.circuit));
        all
    }

    /// The times of every GPU, by GPU. O(GPUs).
    pub fn expanded_gpus(&self) -> Vec<GpuTimes> {
        let elements = self.symmetry.elements();
        let images = |times: &GpuTimes| -> Vec<GpuTimes> {
            elements.iter().map(|&e| GpuTimes { gpu: self.symmetry.apply(e, times.gpu), ..*times }).collect()
        };
        let mut all: Vec<GpuTimes> = self.gpus.iter().flat_map(images).collect();
        all.sort_unstable_by_key(|times| times.gpu);
        all
    }
}

/// Use of a circuit over the whole plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CircuitTotal {
    /// Transmitting GPU.
    pub src: Rank,
    /// Receiving GPU.
    pub dst: Rank,
    /// Number among the parallel circuits of the link.
    pub circuit: u32,
    /// Bytes sent, headers included.
    pub bytes: u64,
    /// Time in which bits were sent, fs.
    pub busy_fs: u64,
    /// The busy time over the time of the whole plan.
    pub utilisation: f64,
    /// Most bytes of packets on their way that it held at once.
    pub queue_bytes: u64,
}

/// The results of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Simulation {
    /// Completion time, fs.
    pub total_fs: u64,
    /// Packets of all GPUs; at flow level those that flows stand for.
    pub packets: u64,
    /// Packets times the circuits that each crossed.
    pub packet_hops: u64,
    /// Bytes handed over to receivers, without headers.
    pub payload_bytes: u64,
    /// Bytes on all circuits together, with headers, each counted once per circuit.
    pub wire_bytes: u64,
    /// Counts of what congestion control did; all zero without congestion control.
    pub congestion: CongestionTotals,
    /// The steps, in order.
    pub steps: Vec<SimulatedStep>,
}

impl Simulation {
    /// Completion time, s.
    pub fn total_s(&self) -> f64 {
        seconds(self.total_fs)
    }

    /// Every circuit of any step, by (src, dst, circuit). O(steps · circuits).
    pub fn circuits(&self) -> Vec<CircuitTotal> {
        let mut totals: BTreeMap<(Rank, Rank, u32), CircuitTotal> = BTreeMap::new();
        for used in self.steps.iter().flat_map(SimulatedStep::expanded_circuits) {
            let CircuitUse { src, dst, circuit, .. } = used;
            let total = totals.entry((src, dst, circuit)).or_insert(CircuitTotal {
                src,
                dst,
                circuit,
                bytes: 0,
                busy_fs: 0,
                utilisation: 0.0,
                queue_bytes: 0,
            });
            total.bytes += used.bytes;
            total.busy_fs += used.busy_fs;
            total.queue_bytes = total.queue_bytes.max(used.queue_bytes);
        }
        let of_total = |total: CircuitTotal| CircuitTotal {
            utilisation: if self.total_fs == 0 { 0.0 } else { total.busy_fs as f64 / self.total_fs as f64 },
            ..total
        };
        totals.into_values().map(of_total).collect()
    }
}
