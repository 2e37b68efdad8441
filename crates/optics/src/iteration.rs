//! The circuits of a training iteration on the ports of switches, for all its groups together.
//!
//! Every port of every rank has a purpose at any time: the topology of a group, or messages. A circuit is lit while
//! both its ends have the same purpose. Which transmitter and receiver of a group a circuit takes depends on the
//! topology alone, so that ports which an iteration counts as set up already are so on the switches.

mod assignments;
mod course;
mod island_ports;
mod lit;
mod purposes;

use std::collections::{BTreeMap, BTreeSet};

use model::{Circuits, Configuration, ConfigurationEvents, Connection, Error, Result, SwitchSetting, TrainingPlan};

use crate::Optics;
use crate::cutoffs::iteration::MOST_CONNECTIONS;
use assignments::Assignments;
use course::{Change, Course};
use island_ports::on_islands;
use lit::Lit;
use purposes::Catalogue;

/// Rounding of a time, relative to the iteration's.
const ROUNDING: f64 = 1e-12;

/// The circuits of all groups of `training` on the ports of `optics`, configuration by configuration, over one
/// iteration that repeats. The first configuration is there when it begins, and again when it ends; every other has
/// to begin being set at its time, in seconds from the beginning of the iteration.
///
/// # Errors
/// Too few or too small switches, circuits that they cannot have at once, or more connections than are written.
pub fn iteration_circuits(training: &TrainingPlan, optics: &Optics) -> Result<Circuits> {
    let shape = &training.fabric.shape;
    let map = optics.port_map(shape)?;
    let islands = optics.islands();
    let mesh = optics.mesh(shape)?;
    // The circuits between GPUs are found first, as on a crossbar, and then put on the ports of islands, or on paths
    // through a mesh.
    let crossbar = (islands.is_some() || mesh.is_some()).then(|| Optics::parse("crossbar")).transpose()?;
    let on_gpus = crossbar.as_ref().unwrap_or(optics);
    let catalogue = Catalogue::new(training);
    let assignments = Assignments::new(training, &catalogue, on_gpus)?;
    let Course { changes, last } = Course::of(training, &catalogue);
    let switches = on_gpus.port_map(shape)?.switches.len();
    let mut lit = Lit::new(on_gpus, shape, &catalogue, &assignments, switches)?;
    // Ports have the same circuits at the end of an iteration as at its beginning.
    lit.set(last.iter().copied().enumerate());
    for change in &changes {
        lit.set(change.purposes.iter().copied());
    }
    let mut wanted = Wanted::default();
    wanted.add(0.0, lit.connections(), None)?;
    // Times that are the same but for rounding are those of changes that make room for each other.
    let slack_s = if islands.is_some() { ROUNDING * training.total_s } else { 0.0 };
    let mut rest = changes.as_slice();
    while let Some(first) = rest.first() {
        interruption::check();
        let together = rest.iter().take_while(|change| change.time_s <= first.time_s + slack_s).count();
        let (now, later) = rest.split_at(together);
        rest = later;
        let mut is_changed = false;
        for change in now {
            is_changed |= lit.set(change.purposes.iter().copied());
        }
        if is_changed {
            wanted.add(first.time_s, lit.connections(), Some(events_of(training, now)))?;
        }
    }
    let mut wanted = wanted.configurations;
    if let Some(islands) = islands {
        let circuits = wanted.iter().map(|(time_s, connections, _)| (*time_s, connections[0].clone())).collect();
        let on_islands = on_islands(islands, shape.ports(), circuits, training)?;
        wanted.iter_mut().zip(on_islands).for_each(|((_, connections, _), made)| *connections = vec![made]);
    }
    let mut made = Configurations::default();
    for (time_s, connections, events) in wanted {
        made.add(time_s, connections, events);
    }
    let circuits = Circuits::new(map.switches, made.configurations).map_err(|error| error.in_field("names"))?;
    let Some(mesh) = mesh else { return Ok(circuits) };
    let lit = circuits.configurations().iter().map(|one| (one.time_s, one.switches[0].connections.as_slice()));
    let light = optics.light_over_time(shape, &lit.collect::<Vec<_>>())?;
    circuits.with_light(light)?.with_mesh(mesh)
}

/// Connections of every switch from a time on, and the events between which they are set.
type Setting = (f64, Vec<Vec<Connection>>, Option<ConfigurationEvents>);

/// The circuits between GPUs as they change.
#[derive(Default)]
struct Wanted {
    configurations: Vec<Setting>,
    connections: usize,
}

impl Wanted {
    /// # Errors
    /// More connections than are written.
    fn add(&mut self, time_s: f64, now: Vec<Vec<Connection>>, events: Option<ConfigurationEvents>) -> Result<()> {
        if self.configurations.last().is_some_and(|(_, before, _)| *before == now) {
            return Ok(());
        }
        self.connections += now.iter().map(Vec::len).sum::<usize>();
        if self.connections > MOST_CONNECTIONS {
            let reason = format!(
                "its configurations have more than {MOST_CONNECTIONS} connections together; an iteration of fewer \
                 changes, layers or ranks is accepted"
            );
            return Err(Error::malformed("training", reason));
        }
        self.configurations.push((time_s, now, events));
        Ok(())
    }
}

/// The events of changes that are made together, by the names of their nodes.
fn events_of(training: &TrainingPlan, changes: &[Change]) -> ConfigurationEvents {
    let name = |event: usize| training.workload.nodes[event].id.clone();
    let after: BTreeSet<usize> = changes.iter().flat_map(|change| change.after.iter().copied()).collect();
    let before: BTreeSet<(usize, usize)> = changes.iter().filter_map(|change| change.before).collect();
    ConfigurationEvents {
        after: after.into_iter().map(name).collect(),
        before: before.iter().map(|(event, _)| name(*event)).collect(),
        steps: before.into_iter().map(|(_, step)| step).collect(),
    }
}

/// Configurations as they are made.
#[derive(Default)]
struct Configurations {
    configurations: Vec<Configuration>,
    before: Vec<Vec<Connection>>,
    /// Numbers of the circuits that switches were found with.
    known: BTreeMap<Vec<Vec<Connection>>, usize>,
}

impl Configurations {
    fn add(&mut self, time_s: f64, now: Vec<Vec<Connection>>, events: Option<ConfigurationEvents>) {
        if now == self.before {
            return;
        }
        self.before.resize(now.len(), Vec::new());
        let settings = self.before.iter().zip(&now).map(|(before, now)| SwitchSetting::after(before, now.clone()));
        let switches = settings.collect();
        let next = self.known.len();
        let topology = *self.known.entry(now.clone()).or_insert(next);
        self.before = now;
        self.configurations.push(Configuration { topology, steps: Vec::new(), time_s, switches, events });
    }
}
