//! The nearest point of a simplex.

/// Moves `values` to the nearest point whose coordinates are not negative and add up to 1: all fall by the same, and
/// what would be negative is zero (Michelot 1986). O(values) a pass, a few passes.
pub(super) fn project(values: &mut [f64]) {
    if let [only] = values {
        *only = 1.0;
        return;
    }
    // Every pass leaves out what lies below the level at hand, which only rises.
    let mut level = (values.iter().sum::<f64>() - 1.0) / values.len() as f64;
    let mut left = values.len();
    loop {
        let (mut sum, mut count) = (0.0, 0);
        for &value in values.iter() {
            if value > level {
                sum += value;
                count += 1;
            }
        }
        if count >= left || count == 0 {
            break;
        }
        left = count;
        level = (sum - 1.0) / count as f64;
    }
    values.iter_mut().for_each(|value| *value = (*value - level).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_point_of_the_simplex_is_nearer(
            values in prop::collection::vec(-3.0f64..3.0, 1..12), other in prop::collection::vec(0.01f64..1.0, 12),
        ) {
            let mut nearest = values.clone();
            project(&mut nearest);
            prop_assert!((nearest.iter().sum::<f64>() - 1.0).abs() < 1e-12 && nearest.iter().all(|&value| value >= 0.0));
            let sum: f64 = other[..values.len()].iter().sum();
            // The angle at the projection to any other point of a convex set is not acute.
            let towards: f64 = values.iter().zip(&nearest).zip(&other)
                .map(|((value, nearest), other)| (value - nearest) * (other / sum - nearest)).sum();
            prop_assert!(towards <= 1e-12);
        }
    }
}
