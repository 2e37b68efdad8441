//! Islands of GPUs that share ports: of no topology more circuits leave or enter one than it has.

use std::collections::BTreeMap;

use model::{Plan, Topology, counted};

use crate::report::{Check, Tally};
use crate::{cubes, router_ports};

/// Kinds whose circuits a port of their GPU is enough for.
const EVERY_TOPOLOGY: [&str; 2] = ["crossbar", "parallel"];

/// An optical layer, by its spelling.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Described<'a> {
    /// Every circuit has a port of its GPU, and needs no more.
    HoldsAll(&'a str),
    /// Islands of so many GPUs, each with so many ports.
    Islands { gpus: u64, ports: u64 },
    /// MZIs, through which every circuit needs a way.
    Mesh,
    /// Routers by wavelength of so many ports, with lasers of so many wavelengths.
    Routers { size: u64, wavelengths: u64 },
    /// Wavelength-selective switches of so many outputs, for fibres of so many bands.
    Selective { outputs: u64, bands: u64 },
    /// Cubes of GPUs of which the faces reach switches, with the spelling.
    Cubes(&'a str),
    /// A spelling that the verifier does not know.
    Unknown(&'a str),
}

/// Reads the spelling of an optical layer.
pub(crate) fn described(spelling: &str) -> Described<'_> {
    let (kind, parameters) = spelling.split_once(':').unwrap_or((spelling, ""));
    if EVERY_TOPOLOGY.contains(&kind) && parameters.is_empty() {
        return Described::HoldsAll(kind);
    }
    if kind == "mesh" {
        return Described::Mesh;
    }
    if kind == "cubes" {
        return Described::Cubes(spelling);
    }
    let size = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0);
    if kind == "awgr" {
        let (ports, tuned) = parameters.split_once('x').unwrap_or((parameters, parameters));
        return match (size(ports), size(tuned)) {
            (Some(size), Some(wavelengths)) => Described::Routers { size, wavelengths },
            _ => Described::Unknown(spelling),
        };
    }
    if kind == "wss" {
        let numbers: Option<Vec<u64>> = parameters.split('x').map(size).collect();
        return match numbers.as_deref() {
            Some(&[outputs]) => Described::Selective { outputs, bands: 1 },
            Some(&[outputs, bands]) => Described::Selective { outputs, bands },
            Some(&[outputs, bands, wavelengths]) if wavelengths.is_multiple_of(bands) => {
                Described::Selective { outputs, bands }
            }
            _ => Described::Unknown(spelling),
        };
    }
    let sizes = parameters.split_once('x').and_then(|(gpus, ports)| Some((size(gpus)?, size(ports)?)));
    match sizes.filter(|_| kind == "islands") {
        Some((gpus, ports)) => Described::Islands { gpus, ports },
        None => Described::Unknown(spelling),
    }
}

/// Counts the circuits at every island, where the fabric's optical layer has islands. Reads its spelling by itself.
pub(crate) fn check(plan: &Plan) -> Option<Check> {
    let mut tally = Tally::new("optics");
    let initial = plan.fabric.initial.given();
    let passed = |detail: String| Some(Check { name: "optics", passed: true, detail });
    // A layer of a larger fabric is judged by what all of its GPUs have at once.
    let layer = plan.fabric.optics.as_ref().filter(|layer| layer.shared().is_none())?;
    let (gpus, ports) = match described(layer.spelling()) {
        Described::HoldsAll(kind) => {
            return passed(format!("{kind} can hold every topology within the ports of the GPUs"));
        }
        Described::Mesh => {
            return passed(
                "not checked here: paths of light on a mesh are judged in the file that `lightloom circuits` writes"
                    .into(),
            );
        }
        Described::Unknown(spelling) => {
            tally.expect(false, || format!("`{spelling}` is not a known optical layer"));
            return Some(tally.into_check("optical layer", ""));
        }
        Described::Routers { size, wavelengths } => return Some(router_ports::check(plan, size, wavelengths)),
        Described::Selective { outputs, bands } => return Some(router_ports::bands_check(plan, outputs, bands)),
        Described::Cubes(spelling) => return Some(cubes::check(plan, spelling)),
        Described::Islands { gpus, ports } => (gpus, ports),
    };
    for topology in plan.topologies.iter().chain(initial) {
        for ((island, direction), circuits) in at_islands(topology, gpus) {
            tally.expect(circuits <= ports, || {
                let (found, there) = (counted(circuits, "circuit"), counted(ports, "port"));
                format!("topology `{}`: {found} {direction} island {island}, which has {there}", topology.name())
            });
        }
    }
    Some(
        tally.into_check("count", &format!("of circuits at islands, all within the {} of one", counted(ports, "port"))),
    )
}

/// Circuits to other islands by island and direction.
fn at_islands(topology: &Topology, gpus: u64) -> BTreeMap<(u64, &'static str), u64> {
    let mut at = BTreeMap::new();
    for link in topology.expanded() {
        let [from, to] = [link.src, link.dst].map(|gpu| u64::from(gpu) / gpus);
        if from != to {
            *at.entry((from, "out of")).or_insert(0) += u64::from(link.count);
            *at.entry((to, "into")).or_insert(0) += u64::from(link.count);
        }
    }
    at
}
