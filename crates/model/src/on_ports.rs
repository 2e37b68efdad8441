//! Topologies on ports of different rates.

use crate::circuit_rates::CircuitRates;
use crate::{Error, Link, PairRates, PortRates, Rank, Result, Topology};

impl Topology {
    /// This topology on ports of different rates: `circuits` has, for every representative link, the circuits by class
    /// of ports as in [`PortRates::classes`].
    ///
    /// # Errors
    /// Circuits of a link that are not as many as the link has, or more circuits at a GPU than ports of their rate.
    pub fn on_ports(self, rates: &PortRates, circuits: impl Fn(&Link) -> Vec<u32>) -> Result<Self> {
        let classes = rates.classes();
        let circuits: Vec<Vec<u32>> = self.links().iter().map(circuits).collect();
        let name = self.name().to_string();
        let refuse = |reason: &str| Err(Error::refused("topology", &name, reason));
        let counts = |(link, of): (&Link, &Vec<u32>)| {
            of.len() == classes.len() && of.iter().map(|&count| u64::from(count)).sum::<u64>() == u64::from(link.count)
        };
        if !self.links().iter().zip(&circuits).all(counts) {
            return refuse("the circuits of a link by rate are not as many as the link has");
        }
        let orbits = self.symmetry().orbits() as usize;
        for (class, ports) in classes.iter().enumerate() {
            let mut used = [vec![0u64; orbits], vec![0u64; orbits]];
            for (link, of) in self.links().iter().zip(&circuits) {
                used[0][self.symmetry().orbit(link.src) as usize] += u64::from(of[class]);
                used[1][self.symmetry().orbit(link.dst) as usize] += u64::from(of[class]);
            }
            if used.iter().flatten().any(|&used| used > ports.ports.len() as u64) {
                return refuse("a GPU has more circuits of a rate than ports of that rate");
            }
        }
        let relative = classes.iter().map(|class| class.relative).collect();
        Ok(self.with_circuit_rates(Some(CircuitRates { relative, circuits: circuits.into() })))
    }

    /// This topology, whose circuits have the rates of the pairs of GPUs that they join, with one link for each orbit
    /// of those translations that keep these rates, too.
    #[must_use]
    pub fn at_rates_of(self, pairs: &PairRates) -> Self {
        let rates_bps = pairs.rates_bps();
        let both = self.symmetry().meet(pairs.symmetry());
        let written_out = if both == *self.symmetry() { self } else { self.under(both) };
        let by_rate = |link: &Link| {
            let rate_bps = pairs.rate_bps(link.src, link.dst);
            rates_bps.iter().map(|&one| if one == rate_bps { link.count } else { 0 }).collect()
        };
        let circuits: Vec<Vec<u32>> = written_out.links().iter().map(by_rate).collect();
        let relative = rates_bps.iter().map(|rate| rate / rates_bps[0]).collect();
        written_out.with_circuit_rates(Some(CircuitRates { relative, circuits: circuits.into() }))
    }

    /// This topology, of whose circuits it is not said on which ports they are: all are as fast as the fastest port.
    #[must_use]
    pub fn on_any_ports(self) -> Self {
        self.with_circuit_rates(None)
    }

    /// Whether it is said of each circuit on which ports it is, as fabrics with ports of different rates need.
    pub fn is_on_ports(&self) -> bool {
        self.circuit_rates().is_some()
    }

    /// The circuits from one GPU to another by class of ports, the fastest first; `None` where ports are alike or there
    /// is no link. O(log links).
    pub fn circuits_by_rate(&self, src: Rank, dst: Rank) -> Option<&[u32]> {
        let rates = self.circuit_rates()?;
        let (representative, element) = self.symmetry().canonical(src);
        let pair = (representative, self.symmetry().apply(self.symmetry().inverse(element), dst));
        let at = self.links().binary_search_by_key(&pair, |link| (link.src, link.dst)).ok()?;
        Some(&rates.circuits[at])
    }

    /// The rate of a link over the rate of a circuit on the fastest port: the number of its circuits where ports are
    /// alike. `link` may stand anywhere in its orbit.
    pub fn capacity(&self, link: &Link) -> f64 {
        match (self.circuits_by_rate(link.src, link.dst), self.circuit_rates()) {
            (Some(circuits), Some(rates)) => {
                circuits.iter().zip(&*rates.relative).map(|(&count, rate)| f64::from(count) * rate).sum()
            }
            _ => f64::from(link.count),
        }
    }

    /// Whether the circuits of the same links are on ports of the same rates.
    pub fn same_rates(&self, other: &Self) -> bool {
        match (self.circuit_rates(), other.circuit_rates()) {
            (None, None) => true,
            (Some(ours), Some(theirs)) if ours.relative == theirs.relative => {
                let by_rate =
                    |topology: &Self, link: &Link| topology.circuits_by_rate(link.src, link.dst).map(<[u32]>::to_vec);
                self.links_under(&self.symmetry().meet(other.symmetry()))
                    .iter()
                    .all(|link| by_rate(self, link) == by_rate(other, link))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Translations;

    fn ring() -> Topology {
        let links = [1, 3].map(|dst| Link { src: 0, dst, count: 1 });
        Topology::new("ring", Translations::cyclic(4), links).unwrap()
    }

    fn rates() -> PortRates {
        PortRates::new("bandwidth", &[8e11, 2e11], 2).unwrap().unwrap()
    }

    #[test]
    fn a_link_is_as_fast_as_its_circuits() {
        let forth = ring().on_ports(&rates(), |link| if link.dst == 1 { vec![1, 0] } else { vec![0, 1] }).unwrap();
        let capacity = |topology: &Topology, src, dst| topology.capacity(&Link { src, dst, count: 1 });
        assert_eq!((capacity(&forth, 2, 3), capacity(&forth, 3, 2)), (1.0, 0.25));
        let turned = forth.reversed().unwrap();
        assert_eq!((capacity(&turned, 2, 3), capacity(&turned, 3, 2)), (0.25, 1.0));
        assert!(!forth.same_links(&turned) && forth.same_links(&turned.reversed().unwrap()));
        assert!(!forth.same_links(&ring()) && forth.clone().on_any_ports().same_links(&ring()));
        assert_eq!(capacity(&ring(), 2, 3), 1.0);
    }

    #[test]
    fn circuits_need_a_port_of_their_rate() {
        assert!(ring().on_ports(&rates(), |_| vec![1, 0]).is_err());
        assert!(ring().on_ports(&rates(), |_| vec![0, 2]).is_err());
        assert!(ring().on_ports(&rates(), |_| vec![1]).is_err());
    }
}
