//! Shifted tori of every combination of offsets.

use std::cmp::Reverse;

use model::{Result, Shape, Topology, Traffic};

use crate::candidate_family::{CandidateFamily, those_that_fit};
use crate::cutoffs::candidates_shifted_tori::MOST_RANKS_FOR_ALL;
use crate::parameters::by;
use crate::ring_offsets;

/// The tori of the shape's grid with every combination of offsets.
pub(crate) struct ShiftedTori;

/// Most tori of one grid. Beyond it, offsets that are powers of two are kept first, because those are what
/// most algorithms' steps are translations by, then the smallest.
const MAX_TORI: usize = 256;

/// Most tori of one grid where there are more than [`MOST_RANKS_FOR_ALL`] ranks.
const MAX_LARGE_TORI: usize = 32;

/// Most tori of one grid where there are many ranks and no step is the same from two of them.
const MAX_TORI_OF_UNLIKE: usize = 4;

impl CandidateFamily for ShiftedTori {
    fn name(&self) -> &'static str {
        "shifted-tori"
    }

    fn summary(&self) -> &'static str {
        "tori of every combination of offsets along the dimensions, up to 256 (32 above 4096 GPUs, 4 above 512 of which no two are alike in the steps); \
         ranks in a line are folded into their most cubic 2-D and 3-D grids"
    }

    fn source(&self) -> &'static str {
        "HARVEST appendix A"
    }

    fn build(&self, shape: &Shape, patterns: &[&Traffic], _seed: u64) -> Result<Vec<Topology>> {
        let mut specs = Vec::new();
        let given = shape.dims().len() > 1;
        let most = match shape.gpus() {
            ranks if ring_offsets::are_many_and_unlike(ranks, patterns) => MAX_TORI_OF_UNLIKE,
            ranks if ranks > MOST_RANKS_FOR_ALL => MAX_LARGE_TORI,
            _ => MAX_TORI,
        };
        for dims in grids(shape) {
            let dimensions = dims.len() as u32;
            if shape.ports() < dimensions {
                continue;
            }
            // One-way, an offset and its opposite differ.
            let two_way = shape.ports() >= 2 * dimensions;
            let largest = |dim: u32| if two_way { dim / 2 } else { dim - 1 };
            let offsets: Vec<Vec<u32>> = dims.iter().map(|&dim| by_preference(largest(dim))).collect();
            for shifts in combinations(&within(offsets, most)) {
                specs.push(spec(if given { None } else { Some(&dims) }, &shifts));
            }
        }
        those_that_fit(specs, shape)
    }
}

/// The shape's grid, or the most cubic 2-D and 3-D grids of ranks in a line.
pub(super) fn grids(shape: &Shape) -> Vec<Vec<u32>> {
    if shape.dims().len() > 1 {
        return vec![shape.dims().to_vec()];
    }
    [2, 3].into_iter().filter_map(|dimensions| most_cubic(shape.gpus(), dimensions)).collect()
}

/// The torus itself goes by its own name.
fn spec(dims: Option<&[u32]>, shifts: &[u32]) -> String {
    let grid = dims.map(by);
    if shifts.iter().all(|&shift| shift == 1) {
        return grid.map_or("torus".into(), |grid| format!("torus:{grid}"));
    }
    let shifts = shifts.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    grid.map_or_else(|| format!("shifted-torus:{shifts}"), |grid| format!("shifted-torus:{grid}:{shifts}"))
}

/// The factors of `gpus`, largest first, of least sum; `None` when it has not as many factors above 1.
fn most_cubic(gpus: u32, dimensions: u32) -> Option<Vec<u32>> {
    if dimensions == 1 {
        return (gpus > 1).then(|| vec![gpus]);
    }
    (2..=gpus / 2)
        .filter(|&first| gpus.is_multiple_of(first))
        .filter_map(|first| {
            let rest = most_cubic(gpus / first, dimensions - 1)?;
            (rest[0] <= first).then(|| [vec![first], rest].concat())
        })
        .min_by_key(|dims| dims.iter().sum::<u32>())
}

/// `1..=largest`, powers of two first, each part ascending.
fn by_preference(largest: u32) -> Vec<u32> {
    let mut offsets: Vec<u32> = (1..=largest).collect();
    offsets.sort_by_key(|offset| (!offset.is_power_of_two(), *offset));
    offsets
}

/// The lists with at most `limit` combinations, each ascending: the longest, the first of equals, loses
/// its last number until they fit.
fn within(mut lists: Vec<Vec<u32>>, limit: usize) -> Vec<Vec<u32>> {
    let combinations =
        |lists: &[Vec<u32>]| lists.iter().fold(1usize, |product, list| product.saturating_mul(list.len()));
    while combinations(&lists) > limit {
        let longest = (0..lists.len()).max_by_key(|&index| (lists[index].len(), Reverse(index)));
        let Some(longest) = longest else { break };
        lists[longest].pop();
    }
    for list in &mut lists {
        list.sort_unstable();
    }
    lists
}

/// Every choice of one number from each list, in lexicographic order.
fn combinations(lists: &[Vec<u32>]) -> Vec<Vec<u32>> {
    lists.iter().fold(vec![Vec::new()], |chosen, list| {
        chosen.iter().flat_map(|chosen| list.iter().map(move |&next| [chosen.as_slice(), &[next]].concat())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(gpus: u32, dims: &[u32], ports: u32) -> Vec<Topology> {
        ShiftedTori.build(&Shape::new(gpus, dims, ports).unwrap(), &[], 0).unwrap()
    }

    #[test]
    fn ranks_in_a_line_are_folded() {
        for (gpus, square, cube) in [
            (64, Some(vec![8, 8]), Some(vec![4, 4, 4])),
            (24, Some(vec![6, 4]), Some(vec![4, 3, 2])),
            (6, Some(vec![3, 2]), None),
            (7, None, None),
            (2, None, None),
            (65_536, Some(vec![256, 256]), Some(vec![64, 32, 32])),
        ] {
            assert_eq!((most_cubic(gpus, 2), most_cubic(gpus, 3)), (square, cube), "{gpus}");
        }
    }

    #[test]
    fn every_combination_of_offsets_is_there() {
        let names: Vec<String> = build(16, &[4, 4], 4).iter().map(|topology| topology.name().into()).collect();
        assert_eq!(names, ["torus", "shifted-torus:1,2", "shifted-torus:2,1", "shifted-torus:2,2"]);
        assert_eq!(build(16, &[4, 4], 2).len(), 9);
        assert_eq!(build(16, &[4, 4], 1).len(), 0);
        // 8×8 two-way and 4×4×4 one-way.
        assert_eq!(build(64, &[], 4).len(), 4 * 4 + 3 * 3 * 3);
        assert_eq!(build(7, &[], 4).len(), 0);
    }

    #[test]
    fn many_are_capped_with_powers_of_two_kept() {
        let tori = build(4096, &[64, 64], 4);
        assert_eq!(tori.len(), MAX_TORI);
        for a in [1, 2, 4, 8, 16, 32] {
            for b in [1, 2, 4, 8, 16, 32] {
                let name = if a * b == 1 { "torus".into() } else { format!("shifted-torus:{a},{b}") };
                assert!(tori.iter().any(|topology| topology.name() == name), "{name}");
            }
        }
        let many = build(4096, &[16, 16, 16], 3);
        assert!((MAX_TORI / 2..=MAX_TORI).contains(&many.len()), "{}", many.len());
        let large = build(65_536, &[256, 256], 4);
        assert!((MAX_LARGE_TORI / 2..=MAX_LARGE_TORI).contains(&large.len()), "{}", large.len());
    }
}
