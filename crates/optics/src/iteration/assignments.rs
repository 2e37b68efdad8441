//! The transmitter and receiver, among the group's ports, of every circuit of a group's topology.

use std::collections::BTreeMap;

use model::{Error, Fabric, Initial, PortRates, Result, Shape, TrainingPlan, Work};

use super::purposes::Catalogue;
use crate::Optics;
use crate::held::Held;

/// A port of a member of a group: place of the member, place of the port in the set of ports.
pub(super) type Place = (usize, usize);

/// The circuits of a topology on a set of ports.
pub(super) struct Wiring {
    ports: usize,
    to: Vec<Option<Place>>,
    from: Vec<Option<Place>>,
}

impl Wiring {
    /// The receiver that a transmitter sends to.
    pub(super) fn to(&self, (member, port): Place) -> Option<Place> {
        self.to[member * self.ports + port]
    }

    /// The transmitter that a receiver hears.
    pub(super) fn from(&self, (member, port): Place) -> Option<Place> {
        self.from[member * self.ports + port]
    }
}

/// By number of the topology and of the first set of ports with the same rates.
pub(super) struct Assignments {
    wirings: BTreeMap<(usize, usize), Wiring>,
    /// By number of a set of ports, that of the first with the same rates.
    alike: Vec<usize>,
}

impl Assignments {
    /// All topologies of groups of one size and on as many ports of the same rates are put on ports together, in the
    /// order in which they first appear, so that what follow each other there share connections.
    ///
    /// # Errors
    /// A layer on which ports have no place of their own, or that cannot have a topology.
    pub(super) fn new(training: &TrainingPlan, catalogue: &Catalogue<'_>, optics: &Optics) -> Result<Self> {
        let mut by_size: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
        let rates: Vec<Vec<f64>> = catalogue.ports.iter().map(|ports| rates_bps(&training.fabric, ports)).collect();
        let first = |of: &Vec<f64>| rates.iter().position(|other| other == of).unwrap_or_default();
        let alike: Vec<usize> = rates.iter().map(first).collect();
        let mut add = |topology: usize, ports: usize| {
            let listed = by_size.entry((catalogue.topologies[topology].ranks(), alike[ports])).or_default();
            if !listed.contains(&topology) {
                listed.push(topology);
            }
        };
        for (planned, node) in training.events.iter().zip(&training.workload.nodes) {
            let ports = catalogue.ports_number(&planned.ports);
            match (&node.work, planned.plan, planned.topology) {
                (Work::Collective { .. }, Some(plan), _) => {
                    let plan = &catalogue.plans[plan];
                    let later = plan.later.iter().map(|(topology, ..)| *topology);
                    [plan.first].into_iter().chain(later).chain(plan.resting).for_each(|topology| add(topology, ports));
                }
                (_, _, Some(stated)) => add(catalogue.message_topologies[stated].0, ports),
                _ => {}
            }
        }
        let mut made = BTreeMap::new();
        for ((gpus, set), topologies) in by_size {
            let ports = rates[set].len();
            let of_ports = PortRates::new("bandwidth", &rates[set], ports as u32)?;
            let shape = Shape::new(gpus, &[], ports as u32)?.with_rates(of_ports);
            let fabric = Fabric { shape, initial: Initial::Free, optics: None, ..training.fabric.clone() };
            let held: Vec<Held> =
                (0..).zip(&topologies).map(|(place, &topology)| held(catalogue, place, topology)).collect();
            let assignment = optics.assign(&fabric, &held)?;
            let at = Ports::of(optics, &fabric.shape)?;
            for (&topology, connections) in topologies.iter().zip(&assignment.connections) {
                let mut wiring =
                    Wiring { ports, to: vec![None; gpus as usize * ports], from: vec![None; gpus as usize * ports] };
                for (switch, one) in
                    connections.iter().enumerate().flat_map(|(switch, all)| all.iter().map(move |one| (switch, one)))
                {
                    let (source, destination) = (at.place(switch, one.ingress), at.place(switch, one.egress));
                    wiring.to[source.0 * ports + source.1] = Some(destination);
                    wiring.from[destination.0 * ports + destination.1] = Some(source);
                }
                made.insert((topology, set), wiring);
            }
        }
        Ok(Self { wirings: made, alike })
    }

    /// The circuits of a topology on a set of ports, by its number.
    pub(super) fn wiring(&self, topology: usize, ports: usize) -> &Wiring {
        &self.wirings[&(topology, self.alike[ports])]
    }
}

/// Bit/s of some ports of a fabric.
fn rates_bps(fabric: &Fabric, ports: &[u32]) -> Vec<f64> {
    let by_port = fabric.rates_of_ports_bps();
    ports.iter().map(|&port| by_port.get(port as usize).copied().unwrap_or(fabric.bandwidth_bps)).collect()
}

fn held<'a>(catalogue: &Catalogue<'a>, place: usize, topology: usize) -> Held<'a> {
    let topology = catalogue.topologies[topology];
    Held { index: place, topology, steps: vec![place], time_s: place as f64, change: None }
}

/// The GPU at every port of the switches.
struct Ports(BTreeMap<(usize, u32), Place>);

impl Ports {
    fn of(optics: &Optics, shape: &Shape) -> Result<Self> {
        let mut made = BTreeMap::new();
        for gpu in 0..shape.gpus() {
            for port in 0..shape.ports() {
                made.insert(place_of(optics, shape, gpu, port)?, (gpu as usize, port as usize));
            }
        }
        Ok(Self(made))
    }

    fn place(&self, switch: usize, port: u32) -> Place {
        self.0[&(switch, port)]
    }
}

/// The switch, and its port, at which a port of a GPU is.
///
/// # Errors
/// A layer on which GPUs share ports.
pub(super) fn place_of(optics: &Optics, shape: &Shape, gpu: u32, port: u32) -> Result<(usize, u32)> {
    optics.place(shape, gpu, port).ok_or_else(|| {
        let accepts = "crossbar, parallel or islands:AxB for an iteration";
        Error::value("optics", format!("`{}`", optics.spelling()), accepts)
    })
}
