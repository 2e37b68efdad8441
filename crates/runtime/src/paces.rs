//! The circuits of a run that are slower than others, and those with other hop delays.

use model::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::cutoffs::paces::MOST_TURNS;

/// How much slower circuits are than the fastest, by the port that they leave and the ranks that they join; nothing
/// where all are alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Paces {
    /// By port of a rank, the time of a byte over that of the fastest circuit.
    pub of_port: Vec<f64>,
    /// By source, then destination, the time of a byte over that of the fastest circuit.
    pub of_pair: Vec<f64>,
    /// By source, then destination, the nanoseconds from one end of a circuit to the other.
    pub hop_of_pair_ns: Vec<u64>,
}

impl Paces {
    /// The time of a byte on the circuit from a port of a rank to another rank, over that of the fastest circuit.
    pub fn slowness(&self, (from, port): (u32, u32), to: u32, ranks: u32) -> f64 {
        let of_port = self.of_port.get(port as usize).unwrap_or(&1.0);
        of_port * self.of_pair.get((from * ranks + to) as usize).unwrap_or(&1.0)
    }

    /// Nanoseconds from one end to the other of a circuit; `unsaid_ns` where all take as long.
    pub fn hop_ns(&self, from: u32, to: u32, ranks: u32, unsaid_ns: u64) -> u64 {
        self.hop_of_pair_ns.get((from * ranks + to) as usize).copied().unwrap_or(unsaid_ns)
    }

    /// The ports that packets take in turn, each as often as it is fast: those given, once each, where they are alike.
    pub fn turns(&self, ports: Vec<u32>) -> Vec<u32> {
        let speeds: Vec<f64> =
            ports.iter().filter_map(|&port| self.of_port.get(port as usize)).map(|one| 1.0 / one).collect();
        let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
        if speeds.len() != ports.len() || speeds.iter().all(|&speed| speed == slowest) {
            return ports;
        }
        let all: f64 = speeds.iter().sum();
        // As many turns as make the shares of all ports whole numbers, as nearly as may be.
        let error = |turns: usize| {
            let of = |speed: &f64| turns as f64 * speed / all;
            speeds.iter().map(|speed| (of(speed) - of(speed).round()).abs() / turns as f64).fold(0.0, f64::max)
        };
        let turns = (ports.len()..=MOST_TURNS.max(ports.len())).min_by(|&a, &b| error(a).total_cmp(&error(b)));
        let mut taken = vec![0u32; ports.len()];
        let mut next = || {
            let ends = |place: &usize| f64::from(taken[*place] + 1) / speeds[*place];
            let first = (0..ports.len()).min_by(|a, b| ends(a).total_cmp(&ends(b))).unwrap_or(0);
            taken[first] += 1;
            ports[first]
        };
        (0..turns.unwrap_or(1)).map(|_| next()).collect()
    }

    /// # Errors
    /// Numbers of other ports or ranks than those of a run, or circuits faster than the fastest.
    pub(crate) fn check(&self, ranks: u32, ports: u32) -> Result<()> {
        let fits = |length: usize, all: u32| length == 0 || length == all as usize;
        let slower = |all: &[f64]| all.iter().all(|one| one.is_finite() && *one >= 1.0);
        let pairs = ranks.saturating_mul(ranks);
        if fits(self.of_port.len(), ports)
            && fits(self.of_pair.len(), pairs)
            && fits(self.hop_of_pair_ns.len(), pairs)
            && slower(&self.of_port)
            && slower(&self.of_pair)
        {
            return Ok(());
        }
        Err(Error::malformed("program", "circuits must have a pace each, none faster than the fastest"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn circuits_are_as_slow_as_their_port_and_their_pair() {
        let paces =
            Paces { of_port: vec![1.0, 2.0], of_pair: vec![1.0, 3.0, 3.0, 1.0], hop_of_pair_ns: vec![0, 7, 9, 0] };
        assert_eq!((paces.slowness((0, 1), 1, 2), paces.slowness((1, 0), 0, 2)), (6.0, 3.0));
        assert_eq!((paces.hop_ns(0, 1, 2, 5), paces.hop_ns(1, 0, 2, 5)), (7, 9));
        let alike = Paces::default();
        assert_eq!((alike.slowness((0, 1), 1, 2), alike.hop_ns(0, 1, 2, 5)), (1.0, 5));
        assert!(paces.check(2, 2).is_ok() && alike.check(9, 9).is_ok() && paces.check(2, 3).is_err());
        assert!(Paces { of_port: vec![0.5, 1.0], ..Paces::default() }.check(2, 2).is_err());
    }

    #[test]
    fn fast_ports_come_as_often_as_they_are_fast() {
        let turns = |of_port: &[f64]| {
            Paces { of_port: of_port.to_vec(), ..Paces::default() }.turns((0..of_port.len() as u32).collect())
        };
        assert_eq!(turns(&[1.0, 1.0, 1.0]), [0, 1, 2]);
        assert_eq!(turns(&[1.0, 2.0]), [0, 0, 1]);
        assert_eq!(turns(&[4.0, 1.0]).len(), 5);
        assert_eq!(turns(&[1.0]), [0]);
        assert_eq!(Paces::default().turns(vec![4, 2]), [4, 2]);
    }

    proptest! {
        /// The slowest port has a turn, and no port is busy much longer than their rates say.
        #[test]
        fn turns_are_shares_of_the_rates(of_port in prop::collection::vec(1.0f64..8.0, 1..5)) {
            let all: Vec<u32> = (0..of_port.len() as u32).collect();
            let turns = Paces { of_port: of_port.clone(), ..Paces::default() }.turns(all);
            let rates: f64 = of_port.iter().map(|one| 1.0 / one).sum();
            let longest = (0..of_port.len()).map(|port| {
                turns.iter().filter(|&&turn| turn as usize == port).count() as f64 * of_port[port]
            }).fold(0.0, f64::max);
            prop_assert!(longest * rates / turns.len() as f64 <= 1.3, "{:?}", turns);
        }
    }
}
