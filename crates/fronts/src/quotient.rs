//! A (topology, traffic) pair under the translations that both share.

use std::sync::Arc;

use model::{Link, Rank, Topology, Traffic, TrafficEntry, Translations};

/// Links on a shortest path from one rank to another; `None` where there is no path.
pub(crate) trait Distance: Fn(Rank, Rank) -> Option<u32> + Copy {}

impl<F: Fn(Rank, Rank) -> Option<u32> + Copy> Distance for F {}

/// A link out of some GPU: where it leads and the orbit of links that it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) dst: Rank,
    pub(crate) orbit: u32,
}

/// Links out of every GPU, with one capacity per orbit of links. The links of all GPUs of an orbit under the
/// topology's own symmetry come in the same order, so that "the first link that ..." is an invariant choice.
#[derive(Debug)]
pub(crate) struct Adjacency {
    starts: Vec<u32>,
    heads: Vec<Head>,
    /// Parallel circuits of a link of each orbit, slower ones as parts of a circuit.
    pub(crate) capacities: Vec<f64>,
}

impl Adjacency {
    /// The adjacency under the topology's own symmetry. O(links of the whole topology).
    pub(crate) fn new(topology: &Topology) -> Self {
        let (symmetry, links) = (topology.symmetry(), topology.links());
        let ranks = symmetry.ranks();
        let mut starts = Vec::with_capacity(ranks as usize + 1);
        let mut heads = Vec::with_capacity(links.len() * symmetry.order() as usize);
        starts.push(0);
        for rank in 0..ranks {
            let (representative, element) = symmetry.canonical(rank);
            let first = links.partition_point(|link| link.src < representative);
            for (offset, link) in links[first..].iter().take_while(|link| link.src == representative).enumerate() {
                heads.push(Head { dst: symmetry.apply(element, link.dst), orbit: (first + offset) as u32 });
            }
            starts.push(heads.len() as u32);
        }
        Self { starts, heads, capacities: links.iter().map(|link| topology.capacity(link)).collect() }
    }

    /// The quotient of the same topology by `subgroup`, its links in the same order. O(links of the whole topology ·
    /// log).
    fn under(&self, subgroup: &Translations, topology: &Topology) -> Self {
        let links: &[Link] = &topology.links_under(subgroup);
        let orbit_of = |src: Rank, dst: Rank| {
            let (representative, element) = subgroup.canonical(src);
            let dst = subgroup.apply(subgroup.inverse(element), dst);
            links.partition_point(|link| (link.src, link.dst) < (representative, dst)) as u32
        };
        let mut heads = Vec::with_capacity(self.heads.len());
        for src in 0..self.ranks() as Rank {
            heads.extend(self.out(src).iter().map(|head| Head { dst: head.dst, orbit: orbit_of(src, head.dst) }));
        }
        Self {
            starts: self.starts.clone(),
            heads,
            capacities: links.iter().map(|link| topology.capacity(link)).collect(),
        }
    }

    pub(crate) fn ranks(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn out(&self, rank: Rank) -> &[Head] {
        let rank = rank as usize;
        &self.heads[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }

    /// The largest number of links out of a GPU; 1 or 0 means that no path ever branches.
    pub(crate) fn largest_out_degree(&self) -> u32 {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }
}

/// The pair: arcs from one source per orbit, links by orbit.
#[derive(Debug)]
pub(crate) struct Quotient {
    pub(crate) symmetry: Translations,
    pub(crate) adjacency: Arc<Adjacency>,
    /// One per orbit, by (src, dst); every `src` is a representative.
    pub(crate) arcs: Vec<TrafficEntry>,
}

impl Quotient {
    /// `own`: the adjacency under the topology's own symmetry, used where that is the common one.
    pub(crate) fn new(topology: &Topology, own: &Arc<Adjacency>, traffic: &Traffic) -> Self {
        let symmetry = topology.symmetry().meet(traffic.symmetry());
        let adjacency =
            if symmetry == *topology.symmetry() { own.clone() } else { Arc::new(own.under(&symmetry, topology)) };
        let arcs = traffic.arcs_under(&symmetry);
        Self { symmetry, adjacency, arcs }
    }

    /// Arcs grouped by source.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &[TrafficEntry]> {
        self.arcs.chunk_by(|a, b| a.src == b.src)
    }

    /// The busiest link's load when link orbit o carries `traffic[o]` in all, per representative arc.
    pub(crate) fn largest_load(&self, traffic: &[f64]) -> f64 {
        traffic.iter().zip(&self.adjacency.capacities).map(|(traffic, capacity)| traffic / capacity).fold(0.0, f64::max)
    }
}
