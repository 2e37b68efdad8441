//! A topology, prepared for packing paths: circuits and distances by orbit of the strategy's group.

use model::{BreadthFirst, Error, Link, Rank, Result, Topology, Translations};

/// A circuit out of a GPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub dst: Rank,
    /// Orbit of the circuit.
    pub orbit: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct QuotientNetwork {
    pub topology: Topology,
    symmetry: Translations,
    heads: Vec<Vec<Head>>,
    /// Number of orbits of circuits.
    pub circuits: u32,
    /// By orbit of circuits: its place among the circuits that leave a GPU, and among those that enter one.
    places: Vec<(u32, u32)>,
    degree: u32,
    /// For every rank, its orbit and the element that takes it to the representative.
    home: Vec<(u32, u32)>,
    /// `[orbit][rank]`, from the orbit's representative.
    distances: Vec<u32>,
}

impl QuotientNetwork {
    /// `symmetry` lies inside the topology's.
    ///
    /// # Errors
    /// Parallel circuits, which the rounds of the paper do not know.
    pub fn new(topology: Topology, symmetry: &Translations) -> Result<Self> {
        let ranks = topology.ranks();
        let links = topology.links_under(symmetry);
        if links.iter().any(|link| link.count > 1) {
            return Err(Error::refused(
                "topology",
                topology.name(),
                "it has parallel circuits; rounds of whole blocks take topologies with at most one circuit per pair",
            ));
        }
        let mut heads = vec![Vec::new(); ranks as usize];
        for element in symmetry.elements() {
            interruption::check();
            for (orbit, link) in links.iter().enumerate() {
                let dst = symmetry.apply(element, link.dst);
                heads[symmetry.apply(element, link.src) as usize].push(Head { dst, orbit: orbit as u32 });
            }
        }
        let (mut leaving, mut entering) = (vec![0; ranks as usize], vec![0; ranks as usize]);
        let take = |count: &mut u32| std::mem::replace(count, *count + 1);
        let place = |link: &Link| {
            let (src, dst) = (symmetry.orbit(link.src) as usize, symmetry.orbit(link.dst) as usize);
            (take(&mut leaving[src]), take(&mut entering[dst]))
        };
        let places = links.iter().map(place).collect();
        let home = (0..ranks).map(|rank| {
            let (_, element) = symmetry.canonical(rank);
            (symmetry.orbit(rank), symmetry.inverse(element))
        });
        let home = home.collect();
        let degree = topology.degree();
        let sources = symmetry.representatives().into_iter();
        let mut search = BreadthFirst::new(heads.len());
        let mut distances = Vec::new();
        for source in sources {
            interruption::check();
            distances.extend_from_slice(search.search(source, |rank| heads[rank as usize].iter().map(|head| head.dst)));
        }
        Ok(Self {
            topology,
            symmetry: symmetry.clone(),
            heads,
            circuits: links.len() as u32,
            places,
            degree,
            home,
            distances,
        })
    }

    /// Circuits out of `rank`, in the same order for all of an orbit.
    pub fn out(&self, rank: Rank) -> &[Head] {
        &self.heads[rank as usize]
    }

    /// Hops of a shortest path, [`model::UNREACHABLE`] if there is no path.
    pub fn distance(&self, src: Rank, dst: Rank) -> u32 {
        let (orbit, back) = self.home[src as usize];
        let moved = if self.symmetry.order() == 1 { dst } else { self.symmetry.apply(back, dst) };
        self.distances[orbit as usize * self.home.len() + moved as usize]
    }

    /// The least word of turns of a shortest path. A turn is the place of the circuit that leaves a GPU less that
    /// of the one that entered it, modulo the degree. Two paths with one word that meet on a circuit in one
    /// slot are the same path: all paths of a word fit into one round. Its turns join `turns`.
    pub fn word(&self, src: Rank, dst: Rank, turns: &mut Vec<u32>) {
        let nearer = |node: Rank| {
            let left = self.distance(node, dst);
            self.out(node).iter().filter(move |head| self.distance(head.dst, dst) < left)
        };
        let mut front: Vec<Head> = nearer(src).copied().collect();
        let mut next: Vec<(u32, Head)> = Vec::new();
        while front.iter().all(|head| head.dst != dst) {
            next.clear();
            for from in &front {
                next.extend(nearer(from.dst).map(|to| (self.turn(from.orbit, to.orbit), *to)));
            }
            let Some(least) = next.iter().map(|(turn, _)| *turn).min() else { break };
            turns.push(least);
            front.clear();
            front.extend(next.iter().filter(|(turn, _)| *turn == least).map(|(_, head)| *head));
            front.sort_unstable_by_key(|head| (head.dst, head.orbit));
            front.dedup_by_key(|head| (head.dst, head.orbit));
        }
    }

    fn turn(&self, entered: u32, left: u32) -> u32 {
        (self.places[left as usize].0 + self.degree - self.places[entered as usize].1) % self.degree
    }
}
