//! What the steps of a schedule take at least, known without a look at any topology.

use model::{CostSettings, Fabric, Overlap, Propagation, Schedule};

/// No plan of these steps takes less: startups, one hop a step, and what the busiest rank of a step sends or receives over
/// all its ports. O(arcs).
pub fn least_seconds(schedule: &Schedule, fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> f64 {
    let hop_s = match (settings.overlap, settings.propagation) {
        (Overlap::Additive, Propagation::Hops) => fabric.hop_delay_s,
        _ => 0.0,
    };
    let port_s = fabric.byte_s() * size_bytes as f64 / f64::from(fabric.shape.ports());
    let of_step = |step: &model::Step| fabric.startup_s + hop_s + port_s * step.share() * step.traffic().node_load();
    // Simulated times are of whole bytes and femtoseconds, and sums are rounded.
    schedule.steps().iter().map(of_step).sum::<f64>() * (1.0 - 1e-6)
}
