//! Step by step: no GPU begins a step before all GPUs have all data of the step before.

use model::{Plan, Result, Topology, Translations};

use crate::change::{self, Change, initial};
use crate::clock::{LIMIT_FS, femtoseconds, too_long};
use crate::engine;
use crate::gates::Gates;
use crate::report::{self, StepTimes};
use crate::settings::{ReconfigurationScope, Settings, Symmetry};
use crate::simulation::{SimulatedStep, Simulation};
use crate::wiring::{Links, Wiring};

/// Simulates the steps of `plan` one after the other.
///
/// # Errors
/// As [`crate::simulate`].
pub(crate) fn run(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    let between_fs = femtoseconds("barrier", settings.barrier_s)?;
    let barrier_fs = femtoseconds("barrier", plan.fabric.barrier_s)?;
    let startup_fs = femtoseconds("startup", plan.fabric.startup_s)?;
    let mut simulation = Simulation::default();
    let mut before = initial(plan);
    let (mut ready_fs, mut up_fs) = (0_u64, 0_u64);
    for index in 0..plan.steps.len() {
        let change = Change::new(plan, index, before)?;
        let start = Start { before, change, ready_fs, ran_fs: ready_fs.saturating_sub(up_fs), barrier_fs, startup_fs };
        up_fs = ready_fs + start.reconfiguration_fs();
        let told = step(plan, settings, index, &start, &mut simulation)?;
        simulation.total_fs = told.end_fs;
        ready_fs = told.end_fs + between_fs;
        simulation.steps.push(told);
        if ready_fs >= LIMIT_FS {
            return Err(too_long());
        }
        before = Some(&plan.topologies[plan.steps[index].topology]);
    }
    Ok(simulation)
}

/// Step `index` of `plan` by itself: from its first packet to the last bit received, fs.
///
/// # Errors
/// As [`crate::simulate`].
pub(crate) fn alone_fs(plan: &Plan, index: usize, settings: &Settings) -> Result<u64> {
    let end_fs = step(plan, settings, index, &Start::default(), &mut Simulation::default())?.end_fs;
    if end_fs < LIMIT_FS { Ok(end_fs) } else { Err(too_long()) }
}

/// The state in which a step begins.
#[derive(Default)]
struct Start<'a> {
    /// The topology until then, if there is one.
    before: Option<&'a Topology>,
    change: Change,
    /// The time at which every GPU is ready for the step.
    ready_fs: u64,
    /// For how long the step before ran until then, since its circuits were up.
    ran_fs: u64,
    /// The plan's barrier before the step.
    barrier_fs: u64,
    startup_fs: u64,
}

impl Start<'_> {
    /// The time for which the step waits for its circuits.
    fn reconfiguration_fs(&self) -> u64 {
        self.change.left_fs(self.ran_fs)
    }
}

/// Step `index`; what passes is counted in `simulation`.
fn step(
    plan: &Plan,
    settings: &Settings,
    index: usize,
    start: &Start,
    simulation: &mut Simulation,
) -> Result<SimulatedStep> {
    let Start { before, ready_fs, barrier_fs, startup_fs, .. } = *start;
    let times = StepTimes { reconfiguration_fs: start.reconfiguration_fs(), startup_fs };
    let topology = &plan.topologies[plan.steps[index].topology];
    let hop_delay_s = plan.fabric.hop_delay_on_s(topology);
    let mut wiring = Wiring::new(plan, settings, group(plan, settings, index, before), hop_delay_s)?;
    let links = wiring.add_links(topology);
    wiring.add_step(index, &links)?;
    let dark_fs = match settings.reconfiguration {
        ReconfigurationScope::Global => vec![times.reconfiguration_fs; wiring.network.servers],
        ReconfigurationScope::Ports => dark_fs(&wiring, index, start, &links)?,
    };
    let release = |flow: &crate::network::Flow| {
        let servers = wiring.network.streams[flow.streams.clone()].iter().map(|stream| stream.server as usize);
        ready_fs + barrier_fs + startup_fs + servers.map(|server| dark_fs[server]).max().unwrap_or(0)
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
        (Symmetry::Quotient, ReconfigurationScope::Ports, Some(before)) => {
            let policy = &plan.fabric.reconfiguration;
            let now = &plan.topologies[plan.steps[index].topology];
            symmetry.meet(&policy.symmetry(before)).meet(&policy.symmetry(now))
        }
        (Symmetry::Quotient, ..) => symmetry.clone(),
    }
}

/// Per server, how long the step waits for its circuit.
fn dark_fs(wiring: &Wiring, index: usize, start: &Start, links: &Links) -> Result<Vec<u64>> {
    let mut dark_fs = vec![0; wiring.network.servers];
    let Some(before) = start.before else { return Ok(dark_fs) };
    for (ends, link) in change::by_link(wiring.plan, index, before, &wiring.group)? {
        for (&(server, _), set_up_fs) in links[&ends].iter().skip(link.kept).zip(link.set_up_fs) {
            dark_fs[server as usize] = start.change.left_of_fs(set_up_fs, start.ran_fs);
        }
    }
    Ok(dark_fs)
}
