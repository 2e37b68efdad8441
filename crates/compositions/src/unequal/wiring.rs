//! Circuits of every port, which can be exchanged one by one.

use model::{Link, Rank, Result, Topology, Translations};

/// Stands in place of a rank where no circuit leads.
const DARK: Rank = Rank::MAX;

/// The rank to which the circuit of each port of each rank leads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wiring {
    ranks: usize,
    ports: usize,
    /// `[src · ports + port]`.
    heads: Vec<Rank>,
}

impl Wiring {
    /// The wiring in which all ports are dark.
    pub(crate) fn dark(ranks: usize, ports: usize) -> Self {
        Self { ranks, ports, heads: vec![DARK; ranks * ports] }
    }

    /// The circuits of a topology of at most `ports` out of a rank.
    pub(crate) fn of(topology: &Topology, ports: usize) -> Self {
        let mut wiring = Self::dark(topology.ranks() as usize, ports);
        for link in topology.expanded() {
            (0..link.count).for_each(|_| wiring.join(link.src, link.dst));
        }
        wiring
    }

    /// A ring of one port through the ranks in this order.
    pub(crate) fn ring(order: &[Rank]) -> Self {
        let mut wiring = Self::dark(order.len(), 1);
        for (&src, &dst) in order.iter().zip(order.iter().cycle().skip(1)) {
            wiring.join(src, dst);
        }
        wiring
    }

    /// Rank u joined to `successors(u)`, and the circuits that would lead from a rank to itself led from one such rank
    /// to the next instead, so that they are not lost.
    pub(crate) fn rewired<I: IntoIterator<Item = Rank>>(
        ranks: usize,
        ports: usize,
        successors: impl Fn(Rank) -> I,
    ) -> Self {
        let mut wiring = Self::dark(ranks, ports);
        let mut loops = Vec::new();
        for src in 0..ranks as Rank {
            for dst in successors(src) {
                if dst == src { loops.push(src) } else { wiring.join(src, dst) }
            }
        }
        for (&src, &dst) in loops.iter().zip(loops.iter().cycle().skip(1)).filter(|(src, dst)| src != dst) {
            wiring.join(src, dst);
        }
        wiring
    }

    /// A circuit from `src` to `dst` on the first dark port; nothing where `src` has no dark port left.
    pub(crate) fn join(&mut self, src: Rank, dst: Rank) {
        let ports = &mut self.heads[src as usize * self.ports..(src as usize + 1) * self.ports];
        if let Some(dark) = ports.iter_mut().find(|head| **head == DARK) {
            *dark = dst;
        }
    }

    /// Leads a circuit to `rank`, and on from there to where it led, on its first dark port.
    pub(crate) fn lead_through(&mut self, circuit: usize, rank: Rank) {
        let head = std::mem::replace(&mut self.heads[circuit], rank);
        self.join(rank, head);
    }

    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    pub(crate) fn ports(&self) -> usize {
        self.ports
    }

    /// Ports of all ranks together.
    pub(crate) fn circuits(&self) -> usize {
        self.heads.len()
    }

    /// The rank to which the circuit of a port leads; `None` where it is dark.
    pub(crate) fn head(&self, circuit: usize) -> Option<Rank> {
        let head = self.heads[circuit];
        (head != DARK).then_some(head)
    }

    /// The rank whose port this is.
    pub(crate) fn tail(&self, circuit: usize) -> Rank {
        (circuit / self.ports) as Rank
    }

    /// The circuits out of a rank, with where they lead.
    pub(crate) fn out(&self, rank: Rank) -> impl Iterator<Item = (usize, Rank)> + '_ {
        let first = rank as usize * self.ports;
        let heads = &self.heads[first..first + self.ports];
        heads.iter().enumerate().filter(|(_, head)| **head != DARK).map(move |(port, &head)| (first + port, head))
    }

    /// Whether each rank has circuits to the same ranks as on another wiring, whatever the ports.
    pub(crate) fn has_circuits_of(&self, other: &Self) -> bool {
        let heads = |wiring: &Self, rank: Rank| {
            let mut heads: Vec<Rank> = wiring.out(rank).map(|(_, head)| head).collect();
            heads.sort_unstable();
            heads
        };
        self.ranks == other.ranks && (0..self.ranks as Rank).all(|rank| heads(self, rank) == heads(other, rank))
    }

    /// Gives each of two circuits the other's head. False, and nothing changed, where one would lead from a rank to
    /// itself or is dark.
    pub(crate) fn exchange_heads(&mut self, one: usize, other: usize) -> bool {
        let (to, other_to) = (self.heads[one], self.heads[other]);
        let fits = to != DARK && other_to != DARK && to != other_to;
        if !fits || self.tail(one) == other_to || self.tail(other) == to {
            return false;
        }
        self.heads.swap(one, other);
        true
    }

    /// Gives each of two ranks the other's circuits, in and out.
    pub(crate) fn exchange_ranks(&mut self, one: Rank, other: Rank) {
        for port in 0..self.ports {
            self.heads.swap(one as usize * self.ports + port, other as usize * self.ports + port);
        }
        for head in &mut self.heads {
            *head = match *head {
                rank if rank == one => other,
                rank if rank == other => one,
                rank => rank,
            };
        }
    }

    /// The topology of these circuits, as one of no symmetry.
    ///
    /// # Errors
    /// No error for circuits between different ranks.
    pub(crate) fn topology(&self, name: &str) -> Result<Topology> {
        let joined = (0..self.circuits()).filter_map(|circuit| Some((self.tail(circuit), self.head(circuit)?)));
        let links = joined.map(|(src, dst)| Link { src, dst, count: 1 });
        Topology::new(name, Translations::trivial(self.ranks as u32), links)
    }
}
