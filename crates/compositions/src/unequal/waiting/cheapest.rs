//! Cheapest paths of a source through the steps in order, bytes waiting where they are between two steps.

use model::Rank;

use super::layers::Layers;

/// No link led here in this pass.
const NONE: u32 = u32::MAX;

/// The search from one source, in buffers that are used again.
#[derive(Debug)]
pub(super) struct Cheapest {
    /// By rank, the price of the cheapest path; infinite where there is none.
    pub(super) prices: Vec<f64>,
    before: Vec<f64>,
    /// By pass and rank, the link by which the pass made the path cheaper.
    by: Vec<u32>,
}

impl Cheapest {
    pub(super) fn new(ranks: usize, hops: &[u32]) -> Self {
        let passes = hops.iter().sum::<u32>() as usize;
        Self { prices: vec![f64::INFINITY; ranks], before: vec![0.0; ranks], by: vec![NONE; passes * ranks] }
    }

    /// Finds the cheapest paths of at most `hops[k]` links of step k. O(Σ hops · links of a step).
    pub(super) fn search(&mut self, layers: &Layers, hops: &[u32], prices: &[f64], src: Rank) {
        let ranks = layers.ranks;
        self.prices.fill(f64::INFINITY);
        self.prices[src as usize] = 0.0;
        self.by.fill(NONE);
        let mut passes = self.by.chunks_exact_mut(ranks);
        for (step, &hops) in hops.iter().enumerate() {
            let links = layers.of_step(step);
            for _ in 0..hops {
                let Some(by) = passes.next() else { return };
                self.before.copy_from_slice(&self.prices);
                let mut is_cheaper = false;
                for link in links.clone() {
                    let edge = &layers.edges[link];
                    let price = self.before[edge.tail as usize] + prices[link];
                    if price < self.prices[edge.head as usize] {
                        self.prices[edge.head as usize] = price;
                        by[edge.head as usize] = link as u32;
                        is_cheaper = true;
                    }
                }
                if !is_cheaper {
                    // Passes of this step that change nothing are left empty.
                    break;
                }
            }
        }
    }

    /// Writes the links of the cheapest path to `dst` into `path`, the last link first.
    pub(super) fn path(&self, layers: &Layers, dst: Rank, path: &mut Vec<u32>) {
        path.clear();
        let mut rank = dst as usize;
        for by in self.by.chunks_exact(layers.ranks).rev() {
            if by[rank] != NONE {
                path.push(by[rank]);
                rank = layers.edges[by[rank] as usize].tail as usize;
            }
        }
    }
}
