//! Sets of ranks that are products of sets of coordinates.

use model::{Rank, Shape};

/// The ranks whose coordinate along every dimension j is one of `choices[j]`.
pub(crate) fn product(shape: &Shape, choices: &[Vec<u32>]) -> Vec<Rank> {
    let mut ranks = vec![0];
    for (&dim, values) in shape.dims().iter().zip(choices) {
        ranks = ranks.iter().flat_map(|&high| values.iter().map(move |&value| high * dim + value)).collect();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_exactly_the_ranks_with_such_coordinates() {
        let shape = Shape::new(24, &[2, 3, 4], 1).unwrap();
        let choices = [vec![1], vec![0, 2], vec![3, 0, 1]];
        let mut found = product(&shape, &choices);
        found.sort_unstable();
        let expected: Vec<Rank> = (0..24)
            .filter(|&rank| shape.coordinates(rank).iter().zip(&choices).all(|(c, values)| values.contains(c)))
            .collect();
        assert_eq!(found, expected);
    }
}
