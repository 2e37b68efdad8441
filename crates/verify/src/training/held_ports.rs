//! The rates of the ports that events hold.

use model::{Fabric, PortRates, Shape, Topology};

use crate::report::Tally;
use crate::speeds::Speeds;

/// Bit/s of each of some ports of a fabric.
pub(super) fn rates_bps(fabric: &Fabric, ports: &[u32]) -> Vec<f64> {
    let by_port = fabric.shape.rates().map(PortRates::by_port_bps);
    ports.iter().map(|&port| by_port.as_ref().map_or(fabric.bandwidth_bps, |all| all[port as usize])).collect()
}

/// Bit/s of all ports of a rank together.
pub(super) fn all_ports_bps(fabric: &Fabric) -> f64 {
    rates_bps(fabric, &(0..fabric.shape.ports()).collect::<Vec<_>>()).into_iter().sum()
}

/// The circuits on the ports of an event.
pub(super) struct HeldPorts {
    /// Bit/s of the fastest of the ports.
    pub(super) fastest_bps: f64,
    pub(super) speeds: Speeds,
    are_alike: bool,
}

impl HeldPorts {
    /// The rates of ports of a fabric.
    ///
    /// # Errors
    /// Ports that no fabric has, in words.
    pub(super) fn new(fabric: &Fabric, ports: &[u32]) -> Result<Self, String> {
        let (by_port, number) = (rates_bps(fabric, ports), ports.len() as u32);
        let found = PortRates::new("bandwidth", &by_port, number)
            .and_then(|rates| Ok((rates.is_none(), Shape::new(fabric.shape.gpus(), &[], number)?.with_rates(rates))));
        let (are_alike, shape) = found.map_err(|error| error.to_string())?;
        Ok(Self { fastest_bps: by_port.into_iter().fold(0.0, f64::max), speeds: Speeds::of(&shape), are_alike })
    }

    /// Checks that every circuit of a topology is on a port of its rate.
    pub(super) fn check(&self, topology: &Topology, tally: &mut Tally) {
        if !self.are_alike {
            self.speeds.check(topology, tally);
        } else if topology.is_on_ports() {
            let name = topology.name();
            tally.expect(false, || format!("topology `{name}` has circuits of different rates on ports of one rate"));
        }
    }
}
