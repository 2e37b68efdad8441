//! The items of a set that no other is as good as in all of four costs.

use std::cmp::Ordering;

/// A choice that is no better than another in every cost is left out; of equals the first in the order of `ties` is
/// kept. Ordered by the first cost, then the second, and so on. Costs are not NaN.
///
/// O(m log m) for m items, and for each that is kept as many insertions as there are distinct third costs: in the order
/// of the first cost, an item is dominated by one before it whose other three costs are no more. For every value of the
/// third cost, those that are at most that have the second and the fourth on a staircase.
pub(crate) fn undominated<T>(
    items: Vec<T>,
    costs: impl Fn(&T) -> [f64; 4],
    ties: impl Fn(&T, &T) -> Ordering,
) -> Vec<T> {
    let mut priced: Vec<([f64; 4], T)> = items.into_iter().map(|item| (costs(&item), item)).collect();
    let by_cost = |a: &[f64; 4], b: &[f64; 4]| {
        a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    priced.sort_by(|a, b| by_cost(&a.0, &b.0).then_with(|| ties(&a.1, &b.1)));
    let mut thirds: Vec<f64> = priced.iter().map(|(costs, _)| costs[2]).collect();
    thirds.sort_by(f64::total_cmp);
    thirds.dedup();
    let mut staircases = vec![Staircase::default(); thirds.len()];
    let keep = |([_, second, third, fourth], item): ([f64; 4], T)| {
        let at = thirds.partition_point(|other| *other < third);
        if staircases[at].covers(second, fourth) {
            return None;
        }
        // A staircase also holds the items of all smaller third costs. Where one of them covers this item, one covers
        // it in all later staircases too.
        staircases[at..].iter_mut().take_while(|stairs| !stairs.covers(second, fourth)).for_each(|stairs| {
            stairs.add(second, fourth);
        });
        Some(item)
    };
    priced.into_iter().filter_map(keep).collect()
}

/// Pairs of which none is as small as another in both: the first ascending, the second descending.
#[derive(Debug, Clone, Default)]
struct Staircase(Vec<(f64, f64)>);

impl Staircase {
    /// Whether some pair is at most this one in both.
    fn covers(&self, first: f64, second: f64) -> bool {
        let after = self.0.partition_point(|(other, _)| *other <= first);
        after > 0 && self.0[after - 1].1 <= second
    }

    /// A pair that is not covered.
    fn add(&mut self, first: f64, second: f64) {
        let begin = self.0.partition_point(|(other, _)| *other < first);
        let covered = self.0[begin..].iter().take_while(|(_, other)| *other >= second).count();
        self.0.splice(begin..begin + covered, [(first, second)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against every pair: of few values, so that there are ties.
        #[test]
        fn what_is_kept_is_what_no_other_dominates(
            items in prop::collection::vec(prop::array::uniform4(0u32..6), 0..60),
        ) {
            let items: Vec<(usize, [f64; 4])> = (0..).zip(items.iter().map(|costs| costs.map(f64::from))).collect();
            let is_no_better = |a: &[f64; 4], b: &[f64; 4]| a.iter().zip(b).all(|(a, b)| a >= b);
            let best = |(index, costs): &&(usize, [f64; 4])| {
                !items.iter().any(|(other, by)| is_no_better(costs, by) && (costs != by || other < index))
            };
            let mut expected: Vec<(usize, [f64; 4])> = items.iter().filter(best).copied().collect();
            expected.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
            let mut shuffled = items.clone();
            shuffled.reverse();
            prop_assert_eq!(undominated(shuffled, |(_, costs)| *costs, |a, b| a.0.cmp(&b.0)), expected);
        }
    }
}
