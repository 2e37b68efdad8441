//! The bound of unequal All-to-Alls for any algorithm, against the best of all one-port topologies of a few ranks.

use lightloom_bounds::{Statement, any_algorithm};
use model::{Collective, CostSettings, Fabric, Initial, Piece, ReconfigurationPolicy, Shape};
use proptest::prelude::*;

/// Bytes, `[src][dst]`.
type Matrix = Vec<Vec<f64>>;

fn bound(matrix: &Matrix, ports: u32, change_s: f64) -> Statement {
    let fabric = Fabric {
        shape: Shape::new(matrix.len() as u32, &[], ports).unwrap(),
        bandwidth_bps: 8e9,
        startup_s: 0.0,
        barrier_s: 0.0,
        hop_delay_s: 0.0,
        reconfiguration: ReconfigurationPolicy::constant(change_s),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let pieces: Vec<Piece> = (0..)
        .zip(matrix)
        .flat_map(|(src, row)| (0..).zip(row).map(move |(dst, &share)| Piece { src, dst, share }))
        .filter(|piece| piece.share > 0.0)
        .collect();
    // A byte takes a nanosecond; m is a billion bytes, so that a share takes as many seconds.
    any_algorithm(Collective::AllToAll, Some(&pieces), &fabric, CostSettings::default(), 1_000_000_000)
}

/// All one-port topologies: where the circuit of each rank leads; a rank that keeps its own has none.
fn permutations(ranks: usize) -> Vec<Vec<usize>> {
    (0..ranks).fold(vec![Vec::new()], |all, _| {
        let longer = |some: &Vec<usize>| {
            let free = (0..ranks).filter(|to| !some.contains(to));
            free.map(|to| [&some[..], &[to]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// The largest load of one step that sends everything; infinite where some pair has no path. On one port paths are the
/// only ones.
fn load(matrix: &Matrix, next: &[usize]) -> f64 {
    let mut loads = vec![0.0; next.len()];
    for (src, row) in matrix.iter().enumerate() {
        for (dst, &share) in row.iter().enumerate().filter(|(dst, share)| *dst != src && **share > 0.0) {
            let mut at = src;
            while at != dst {
                loads[at] += share;
                at = next[at];
                if at == src {
                    return f64::INFINITY;
                }
            }
        }
    }
    loads.into_iter().fold(0.0, f64::max)
}

/// The least load of a step on one topology and, by parts of the matrix of whole blocks, of a step on each of two.
fn least(matrix: &Matrix, topologies: &[Vec<usize>]) -> (f64, f64) {
    let one = topologies.iter().map(|next| load(matrix, next)).fold(f64::INFINITY, f64::min);
    let blocks: Vec<(usize, usize)> = (0..matrix.len())
        .flat_map(|src| (0..matrix.len()).map(move |dst| (src, dst)))
        .filter(|(src, dst)| matrix[*src][*dst] > 0.0)
        .collect();
    let mut two = f64::INFINITY;
    for some in 0..1_u32 << blocks.len() {
        let part = |is_first: bool| {
            let mut part = vec![vec![0.0; matrix.len()]; matrix.len()];
            for (place, &(src, dst)) in blocks.iter().enumerate() {
                if (some >> place & 1 == 1) == is_first {
                    part[src][dst] = matrix[src][dst];
                }
            }
            topologies.iter().map(|next| load(&part, next)).fold(f64::INFINITY, f64::min)
        };
        two = two.min(part(true) + part(false));
    }
    (one, two)
}

/// By hand: ranks 0 and 1 send 3 to each of 2 and 3. On one port each of these blocks that is not alone at its sender
/// passes a rank: 2 · 3. All own 6, as senders or as receivers: (4 · 6 + 6)/4, where the busiest rank needs 6 and all
/// hops together (12 + 6)/4. On the ring 0 → 2 → 1 → 3 the circuits out of 0 and 1 carry 9, and no ring does better.
#[test]
fn what_passes_a_rank_comes_on_top_of_what_it_sends_or_receives() {
    let matrix = vec![vec![0.0, 0.0, 3.0, 3.0], vec![0.0, 0.0, 3.0, 3.0], vec![0.0; 4], vec![0.0; 4]];
    let stated = bound(&matrix, 1, 1e3);
    assert_eq!(stated.topologies, 1);
    assert!((stated.transmission_s - 7.5).abs() < 1e-9, "{stated:?}");
    let topologies = permutations(4);
    assert!((least(&matrix, &topologies).0 - 9.0).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(64)))]

    /// On one topology and on two, however blocks are dealt to them.
    #[test]
    fn no_topology_carries_less_than_the_bound(
        ranks in 3usize..6, sizes in prop::collection::vec(prop_oneof![2 => Just(0.0), 3 => 0.1f64..4.0], 25),
        change_s in prop_oneof![0.01f64..3.0, Just(1e6)],
    ) {
        let mut matrix: Matrix = vec![vec![0.0; ranks]; ranks];
        let mut blocks = 0;
        for src in 0..ranks {
            for dst in (0..ranks).filter(|dst| *dst != src) {
                // This many blocks can be dealt to two steps in all ways.
                if sizes[src * 5 + dst] > 0.0 && blocks < 8 {
                    matrix[src][dst] = sizes[src * 5 + dst];
                    blocks += 1;
                }
            }
        }
        prop_assume!(blocks > 0);
        let topologies = permutations(ranks);
        let (one, two) = least(&matrix, &topologies);
        let stated = bound(&matrix, 1, change_s);
        prop_assert!(stated.seconds() <= one.min(two + change_s) * (1.0 + 1e-9), "{stated:?} {one} {two}");
        let busiest = (0..ranks).map(|rank| {
            let (sends, receives) = (matrix[rank].iter().sum::<f64>(), matrix.iter().map(|row| row[rank]).sum::<f64>());
            sends.max(receives)
        }).fold(0.0, f64::max);
        prop_assert!(stated.transmission_s >= busiest * (1.0 - 1e-9));
    }
}
