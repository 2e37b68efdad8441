//! Circuits on ports of different rates by class of ports: those of each rate as on a fabric of its own.

use crate::{Fault, Faults, Link, PortRates, RateClass, Result, Shape, Topology, Translations};

impl Faults {
    /// The faults of a fabric whose ports are others: each port is the ports of `places` there, or none.
    #[must_use]
    pub fn at_ports(&self, places: impl Fn(u32) -> Vec<u32>) -> Self {
        let moved = self.all().iter().flat_map(|&fault| -> Vec<Fault> {
            let at = |port, of: &dyn Fn(u32) -> Fault| places(port).into_iter().map(of).collect();
            match fault {
                Fault::Transmitter { gpu, port } => at(port, &|port| Fault::Transmitter { gpu, port }),
                Fault::Receiver { gpu, port } => at(port, &|port| Fault::Receiver { gpu, port }),
                Fault::Switch(port) => at(port, &Fault::Switch),
                other => vec![other],
            }
        });
        moved.collect()
    }
}

impl Shape {
    /// The same ranks with the ports of one class alone, which are alike, and what of them does not work.
    ///
    /// # Errors
    /// No error for a class of this shape's own ports.
    pub fn of_class(&self, class: &RateClass) -> Result<Self> {
        let places =
            |port: u32| (0..).zip(&class.ports).filter(|(_, own)| **own == port).map(|(place, _)| place).collect();
        let faults = self.faults().at_ports(places);
        self.without_faults(class.ports.len() as u32)?.with_faults(faults)
    }

    /// The topology with what `change` makes of its circuits, on ports that are alike: where ports have different
    /// rates, of those of each class in turn, with the shape of this class; where pairs of GPUs have, at the rates of
    /// these.
    ///
    /// # Errors
    /// The errors of `change`; circuits of a class for which a GPU has no ports.
    pub fn by_class(
        &self,
        topology: &Topology,
        change: impl Fn(&Topology, &Self) -> Result<Topology>,
    ) -> Result<Topology> {
        let Some(rates) = self.rates() else { return change(topology, self).map(|changed| self.rated(changed)) };
        let classes = rates.classes();
        let mut changed = Vec::with_capacity(classes.len());
        for (number, class) in classes.iter().enumerate() {
            changed.push(change(&topology.of_class(number)?, &self.of_class(class)?)?);
        }
        let name = changed.iter().map(Topology::name).find(|name| *name != topology.name());
        let name = name.unwrap_or(topology.name()).to_string();
        joined(name, rates, &changed)
    }
}

impl Topology {
    /// The circuits that are on ports of one class.
    ///
    /// # Errors
    /// The errors of [`Topology::new`], none of which a topology has.
    pub fn of_class(&self, class: usize) -> Result<Self> {
        let count = |link: &Link| self.circuits_by_rate(link.src, link.dst).and_then(|of| of.get(class)).copied();
        let links = self.links().iter().map(|link| Link { count: count(link).unwrap_or(0), ..*link });
        Self::new(self.name(), self.symmetry().clone(), links.filter(|link| link.count > 0))
    }

    /// A topology of a fabric that has of all ports `kept` alone, on the ports of the whole fabric.
    ///
    /// # Errors
    /// More circuits of a rate at a GPU than it has ports of that rate.
    pub fn on_more_ports(self, rates: &PortRates, kept: &[u32]) -> Result<Self> {
        let is_kept: Vec<bool> =
            rates.classes().iter().map(|class| class.ports.iter().any(|port| kept.contains(port))).collect();
        let before = self.clone();
        self.on_any_ports().on_ports(rates, |link| {
            let alike = [link.count];
            let mut of_kept = before.circuits_by_rate(link.src, link.dst).unwrap_or(&alike).iter().copied();
            is_kept.iter().map(|&is_kept| if is_kept { of_kept.next().unwrap_or(0) } else { 0 }).collect()
        })
    }
}

/// The topology that has the circuits of each class.
fn joined(name: String, rates: &PortRates, by_class: &[Topology]) -> Result<Topology> {
    let symmetries = by_class.iter().map(Topology::symmetry).cloned();
    let symmetry = symmetries.reduce(|both, other| both.meet(&other)).unwrap_or_else(|| Translations::trivial(1));
    let links: Vec<Vec<Link>> = by_class.iter().map(|topology| topology.links_under(&symmetry)).collect();
    let count = |of: &Vec<Link>, link: &Link| {
        let at = of.binary_search_by_key(&(link.src, link.dst), |other| (other.src, other.dst));
        at.map_or(0, |at| of[at].count)
    };
    let all = Topology::new(name, symmetry, links.iter().flatten().copied())?;
    all.on_ports(rates, |link| links.iter().map(|of| count(of, link)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(faults: &str) -> Shape {
        let rates = PortRates::new("bandwidth", &[8e11, 2e11, 8e11], 3).unwrap();
        let faults = faults.split(',').map(|one| one.parse::<Fault>().unwrap()).collect();
        Shape::new(4, &[], 3).unwrap().with_rates(rates).with_faults(faults).unwrap()
    }

    /// A ring on a fast port and one the other way round on the slow one.
    fn rings(shape: &Shape) -> Topology {
        let links = [1, 3].map(|dst| Link { src: 0, dst, count: 1 });
        let both = Topology::new("rings", Translations::cyclic(4), links).unwrap();
        both.on_ports(shape.rates().unwrap(), |link| if link.dst == 1 { vec![1, 0] } else { vec![0, 1] }).unwrap()
    }

    #[test]
    fn a_dead_port_takes_the_circuits_of_its_rate() {
        let left = |faults: &str| {
            let shape = shape(faults);
            let left = shape.working_part(rings(&shape)).unwrap();
            let lost = |src: u32, dst: u32| left.circuits_by_rate(src, dst).is_none();
            assert!(shape.check_faults(&left).is_ok());
            (0..4)
                .flat_map(|src| [(src, (src + 1) % 4), (src, (src + 3) % 4)])
                .filter(|&(src, dst)| lost(src, dst))
                .collect::<Vec<_>>()
        };
        assert_eq!(left("port:2.1"), [(2, 1)]);
        assert_eq!(left("receiver:2.1"), [(3, 2)]);
        assert_eq!(left("port:2.0"), []);
        assert_eq!(left("port:2.0,port:2.2"), [(2, 3)]);
        assert_eq!(left("switch:1").len(), 4);
        assert_eq!(left("link:0-1"), [(0, 1), (1, 0)]);
    }

    #[test]
    fn faults_of_other_ports_are_left_out() {
        let shape = shape("gpu:3,port:1.1,port:1.2,receiver:0.0,switch:1,link:0-2");
        let [fast, slow] = &shape.rates().unwrap().classes()[..] else { panic!("{shape:?}") };
        assert_eq!(shape.of_class(fast).unwrap().faults().to_string(), "gpu:3,port:1.1,receiver:0.0,link:0-2");
        assert_eq!(shape.of_class(slow).unwrap().faults().to_string(), "gpu:3,port:1.0,link:0-2,switch:0");
    }

    #[test]
    fn ports_of_a_part_keep_their_rates() {
        let shape = shape("switch:1");
        let rates = shape.rates().unwrap();
        let ring = || Topology::circulant(4, &[1]).unwrap();
        let slow = ring().on_more_ports(rates, &[1]).unwrap();
        assert_eq!(slow.circuits_by_rate(0, 1), Some(&[0, 1][..]));
        let fast = ring().on_more_ports(rates, &[0, 2]).unwrap();
        assert_eq!(fast.circuits_by_rate(0, 1), Some(&[1, 0][..]));
        let both = rings(&shape).on_more_ports(rates, &[0, 1]).unwrap();
        assert!(both.same_links(&rings(&shape)));
    }
}
