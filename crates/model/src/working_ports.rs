//! The ports of ranks that work, and what can be done with them.

use crate::{Collective, Error, Fault, Link, Rank, Result, Shape, Topology, Translations};

/// The ports of a shape that work, by rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingPorts {
    /// Transmitters by rank.
    pub out: Vec<u32>,
    /// Receivers by rank.
    pub into: Vec<u32>,
}

impl WorkingPorts {
    /// O(ranks + faults · ports).
    pub fn of(shape: &Shape) -> Self {
        let (ranks, ports, faults) = (shape.gpus() as usize, shape.ports(), shape.faults());
        let planes = faults.all().iter().filter(|fault| matches!(fault, Fault::Switch(_))).count() as u32;
        let mut working = Self { out: vec![ports - planes; ranks], into: vec![ports - planes; ranks] };
        let named = |gpu: u32| {
            faults.all().iter().any(|fault| match *fault {
                Fault::Gpu(other) => other == gpu,
                Fault::Transmitter { gpu: other, .. } | Fault::Receiver { gpu: other, .. } => other == gpu,
                Fault::Link(..) | Fault::OneWay(..) | Fault::Switch(_) => false,
            })
        };
        if faults.all().iter().all(|fault| matches!(fault, Fault::Link(..) | Fault::OneWay(..) | Fault::Switch(_))) {
            return working;
        }
        for rank in 0..shape.gpus() {
            let gpu = shape.gpu_of(rank);
            if named(gpu) {
                working.out[rank as usize] = (0..ports).filter(|&port| faults.sends(gpu, port)).count() as u32;
                working.into[rank as usize] = (0..ports).filter(|&port| faults.receives(gpu, port)).count() as u32;
            }
        }
        working
    }

    /// The most ports that a rank has, to send or to receive.
    pub fn most(&self) -> u32 {
        self.out.iter().chain(&self.into).copied().max().unwrap_or(0)
    }

    /// Ports that every rank has, both to send and to receive.
    pub fn least(&self) -> u32 {
        self.out.iter().chain(&self.into).copied().min().unwrap_or(0)
    }
}

impl Shape {
    /// The ports that every rank has, both to send and to receive: of those of each rate, as many.
    ///
    /// # Errors
    /// No error for classes of this shape's own ports.
    pub fn ports_of_all(&self) -> Result<Vec<u32>> {
        let Some(rates) = self.rates() else { return Ok((0..WorkingPorts::of(self).least()).collect()) };
        let mut kept = Vec::new();
        for class in rates.classes() {
            let least = WorkingPorts::of(&self.of_class(&class)?).least() as usize;
            kept.extend(&class.ports[..least]);
        }
        kept.sort_unstable();
        Ok(kept)
    }

    /// Whether circuits from one rank to another can be made, where both have ports that work.
    pub fn joins(&self, src: Rank, dst: Rank) -> bool {
        self.faults().joins(self.gpu_of(src), self.gpu_of(dst))
    }

    /// # Errors
    /// A root that is no rank, or a rank that must send for a collective and has no transmitter that works, or must receive and has no receiver.
    pub fn check_serves(&self, collective: Collective, root: Option<Rank>) -> Result<()> {
        if self.faults().is_empty() {
            return Ok(());
        }
        let working = WorkingPorts::of(self);
        let root = root.unwrap_or(0);
        if root >= self.gpus() {
            return Err(Error::value("root", root, format!("a rank below {}", self.gpus())));
        }
        let outward = matches!(collective, Collective::Broadcast | Collective::Scatter);
        for rank in 0..self.gpus() {
            let sends = !collective.has_root() || outward == (rank == root);
            let receives = !collective.has_root() || outward != (rank == root);
            let lacking = [
                (sends && working.out[rank as usize] == 0, "transmitter", "send"),
                (receives && working.into[rank as usize] == 0, "receiver", "receive"),
            ];
            if let Some((_, part, act)) = lacking.into_iter().find(|(lacks, ..)| *lacks) {
                let (gpu, name) = (self.gpu_of(rank), collective.name());
                let accepts = format!(
                    "faults that leave GPU {gpu} a {part}: in {name} it has to {act}; or also gpu:{gpu}, so that it \
                     takes no part"
                );
                return Err(Error::value("failed", format!("`{}`", self.faults()), accepts));
            }
        }
        match self.cut_off(collective, root) {
            None => Ok(()),
            Some((src, dst)) => {
                let (src, dst, name) = (self.gpu_of(src), self.gpu_of(dst), collective.name());
                let accepts = format!("faults that leave a path from GPU {src} to GPU {dst}, which {name} needs");
                Err(Error::value("failed", format!("`{}`", self.faults()), accepts))
            }
        }
    }

    /// Two ranks of which the first has to send the second something and has no way to it, over any circuits that can
    /// be made, one after the other.
    fn cut_off(&self, collective: Collective, root: Rank) -> Option<(Rank, Rank)> {
        let working = WorkingPorts::of(self);
        let (has_out, has_into) =
            (|rank: Rank| working.out[rank as usize] > 0, |rank: Rank| working.into[rank as usize] > 0);
        let to_all = |src: Rank, forwards: bool| {
            let mut reached = vec![false; self.gpus() as usize];
            reached[src as usize] = true;
            let mut next = vec![src];
            while let Some(rank) = next.pop() {
                for other in 0..self.gpus() {
                    let (from, to) = if forwards { (rank, other) } else { (other, rank) };
                    if !reached[other as usize] && has_out(from) && has_into(to) && self.joins(from, to) {
                        reached[other as usize] = true;
                        next.push(other);
                    }
                }
            }
            reached.iter().position(|reached| !reached).map(|rank| rank as Rank)
        };
        let outward = !matches!(collective, Collective::Reduce | Collective::Gather);
        let inward = !matches!(collective, Collective::Broadcast | Collective::Scatter);
        let unreached = outward.then(|| to_all(root, true).map(|rank| (root, rank))).flatten();
        unreached.or_else(|| inward.then(|| to_all(root, false).map(|rank| (rank, root))).flatten())
    }

    /// # Errors
    /// A topology with more circuits at a rank than ports of it work, of their rate where ports have different ones, or
    /// with a circuit that cannot be made.
    pub fn check_faults(&self, topology: &Topology) -> Result<()> {
        if self.faults().is_empty() {
            return Ok(());
        }
        if let Some(rates) = self.rates().filter(|_| topology.is_on_ports()) {
            return rates
                .classes()
                .iter()
                .enumerate()
                .try_for_each(|(number, class)| self.of_class(class)?.check_faults(&topology.of_class(number)?));
        }
        let refuse = |what: String| Err(Error::refused("failed", topology.name(), what));
        let mut left = WorkingPorts::of(self);
        for link in topology.expanded() {
            let (src, dst) = (self.gpu_of(link.src), self.gpu_of(link.dst));
            if !self.joins(link.src, link.dst) {
                return refuse(format!("it has a circuit {src} → {dst}, which cannot be made"));
            }
            for (ports, gpu, name) in [
                (&mut left.out[link.src as usize], src, "transmitters"),
                (&mut left.into[link.dst as usize], dst, "receivers"),
            ] {
                match ports.checked_sub(link.count) {
                    Some(rest) => *ports = rest,
                    None => return refuse(format!("it needs more {name} than work at GPU {gpu}")),
                }
            }
        }
        Ok(())
    }

    /// The circuits of a topology that are left where things fail: none between pairs that cannot be joined, and at
    /// each rank as many as ports work, those to the lowest ranks first. Nothing changes where all of them work.
    ///
    /// # Errors
    /// The errors of [`Topology::new`], none of which a topology has.
    pub fn working_part(&self, topology: Topology) -> Result<Topology> {
        if self.check_faults(&topology).is_ok() {
            return Ok(topology);
        }
        self.by_class(&topology, |topology, shape| shape.working_part_of_alike(topology))
    }

    fn working_part_of_alike(&self, topology: &Topology) -> Result<Topology> {
        let mut left = WorkingPorts::of(self);
        let mut links: Vec<Link> = Vec::new();
        for link in topology.expanded() {
            let (out, into) = (&mut left.out[link.src as usize], &mut left.into[link.dst as usize]);
            let count = if self.joins(link.src, link.dst) { link.count.min(*out).min(*into) } else { 0 };
            if count > 0 {
                *out -= count;
                *into -= count;
                links.push(Link { count, ..link });
            }
        }
        Topology::new(format!("what is left of {}", topology.name()), Translations::trivial(self.gpus()), links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Faults;

    fn faults(text: &str) -> Faults {
        text.split(',').map(|one| one.parse::<Fault>().unwrap()).collect()
    }

    #[test]
    fn working_ports_count_what_is_left() {
        let shape = |text: &str| Shape::new(4, &[], 3).unwrap().with_faults(faults(text)).unwrap();
        let ports = WorkingPorts::of(&shape("port:1.0,port:1.2,receiver:2.1,switch:2"));
        assert_eq!((ports.out, ports.into), (vec![2, 1, 2, 2], vec![2, 2, 1, 2]));
        assert_eq!(WorkingPorts::of(&shape("switch:0,switch:1")).least(), 1);
        assert_eq!(WorkingPorts::of(&shape("link:0-1")).least(), 3);
    }

    #[test]
    fn a_topology_fits_what_works() {
        let ring = |count| {
            let links = (0..4).map(|src| Link { src, dst: (src + 1) % 4, count });
            Topology::new("ring", Translations::trivial(4), links).unwrap()
        };
        let fits = |text: &str, count| {
            Shape::new(4, &[], 2).unwrap().with_faults(faults(text)).unwrap().check_faults(&ring(count)).is_ok()
        };
        assert!(fits("port:0.1", 1) && !fits("port:0.1", 2) && !fits("receiver:3.0", 2) && !fits("switch:1", 2));
        assert!(!fits("link:0-1", 1) && !fits("link:0>1", 1) && fits("link:1>0", 2) && fits("link:0-2", 2));
    }
}
