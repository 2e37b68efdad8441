//! The terms of the time of every step of a plan, and how many parts of the fabric draw each term.

use std::collections::BTreeMap;

use model::{Plan, PlanStep, PortAssignment, Rank, Reconfiguration, Result, StepCost, Topology};

use super::groups::Groups;
use crate::settings::{ReconfigurationScope, Settings, Synchronisation};

/// Links whose loads differ by less than this share are loaded alike.
const ALIKE: f64 = 1e-9;

/// The nominal times of a step, s, and who draws them.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) barrier_s: f64,
    pub(super) startup_s: f64,
    /// The group of GPUs that send or receive.
    pub(super) gpus: usize,
    pub(super) propagation_s: f64,
    /// Transmission on circuits by their load, and the group of circuits that have it.
    pub(super) transmissions: Vec<(f64, usize)>,
    pub(super) change: Option<Change>,
}

/// A change of topology before a step.
#[derive(Debug)]
pub(super) struct Change {
    /// Seconds of the switches that change, with the number of switches and of ports that take these.
    pub(super) switches: Vec<Switches>,
    pub(super) in_background: bool,
}

/// Switches of one speed.
#[derive(Debug)]
pub(super) struct Switches {
    pub(super) delay_s: f64,
    pub(super) switches: u64,
    pub(super) ports: u64,
}

/// Where the time of a step without its change comes from.
#[derive(Debug, Clone, Copy)]
pub enum Basis<'a> {
    /// The plan's terms.
    Plan,
    /// A simulation of the nominal plan: packets or flows. Bandwidth scales what is not propagation.
    Simulated(&'a Settings),
}

impl Basis<'_> {
    /// The terms of every step without its change.
    fn terms(self, plan: &Plan) -> Result<Vec<StepCost>> {
        let settings = match self {
            Self::Plan => return Ok(plan.steps.iter().map(|step| step.cost).collect()),
            Self::Simulated(settings) => settings,
        };
        let refuse = |field: &str, value: &str, accepts: &str| {
            Err(model::Error::value(field, value, format!("{accepts} where times are sampled")))
        };
        if settings.sync != Synchronisation::Barrier {
            return refuse("sync", settings.sync.name(), Synchronisation::Barrier.name());
        }
        if settings.reconfiguration != ReconfigurationScope::Global {
            return refuse("reconfiguration", settings.reconfiguration.name(), ReconfigurationScope::Global.name());
        }
        let simulated = crate::simulate(plan, settings)?;
        let mut between_s = 0.0;
        let terms = simulated.steps.iter().zip(&plan.steps).map(|(found, step)| {
            let fixed_s = plan.fabric.per_step_s();
            let dark_s = crate::clock::seconds(found.reconfiguration_fs);
            let carried_s = (crate::clock::seconds(found.duration_fs()) - dark_s - fixed_s).max(0.0);
            let cost = StepCost::pipelined(&plan.fabric, &plan.topologies[step.topology], step.hops, carried_s);
            let barrier_s = cost.barrier_s + between_s;
            between_s = settings.barrier_s;
            StepCost { barrier_s, ..cost }
        });
        Ok(terms.collect())
    }
}

/// The steps of a plan, whose groups go to `groups`.
///
/// # Errors
/// The errors of the simulation, where the times come from one.
pub(super) fn steps_of(plan: &Plan, basis: Basis, groups: &mut Groups) -> Result<Vec<Step>> {
    let mut assigned = Assignments::default();
    let mut before = plan.before_first();
    let terms = basis.terms(plan)?;
    let steps = plan.steps.iter().zip(terms).map(|(step, cost)| {
        interruption::check();
        let change = before.and_then(|from| Change::between(plan, (from, step.topology), &mut assigned));
        before = Some(step.topology);
        let gpus = plan.fabric.shape.gpus();
        Step {
            barrier_s: cost.barrier_s,
            startup_s: cost.startup_s,
            gpus: groups.index_of(ends_of_transfers(step), gpus),
            propagation_s: cost.propagation_s,
            transmissions: transmissions(step, &plan.topologies[step.topology], cost.transmission_s, groups),
            change,
        }
    });
    Ok(steps.collect())
}

/// Every GPU that sends or receives in a step, as both ends of itself.
fn ends_of_transfers(step: &PlanStep) -> Vec<(Rank, Rank)> {
    let ends = step.step.traffic().expanded().into_iter().flat_map(|arc| [arc.src, arc.dst]);
    let mut gpus: Vec<(Rank, Rank)> = ends.map(|gpu| (gpu, gpu)).collect();
    gpus.sort_unstable();
    gpus.dedup();
    gpus
}

/// The transmission of every load that a circuit of the step has, the longest first: `busiest_s` on the busiest.
fn transmissions(step: &PlanStep, topology: &Topology, busiest_s: f64, groups: &mut Groups) -> Vec<(f64, usize)> {
    let group = &step.routes.symmetry;
    let weights: BTreeMap<(Rank, Rank), f64> =
        step.step.traffic().arcs_under(group).iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
    // By link, one per orbit.
    let mut loads: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
    for arc in &step.routes.arcs {
        let weight = weights.get(&(arc.src, arc.dst)).copied().unwrap_or(0.0);
        for path in &arc.paths {
            for hop in path.nodes.windows(2) {
                let (src, element) = group.canonical(hop[0]);
                let dst = group.apply(group.inverse(element), hop[1]);
                *loads.entry((src, dst)).or_insert(0.0) += weight * path.share;
            }
        }
    }
    let links = topology.links_under(group);
    let of_circuit = links.iter().filter_map(|link| {
        let load = loads.get(&(link.src, link.dst)).copied().filter(|&load| load > 0.0)?;
        Some((load / f64::from(link.count), link))
    });
    let mut of_circuit: Vec<_> = of_circuit.collect();
    of_circuit.sort_by(|one, other| other.0.total_cmp(&one.0));
    let busiest = of_circuit.first().map_or(1.0, |(load, _)| *load);
    let alike = of_circuit.chunk_by(|one, other| one.0 - other.0 <= ALIKE * busiest);
    let elements = group.elements();
    let made = alike.map(|links| {
        let ends = links.iter().flat_map(|(_, link)| {
            let moved =
                elements.iter().map(|&element| (group.apply(element, link.src), group.apply(element, link.dst)));
            moved.flat_map(|ends| std::iter::repeat_n(ends, link.count as usize))
        });
        (busiest_s * links[0].0 / busiest, groups.index_of(ends.collect(), group.ranks()))
    });
    made.collect()
}

/// The circuits of topologies by port, by index of the topology.
type Assignments = BTreeMap<usize, Vec<BTreeMap<Rank, Rank>>>;

impl Change {
    /// The change from one topology to another, by index; `None` where no circuit is set up.
    fn between(plan: &Plan, (from, to): (usize, usize), assigned: &mut Assignments) -> Option<Self> {
        let [before, now] = [from, to].map(|index| &plan.topologies[index]);
        let policy = &plan.fabric.reconfiguration;
        let Reconfiguration { delay_s, in_background } = policy.between(before, now, plan.fabric.shape.ports());
        if before.same_links(now) || delay_s == 0.0 {
            return None;
        }
        let terms = policy.delay().terms();
        let switches = if in_background || terms.by_port_s.is_empty() {
            vec![Switches { delay_s, switches: 1, ports: before.changed_ports(now) }]
        } else {
            let mut slowest_first_s = terms.by_port_s.to_vec();
            slowest_first_s.sort_by(|a, b| b.total_cmp(a));
            for index in [from, to] {
                assigned.entry(index).or_insert_with(|| by_port(&plan.topologies[index], slowest_first_s.len()));
            }
            let of_port = slowest_first_s.iter().enumerate().filter_map(|(port, delay_s)| {
                let ports = changed(&assigned[&from][port], &assigned[&to][port]);
                (ports > 0).then(|| Switches { delay_s: terms.fixed_s + delay_s, switches: 1, ports })
            });
            of_port.collect()
        };
        Some(Self { switches, in_background })
    }
}

/// By port, the slowest first, the receiver of every sender.
fn by_port(topology: &Topology, ports: usize) -> Vec<BTreeMap<Rank, Rank>> {
    let assigned = PortAssignment::of(topology, ports);
    (0..assigned.ports()).map(|port| assigned.circuits(port).collect()).collect()
}

/// The senders whose receiver differs.
fn changed(before: &BTreeMap<Rank, Rank>, now: &BTreeMap<Rank, Rank>) -> u64 {
    let lost = before.iter().filter(|(src, dst)| now.get(src) != Some(dst)).count();
    let new = now.keys().filter(|src| !before.contains_key(src)).count();
    (lost + new) as u64
}
