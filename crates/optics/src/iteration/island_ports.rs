//! The circuits of an iteration on the ports that GPUs of islands share.
//!
//! A circuit is kept as long as some communication is still to use it before its ports get another; so long it keeps
//! its transmitter and its receiver, over the end of the iteration too. That is a colouring of arcs of a circle at
//! every island, for transmitters and for receivers, with as many colours as there are ports; it is looked for port by
//! port.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use model::{Connection, Error, Islands, Rank, Result, TrainingPlan, Work};

use crate::cutoffs::iteration::MOST_TRIED;

/// Rounding of a time, relative to the iteration's.
const ROUNDING: f64 = 1e-9;

/// A circuit in the configurations that follow each other from `first` on, `count` of them, around the iteration.
#[derive(Debug, Clone, PartialEq)]
struct Arc {
    circuit: Connection,
    first: usize,
    count: usize,
}

impl Arc {
    fn places(&self, configurations: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.first;
        (0..self.count).map(move |step| (first + step) % configurations)
    }
}

/// The connections of the islands' switch in each configuration, from the circuits between ports of GPUs, as on a
/// crossbar of `ports` a GPU, with the times from which these are there. The last has the circuits of the first: an
/// iteration repeats.
///
/// # Errors
/// More circuits at an island than it has ports, or no ports found that circuits keep as long as they are needed.
pub(super) fn on_islands(
    islands: Islands,
    ports: u32,
    configurations: Vec<(f64, Vec<Connection>)>,
    training: &TrainingPlan,
) -> Result<Vec<Vec<Connection>>> {
    let uses = uses(training, ports);
    let times_s: Vec<f64> = configurations.iter().map(|(time_s, _)| *time_s).collect();
    // The circuits at the start of an iteration are those that the last configuration leaves.
    let around = usize::from(configurations.len() > 1);
    let island = |port: u32| (port - 1) / ports / islands.gpus;
    let crossing = |(_, circuits): &(f64, Vec<Connection>)| -> BTreeSet<Connection> {
        circuits.iter().copied().filter(|one| island(one.ingress) != island(one.egress)).collect()
    };
    let wanted: Vec<BTreeSet<Connection>> = configurations.iter().skip(around).map(crossing).collect();
    let needed = needed(&wanted, &times_s[around.min(times_s.len())..], &uses, training.total_s);
    let arcs = arcs(&needed);
    let mut made = vec![Vec::new(); needed.len()];
    let transmitters = assigned(&arcs, needed.len(), islands, |arc| island(arc.circuit.ingress), "leave")?;
    let receivers = assigned(&arcs, needed.len(), islands, |arc| island(arc.circuit.egress), "enter")?;
    for ((arc, ingress), egress) in arcs.iter().zip(transmitters).zip(receivers) {
        arc.places(needed.len()).for_each(|place| made[place].push(Connection { ingress, egress }));
    }
    made.iter_mut().for_each(|connections: &mut Vec<Connection>| connections.sort_unstable());
    if around > 0 {
        made.insert(0, made[made.len() - 1].clone());
    }
    Ok(made)
}

/// A communication, with its start and end, s.
type PortUse = (usize, f64, f64);

/// By port of a rank: the communications that use it, in their order.
fn uses(training: &TrainingPlan, ports: u32) -> Vec<Vec<PortUse>> {
    let mut uses = vec![Vec::new(); (training.fabric.shape.gpus() * ports) as usize];
    for (event, planned) in training.events.iter().enumerate() {
        interruption::check();
        for rank in users(training, event) {
            for &port in &planned.ports {
                uses[(rank * ports + port) as usize].push((event, planned.start_s, planned.end_s));
            }
        }
    }
    uses
}

/// The ranks whose circuits a communication uses: those of its groups, or the ends of its messages; where messages pass
/// others, all ranks of the groups that they pass.
fn users(training: &TrainingPlan, event: usize) -> Vec<Rank> {
    let (planned, ends) = (&training.events[event], training.workload.ranks_of(event));
    let Work::Send { pairs, .. } = &training.workload.nodes[event].work else { return ends };
    if planned.direct {
        return ends;
    }
    let all = || vec![(0..training.workload.ranks).collect()];
    let Some(stated) = planned.topology.map(|topology| &training.topologies[topology]) else { return all().concat() };
    let mut groups = stated.axis.map_or_else(all, |axis| training.workload.axis_groups(axis));
    groups.retain(|group| ends.iter().any(|rank| group.contains(rank)));
    let links = stated.topology.expanded();
    let linked = |pair: &(Rank, Rank)| {
        groups
            .iter()
            .any(|group| links.iter().any(|link| (group[link.src as usize], group[link.dst as usize]) == *pair))
    };
    if pairs.iter().all(linked) { ends } else { groups.concat() }
}

/// The circuits of each configuration that something still uses at both ends, from then until they are given up.
fn needed(
    wanted: &[BTreeSet<Connection>],
    times_s: &[f64],
    uses: &[Vec<PortUse>],
    total_s: f64,
) -> Vec<BTreeSet<Connection>> {
    let count = wanted.len();
    let slack_s = ROUNDING * total_s;
    let is_needed = |circuit: &Connection, place: usize| {
        let [of_sender, of_receiver] = [circuit.ingress, circuit.egress].map(|port| &uses[(port - 1) as usize]);
        let is_of_both = |(event, ..): &&PortUse| of_receiver.binary_search_by_key(event, |found| found.0).is_ok();
        let mut of_both = of_sender.iter().filter(is_of_both);
        let gone = (1..count).find(|step| !wanted[(place + step) % count].contains(circuit));
        // A circuit that is never given up is there for every event that uses it.
        let Some(step) = gone else { return of_both.next().is_some() };
        let laps = if place + step >= count { total_s } else { 0.0 };
        let (from_s, until_s) = (times_s[place] + slack_s, times_s[(place + step) % count] + laps - slack_s);
        of_both.any(|&(_, begin_s, end_s)| {
            [0.0, total_s].iter().any(|later_s| end_s + later_s > from_s && begin_s + later_s < until_s)
        })
    };
    let of_place = |(place, circuits): (usize, &BTreeSet<Connection>)| {
        interruption::check();
        circuits.iter().copied().filter(|circuit| is_needed(circuit, place)).collect()
    };
    wanted.iter().enumerate().map(of_place).collect()
}

/// The arcs of all circuits: those over the end of the iteration first, then by their beginning.
fn arcs(needed: &[BTreeSet<Connection>]) -> Vec<Arc> {
    let count = needed.len();
    let mut arcs = Vec::new();
    for (first, circuits) in needed.iter().enumerate() {
        for &circuit in circuits {
            let is_there = |step: &usize| needed[(first + step) % count].contains(&circuit);
            let begins = !needed[(first + count - 1) % count].contains(&circuit);
            if begins || (first == 0 && (0..count).all(|step| is_there(&step))) {
                arcs.push(Arc { circuit, first, count: (0..count).take_while(is_there).count() });
            }
        }
    }
    arcs.sort_by_key(|arc| (arc.first + arc.count <= count && arc.count < count, arc.first));
    arcs
}

/// A port of its island for each arc, so that no two have one at once.
///
/// # Errors
/// More arcs at an island at once than it has ports, or none found.
fn assigned(
    arcs: &[Arc],
    configurations: usize,
    islands: Islands,
    island: impl Fn(&Arc) -> u32,
    verb: &str,
) -> Result<Vec<u32>> {
    let mut found = vec![0; arcs.len()];
    let sites: BTreeSet<u32> = arcs.iter().map(&island).collect();
    for site in sites {
        interruption::check();
        let own: Vec<usize> = (0..arcs.len()).filter(|&arc| island(&arcs[arc]) == site).collect();
        let mut at_once = vec![0; configurations];
        own.iter().flat_map(|&arc| arcs[arc].places(configurations)).for_each(|place| at_once[place] += 1);
        let ports = model::counted(u64::from(islands.ports), "port");
        if at_once.iter().any(|&count| count > islands.ports) {
            let reason = format!(
                "island {site} has {ports}; more circuits {verb} it at once; `train` plans within them where `optics` \
                 is given"
            );
            return Err(Error::infeasible("optics", reason));
        }
        let mut colouring = Colouring {
            arcs: own.iter().map(|&arc| arcs[arc].clone()).collect(),
            free: vec![vec![true; configurations]; islands.ports.min(own.len() as u32) as usize],
            chosen: Vec::new(),
            left: MOST_TRIED,
        };
        if !colouring.complete() {
            let reason = format!(
                "island {site} has {ports}; none were found that the circuits of the iteration keep as long as they \
                 are needed"
            );
            return Err(Error::infeasible("optics", reason));
        }
        for (arc, port) in own.into_iter().zip(colouring.chosen) {
            found[arc] = site * islands.ports + port as u32 + 1;
        }
    }
    Ok(found)
}

/// The search for ports of the arcs of one island.
struct Colouring {
    arcs: Vec<Arc>,
    /// By port and configuration.
    free: Vec<Vec<bool>>,
    chosen: Vec<usize>,
    /// Ports that may still be tried.
    left: usize,
}

impl Colouring {
    /// Whether ports are found for all arcs.
    fn complete(&mut self) -> bool {
        // By arc that has a port, or is next: the ports that are still to be tried, the next one last.
        let mut open: Vec<Vec<usize>> = Vec::new();
        while self.chosen.len() < self.arcs.len() {
            if open.len() == self.chosen.len() {
                let arc = &self.arcs[self.chosen.len()];
                open.push(self.candidates(arc));
            }
            let next = open.last_mut().and_then(Vec::pop).filter(|_| self.left > 0);
            if let Some(port) = next {
                self.left -= 1;
                self.set(self.chosen.len(), port, false);
                self.chosen.push(port);
                continue;
            }
            open.pop();
            let Some(port) = self.chosen.pop().filter(|_| self.left > 0) else { return false };
            self.set(self.chosen.len(), port, true);
        }
        true
    }

    /// The ports that are free for an arc. The last one is the port that is wanted again soonest after it: taking that
    /// port leaves the others free for longer.
    fn candidates(&self, arc: &Arc) -> Vec<usize> {
        let configurations = self.free.first().map_or(0, Vec::len);
        let is_free = |port: &usize| arc.places(configurations).all(|place| self.free[*port][place]);
        let after = |port: &usize| {
            let next = |step: &usize| !self.free[*port][(arc.first + arc.count + step) % configurations];
            (0..configurations).find(next).unwrap_or(configurations)
        };
        let mut ports: Vec<usize> = (0..self.free.len()).filter(is_free).collect();
        ports.sort_by_key(|port| Reverse((after(port), *port)));
        ports
    }

    fn set(&mut self, arc: usize, port: usize, is_free: bool) {
        let configurations = self.free[port].len();
        self.arcs[arc].places(configurations).for_each(|place| self.free[port][place] = is_free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISLANDS: Islands = Islands { gpus: 2, ports: 2 };

    fn circuit(from: u32, to: u32) -> Connection {
        Connection { ingress: from + 1, egress: to + 1 }
    }

    /// Ports of the transmitters of island 0, for circuits from there in these configurations.
    fn ports_of(configurations: &[&[(u32, u32)]]) -> Result<Vec<(Connection, u32)>> {
        let needed: Vec<BTreeSet<Connection>> =
            configurations.iter().map(|all| all.iter().map(|&(from, to)| circuit(from, to)).collect()).collect();
        let arcs = arcs(&needed);
        let ports = assigned(&arcs, needed.len(), ISLANDS, |_| 0, "leave")?;
        Ok(arcs.into_iter().map(|arc| arc.circuit).zip(ports).collect())
    }

    #[test]
    fn circuits_that_are_there_at_once_have_ports_of_their_own() {
        let found = ports_of(&[&[(0, 2), (1, 3)], &[(1, 3)], &[(0, 3), (1, 3)]]).unwrap();
        let [always, others @ ..] = found.as_slice() else { panic!("three arcs") };
        assert_eq!((always.0, others.len()), (circuit(1, 3), 2));
        assert!(others.iter().all(|(_, port)| *port != always.1));
    }

    #[test]
    fn arcs_that_meet_around_the_iteration_have_no_two_ports() {
        // Any two of the three are there at once, and never all.
        let turns: [&[(u32, u32)]; 3] = [&[(0, 2), (1, 2)], &[(1, 2), (1, 3)], &[(1, 3), (0, 2)]];
        let refused = ports_of(&turns).unwrap_err().to_string();
        assert!(refused.starts_with("optics: island 0 has 2 ports; none were found"), "{refused}");
        let many = ports_of(&[&[(0, 2), (1, 2), (1, 3)]]).unwrap_err().to_string();
        assert!(many.starts_with("optics: island 0 has 2 ports; more circuits leave it at once;"), "{many}");
    }

    #[test]
    fn circuits_that_nothing_uses_any_more_are_not_needed() {
        let pair = BTreeSet::from([circuit(0, 2)]);
        let wanted = [pair.clone(), pair.clone(), BTreeSet::new()];
        let used = vec![(0, 1.0, 2.0)];
        let by_both = [used.clone(), Vec::new(), used.clone(), Vec::new()];
        let none = BTreeSet::new();
        assert_eq!(needed(&wanted, &[0.5, 2.5, 3.0], &by_both, 4.0), [pair, none.clone(), none.clone()]);
        // Something else at the receiver.
        let by_one = [used, Vec::new(), vec![(1, 1.0, 2.0)], Vec::new()];
        assert_eq!(needed(&wanted, &[0.5, 2.5, 3.0], &by_one, 4.0), [none.clone(), none.clone(), none]);
    }
}
