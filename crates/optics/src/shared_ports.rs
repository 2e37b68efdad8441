//! Circuits on one switch where any port of a site serves any of its circuits.
//!
//! A circuit that two topologies share stays on its ports, independently of the others: the new ones take ports that
//! are free then. So every change sets up exactly the circuits that the topology before lacks, which any assignment has
//! to; new circuits take ports that circuits just left before dark ones, so that at each site the transmitters and the
//! receivers that change are as few as can be, max(circuits given up, circuits set up). The newest of parallel circuits
//! are given up first, and of dark ports those that were lit before are lit first, so that the most ports never change.

use std::collections::BTreeMap;

use model::{Connection, Faults, Rank};

use crate::held::Held;
use crate::kind::Assignment;

/// The ports of the switch: port p of site s, both from 0, is port s·ports + p + 1 of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sites {
    /// Number of sites.
    pub sites: u32,
    /// Transmitters of each, and as many receivers.
    pub ports: u32,
}

/// Circuits by their two sites.
pub(crate) type SiteCircuits = BTreeMap<(Rank, Rank), u32>;

/// The circuits of each topology in turn on ports that work, by the faults of sites; no site has more circuits out or in than ports. Circuits that are
/// set up while the step before runs take dark ports where there are some: those that circuits leave are in use until
/// then.
pub(crate) fn assign(sites: Sites, faults: &Faults, held: &[Held], circuits: &[SiteCircuits]) -> Assignment {
    let mut transmitters = FreePorts::of(sites, |site, port| faults.sends(site, port));
    let mut receivers = FreePorts::of(sites, |site, port| faults.receives(site, port));
    // Per pair, the oldest circuit first.
    let mut up: BTreeMap<(Rank, Rank), Vec<Connection>> = BTreeMap::new();
    let mut connections = Vec::with_capacity(circuits.len());
    let mut least_connects = 0;
    for (index, (held, wanted)) in held.iter().zip(circuits).enumerate() {
        up.retain(|&(src, dst), circuits| {
            let stay = wanted.get(&(src, dst)).map_or(0, |&count| count as usize);
            for left in circuits.drain(stay.min(circuits.len())..) {
                transmitters.leave(src, left.ingress);
                receivers.leave(dst, left.egress);
            }
            !circuits.is_empty()
        });
        let dark_first = held.change.is_some_and(|change| change.in_background);
        for (&(src, dst), &count) in wanted {
            interruption::check();
            let circuits = up.entry((src, dst)).or_default();
            while circuits.len() < count as usize {
                let (ingress, egress) = (transmitters.take(src, dark_first), receivers.take(dst, dark_first));
                circuits.push(Connection { ingress, egress });
                least_connects += u64::from(index > 0);
            }
        }
        transmitters.settle();
        receivers.settle();
        let mut all: Vec<Connection> = up.values().flatten().copied().collect();
        all.sort_unstable();
        connections.push(vec![all]);
    }
    Assignment { connections, least_connects }
}

/// The ports of every site that carry nothing, the next to be lit last.
struct FreePorts {
    dark: Vec<Vec<u32>>,
    /// Ports that a circuit has just left.
    left: Vec<Vec<u32>>,
}

impl FreePorts {
    fn of(Sites { sites, ports }: Sites, works: impl Fn(u32, u32) -> bool) -> Self {
        let all = |site| {
            let working = (0..ports).rev().filter(|&port| works(site, port));
            working.map(|port| site * ports + port + 1).collect()
        };
        Self { dark: (0..sites).map(all).collect(), left: vec![Vec::new(); sites as usize] }
    }

    fn take(&mut self, site: Rank, dark_first: bool) -> u32 {
        let (dark, left) = (&mut self.dark[site as usize], &mut self.left[site as usize]);
        let (first, second) = if dark_first { (dark, left) } else { (left, dark) };
        // A site has no more circuits than ports.
        first.pop().or_else(|| second.pop()).unwrap_or(0)
    }

    fn leave(&mut self, site: Rank, port: u32) {
        self.left[site as usize].push(port);
    }

    /// Ports that were left and not taken are dark.
    fn settle(&mut self) {
        self.dark.iter_mut().zip(&mut self.left).for_each(|(dark, left)| dark.append(left));
    }
}
