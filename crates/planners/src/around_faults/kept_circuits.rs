//! How many circuits of a plan another plan has too.

use std::collections::BTreeMap;

use model::{Shape, Topology};

/// Circuits of a plan's topologies, each topology counted once, compared with those of another plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptCircuits {
    /// Circuits that the most alike topology of the other plan has too.
    pub kept: u64,
    /// Circuits that it has not.
    pub new: u64,
}

impl KeptCircuits {
    /// Topologies on a shape, compared with those of another plan on its own; circuits join GPUs of the fabric, which
    /// may have other ranks in the two.
    pub fn of(topologies: (&Shape, &[Topology]), before: (&Shape, &[Topology])) -> Self {
        let [all, before] = [topologies, before]
            .map(|(shape, all)| all.iter().map(|topology| by_gpus(shape, topology)).collect::<Vec<_>>());
        let (mut kept, mut new) = (0, 0);
        for circuits in &all {
            let total: u64 = circuits.values().copied().sum();
            let shared = before.iter().map(|other| {
                let both = |(pair, count): (&(u32, u32, usize), &u64)| other.get(pair).map_or(0, |its| *its.min(count));
                circuits.iter().map(both).sum::<u64>()
            });
            let most = shared.max().unwrap_or(0);
            kept += most;
            new += total - most;
        }
        Self { kept, new }
    }
}

/// Circuits by the GPUs that they join and, where ports have different rates, the class of their ports.
fn by_gpus(shape: &Shape, topology: &Topology) -> BTreeMap<(u32, u32, usize), u64> {
    let mut circuits = BTreeMap::new();
    let on_ports = shape.rates().map(|_| topology);
    for link in topology.expanded() {
        let alike = [link.count];
        let by_rate = on_ports.and_then(|topology| topology.circuits_by_rate(link.src, link.dst)).unwrap_or(&alike);
        for (class, &count) in by_rate.iter().enumerate() {
            let ends = (shape.gpu_of(link.src), shape.gpu_of(link.dst), class);
            *circuits.entry(ends).or_insert(0) += u64::from(count);
        }
    }
    circuits
}
