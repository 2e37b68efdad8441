//! Ranges of ports, and which of them are alike.

use model::{Fabric, PortRates};

/// First port and the one after the last.
pub(crate) type Ports = (u32, u32);

/// Number of ports.
pub(crate) fn width(ports: Ports) -> u32 {
    ports.1 - ports.0
}

/// The first range whose ports have the same rates, in their order: plans for the one are plans for the other.
pub(crate) fn alike(fabric: &Fabric, ports: Ports) -> Ports {
    let width = width(ports);
    let Some(rates) = fabric.shape.rates() else { return (0, width) };
    let by_port = rates.by_port_bps();
    let wanted = &by_port[ports.0 as usize..ports.1 as usize];
    let first = (0..ports.0).find(|&first| by_port[first as usize..(first + width) as usize] == *wanted);
    let first = first.unwrap_or(ports.0);
    (first, first + width)
}

/// The rates of ports; `None` where they are alike.
pub(crate) fn rates(fabric: &Fabric, ports: Ports) -> Option<PortRates> {
    fabric.shape.rates()?.among(ports.0..ports.1)
}

/// The rate of the fastest of ports, bit/s.
pub(crate) fn fastest_bps(fabric: &Fabric, ports: Ports) -> f64 {
    let Some(rates) = fabric.shape.rates() else { return fabric.bandwidth_bps };
    rates.by_port_bps()[ports.0 as usize..ports.1 as usize].iter().copied().fold(0.0, f64::max)
}

/// The rate of ports together over that of the fastest of them.
pub(crate) fn circuits(fabric: &Fabric, ports: Ports) -> f64 {
    let Some(rates) = fabric.shape.rates() else { return f64::from(width(ports)) };
    let sum_bps: f64 = rates.by_port_bps()[ports.0 as usize..ports.1 as usize].iter().sum();
    sum_bps / fastest_bps(fabric, ports)
}

#[cfg(test)]
mod tests {
    use model::{Initial, ReconfigurationPolicy, Shape};

    use super::*;

    fn fabric(by_port_bps: &[f64]) -> Fabric {
        let ports = by_port_bps.len() as u32;
        let rates = PortRates::new("bandwidth", by_port_bps, ports).unwrap();
        Fabric {
            bandwidth_bps: by_port_bps.iter().copied().fold(0.0, f64::max),
            shape: Shape::new(4, &[], ports).unwrap().with_rates(rates),
            startup_s: 0.0,
            barrier_s: 0.0,
            hop_delay_s: 0.0,
            reconfiguration: ReconfigurationPolicy::constant(0.0),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        }
    }

    #[test]
    fn ranges_of_the_same_rates_are_alike() {
        let mixed = fabric(&[8e11, 4e11, 8e11, 4e11, 4e11]);
        let found = [(0, 1), (2, 3), (1, 2), (3, 4), (2, 4), (1, 3), (3, 5), (0, 5)].map(|ports| alike(&mixed, ports));
        assert_eq!(found, [(0, 1), (0, 1), (1, 2), (1, 2), (0, 2), (1, 3), (3, 5), (0, 5)]);
        assert_eq!(alike(&fabric(&[8e11; 5]), (2, 4)), (0, 2));
    }

    #[test]
    fn ports_are_as_fast_as_all_of_them() {
        let mixed = fabric(&[8e11, 4e11, 4e11]);
        let told = |ports| (fastest_bps(&mixed, ports), circuits(&mixed, ports));
        assert_eq!([told((0, 3)), told((0, 2)), told((1, 3))], [(8e11, 2.0), (8e11, 1.5), (4e11, 2.0)]);
        assert!(rates(&mixed, (1, 3)).is_none() && rates(&mixed, (0, 2)).is_some());
        assert_eq!(circuits(&fabric(&[8e11; 3]), (1, 3)), 2.0);
    }
}
