//! Check that a circuits file makes the switches form the topologies of a plan when the plan needs them.

mod circuit_name;
mod failed_ports;
mod fibres;
mod geometry;
mod history;
mod islands;
mod iteration;
mod kept_paths;
mod lasers;
mod light;
mod mesh_description;
mod port_speeds;
mod routers;
mod selective;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Circuits, Configuration, Connection, Error, Initial, Plan, Rank, Result, Shape, SwitchSetting, Topology, counted,
    sum_seconds,
};

pub use iteration::iteration_circuits;
use routers::Routers;
use selective::Selective;

use crate::changes::Charge;
use crate::cubes::Cubes;
use crate::report::{Check, Report, Tally};

/// The GPU, or island, at each port. Written from the documentation of the kinds, not from the crate that assigns.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// One switch, with the d ports of each GPU next to each other.
    Crossbar { ports: u32 },
    /// A switch a port, the GPUs in their order.
    Parallel,
    /// One switch, with the ports of each island next to each other.
    Islands { gpus: u32, ports: u32 },
    /// For each group of GPUs and port, a router that leads light by its wavelength.
    Routers(Routers),
    /// For each group of GPUs and fibre, a cross-connect of wavelength-selective switches.
    Selective(Selective),
    /// For each place of opposite faces of cubes, a switch.
    Cubes(Cubes),
}

impl Layout {
    /// The layout of a kind with its parameters; else the one that the number of switches suggests.
    fn of(circuits: &Circuits, shape: &Shape, optics: Option<&str>) -> Result<Self> {
        let ports = shape.ports();
        let crossbar = Self::Crossbar { ports };
        let told = match optics {
            None if circuits.switches().len() == ports as usize && ports > 1 => Self::Parallel,
            None | Some("crossbar") => crossbar,
            Some("parallel") => Self::Parallel,
            // The ports of a mesh are numbered as those of a crossbar.
            Some(other) if other.starts_with("mesh:") => crossbar,
            Some(other) if other.starts_with("awgr:") => Self::Routers(Routers::of(other, shape)?),
            Some(other) if other.starts_with("wss:") => Self::Selective(Selective::of(other, shape)?),
            Some(other) if other.starts_with("cubes:") => Self::Cubes(Cubes::of(other, shape)?),
            Some(other) => Self::islands(other)?,
        };
        Ok(told)
    }

    fn islands(text: &str) -> Result<Self> {
        let mut numbers = text.strip_prefix("islands:").unwrap_or("").split('x').map(str::parse::<u32>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(gpus)), Some(Ok(ports)), None) if gpus > 0 && ports > 0 => Ok(Self::Islands { gpus, ports }),
            _ => {
                let given: String = text.chars().take(60).collect();
                Err(Error::value(
                    "optics",
                    format!("`{given}`"),
                    "`crossbar`, `parallel`, `islands:AxB`, `mesh:ROWSxCOLUMNS`, `awgr:N`, `wss:K` or `cubes:AxBxC`",
                ))
            }
        }
    }

    /// Switches, and the ports that each needs.
    fn switches(self, shape: &Shape) -> (usize, u32) {
        match self {
            Self::Crossbar { ports } => (1, shape.fabric_gpus().saturating_mul(ports)),
            Self::Parallel => (shape.ports() as usize, shape.fabric_gpus()),
            Self::Islands { gpus, ports } => (1, shape.gpus().div_ceil(gpus).saturating_mul(ports)),
            Self::Routers(routers) => routers.switches(),
            Self::Selective(selective) => selective.switches(),
            Self::Cubes(cubes) => cubes.switches(),
        }
    }

    /// The GPUs or islands at the ends of a connection.
    fn ends(self, switch: usize, connection: &Connection) -> (u32, u32) {
        match self {
            Self::Routers(routers) => routers.ends(switch, connection),
            Self::Selective(selective) => selective.ends(switch, connection),
            Self::Cubes(cubes) => cubes.ends(switch, connection),
            _ => (self.at(connection.ingress), self.at(connection.egress)),
        }
    }

    /// The GPU or island at a port, both ways, on any switch.
    fn at(self, port: u32) -> u32 {
        match self {
            Self::Crossbar { ports } | Self::Islands { ports, .. } => (port - 1) / ports,
            Self::Parallel | Self::Routers(_) | Self::Selective(_) | Self::Cubes(_) => port - 1,
        }
    }

    /// The port of its GPU, or of its island, that is at a port of a switch.
    fn port(self, switch: usize, port: u32) -> u32 {
        match self {
            Self::Crossbar { ports } | Self::Islands { ports, .. } => (port - 1) % ports,
            Self::Parallel | Self::Routers(_) | Self::Selective(_) | Self::Cubes(_) => switch as u32,
        }
    }

    /// The circuits that switches have to join for a topology, by the GPUs or islands at their ends.
    fn wanted(self, topology: &Topology, shape: &Shape) -> BTreeMap<(u32, u32), u32> {
        if let Self::Cubes(cubes) = self {
            return cubes.switched(topology);
        }
        let mut wanted = BTreeMap::new();
        let of = |rank: Rank| if let Self::Islands { gpus, .. } = self { rank / gpus } else { shape.gpu_of(rank) };
        for link in topology.expanded() {
            let ends = (of(link.src), of(link.dst));
            if ends.0 != ends.1 {
                *wanted.entry(ends).or_insert(0) += link.count;
            }
        }
        wanted
    }

    fn noun(self) -> &'static str {
        if matches!(self, Self::Islands { .. }) { "island" } else { "GPU" }
    }
}

/// Judges what switches are told for `plan`: the changes followed from dark switches on, the circuits that come of
/// them, and when. `optics` is the kind with its parameters, such as `islands:4x2`; without it the switches say whether
/// they are one for all or one a port.
///
/// # Errors
/// An optical layer that is not known here, or settings that no mesh has.
pub fn circuits(circuits: &Circuits, plan: &Plan, optics: Option<&str>) -> Result<Report> {
    let layout = Layout::of(circuits, &plan.fabric.shape, optics)?;
    let (switches, has_ports) = switches_check(circuits, &plan.fabric.shape, layout);
    let mut checks = vec![switches];
    if has_ports {
        checks.extend(followed(circuits, plan, layout));
        if matches!(layout, Layout::Crossbar { .. } | Layout::Parallel) {
            let at = |switch, port| (layout.at(port), layout.port(switch, port));
            checks.extend(failed_ports::check(circuits, plan, at));
            checks.extend(port_speeds::check(circuits, plan, at));
        }
    }
    checks.extend([steps_check(circuits, plan), times_check(circuits, plan)]);
    checks.extend(match layout {
        Layout::Selective(selective) => Some(selective.wavelengths_check(circuits)),
        Layout::Routers(routers) => routers::wavelengths_check(circuits, Some(routers)),
        _ => routers::wavelengths_check(circuits, None),
    });
    if has_ports {
        checks.extend(light::checks(
            circuits,
            &plan.fabric.shape,
            Some(plan),
            optics.and_then(|optics| optics.strip_prefix("mesh:")),
        )?);
    }
    Ok(Report { checks })
}

fn switches_check(circuits: &Circuits, shape: &Shape, layout: Layout) -> (Check, bool) {
    let (switches, ports) = layout.switches(shape);
    let mut tally = Tally::new("switches");
    let found = circuits.switches();
    let mut holds = tally.expect(found.len() == switches, || {
        format!("the file has {}, where the fabric has {switches}", counted(found.len() as u64, "switch"))
    });
    for switch in found {
        let expected = || format!("`{}` has {} ports, where {ports} are needed", switch.name, switch.ports);
        holds &= tally.expect(switch.ports >= ports, expected);
    }
    (tally.into_check("count", "of switches and their ports, none too small"), holds)
}

/// Checks of the circuits that the switches join after each change.
fn followed(circuits: &Circuits, plan: &Plan, layout: Layout) -> [Check; 2] {
    let (mut changes, mut made) = (Tally::new("changes"), Tally::new("circuits"));
    let mut joined: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new(); circuits.switches().len()];
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        interruption::check();
        let mut found: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let told = circuits.switches().iter().zip(&configuration.switches).enumerate();
        for (state, (place, (switch, told))) in joined.iter_mut().zip(told) {
            let at = || format!("configuration {}, {}", index + 1, switch.name);
            for one in &told.disconnect {
                let was = state.remove(&one.ingress);
                changes.expect(was == Some(one.egress), || {
                    format!("{}: {} → {} is disconnected and was not connected", at(), one.ingress, one.egress)
                });
            }
            for one in &told.connect {
                let was = state.insert(one.ingress, one.egress);
                changes.expect(was.is_none(), || {
                    format!("{}: ingress port {} is connected and was in use", at(), one.ingress)
                });
            }
            let egress: BTreeSet<u32> = state.values().copied().collect();
            changes.expect(egress.len() == state.len(), || format!("{}: an egress port is connected twice", at()));
            let stated: BTreeMap<u32, u32> = told.connections.iter().map(|one| (one.ingress, one.egress)).collect();
            changes.expect(stated == *state, || {
                format!("{}: the changes lead to other connections than the file lists", at())
            });
            for (&ingress, &egress) in state.iter() {
                *found.entry(layout.ends(place, &Connection { ingress, egress })).or_insert(0) += 1;
            }
        }
        let Some(topology) = plan.topologies.get(configuration.topology) else {
            made.expect(false, || {
                format!("configuration {}: the plan has no topology {}", index + 1, configuration.topology)
            });
            continue;
        };
        let wanted = layout.wanted(topology, &plan.fabric.shape);
        let pairs: BTreeSet<(u32, u32)> = wanted.keys().chain(found.keys()).copied().collect();
        for (src, dst) in pairs {
            let count = |of: &BTreeMap<(u32, u32), u32>| of.get(&(src, dst)).copied().unwrap_or(0);
            made.expect(count(&wanted) == count(&found), || {
                let (number, name, noun) = (index + 1, topology.name(), layout.noun());
                let [has, needs] = [&found, &wanted].map(count);
                format!(
                    "configuration {number}: {has} circuits from {noun} {src} to {noun} {dst}, where {name} has {needs}"
                )
            });
        }
    }
    [
        changes.into_check("change", "of connections, followed from dark switches on"),
        made.into_check("pair", &format!("of {}s with the circuits of their topology", layout.noun())),
    ]
}

/// Every step is in one configuration, that of its circuits; one without steps is the plan's start.
fn steps_check(circuits: &Circuits, plan: &Plan) -> Check {
    let mut tally = Tally::new("steps");
    let mut next = 0;
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        interruption::check();
        let held = plan.topologies.get(configuration.topology);
        if configuration.steps.is_empty() {
            let starts = match (&plan.fabric.initial, held) {
                (Initial::Topology(initial), Some(held)) => index == 0 && initial.same_links(held),
                (Initial::Repeated, Some(held)) => {
                    let last = plan.steps.last().map(|step| &plan.topologies[step.topology]);
                    index == 0 && last.is_some_and(|last| last.same_links(held))
                }
                _ => false,
            };
            tally.expect(starts, || format!("configuration {} has no step and is not the plan's start", index + 1));
        }
        for &step in &configuration.steps {
            let in_order = tally.expect(step == next && step < plan.steps.len(), || {
                format!("configuration {} has step {step} where step {next} is due (steps count from 0)", index + 1)
            });
            next += 1;
            if in_order {
                let own = &plan.topologies[plan.steps[step].topology];
                tally.expect(held.is_some_and(|held| held.same_links(own)), || {
                    format!("configuration {} is not the topology of step {step}, {}", index + 1, own.name())
                });
            }
        }
    }
    tally.expect(next == plan.steps.len(), || {
        format!("{next} of the plan's {} steps have a configuration", plan.steps.len())
    });
    tally.into_check("statement", "of which configuration each step has")
}

/// Checks when the setting of each configuration begins: at the end of the step before, earlier by what that step hides
/// of the change where what is set up is on ports that are dark then.
fn times_check(circuits: &Circuits, plan: &Plan) -> Check {
    let mut tally = Tally::new("times");
    let mut earliest_s = 0.0;
    for (index, configuration) in circuits.configurations().iter().enumerate() {
        let first = configuration.steps.first().copied().filter(|&step| step < plan.steps.len());
        let expected_s = match (index.checked_sub(1), first) {
            (Some(before), Some(step)) => {
                let before = &circuits.configurations()[before];
                let from = plan.topologies.get(before.topology).filter(|_| is_on_dark(plan, before, configuration));
                begins_s(plan, from, step).max(earliest_s)
            }
            _ => 0.0,
        };
        let slack_s = 1e-9 * plan.total_s();
        tally.expect((configuration.time_s - expected_s).abs() <= slack_s, || {
            let number = index + 1;
            format!(
                "configuration {number} begins to be set up at {} s, and should at {expected_s} s",
                configuration.time_s
            )
        });
        earliest_s = expected_s;
    }
    tally.into_check("configuration", "set up at the times that the plan needs")
}

/// Whether a change touches nothing that is joined before it until that is given up: no port, or no switch where each
/// has a delay of its own and turns as a whole, one at most being set up.
fn is_on_dark(plan: &Plan, before: &Configuration, after: &Configuration) -> bool {
    let switches = before.switches.iter().zip(&after.switches);
    let delays = plan.fabric.reconfiguration.delay().terms().by_port_s.len();
    if delays > 0 && delays == after.switches.len() {
        let is_changed = |told: &SwitchSetting| !(told.connect.is_empty() && told.disconnect.is_empty());
        let mut changed = switches.filter(|(_, after)| is_changed(after));
        let set_up = after.switches.iter().filter(|told| !told.connect.is_empty()).count();
        return set_up <= 1
            && changed.all(|(before, after)| before.connections.is_empty() || after.connections.is_empty());
    }
    switches.into_iter().all(|(before, after)| {
        let ingress: BTreeSet<u32> = before.connections.iter().map(|one| one.ingress).collect();
        let egress: BTreeSet<u32> = before.connections.iter().map(|one| one.egress).collect();
        after.connect.iter().all(|one| !ingress.contains(&one.ingress) && !egress.contains(&one.egress))
    })
}

/// Time at which a change before a step begins, where it can be made while the topology `before` is in use; the end of
/// the step before where there is no such topology.
fn begins_s(plan: &Plan, before: Option<&Topology>, step: usize) -> f64 {
    let start_s = sum_seconds(plan.steps[..step].iter().flat_map(|step| step.cost.terms()));
    let (Some(before), Some(last)) = (before, step.checked_sub(1)) else { return start_s };
    let own_s = {
        let cost = plan.steps[last].cost;
        sum_seconds([cost.barrier_s, cost.startup_s, cost.propagation_s, cost.transmission_s])
    };
    let after = &plan.topologies[plan.steps[step].topology];
    let charge = Charge::of(&plan.fabric, (before, after), step, own_s);
    let window = &plan.fabric.reconfiguration.overlap().window;
    let window_s = window.steps.get(&step).copied().unwrap_or(window.every_s);
    start_s - (charge.of_s - window_s - charge.seconds).max(0.0)
}
