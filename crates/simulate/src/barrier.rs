//! Step by step: nobody begins a step before everybody has everything of the step before.

use std::collections::BTreeMap;

use model::{Initial, Plan, Rank, Result, Topology, Translations};

use crate::clock::{LIMIT_FS, femtoseconds, too_long};
use crate::engine;
use crate::gates::Gates;
use crate::report::{self, StepTimes};
use crate::settings::{Darkness, Settings, Symmetry};
use crate::simulation::Simulation;
use crate::wiring::{Links, Wiring};

/// Simulates the steps of `plan` one after the other.
///
/// # Errors
/// As [`crate::simulate`].
pub(crate) fn run(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    let barrier_fs = femtoseconds("barrier", settings.barrier_s)?;
    let startup_fs = femtoseconds("startup", plan.fabric.startup_s)?;
    let mut simulation = Simulation::default();
    let mut before = initial(plan);
    let mut ready_fs = 0;
    for (index, step) in plan.steps.iter().enumerate() {
        let topology = &plan.topologies[step.topology];
        let mut wiring = Wiring::new(plan, settings, group(plan, settings, index, before))?;
        let links = wiring.add_links(topology);
        wiring.add_step(index, &links)?;
        let reconfiguration_fs = femtoseconds("reconfiguration_delay", step.cost.reconfiguration_s)?;
        let changed = changed_servers(&wiring.group, before, &links);
        let dark = |server: u32| settings.reconfiguration == Darkness::Global || changed[server as usize];
        let release = |flow: &crate::network::Flow| {
            let waits = wiring.network.streams[flow.streams.clone()].iter().any(|stream| dark(stream.server));
            ready_fs + startup_fs + if waits { reconfiguration_fs } else { 0 }
        };
        let released: Vec<(u32, u64)> = (0..).zip(wiring.network.flows.iter().map(release)).collect();
        let (ledger, _) = engine::run(&wiring, released, Gates::default(), u64::MAX)?;
        let ready = vec![ready_fs; wiring.group.orbits() as usize];
        let times = StepTimes { reconfiguration_fs, startup_fs };
        let flows = 0..wiring.network.flows.len();
        let told = report::step(&wiring, &ledger, flows, &links, &ready, times);
        report::count(&mut simulation, &wiring, &ledger);
        simulation.total_fs = told.end_fs;
        ready_fs = told.end_fs + barrier_fs;
        simulation.steps.push(told);
        if ready_fs >= LIMIT_FS {
            return Err(too_long());
        }
        before = Some(topology);
    }
    Ok(simulation)
}

/// The topology in force before the plan, if there is one.
pub(crate) fn initial(plan: &Plan) -> Option<&Topology> {
    match &plan.fabric.initial {
        Initial::Free => None,
        Initial::Topology(topology) => Some(topology),
    }
}

/// The group of step `index` after `before`: everything that the step's times depend on is invariant under it.
fn group(plan: &Plan, settings: &Settings, index: usize, before: Option<&Topology>) -> Translations {
    let symmetry = &plan.steps[index].routes.symmetry;
    match (settings.symmetry, settings.reconfiguration, before) {
        (Symmetry::Full, ..) => Translations::trivial(symmetry.ranks()),
        (Symmetry::Quotient, Darkness::Ports, Some(before)) => symmetry.meet(before.symmetry()),
        (Symmetry::Quotient, ..) => symmetry.clone(),
    }
}

/// Per server, whether its circuit was not up in `before`.
fn changed_servers(group: &Translations, before: Option<&Topology>, links: &Links) -> Vec<bool> {
    let mut changed = vec![false; links.values().map(Vec::len).sum()];
    let Some(before) = before else { return changed };
    let up: BTreeMap<(Rank, Rank), u32> =
        before.links_under(group).iter().map(|link| ((link.src, link.dst), link.count)).collect();
    for (pair, circuits) in links {
        for &(server, _) in circuits.iter().skip(*up.get(pair).unwrap_or(&0) as usize) {
            changed[server as usize] = true;
        }
    }
    changed
}
