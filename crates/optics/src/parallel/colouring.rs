//! The circuits of one topology by switch.

use model::{PortAssignment, Rank, Topology};

/// Stands in place of a GPU where a port is dark.
pub(crate) const DARK: Rank = Rank::MAX;

/// A circuit by its switch, source and destination.
pub(crate) type Placed = (usize, Rank, Rank);

/// Per switch a matching: an edge colouring of the topology's circuits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Colouring {
    /// Per switch and source, the destination, or [`DARK`].
    pub out: Vec<Vec<Rank>>,
    /// Per switch and destination, the source, or [`DARK`].
    pub into: Vec<Vec<Rank>>,
}

impl Colouring {
    /// A colouring without circuits.
    pub fn dark(switches: usize, gpus: u32) -> Self {
        let dark = || vec![vec![DARK; gpus as usize]; switches];
        Self { out: dark(), into: dark() }
    }

    /// The assignment that depends only on the topology, by which plans are charged.
    pub fn by_itself(topology: &Topology, slowest_first: &[usize]) -> Self {
        let assigned = PortAssignment::of(topology, slowest_first.len());
        let mut colouring = Self::dark(slowest_first.len(), topology.ranks());
        for (port, &switch) in slowest_first.iter().enumerate() {
            assigned.circuits(port).for_each(|(src, dst)| colouring.join(switch, src, dst));
        }
        colouring
    }

    /// GPUs.
    pub fn gpus(&self) -> usize {
        self.out.first().map_or(0, Vec::len)
    }

    /// Circuits.
    pub fn circuits(&self) -> u64 {
        self.out.iter().flatten().filter(|&&dst| dst != DARK).count() as u64
    }

    /// Circuits that another has on the same switches.
    pub fn kept(&self, other: &Self) -> u64 {
        let pairs = self.out.iter().zip(&other.out).flat_map(|(ours, theirs)| ours.iter().zip(theirs));
        pairs.filter(|(ours, theirs)| **ours != DARK && ours == theirs).count() as u64
    }

    /// Puts a circuit on a switch, at whose ends both are dark.
    pub fn join(&mut self, switch: usize, src: Rank, dst: Rank) {
        self.out[switch][src as usize] = dst;
        self.into[switch][dst as usize] = src;
    }

    /// Takes a circuit from a switch.
    pub fn part(&mut self, switch: usize, src: Rank, dst: Rank) {
        self.out[switch][src as usize] = DARK;
        self.into[switch][dst as usize] = DARK;
    }

    /// All circuits on two switches that hang together with those of `src`.
    pub fn component(&self, (a, b): (usize, usize), src: Rank) -> Vec<Placed> {
        let mut found: Vec<Placed> = Vec::new();
        let mut waiting = vec![src];
        let mut seen = vec![false; self.gpus()];
        while let Some(src) = waiting.pop() {
            if std::mem::replace(&mut seen[src as usize], true) {
                continue;
            }
            for (switch, other) in [(a, b), (b, a)] {
                let dst = self.out[switch][src as usize];
                if dst == DARK {
                    continue;
                }
                found.push((switch, src, dst));
                let beside = self.into[other][dst as usize];
                if beside != DARK {
                    waiting.push(beside);
                }
            }
        }
        found
    }

    /// Moves circuits that no others hang together with to the other of two switches.
    pub fn swap(&mut self, (a, b): (usize, usize), circuits: &[Placed]) {
        circuits.iter().for_each(|&(switch, src, dst)| self.part(switch, src, dst));
        circuits.iter().for_each(|&(switch, src, dst)| self.join(a + b - switch, src, dst));
    }

    /// Moves the circuits of `src` on two switches, and those that hang together with them, to the other.
    pub fn swap_around(&mut self, switches: (usize, usize), src: Rank) {
        let component = self.component(switches, src);
        self.swap(switches, &component);
    }
}
