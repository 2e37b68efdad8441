//! The rates of the ports of a GPU, where they differ.

use std::sync::Arc;

use crate::{Error, Result, units};

/// The rate of each port, the same for every GPU: port k sends and receives at the k-th rate. They are not all equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PortRates {
    /// Bit/s by port, as the bits of a float, so that shapes can be compared and hashed.
    by_port: Arc<[u64]>,
}

/// Ports of one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RateClass {
    /// Rate of one of them, bit/s.
    pub rate_bps: f64,
    /// That rate over the rate of the fastest port.
    pub relative: f64,
    /// The ports, which count from 0.
    pub ports: Vec<u32>,
}

impl PortRates {
    /// The rates of ports 0, 1, … in bit/s; `None` where all are equal.
    ///
    /// # Errors
    /// A rate outside the range of rates, or another number of them than `ports`.
    pub fn new(field: &str, by_port_bps: &[f64], ports: u32) -> Result<Option<Self>> {
        for &rate in by_port_bps {
            units::rate_from_f64(field, rate)?;
        }
        if by_port_bps.len() != ports as usize {
            let given = format!("a list of {}", crate::counted(by_port_bps.len() as u64, "rate"));
            return Err(Error::value(field, given, format!("one rate, or one for each port of a GPU, {ports} in all")));
        }
        let are_equal = by_port_bps.windows(2).all(|pair| pair[0] == pair[1]);
        let by_port = by_port_bps.iter().map(|rate| rate.to_bits()).collect();
        Ok((!are_equal).then_some(Self { by_port }))
    }

    /// Bit/s by port.
    pub fn by_port_bps(&self) -> Vec<f64> {
        self.by_port.iter().map(|&bits| f64::from_bits(bits)).collect()
    }

    /// The rates of some ports, in their order; `None` where these are alike. Ports that there are not are left out.
    pub fn among(&self, ports: impl IntoIterator<Item = u32>) -> Option<Self> {
        let by_port: Arc<[u64]> =
            ports.into_iter().filter_map(|port| self.by_port.get(port as usize)).copied().collect();
        by_port.windows(2).any(|pair| pair[0] != pair[1]).then_some(Self { by_port })
    }

    /// Bit/s of the fastest port.
    pub fn fastest_bps(&self) -> f64 {
        self.by_port_bps().into_iter().fold(0.0, f64::max)
    }

    /// The ports by their rates, the fastest first.
    pub fn classes(&self) -> Vec<RateClass> {
        let by_port = self.by_port_bps();
        let mut rates = by_port.clone();
        rates.sort_by(|a, b| b.total_cmp(a));
        rates.dedup();
        let fastest = rates[0];
        let class = |rate_bps: f64| {
            let ports = (0..).zip(&by_port).filter(|(_, rate)| **rate == rate_bps).map(|(port, _)| port).collect();
            RateClass { rate_bps, relative: rate_bps / fastest, ports }
        };
        rates.into_iter().map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_a_rate_are_a_class_and_the_fastest_come_first() {
        let rates = PortRates::new("bandwidth", &[4e11, 8e11, 4e11], 3).unwrap().unwrap();
        let [fast, slow] = &rates.classes()[..] else { panic!("{rates:?}") };
        assert_eq!((fast.relative, &fast.ports[..]), (1.0, &[1][..]));
        assert_eq!((slow.relative, &slow.ports[..]), (0.5, &[0, 2][..]));
        assert_eq!(PortRates::new("bandwidth", &[4e11; 3], 3).unwrap(), None);
        assert_eq!(rates.among(0..2), PortRates::new("bandwidth", &[4e11, 8e11], 2).unwrap());
        assert_eq!(rates.among(1..2), None);
        assert!(PortRates::new("bandwidth", &[4e11; 2], 3).is_err());
        assert!(PortRates::new("bandwidth", &[4e11, 0.0, 1.0], 3).is_err());
    }
}
