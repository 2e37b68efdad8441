//! BRIDGE's algorithm 1 for every vector of reconfigurations, only by the paper's formulas: the reference for the
//! planner, in tests and benches. Radix 2, one port.

use model::Collective;

/// A problem of the paper; times in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Instance {
    pub collective: Collective,
    pub gpus: u32,
    /// GPUs of a block behind two optical ports (§3.7), a power of two.
    pub block: u32,
    pub size_bytes: u64,
    pub startup_s: f64,
    pub hop_s: f64,
    pub byte_s: f64,
    pub delay_s: f64,
    /// Whether the fabric is a ring before the first step; else the first topology is free.
    pub from_ring: bool,
}

/// Bytes of step k of Bruck over m: the blocks whose bit k is set (All-to-All), and of these those without
/// lower bits (ReduceScatter and AllGather), by counting them.
fn share(all_to_all: bool, gpus: u32, k: u32) -> f64 {
    let moves = |away: &u32| away >> k & 1 == 1 && (all_to_all || away.trailing_zeros() == k);
    (0..gpus).filter(moves).count() as f64 / f64::from(gpus)
}

/// Least completion time over all 2^s vectors, s. Where AllGather starts is for its vector to say, too.
pub fn over_all_vectors(instance: Instance) -> f64 {
    let s = (instance.gpus - 1).ilog2() + 1;
    let rising: Vec<u32> = (0..s).collect();
    let falling: Vec<u32> = (0..s).rev().collect();
    let (exponents, gathers_from) = match instance.collective {
        Collective::AllGather => (falling, 0),
        Collective::AllReduce => ([rising, falling].concat(), s as usize),
        _ => (rising, s as usize),
    };
    let all_to_all = instance.collective == Collective::AllToAll;
    let bytes: Vec<f64> =
        exponents.iter().map(|&k| instance.size_bytes as f64 * share(all_to_all, instance.gpus, k)).collect();
    let vectors = 0..1u32 << exponents.len();
    let times = vectors.map(|vector| time_s(instance, &exponents, &bytes, gathers_from, vector));
    times.fold(f64::INFINITY, f64::min)
}

/// Time with a reconfiguration before each step whose bit is set; infinite where blocks have no such subrings.
fn time_s(instance: Instance, exponents: &[u32], bytes: &[f64], gathers_from: usize, vector: u32) -> f64 {
    let steps = exponents.len();
    // How many times farther a hop between blocks leads than on the ring.
    let mut stretch = 1;
    let mut before = instance.from_ring.then_some(1);
    let mut total_s = 0.0;
    for step in 0..steps {
        // ReduceScatter starts on the ring and goes to the subrings of the step; AllGather is from its first step
        // on the subrings of the step before its next reconfiguration, or on the ring.
        if vector >> step & 1 == 1 || step == gathers_from {
            let mut on = step;
            while step >= gathers_from && on + 1 < steps && vector >> (on + 1) & 1 == 0 {
                on += 1;
            }
            let offset = 1u32 << exponents[on];
            if offset > 1 && !offset.is_multiple_of(instance.block) {
                return f64::INFINITY;
            }
            stretch = (offset / instance.block).max(1);
        }
        if before.is_some_and(|before| before != stretch) {
            total_s += instance.delay_s;
        }
        before = Some(stretch);
        let hops = f64::from((1u32 << exponents[step]) / stretch);
        total_s += instance.startup_s + (instance.hop_s + instance.byte_s * bytes[step]) * hops;
    }
    total_s
}
