//! Circuits on one switch where any port of a site serves any of its circuits.
//!
//! A circuit that two topologies share stays on its ports, whatever the others do: the new ones take ports that are
//! free then. So every change sets up exactly the circuits that the topology before lacks, which any assignment has to;
//! new circuits take ports that circuits just left before dark ones, so that at each site the transmitters and the
//! receivers that change are as few as can be, max(circuits given up, circuits set up). Of parallel circuits those that
//! came last are given up first, and of dark ports those that were lit before are lit first, so that the most ports
//! never change.

use std::collections::BTreeMap;

use model::{Connection, Rank};

use crate::kind::Assignment;

/// What is attached to the switch: port p of site s, both from 0, is port s·ports + p + 1 of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sites {
    /// How many there are.
    pub sites: u32,
    /// Transmitters of each, and as many receivers.
    pub ports: u32,
}

/// Circuits by their two sites.
pub(crate) type SiteCircuits = BTreeMap<(Rank, Rank), u32>;

/// The circuits of each configuration in turn on ports; no site has more circuits out or in than ports.
pub(crate) fn assign(sites: Sites, configurations: &[SiteCircuits]) -> Assignment {
    let (mut transmitters, mut receivers) = (FreePorts::of(sites), FreePorts::of(sites));
    // Per pair, the oldest circuit first.
    let mut up: BTreeMap<(Rank, Rank), Vec<Connection>> = BTreeMap::new();
    let mut connections = Vec::with_capacity(configurations.len());
    let mut least_connects = 0;
    for (index, wanted) in configurations.iter().enumerate() {
        up.retain(|&(src, dst), circuits| {
            let stay = wanted.get(&(src, dst)).map_or(0, |&count| count as usize);
            for left in circuits.drain(stay.min(circuits.len())..) {
                transmitters.give_back(src, left.ingress);
                receivers.give_back(dst, left.egress);
            }
            !circuits.is_empty()
        });
        for (&(src, dst), &count) in wanted {
            let circuits = up.entry((src, dst)).or_default();
            while circuits.len() < count as usize {
                circuits.push(Connection { ingress: transmitters.take(src), egress: receivers.take(dst) });
                least_connects += u64::from(index > 0);
            }
        }
        let mut all: Vec<Connection> = up.values().flatten().copied().collect();
        all.sort_unstable();
        connections.push(vec![all]);
    }
    Assignment { connections, least_connects }
}

/// The dark ports of every site, the next to be lit last.
struct FreePorts(Vec<Vec<u32>>);

impl FreePorts {
    fn of(Sites { sites, ports }: Sites) -> Self {
        Self((0..sites).map(|site| (0..ports).rev().map(|port| site * ports + port + 1).collect()).collect())
    }

    fn take(&mut self, site: Rank) -> u32 {
        // A plan's topologies have no more circuits at a site than there are ports.
        self.0[site as usize].pop().unwrap_or(0)
    }

    fn give_back(&mut self, site: Rank, port: u32) {
        self.0[site as usize].push(port);
    }
}
