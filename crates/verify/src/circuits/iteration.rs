//! Check that a circuits file gives every event of a training iteration the circuits that it needs, in time.
//!
//! Iterations follow one another: the file is followed twice, and what the events of the second iteration find is
//! judged, so that a circuit that was set up in the iteration before counts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::{Circuits, Configuration, Error, Fabric, Rank, Result, Topology, TrainingPlan, Work, sum_seconds};

use super::history::{History, Lit};
use super::islands::served_on_islands;
use super::{Layout, kept_paths, light, switches_check};
use crate::report::{Check, Report, Tally};
use crate::speeds::by_rate;

/// Rounding error of a time, relative to the iteration's.
const ROUNDING: f64 = 1e-9;

/// Judges what switches are told for `training`: the changes followed over two iterations, and the circuits that every
/// step of every event finds, from its start to its end, set up for as long as a change takes; in a mesh also the paths
/// of light, and that circuits which stay keep theirs. `optics` is the kind of the switches; without it their number says whether they are one for all or one a port.
///
/// # Errors
/// An optical layer that is not known here.
pub fn iteration_circuits(circuits: &Circuits, training: &TrainingPlan, optics: Option<&str>) -> Result<Report> {
    let shape = &training.fabric.shape;
    let layout = Layout::of(circuits, shape, optics)?;
    if let (Layout::Routers(_) | Layout::Selective(_) | Layout::Cubes(_), Some(optics)) = (layout, optics) {
        return Err(Error::value(
            "optics",
            format!("`{optics}`"),
            "crossbar, parallel, islands:AxB or mesh:ROWSxCOLUMNS for an iteration",
        ));
    }
    let (switches, has_ports) = switches_check(circuits, shape, layout);
    let mut checks = vec![switches];
    if has_ports {
        let total_s = training.events.iter().map(|event| event.end_s).fold(0.0, f64::max);
        let change_s = training.fabric.reconfiguration.delay().constant_s().unwrap_or(0.0);
        let (history, changes) = followed(circuits, layout, (total_s, change_s));
        let served = match layout {
            Layout::Islands { gpus, .. } => served_on_islands(training, &history, gpus, total_s),
            _ => served(training, &history, total_s),
        };
        checks.extend([changes, events_check(circuits, training, layout), served]);
        checks.extend(light::checks(circuits, shape, None, optics.and_then(|optics| optics.strip_prefix("mesh:")))?);
        if !circuits.light().is_empty() {
            checks.push(kept_paths::check(circuits));
        }
    }
    Ok(Report { checks })
}

/// The changes of two iterations: what is joined, and since when it is lit.
fn followed(circuits: &Circuits, layout: Layout, (total_s, change_s): (f64, f64)) -> (History, Check) {
    let mut tally = Tally::new("changes");
    let mut by_port: BTreeMap<(Rank, u32), Vec<Lit>> = BTreeMap::new();
    let mut joined: Vec<BTreeMap<u32, (u32, f64)>> = vec![BTreeMap::new(); circuits.switches().len()];
    let configurations = circuits.configurations();
    let laps = [(0.0, 0), (total_s, 1)].into_iter();
    for (lap_s, skipped) in laps {
        for (index, configuration) in configurations.iter().enumerate().skip(skipped) {
            interruption::check();
            let is_first = index == 0;
            let time_s = configuration.time_s + lap_s;
            for (switch, (state, told)) in joined.iter_mut().zip(&configuration.switches).enumerate() {
                let at = || format!("configuration {}, {}", index + 1, circuits.switches()[switch].name);
                for one in &told.disconnect {
                    let was = state.remove(&one.ingress);
                    tally.expect(was.is_some_and(|(egress, _)| egress == one.egress), || {
                        format!("{}: {} → {} is disconnected and was not connected", at(), one.ingress, one.egress)
                    });
                    if let Some((egress, from_s)) = was {
                        add(&mut by_port, layout, switch, (one.ingress, egress), from_s, time_s);
                    }
                }
                for one in &told.connect {
                    let from_s = if is_first { f64::NEG_INFINITY } else { time_s + change_s };
                    let was = state.insert(one.ingress, (one.egress, from_s));
                    tally.expect(was.is_none(), || {
                        format!("{}: ingress port {} is connected and was in use", at(), one.ingress)
                    });
                }
                let egress: BTreeSet<u32> = state.values().map(|(egress, _)| *egress).collect();
                tally.expect(egress.len() == state.len(), || format!("{}: an egress port is connected twice", at()));
                tally
                    .expect(time_s <= total_s + lap_s, || format!("{}: it begins after the iteration has ended", at()));
            }
        }
        for (switch, (state, first)) in joined.iter().zip(&configurations[0].switches).enumerate() {
            let first: Vec<(u32, u32)> = first.connections.iter().map(|one| (one.ingress, one.egress)).collect();
            let last: Vec<(u32, u32)> = state.iter().map(|(&ingress, &(egress, _))| (ingress, egress)).collect();
            tally.expect(first == last, || {
                let name = &circuits.switches()[switch].name;
                format!(
                    "{name}: the last configuration has other connections than the first, with which iterations begin"
                )
            });
        }
    }
    for (switch, state) in joined.into_iter().enumerate() {
        for (ingress, (egress, from_s)) in state {
            add(&mut by_port, layout, switch, (ingress, egress), from_s, f64::INFINITY);
        }
    }
    let check = tally.into_check("change", "of connections, followed over two iterations");
    (History { by_port, rounding_s: ROUNDING * total_s }, check)
}

fn add(
    by_port: &mut BTreeMap<(Rank, u32), Vec<Lit>>,
    layout: Layout,
    switch: usize,
    (ingress, egress): (u32, u32),
    from_s: f64,
    until_s: f64,
) {
    // A circuit that is given up before it is lit was never there.
    if from_s <= until_s {
        let (rank, port) = (layout.at(egress), layout.port(switch, egress));
        let at = (layout.at(ingress), layout.port(switch, ingress));
        by_port.entry(at).or_default().push(Lit { from_s, until_s, rank, port });
    }
}

/// Ranks and ports that get another circuit, or none.
fn changed_ports(configuration: &Configuration, layout: Layout) -> BTreeSet<(Rank, u32)> {
    let mut changed = BTreeSet::new();
    for (switch, told) in configuration.switches.iter().enumerate() {
        for port in told.connect.iter().chain(&told.disconnect).flat_map(|one| [one.ingress, one.egress]) {
            changed.insert((layout.at(port), layout.port(switch, port)));
        }
    }
    changed
}

/// Whether the events that configurations name are those of the iteration, and use ports that change.
fn events_check(circuits: &Circuits, training: &TrainingPlan, layout: Layout) -> Check {
    let mut tally = Tally::new("events");
    let known: BTreeMap<&str, usize> =
        training.workload.nodes.iter().enumerate().map(|(event, node)| (node.id.as_str(), event)).collect();
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        tally.expect(configuration.events.is_some() == (index > 0) && configuration.steps.is_empty(), || {
            format!(
                "configuration {}: all but the first must name the events around them, and none may have steps",
                index + 1
            )
        });
        let Some(events) = &configuration.events else { continue };
        tally.expect(events.steps.len() == events.before.len(), || {
            format!("configuration {}: it takes a step for each event that needs it", index + 1)
        });
        let changed = changed_ports(configuration, layout);
        let named = events.after.iter().chain(&events.before).filter_map(|name| known.get(name.as_str()));
        let is_touched = named.flat_map(|&event| {
            let ranks = training.workload.ranks_of(event);
            let (at, ports): (Vec<Rank>, Vec<u32>) = match layout {
                Layout::Islands { gpus, ports } => {
                    (ranks.into_iter().map(|rank| rank / gpus).collect(), (0..ports).collect())
                }
                _ => (ranks, training.events[event].ports.clone()),
            };
            at.into_iter().flat_map(move |at| ports.clone().into_iter().map(move |port| (at, port)))
        });
        tally.expect(is_touched.into_iter().any(|port| changed.contains(&port)), || {
            format!("configuration {}: no event that it names uses a port that changes", index + 1)
        });
        for name in configuration.events.iter().flat_map(|events| events.after.iter().chain(&events.before)) {
            tally.expect(known.contains_key(name.as_str()), || {
                let name: String = name.chars().take(60).collect();
                format!("configuration {}: the iteration has no node `{name}`", index + 1)
            });
        }
    }
    tally.into_check("statement", "of events that configurations are set between")
}

/// Whether every step of every event of the second iteration has its circuits.
fn served(training: &TrainingPlan, history: &History, total_s: f64) -> Check {
    let mut tally = Tally::new("circuits");
    for (event, (planned, node)) in training.events.iter().zip(&training.workload.nodes).enumerate() {
        interruption::check();
        let id: String = node.id.chars().take(60).collect();
        let ends_s = planned.end_s + total_s;
        let of_rates = ports_by_rate(&training.fabric, &planned.ports);
        match (&node.work, planned.plan.map(|plan| &training.plans[plan])) {
            (Work::Collective { .. }, Some(plan)) => {
                let groups = training.workload.groups_of(event);
                for (index, step) in plan.steps.iter().enumerate() {
                    let after_s = sum_seconds(plan.steps[index + 1..].iter().map(|step| step.cost.total_s()));
                    let own_s = step.cost.total_s() - step.cost.reconfiguration_s;
                    let span_s = (ends_s - after_s - own_s, ends_s - after_s);
                    for (ranks, (rate, ports)) in
                        groups.iter().flat_map(|ranks| of_rates.iter().map(move |of| (ranks, of)))
                    {
                        let found = history.circuits(ranks, ports, span_s.0, span_s.1);
                        let fault = fault(&found, &wanted(&plan.topologies[step.topology], ranks, *rate));
                        tally.expect(fault.is_none(), || {
                            format!("node `{id}`, step {}: {}", index + 1, fault.unwrap_or_default())
                        });
                    }
                }
            }
            (Work::Send { pairs, .. }, _) => {
                let span_s = (planned.start_s + total_s, ends_s);
                let stated = planned.topology.map(|topology| &training.topologies[topology]);
                for &(source, destination) in pairs {
                    let fault = if planned.direct {
                        of_rates.iter().find_map(|(_, ports)| {
                            let found = history.circuits(&[source, destination], ports, span_s.0, span_s.1);
                            let has = found.get(&(source, destination)).copied().unwrap_or(0) as usize;
                            let of = ports.len();
                            let fault = || format!("{has} of {of} circuits from rank {source} to rank {destination}");
                            (has != of).then(fault)
                        })
                    } else {
                        let ranks = group_of(training, stated.and_then(|stated| stated.axis), source);
                        let found = history.circuits(&ranks, &planned.ports, span_s.0, span_s.1);
                        let needs =
                            stated.map(|stated| distance(&wanted(&stated.topology, &ranks, None), source, destination));
                        let has = distance(&found, source, destination);
                        (has.is_none() || needs.is_some_and(|needs| needs != has)).then(|| {
                            format!("no path from rank {source} to rank {destination} as long as the iteration says")
                        })
                    };
                    tally.expect(fault.is_none(), || format!("node `{id}`: {}", fault.unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
    tally.into_check("use", "of circuits, lit from begin to end, set up as long before as a change takes")
}

/// The group of an axis that has a rank; all ranks where there is no axis.
fn group_of(training: &TrainingPlan, axis: Option<usize>, rank: Rank) -> Vec<Rank> {
    let of_axis =
        axis.and_then(|axis| training.workload.axis_groups(axis).into_iter().find(|group| group.contains(&rank)));
    of_axis.unwrap_or_else(|| (0..training.workload.ranks).collect())
}

/// Ports of one rate after the other, the fastest first, with the place of the rate; no place where all have one rate.
fn ports_by_rate(fabric: &Fabric, ports: &[u32]) -> Vec<(Option<usize>, Vec<u32>)> {
    let by_port_bps = fabric.shape.rates().map(|rates| rates.by_port_bps()).unwrap_or_default();
    // Rates are above zero, so that their bits are in the order of the numbers.
    let mut of_rate: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for &port in ports {
        of_rate.entry(by_port_bps.get(port as usize).map_or(0, |rate| rate.to_bits())).or_default().push(port);
    }
    let is_one = of_rate.len() == 1;
    of_rate.into_values().rev().enumerate().map(|(place, ports)| ((!is_one).then_some(place), ports)).collect()
}

/// The circuits of a topology between the ranks of a group; those of one rate where it is given.
fn wanted(topology: &Topology, ranks: &[Rank], rate: Option<usize>) -> BTreeMap<(Rank, Rank), u32> {
    let mut wanted = BTreeMap::new();
    for link in topology.expanded() {
        let count = rate.map_or(link.count, |rate| by_rate(topology, &link).get(rate).copied().unwrap_or(0));
        *wanted.entry((ranks[link.src as usize], ranks[link.dst as usize])).or_insert(0) += count;
    }
    wanted
}

/// The first pair of ranks with another number of circuits than it needs.
fn fault(found: &BTreeMap<(Rank, Rank), u32>, wanted: &BTreeMap<(Rank, Rank), u32>) -> Option<String> {
    let pairs: BTreeSet<(Rank, Rank)> = wanted.keys().chain(found.keys()).copied().collect();
    pairs.into_iter().find_map(|pair| {
        let [has, needs] = [found, wanted].map(|of| of.get(&pair).copied().unwrap_or(0));
        let (source, destination) = pair;
        (has != needs)
            .then(|| format!("{has} circuits from rank {source} to rank {destination}, where it needs {needs}"))
    })
}

/// Hops from one rank to another.
fn distance(circuits: &BTreeMap<(Rank, Rank), u32>, source: Rank, destination: Rank) -> Option<u32> {
    let mut hops = BTreeMap::from([(source, 0)]);
    let mut reached = VecDeque::from([source]);
    while let Some(rank) = reached.pop_front() {
        for &(_, next) in circuits.keys().filter(|(from, _)| *from == rank) {
            if !hops.contains_key(&next) {
                hops.insert(next, hops[&rank] + 1);
                reached.push_back(next);
            }
        }
    }
    hops.get(&destination).copied()
}
