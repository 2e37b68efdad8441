//! MixNet: one topology, its circuits given to the largest flows first.

use model::{Link, Rank, Result, Topology, Translations};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::{Contractions, Strategy};

/// Takes flows by size, each a circuit where both ends have a port left. The first circuit out of and into each
/// rank must not close a cycle before it holds all ranks: otherwise some flows would have no path. The
/// paper does not say how MixNet breaks ties; here by an order drawn once, so that equal flows make a random regular
/// graph and not the long way round that the order of ranks would. `matrix[src][dst]`, square.
///
/// Flows are packed into rounds as ours are. O(n² log n) for the topology.
///
/// # Errors
/// Fewer than two rows.
pub fn mixnet(matrix: &[Vec<f64>], ports: u32) -> Result<Strategy> {
    let ranks = matrix.len();
    let mut flows: Vec<(usize, usize)> = (0..ranks).flat_map(|src| (0..ranks).map(move |dst| (src, dst))).collect();
    flows.retain(|(src, dst)| src != dst);
    flows.shuffle(&mut ChaCha8Rng::seed_from_u64(0));
    flows.sort_by(|&(a, b), &(c, d)| matrix[c][d].total_cmp(&matrix[a][b]));
    let mut links: Vec<(usize, usize)> = Vec::new();
    // The cycle through all ranks, as paths that grow: the other end of the path that starts or ends at a rank.
    let (mut follows, mut precedes) = (vec![false; ranks], vec![false; ranks]);
    let mut other_end: Vec<usize> = (0..ranks).collect();
    for &(src, dst) in &flows {
        let last = links.len() == ranks - 1;
        if !precedes[src] && !follows[dst] && (last || other_end[src] != dst) {
            let (start, end) = (other_end[src], other_end[dst]);
            (other_end[start], other_end[end]) = (end, start);
            (precedes[src], follows[dst]) = (true, true);
            links.push((src, dst));
        }
    }
    let (mut out, mut into) = (vec![1; ranks], vec![1; ranks]);
    for &(src, dst) in &flows {
        if out[src] < ports && into[dst] < ports && !links[..ranks.min(links.len())].contains(&(src, dst)) {
            out[src] += 1;
            into[dst] += 1;
            links.push((src, dst));
        }
    }
    let links = links.into_iter().map(|(src, dst)| Link { src: src as Rank, dst: dst as Rank, count: 1 });
    let symmetry = Translations::trivial(ranks as u32);
    let topology = Topology::new("mixnet", symmetry.clone(), links)?;
    Ok(Contractions::new(topology, symmetry, ports)?.strategy())
}
