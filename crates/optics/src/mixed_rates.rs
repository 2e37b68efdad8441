//! Circuits on ports of different rates: those of each rate are put onto the ports of that rate, as on a fabric of its own.

use std::collections::BTreeMap;

use model::{Connection, Error, Fabric, PortRates, RateClass, Result, Topology};

use crate::held::Held;
use crate::kind::{Assignment, Kind};

/// The circuits of all topologies on ports, each on one of its rate.
///
/// # Errors
/// A layer whose ports are not those of single GPUs, and the errors of [`Kind::assign`].
pub(crate) fn assign(
    kind: &dyn Kind,
    parameters: &str,
    (fabric, rates): (&Fabric, &PortRates),
    held: &[Held],
) -> Result<Assignment> {
    let switches = kind.port_map(parameters, &fabric.shape)?.switches.len();
    let mut all = Assignment { connections: vec![vec![Vec::new(); switches]; held.len()], least_connects: 0 };
    for (number, class) in rates.classes().iter().enumerate() {
        let initial = model::Initial::Free;
        let own = Fabric { shape: fabric.shape.of_class(class)?, initial, ..fabric.clone() };
        let topologies: Vec<Topology> =
            held.iter().map(|held| held.topology.of_class(number)).collect::<Result<_>>()?;
        let of_class: Vec<Held> =
            held.iter().zip(&topologies).map(|(held, topology)| Held { topology, ..held.clone() }).collect();
        let found = kind.assign(parameters, &own, &of_class)?;
        all.least_connects += found.least_connects;
        let places = places(kind, (&own, fabric), class)?;
        for (to, from) in all.connections.iter_mut().zip(&found.connections) {
            for (switch, connections) in from.iter().enumerate() {
                for &Connection { ingress, egress } in connections {
                    let (at, ingress) = places[&(switch, ingress)];
                    to[at].push(Connection { ingress, egress: places[&(switch, egress)].1 });
                }
            }
        }
    }
    all.connections.iter_mut().flatten().for_each(|connections| connections.sort_unstable());
    Ok(all)
}

/// The switch and port of the whole fabric at which a switch and port of the fabric of one class is.
fn places(
    kind: &dyn Kind,
    (own, whole): (&Fabric, &Fabric),
    class: &RateClass,
) -> Result<BTreeMap<(usize, u32), (usize, u32)>> {
    let mut places = BTreeMap::new();
    for gpu in 0..whole.shape.fabric_gpus() {
        for (own_port, &port) in (0..).zip(&class.ports) {
            let at = kind.place(&own.shape, gpu, own_port).zip(kind.place(&whole.shape, gpu, port));
            let Some((here, there)) = at else {
                let reason = "its ports are not those of single GPUs, which have different rates (`bandwidth`)";
                return Err(Error::refused("optics", kind.name(), reason));
            };
            places.insert(here, there);
        }
    }
    Ok(places)
}
