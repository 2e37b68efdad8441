//! How long the stages of a pipeline over both networks take.

use model::sum_seconds;

use super::servers::{FastOnServers, Parcel, ServerNetwork, Stage};

/// Bytes out of and into every GPU within its server.
struct Inside {
    out: Vec<f64>,
    into: Vec<f64>,
}

impl Inside {
    fn new(gpus: usize) -> Self {
        Self { out: vec![0.0; gpus], into: vec![0.0; gpus] }
    }

    fn add(&mut self, src: u32, dst: u32, bytes: f64) {
        if src != dst {
            self.out[src as usize] += bytes;
            self.into[dst as usize] += bytes;
        }
    }

    fn busiest_bytes(&self) -> f64 {
        self.out.iter().chain(&self.into).copied().fold(0.0, f64::max)
    }

    /// Seconds of a phase in which these bytes are sent, each GPU as fast as it can.
    fn phase_s(&self, network: &ServerNetwork) -> f64 {
        match self.busiest_bytes() {
            0.0 => 0.0,
            bytes => network.electrical_step_s + bytes / network.electrical_bytes_per_s,
        }
    }
}

/// The stages with their times. All that stays within servers is sent in what the stages leave free of the electrical
/// network, and after them.
pub(super) fn timed(
    mut stages: Vec<Stage>,
    matrix: &[Vec<f64>],
    totals: &[Vec<f64>],
    network: &ServerNetwork,
) -> FastOnServers {
    let gpus = matrix.len();
    let m = network.server_gpus as usize;
    let balancing = |parcels: &[Parcel], phase: &mut Inside| {
        parcels.iter().for_each(|parcel| phase.add(parcel.src, parcel.sender, parcel.bytes));
    };
    let redistribution = |parcels: &[Parcel], phase: &mut Inside| {
        parcels.iter().for_each(|parcel| phase.add(parcel.receiver, parcel.dst, parcel.bytes));
    };
    for k in 0..stages.len() {
        let mut phase = Inside::new(gpus);
        if let Some(next) = stages.get(k + 1) {
            balancing(&next.parcels, &mut phase);
        }
        if k > 0 {
            redistribution(&stages[k - 1].parcels, &mut phase);
        }
        let mut sent = vec![0.0; gpus];
        stages[k].parcels.iter().for_each(|parcel| sent[parcel.sender as usize] += parcel.bytes);
        let busiest = sent.into_iter().fold(0.0, f64::max);
        // Circuits of the first stage are set up while its bytes are balanced.
        let change_s = if k > 0 { network.reconfiguration_s } else { 0.0 };
        stages[k].optical_s = change_s + network.optical_step_s + busiest / network.optical_bytes_per_s;
        stages[k].electrical_s = phase.phase_s(network);
    }
    let (mut first, mut last) = (Inside::new(gpus), Inside::new(gpus));
    balancing(stages.first().map_or(&[], |stage| &stage.parcels), &mut first);
    redistribution(stages.last().map_or(&[], |stage| &stage.parcels), &mut last);
    let change_s = if stages.is_empty() { 0.0 } else { network.reconfiguration_s };
    let before_s = first.phase_s(network).max(change_s);
    let after_s = last.phase_s(network);
    let mut inside = Inside::new(gpus);
    for (src, row) in matrix.iter().enumerate() {
        for (dst, &bytes) in row.iter().enumerate().skip(src / m * m).take(m) {
            inside.add(src as u32, dst as u32, bytes);
        }
    }
    let free_s = stages.iter().map(|stage| (stage.optical_s - stage.electrical_s).max(0.0));
    let free_s = sum_seconds(free_s.chain([before_s - first.phase_s(network)]));
    let inside_s = (inside.phase_s(network) - free_s).max(0.0);
    let slots = stages.iter().map(|stage| stage.optical_s.max(stage.electrical_s));
    let total_s = sum_seconds(slots.chain([before_s, after_s, inside_s]));
    let servers = totals.len();
    let out = (0..servers).map(|server| totals[server].iter().sum::<f64>());
    let into = (0..servers).map(|server| totals.iter().map(|row| row[server]).sum::<f64>());
    let busiest = out.chain(into).fold(0.0, f64::max);
    let circuits_s = match busiest {
        0.0 => 0.0,
        bytes => network.reconfiguration_s + network.optical_step_s + bytes / m as f64 / network.optical_bytes_per_s,
    };
    let bound_s = circuits_s.max(inside.phase_s(network));
    FastOnServers { stages, before_s, after_s, inside_s, total_s, bound_s }
}
