//! All steps in one network: a GPU goes on to its next step when it has the data of this one and its own packets
//! are out, and sends when the circuits on the way are up.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{Plan, Rank, Result, Topology, Translations};

use crate::change::{self, Change, LinkChange, initial};
use crate::clock::{LIMIT_FS, femtoseconds, too_long};
use crate::engine;
use crate::gates::{Gate, Gates};
use crate::report::{self, StepTimes};
use crate::settings::{ReconfigurationScope, Settings, Symmetry};
use crate::simulation::Simulation;
use crate::wiring::{Links, Wiring};

/// The servers of the circuits that are up, by the ends of their link.
type Up = BTreeMap<(Rank, Rank), Vec<u32>>;

/// A step of the plan in the network.
struct WiredStep {
    links: Links,
    flows: Range<usize>,
    /// Servers whose circuits are set up before the step, with the time that it takes, fs.
    new: Vec<(u32, u64)>,
    /// Servers whose circuits are torn down before the step.
    old: Vec<u32>,
    /// The change of circuits to those of the step.
    change: Change,
}

/// Simulates all steps of `plan` together.
///
/// # Errors
/// As [`crate::simulate`].
pub(crate) fn run(plan: &Plan, settings: &Settings) -> Result<Simulation> {
    // Steps run at the same time, and the longest circuit of the plan counts for all.
    let mut wiring = Wiring::new(plan, settings, group(plan, settings), plan.longest_hop_delay_s())?;
    let steps = wire(&mut wiring)?;
    let startup_fs = femtoseconds("startup", plan.fabric.startup_s)?;
    let (mut gates, ready) = gates(&wiring, &steps, startup_fs);
    let mut released = Vec::new();
    gates.start(wiring.network.flows.len(), &mut released);
    let reaction_fs = wiring.network.shortest_fs() + startup_fs;
    let (ledger, gates) = engine::run(&wiring, released, gates, reaction_fs)?;
    let mut simulation = Simulation::default();
    report::count(&mut simulation, &wiring, &ledger);
    let mut up_fs = 0;
    for (wired, ready) in steps.into_iter().zip(ready) {
        let ready_fs: Vec<u64> = ready.iter().map(|&gate| gates.opened_fs(gate)).collect();
        let start_fs = ready_fs.iter().copied().min().unwrap_or(0);
        let reconfiguration_fs = wired.change.left_fs(start_fs.saturating_sub(up_fs));
        up_fs = start_fs.saturating_add(reconfiguration_fs);
        let times = StepTimes { reconfiguration_fs, startup_fs };
        let told = report::step(&wiring, &ledger, wired.flows, &wired.links, &ready_fs, times);
        simulation.total_fs = simulation.total_fs.max(told.end_fs);
        simulation.steps.push(told);
    }
    if simulation.total_fs >= LIMIT_FS {
        return Err(too_long());
    }
    Ok(simulation)
}

/// The group of all steps.
fn group(plan: &Plan, settings: &Settings) -> Translations {
    let first = &plan.steps[0].routes.symmetry;
    if settings.symmetry == Symmetry::Full {
        return Translations::trivial(first.ranks());
    }
    let routes = plan.steps.iter().map(|step| step.routes.symmetry.clone());
    let topologies = plan.steps.iter().map(|step| &plan.topologies[step.topology]).chain(initial(plan));
    let changes = topologies.map(|topology| plan.fabric.reconfiguration.symmetry(topology));
    routes.chain(changes).fold(first.clone(), |group, other| group.meet(&other))
}

/// Servers and flows of all steps. A circuit that stays up is one server.
fn wire(wiring: &mut Wiring) -> Result<Vec<WiredStep>> {
    let plan = wiring.plan;
    let mut up = initial(plan).map(|topology| replaced(wiring, &Up::new(), topology, BTreeMap::new()).0);
    let mut before = initial(plan);
    let mut steps = Vec::with_capacity(plan.steps.len());
    for (index, step) in plan.steps.iter().enumerate() {
        interruption::check();
        let topology = &plan.topologies[step.topology];
        let of_links = before.map(|before| change::by_link(plan, index, before, &wiring.group)).transpose()?;
        let was_up = up.unwrap_or_default();
        let (now, new, old) = replaced(wiring, &was_up, topology, of_links.unwrap_or_default());
        let mut links = Links::new();
        for (&ends, servers) in &now {
            links.insert(ends, servers.iter().map(|&server| (server, wiring.add_slot())).collect());
        }
        let begin = wiring.network.flows.len();
        wiring.add_step(index, &links)?;
        // The first topology costs nothing where the initial one is free.
        let change = Change::new(plan, index, before.replace(topology))?;
        let (new, old) = if change.is_one { (new, old) } else { (Vec::new(), Vec::new()) };
        steps.push(WiredStep { links, flows: begin..wiring.network.flows.len(), new, old, change });
        up = Some(now);
    }
    Ok(steps)
}

/// The circuits of `topology` after those of `before`, those that are new, and those that are torn down. All circuits
/// of a link without a record are new and take no time.
fn replaced(
    wiring: &mut Wiring,
    before: &Up,
    topology: &Topology,
    mut of_links: BTreeMap<(Rank, Rank), LinkChange>,
) -> (Up, Vec<(u32, u64)>, Vec<u32>) {
    let (mut now, mut new, mut kept) = (Up::new(), Vec::new(), BTreeMap::new());
    for link in topology.links_under(&wiring.group) {
        let ends = (link.src, link.dst);
        let LinkChange { kept: stay, set_up_fs } = of_links.remove(&ends).unwrap_or_default();
        let mut servers = before.get(&ends).map_or(&[][..], Vec::as_slice)[..stay].to_vec();
        for set_up_fs in set_up_fs.into_iter().chain(std::iter::repeat(0)).take(link.count as usize - stay) {
            let server = wiring.add_circuit(ends);
            servers.push(server);
            new.push((server, set_up_fs));
        }
        kept.insert(ends, stay);
        now.insert(ends, servers);
    }
    let stay = |ends: &(Rank, Rank)| kept.get(ends).copied().unwrap_or(0);
    let old = before.iter().flat_map(|(ends, servers)| servers.iter().skip(stay(ends)).copied()).collect();
    (now, new, old)
}

/// The gates of flows, and per step the gate of each orbit of GPUs that opens when they are ready for it.
fn gates(wiring: &Wiring, steps: &[WiredStep], startup_fs: u64) -> (Gates, Vec<Vec<Gate>>) {
    let network = &wiring.network;
    let mut gates = Gates::of_flows(network.flows.len(), network.servers, startup_fs);
    let orbits = wiring.group.orbits() as usize;
    let mut ports = Ports::new(wiring, orbits);
    let mut fabric = None;
    let mut ready: Vec<Vec<Gate>> = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        interruption::check();
        let now: Vec<Gate> = (0..orbits).map(|_| gates.add(0)).collect();
        if index > 0 {
            now.iter().zip(&ready[index - 1]).for_each(|(&gate, &before)| gates.after(gate, before));
            for flow in steps[index - 1].flows.clone() {
                let (src, dst) = network.flows[flow].ends;
                for (waits, orbit) in [(&mut gates.sent[flow], src), (&mut gates.received[flow], dst)] {
                    waits.push(now[orbit as usize]);
                }
                gates.expect(now[src as usize]);
                gates.expect(now[dst as usize]);
            }
        }
        step.flows.clone().for_each(|flow| gates.after(flow as Gate, now[network.flows[flow].ends.0 as usize]));
        let Change { is_one, delay_fs, in_background } = step.change;
        match wiring.settings.reconfiguration {
            _ if in_background => {
                let begun = index.checked_sub(1).map(|before| &ready[before][..]);
                ports.change_in_background(&mut gates, step, begun, fabric);
            }
            ReconfigurationScope::Global if is_one => {
                let up = gates.add(delay_fs);
                now.iter().for_each(|&gate| gates.after(up, gate));
                fabric = Some(up);
            }
            ReconfigurationScope::Global => {}
            ReconfigurationScope::Ports => ports.change(&mut gates, step),
        }
        for flow in step.flows.clone() {
            // A GPU with nothing to do in the step of the change is ready for later ones before it.
            fabric.into_iter().for_each(|up| gates.after(flow as Gate, up));
            ports.wait(&mut gates, flow);
        }
        ready.push(now);
    }
    (gates, ready)
}

/// The ports that circuits wait for when they are set up one by one.
struct Ports<'a> {
    wiring: &'a Wiring<'a>,
    /// Per server, the gate that opens when its circuit is up, where it was not up from the start.
    up: Vec<Option<Gate>>,
    /// Per orbit of GPUs, the gate that opens when the transmitters, the receivers, that were given up are dark.
    free: [Vec<Option<Gate>>; 2],
    /// Flows through each server.
    streams: Vec<u32>,
}

impl<'a> Ports<'a> {
    fn new(wiring: &'a Wiring, orbits: usize) -> Self {
        let mut streams = vec![0; wiring.network.servers];
        wiring.network.streams.iter().for_each(|stream| streams[stream.server as usize] += 1);
        let free = [vec![None; orbits], vec![None; orbits]];
        Self { wiring, up: vec![None; wiring.network.servers], free, streams }
    }

    /// Old circuits are given up when all packets of the steps before have passed; new ones take their time once
    /// both of their ports are free.
    fn change(&mut self, gates: &mut Gates, step: &WiredStep) {
        self.give_up(gates, step);
        self.set_up(gates, step, |_| None, None);
    }

    /// New circuits take their time once both of their GPUs have begun the step before, where there is one, the fabric
    /// is up for it, and both of their ports are free; those are not the ports of the circuits that are given up now.
    fn change_in_background(
        &mut self,
        gates: &mut Gates,
        step: &WiredStep,
        begun: Option<&[Gate]>,
        fabric: Option<Gate>,
    ) {
        self.set_up(gates, step, |orbit| begun.map(|begun| begun[orbit]), fabric);
        self.give_up(gates, step);
    }

    fn give_up(&mut self, gates: &mut Gates, step: &WiredStep) {
        for &server in &step.old {
            let ends = self.orbits(server);
            for (free, orbit) in self.free.iter_mut().zip(ends) {
                let gate = gates.add(0);
                free[orbit].into_iter().chain(self.up[server as usize]).for_each(|other| gates.after(gate, other));
                (0..self.streams[server as usize]).for_each(|_| gates.expect(gate));
                gates.drained[server as usize].push(gate);
                free[orbit] = Some(gate);
            }
        }
    }

    fn set_up(
        &mut self,
        gates: &mut Gates,
        step: &WiredStep,
        begun: impl Fn(usize) -> Option<Gate>,
        fabric: Option<Gate>,
    ) {
        for &(server, set_up_fs) in &step.new {
            let gate = gates.add(set_up_fs);
            let ends = self.orbits(server);
            fabric.into_iter().for_each(|up| gates.after(gate, up));
            for (free, orbit) in self.free.iter().zip(ends) {
                free[orbit].into_iter().chain(begun(orbit)).for_each(|other| gates.after(gate, other));
            }
            self.up[server as usize] = Some(gate);
        }
    }

    /// A flow waits for the circuits on its way.
    fn wait(&self, gates: &mut Gates, flow: usize) {
        let network = &self.wiring.network;
        for stream in &network.streams[network.flows[flow].streams.clone()] {
            if let Some(up) = self.up[stream.server as usize] {
                gates.after(flow as Gate, up);
            }
        }
    }

    fn orbits(&self, server: u32) -> [usize; 2] {
        let (src, dst) = self.wiring.ends[server as usize];
        [src, dst].map(|rank| self.wiring.group.orbit(rank) as usize)
    }
}
