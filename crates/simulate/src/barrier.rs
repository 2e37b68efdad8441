//! Step by step: nobody begins a step before everybody has everything of the step before.

use std::collections::BTreeMap;

use model::{Plan, Rank, Result, Topology, Translations};

use crate::change::{Change, initial};
use crate::clock::{LIMIT_FS, femtoseconds, too_long};
use crate::engine;
use crate::gates::Gates;
use crate::report::{self, StepTimes};
use crate::settings::{Darkness, Settings, Symmetry};
use crate::simulation::{SimulatedStep, Simulation};
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
    let (mut ready_fs, mut up_fs) = (0_u64, 0_u64);
    for index in 0..plan.steps.len() {
        let change = Change::new(plan, index, before)?;
        let times = StepTimes { reconfiguration_fs: change.left_fs(ready_fs.saturating_sub(up_fs)), startup_fs };
        up_fs = ready_fs + times.reconfiguration_fs;
        let told = step(plan, settings, index, (before, ready_fs, times), &mut simulation)?;
        simulation.total_fs = told.end_fs;
        ready_fs = told.end_fs + barrier_fs;
        simulation.steps.push(told);
        if ready_fs >= LIMIT_FS {
            return Err(too_long());
        }
        before = Some(&plan.topologies[plan.steps[index].topology]);
    }
    Ok(simulation)
}

/// Step `index` of `plan` alone: from its first packet to the last bit received, fs.
///
/// # Errors
/// As [`crate::simulate`].
pub(crate) fn alone_fs(plan: &Plan, index: usize, settings: &Settings) -> Result<u64> {
    let times = StepTimes { reconfiguration_fs: 0, startup_fs: 0 };
    let end_fs = step(plan, settings, index, (None, 0, times), &mut Simulation::default())?.end_fs;
    if end_fs < LIMIT_FS { Ok(end_fs) } else { Err(too_long()) }
}

/// Step `index`, for which everybody is ready at a time, after a topology; what passes is counted in `simulation`.
fn step(
    plan: &Plan,
    settings: &Settings,
    index: usize,
    (before, ready_fs, times): (Option<&Topology>, u64, StepTimes),
    simulation: &mut Simulation,
) -> Result<SimulatedStep> {
    let mut wiring = Wiring::new(plan, settings, group(plan, settings, index, before))?;
    let links = wiring.add_links(&plan.topologies[plan.steps[index].topology]);
    wiring.add_step(index, &links)?;
    let changed = changed_servers(&wiring.group, before, &links);
    let dark = |server: u32| settings.reconfiguration == Darkness::Global || changed[server as usize];
    let release = |flow: &crate::network::Flow| {
        let waits = wiring.network.streams[flow.streams.clone()].iter().any(|stream| dark(stream.server));
        ready_fs + times.startup_fs + if waits { times.reconfiguration_fs } else { 0 }
    };
    let released: Vec<(u32, u64)> = (0..).zip(wiring.network.flows.iter().map(release)).collect();
    let (ledger, _) = engine::run(&wiring, released, Gates::default(), u64::MAX)?;
    let ready = vec![ready_fs; wiring.group.orbits() as usize];
    let flows = 0..wiring.network.flows.len();
    report::count(simulation, &wiring, &ledger);
    Ok(report::step(&wiring, &ledger, flows, &links, &ready, times))
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
