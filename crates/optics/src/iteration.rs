//! The circuits of a training iteration on the ports of switches, for all its groups together.
//!
//! Every port of every rank has a purpose at any time: the topology of a group, or messages. A circuit is lit while
//! both its ends have the same purpose. Which transmitter and receiver of a group a circuit takes depends on the
//! topology alone, so that ports which an iteration counts as set up already are so on the switches.

mod assignments;
mod course;
mod lit;
mod purposes;

use std::collections::{BTreeMap, BTreeSet};

use model::{Circuits, Configuration, ConfigurationEvents, Connection, Error, Result, SwitchSetting, TrainingPlan};

use crate::Optics;
use crate::cutoffs::iteration::MOST_CONNECTIONS;
use assignments::Assignments;
use course::{Change, Course};
use lit::Lit;
use purposes::Catalogue;

/// The circuits of all groups of `training` on the ports of `optics`, configuration by configuration, over one
/// iteration that repeats. The first configuration is there when it begins, and again when it ends; every other has
/// to begin being set at its time, in seconds from the beginning of the iteration.
///
/// # Errors
/// Switches at which a port has not one rank, too few or too small switches, a topology that they cannot have, or more
/// connections than are written.
pub fn iteration_circuits(training: &TrainingPlan, optics: &Optics) -> Result<Circuits> {
    let shape = &training.fabric.shape;
    let map = optics.port_map(shape)?;
    let catalogue = Catalogue::new(training);
    let assignments = Assignments::new(training, &catalogue, optics)?;
    let Course { changes, last } = Course::of(training, &catalogue);
    let mut lit = Lit::new(optics, shape, &catalogue, &assignments, map.switches.len())?;
    // Ports have the same circuits at the end of an iteration as at its beginning.
    lit.set(last.iter().copied().enumerate());
    for change in &changes {
        lit.set(change.purposes.iter().copied());
    }
    let mut made = Configurations::default();
    made.add(0.0, lit.connections(), None)?;
    let mut rest = changes.as_slice();
    while let Some(first) = rest.first() {
        interruption::check();
        let together = rest.iter().take_while(|change| change.time_s <= first.time_s).count();
        let (now, later) = rest.split_at(together);
        rest = later;
        let mut is_changed = false;
        for change in now {
            is_changed |= lit.set(change.purposes.iter().copied());
        }
        if is_changed {
            made.add(first.time_s, lit.connections(), Some(events_of(training, now)))?;
        }
    }
    Circuits::new(map.switches, made.configurations).map_err(|error| error.in_field("names"))
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
    connections: usize,
}

impl Configurations {
    /// # Errors
    /// More connections than are written.
    fn add(&mut self, time_s: f64, now: Vec<Vec<Connection>>, events: Option<ConfigurationEvents>) -> Result<()> {
        if now == self.before {
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
        self.before.resize(now.len(), Vec::new());
        let settings = self.before.iter().zip(&now).map(|(before, now)| SwitchSetting::after(before, now.clone()));
        let switches = settings.collect();
        let next = self.known.len();
        let topology = *self.known.entry(now.clone()).or_insert(next);
        self.before = now;
        self.configurations.push(Configuration { topology, steps: Vec::new(), time_s, switches, events });
        Ok(())
    }
}
