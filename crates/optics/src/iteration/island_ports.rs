//! The circuits of an iteration on the ports that GPUs of islands share.
//!
//! A circuit that stays keeps its ports. Circuits between the same two islands are alike to the switch, so that a new
//! one takes over the connection of one that is given up at the same time; others take ports that circuits between the
//! same two islands had before, where these are free.

use std::collections::{BTreeMap, BTreeSet};

use model::{Connection, Error, Islands, Result};

use crate::cutoffs::iteration::MOST_LAPS;

/// Two islands, the sender first.
type Pair = (u32, u32);

/// The connections of the islands' switch, for each configuration of circuits between ports of GPUs, as on a crossbar
/// of `ports` a GPU. The last has the circuits of the first: an iteration repeats.
///
/// # Errors
/// More circuits at an island than it has ports, or circuits that do not come back to the ports that they began with.
pub(super) fn on_islands(
    islands: Islands,
    sites: u32,
    ports: u32,
    configurations: &[Vec<Connection>],
) -> Result<Vec<Vec<Connection>>> {
    let mut shared = SharedPorts { islands, sites, ports, up: BTreeMap::new(), known: BTreeMap::new() };
    let Some((first, others)) = configurations.split_first() else { return Ok(Vec::new()) };
    let mut begin = shared.set(first)?;
    for _ in 0..MOST_LAPS {
        interruption::check();
        let mut made = vec![begin.clone()];
        for wanted in others {
            made.push(shared.set(wanted)?);
        }
        if made.last() == Some(&begin) {
            return Ok(made);
        }
        begin = shared.set(first)?;
    }
    let reason = "the circuits of an iteration do not come back to the ports of islands that they began with; it would \
        be planned with fewer changes, or islands of more ports";
    Err(Error::infeasible("optics", reason))
}

struct SharedPorts {
    islands: Islands,
    sites: u32,
    ports: u32,
    /// By circuit between ports of GPUs, its connection.
    up: BTreeMap<Connection, Connection>,
    /// The connections that circuits between two islands had, the last ones last.
    known: BTreeMap<Pair, Vec<Connection>>,
}

impl SharedPorts {
    fn pair(&self, circuit: &Connection) -> Pair {
        let island = |port: u32| (port - 1) / self.ports / self.islands.gpus;
        (island(circuit.ingress), island(circuit.egress))
    }

    /// Sets up circuits, and gives up all others; the connections, sorted.
    fn set(&mut self, wanted: &[Connection]) -> Result<Vec<Connection>> {
        let crossing: BTreeSet<Connection> =
            wanted.iter().copied().filter(|one| self.pair(one).0 != self.pair(one).1).collect();
        let mut left: BTreeMap<Pair, Vec<Connection>> = BTreeMap::new();
        for (circuit, connection) in std::mem::take(&mut self.up) {
            if crossing.contains(&circuit) {
                self.up.insert(circuit, connection);
            } else {
                left.entry(self.pair(&circuit)).or_default().push(connection);
            }
        }
        let new: Vec<Connection> = crossing.iter().copied().filter(|one| !self.up.contains_key(one)).collect();
        let mut open = Vec::new();
        for circuit in new {
            match left.get_mut(&self.pair(&circuit)).and_then(Vec::pop) {
                Some(connection) => drop(self.up.insert(circuit, connection)),
                None => open.push(circuit),
            }
        }
        let mut used: [BTreeSet<u32>; 2] = Default::default();
        for connection in self.up.values() {
            used[0].insert(connection.ingress);
            used[1].insert(connection.egress);
        }
        for known in [true, false] {
            for circuit in std::mem::take(&mut open) {
                let found = if known { self.as_before(&circuit, &used) } else { Some(self.free(&circuit, &used)?) };
                let Some(connection) = found else {
                    open.push(circuit);
                    continue;
                };
                used[0].insert(connection.ingress);
                used[1].insert(connection.egress);
                self.up.insert(circuit, connection);
                let pair = self.pair(&circuit);
                let known = self.known.entry(pair).or_default();
                known.retain(|other| *other != connection);
                known.push(connection);
            }
        }
        let mut made: Vec<Connection> = self.up.values().copied().collect();
        made.sort_unstable();
        Ok(made)
    }

    fn as_before(&self, circuit: &Connection, used: &[BTreeSet<u32>; 2]) -> Option<Connection> {
        let is_free = |one: &&Connection| !used[0].contains(&one.ingress) && !used[1].contains(&one.egress);
        self.known.get(&self.pair(circuit))?.iter().rev().find(is_free).copied()
    }

    /// # Errors
    /// An island without a free port.
    fn free(&self, circuit: &Connection, used: &[BTreeSet<u32>; 2]) -> Result<Connection> {
        let (from, to) = self.pair(circuit);
        let first = |island: u32, used: &BTreeSet<u32>, verb: &str| {
            let mut own = (0..self.islands.ports).map(|port| island * self.islands.ports + port + 1);
            own.find(|port| island < self.sites && !used.contains(port)).ok_or_else(|| {
                let ports = model::counted(u64::from(self.islands.ports), "port");
                Error::infeasible("optics", format!("island {island} has {ports}; more circuits {verb} it at once"))
            })
        };
        Ok(Connection { ingress: first(from, &used[0], "leave")?, egress: first(to, &used[1], "enter")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Circuits between GPUs of one port each, on two islands of two GPUs and `ports` ports.
    fn on_two_islands(ports: u32, configurations: &[&[(u32, u32)]]) -> Result<Vec<Vec<Connection>>> {
        let circuit = |&(from, to): &(u32, u32)| Connection { ingress: from + 1, egress: to + 1 };
        let wanted: Vec<Vec<Connection>> = configurations.iter().map(|all| all.iter().map(circuit).collect()).collect();
        on_islands(Islands { gpus: 2, ports }, 2, 1, &wanted)
    }

    #[test]
    fn circuits_that_stay_keep_their_ports_and_the_last_are_the_first() {
        let both: &[(u32, u32)] = &[(0, 2), (1, 3)];
        let made = on_two_islands(2, &[both, &[(1, 3)], both]).unwrap();
        assert_eq!(made[0].len(), 2);
        assert!(made[0].contains(&made[1][0]));
        assert_eq!(made[2], made[0]);
    }

    #[test]
    fn circuits_between_the_same_islands_take_over_from_each_other() {
        let made = on_two_islands(1, &[&[(0, 2)], &[(1, 3)], &[(0, 2)]]).unwrap();
        assert_eq!(made, vec![vec![Connection { ingress: 1, egress: 2 }]; 3]);
    }

    #[test]
    fn circuits_within_islands_need_no_port_and_too_many_are_refused() {
        assert_eq!(on_two_islands(1, &[&[(0, 1), (3, 2)]]).unwrap(), vec![Vec::new()]);
        let refused = on_two_islands(1, &[&[(0, 2), (1, 3)]]).unwrap_err().to_string();
        assert_eq!(refused, "optics: island 0 has 1 port; more circuits leave it at once");
    }
}
