//! The nearest point of a simplex.

/// Moves `values` to the nearest point whose coordinates are not negative and add up to 1: all fall by the same, and
/// what would be negative is zero (Michelot 1986). O(values) a pass, a few passes.
pub(super) fn project(values: &mut [f64]) {
    if let [only] = values {
        *only = 1.0;
        return;
    }
    // Values that stay positive lie within 1 of the largest. Without the rest, whose magnitude is that of a long step,
    // sums round to no more than their own size allows.
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|value| *value -= largest);
    // Every pass leaves out what lies below the level at hand, which only rises.
    let (mut level, mut left) = (-1.0, usize::MAX);
    loop {
        let (mut sum, mut count) = (0.0, 0);
        for &value in values.iter() {
            if value > level {
                sum += value;
                count += 1;
            }
        }
        if count >= left {
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

        #[test]
        fn coordinates_far_below_the_others_are_zero_and_change_nothing(
            values in prop::collection::vec(-3.0f64..3.0, 1..12), far in prop::collection::vec(5.0f64..1e20, 1..6),
        ) {
            let (mut alone, mut with_far) = (values.clone(), values);
            with_far.extend(far.iter().map(|value| -value));
            project(&mut alone);
            project(&mut with_far);
            let (near, far) = with_far.split_at(alone.len());
            prop_assert!(near.iter().zip(&alone).all(|(near, alone)| (near - alone).abs() < 1e-12));
            prop_assert!(far.iter().all(|&value| value == 0.0));
        }
    }
}
