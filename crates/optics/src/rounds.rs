//! Circuits in rounds, where a tile has fewer transmitters or receivers than circuits (PCCL, §4.2): as few rounds as
//! there can be.

use std::collections::BTreeMap;

use model::{Error, Result};

use crate::circuit::Circuit;

/// The round of each circuit, from 0, so that in no round more circuits start at a cell than it has transmitters or end
/// there than it has receivers. No fewer rounds would do: some cell needs them all.
///
/// A cell's circuits are dealt out to copies of it of as many circuits as there are rounds; edges of the bipartite
/// graph of the copies are coloured with that many colours (König 1916), so that each copy has one circuit in a round.
/// O(circuits · copies), and O(circuits) where colours need not be swapped.
///
/// # Errors
/// No transmitter or no receiver; names which.
pub fn rounds(circuits: &[Circuit], transmitters: u32, receivers: u32) -> Result<Vec<u32>> {
    for (field, count) in [("transmitters", transmitters), ("receivers", receivers)] {
        if count == 0 {
            return Err(Error::value(field, count, "a whole number above 0"));
        }
    }
    let busiest = |end: fn(&Circuit) -> u32| {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        circuits.iter().for_each(|circuit| *counts.entry(end(circuit)).or_default() += 1);
        counts.into_values().max().unwrap_or(0)
    };
    let out = busiest(|circuit| circuit.source).div_ceil(transmitters);
    let count = out.max(busiest(|circuit| circuit.destination).div_ceil(receivers)).max(1);
    let sources = copies(circuits.iter().map(|circuit| circuit.source), count);
    let destinations = copies(circuits.iter().map(|circuit| circuit.destination), count);
    Ok(coloured(&sources, &destinations, count as usize))
}

/// For each end the copy of its cell, so that no copy has more than `most` ends.
fn copies(ends: impl Iterator<Item = u32>, most: u32) -> Vec<usize> {
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    let copy = |cell: u32| {
        let count = seen.entry(cell).or_default();
        *count += 1;
        let next = numbers.len();
        *numbers.entry((cell, (*count - 1) / most)).or_insert(next)
    };
    ends.map(copy).collect()
}

/// A colour for each edge from a left to a right node, none twice at a node; no node has more edges than there are
/// colours.
fn coloured(left: &[usize], right: &[usize], colours: usize) -> Vec<u32> {
    const NONE: usize = usize::MAX;
    let nodes = |ends: &[usize]| ends.iter().max().map_or(0, |most| most + 1);
    // For each node and colour the edge that has it.
    let mut at = [vec![NONE; nodes(left) * colours], vec![NONE; nodes(right) * colours]];
    let ends = [left, right];
    let mut colour_of = vec![0; left.len()];
    for edge in 0..left.len() {
        interruption::check();
        let free = |side: usize, at: &[Vec<usize>; 2]| {
            let first = ends[side][edge] * colours;
            (0..colours).find(|colour| at[side][first + colour] == NONE).unwrap_or(0)
        };
        let both = (0..colours).find(|colour| (0..2).all(|side| at[side][ends[side][edge] * colours + colour] == NONE));
        let colour = both.unwrap_or_else(|| {
            let (here, there) = (free(0, &at), free(1, &at));
            // The path from the right node whose edges have the left node's free colour and its own in turn does not
            // come back to the left node; swapped, it leaves the left node's colour free at both.
            let (mut side, mut node, mut colour) = (1, right[edge], here);
            let mut path = Vec::new();
            while at[side][node * colours + colour] != NONE {
                let next = at[side][node * colours + colour];
                path.push(next);
                side = 1 - side;
                node = ends[side][next];
                colour = here + there - colour;
            }
            for &other in &path {
                for side in 0..2 {
                    at[side][ends[side][other] * colours + colour_of[other]] = NONE;
                }
            }
            for &other in &path {
                colour_of[other] = here + there - colour_of[other];
                for side in 0..2 {
                    at[side][ends[side][other] * colours + colour_of[other]] = other;
                }
            }
            here
        });
        colour_of[edge] = colour;
        for side in 0..2 {
            at[side][ends[side][edge] * colours + colour] = edge;
        }
    }
    colour_of.into_iter().map(|colour| colour as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounds_keep_the_limits_and_are_as_few_as_the_busiest_cell_needs(
            pairs in prop::collection::vec((0..9_u32, 0..9_u32), 0..120),
            transmitters in 1..5_u32,
            receivers in 1..5_u32,
        ) {
            let circuits: Vec<Circuit> =
                pairs.iter().map(|&(source, destination)| Circuit { source, destination }).collect();
            let given = rounds(&circuits, transmitters, receivers).unwrap();
            let used = given.iter().max().map_or(1, |last| last + 1);
            let mut needed = 1;
            for cell in 0..9 {
                let all_out = pairs.iter().filter(|pair| pair.0 == cell).count() as u32;
                let all_in = pairs.iter().filter(|pair| pair.1 == cell).count() as u32;
                needed = needed.max(all_out.div_ceil(transmitters)).max(all_in.div_ceil(receivers));
                for round in 0..used {
                    let within = |end: fn(&(u32, u32)) -> u32| {
                        pairs.iter().zip(&given).filter(|(pair, at)| end(pair) == cell && **at == round).count() as u32
                    };
                    prop_assert!(within(|pair| pair.0) <= transmitters);
                    prop_assert!(within(|pair| pair.1) <= receivers);
                }
            }
            prop_assert!(used <= needed);
        }
    }

    #[test]
    fn no_transmitter_is_refused() {
        assert_eq!(rounds(&[], 0, 1).unwrap_err().field(), "transmitters");
        assert_eq!(rounds(&[], 1, 0).unwrap_err().field(), "receivers");
    }
}
