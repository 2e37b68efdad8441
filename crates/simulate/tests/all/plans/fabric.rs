//! The fabric of the tests.

use model::{Fabric, Initial, ReconfigurationPolicy, Shape};

/// 800 Gbit/s, α = δ = 500 ns, α_r = 10 µs.
pub fn fabric(dims: &[u32], ports: u32) -> Fabric {
    Fabric {
        shape: Shape::new(dims.iter().product(), dims, ports).unwrap(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(10e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}
