//! The circuits of all steps, side by side: the network on which bytes travel through the steps in order.

use model::Rank;

use crate::unequal::wiring::Wiring;

/// A link of one step: its circuits lead from `tail` to `head`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) tail: Rank,
    pub(super) head: Rank,
    /// The step in which it carries bytes.
    pub(super) step: u32,
    /// The inverse of the number of parallel circuits.
    pub(super) per_byte: f64,
}

/// The links of every step, step by step.
#[derive(Debug, Clone)]
pub(super) struct Layers {
    pub(super) ranks: usize,
    pub(super) edges: Vec<Edge>,
    /// First link of each step, and the end of the last.
    pub(super) starts: Vec<usize>,
}

impl Layers {
    /// The links of `wirings`, one wiring a step; parallel circuits are one link.
    pub(super) fn new(wirings: &[Wiring]) -> Self {
        let ranks = wirings[0].ranks();
        let (mut edges, mut starts) = (Vec::new(), vec![0]);
        for (step, wiring) in (0..).zip(wirings) {
            for tail in 0..ranks as Rank {
                let mut heads: Vec<Rank> = wiring.out(tail).map(|(_, head)| head).collect();
                heads.sort_unstable();
                for parallel in heads.chunk_by(|a, b| a == b) {
                    let per_byte = 1.0 / parallel.len() as f64;
                    edges.push(Edge { tail, head: parallel[0], step, per_byte });
                }
            }
            starts.push(edges.len());
        }
        Self { ranks, edges, starts }
    }

    /// Number of steps.
    pub(super) fn steps(&self) -> usize {
        self.starts.len() - 1
    }

    /// The link from a rank to another in a step.
    pub(super) fn link(&self, step: usize, tail: Rank, head: Rank) -> Option<usize> {
        let links = self.of_step(step);
        let edges = &self.edges[links.clone()];
        edges.binary_search_by_key(&(tail, head), |edge| (edge.tail, edge.head)).ok().map(|place| links.start + place)
    }

    /// The links of a step, by index.
    pub(super) fn of_step(&self, step: usize) -> std::ops::Range<usize> {
        self.starts[step]..self.starts[step + 1]
    }
}
