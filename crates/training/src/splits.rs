//! Divisions of the ports of a GPU between families.

use crate::cutoffs::splits::{MOST, MOST_IN_ALL_ORDERS};

/// Ports of each family, from the first to the one after the last; no port where both are the same.
pub(crate) type Split = Vec<(u32, u32)>;

/// All ways to give all `ports` to `families`, in order, each a range; in steps of several ports where there are too
/// many ways. Some families may have none.
pub(crate) fn splits(families: usize, ports: u32) -> Vec<Split> {
    let mut step = 1;
    while ways(families, ports / step) > MOST && step < ports {
        step += 1;
    }
    let mut shares = Vec::new();
    share_out(families, ports / step, &mut Vec::new(), &mut shares);
    let mut all: Vec<Split> = shares.into_iter().map(|parts| ranges(&parts, step, ports)).collect();
    all.push(even(families, ports));
    all.sort_unstable();
    all.dedup();
    all
}

/// The splits as they are for the first family on the first ports, and for families in other orders: in all of them
/// where there are few families, else backwards too. They are for ports that are not alike.
pub(crate) fn in_orders(splits: &[Split]) -> Vec<Split> {
    let families = splits.first().map_or(0, Vec::len);
    let mut orders = vec![(0..families).collect::<Vec<_>>()];
    if families <= MOST_IN_ALL_ORDERS {
        orders = (0..families).fold(vec![Vec::new()], |orders, _| {
            let longer = |order: &Vec<usize>| {
                let others = (0..families).filter(|family| !order.contains(family)).collect::<Vec<_>>();
                others.into_iter().map(|family| order.iter().copied().chain([family]).collect()).collect::<Vec<_>>()
            };
            orders.iter().flat_map(longer).collect()
        });
    } else {
        orders.push((0..families).rev().collect());
    }
    let placed = |split: &Split, order: &[usize]| {
        let mut placed = split.clone();
        let mut first = 0;
        for &family in order {
            let width = split[family].1 - split[family].0;
            placed[family] = if width == 0 { (0, 0) } else { (first, first + width) };
            first += width;
        }
        placed
    };
    let mut all: Vec<Split> =
        splits.iter().flat_map(|split| orders.iter().map(move |order| placed(split, order))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Equal numbers of ports for all families, one more for the first ones where the division leaves a rest.
pub(crate) fn even(families: usize, ports: u32) -> Split {
    let families_u32 = families as u32;
    let share = |family: u32| ports / families_u32 + u32::from(family < ports % families_u32);
    let mut first = 0;
    (0..families_u32)
        .map(|family| {
            let range = (first, first + share(family));
            first = range.1;
            range
        })
        .collect()
}

/// Ranges of this many steps each; ports that are left over go to the last family that has any.
fn ranges(parts: &[u32], step: u32, ports: u32) -> Split {
    let last = parts.iter().rposition(|&part| part > 0).unwrap_or(0);
    let mut first = 0;
    let range = |(index, part): (usize, &u32)| {
        let end = if index == last { ports } else { first + part * step };
        let range = (first, end);
        first = end;
        range
    };
    parts.iter().enumerate().map(range).collect()
}

fn share_out(families: usize, parts: u32, given: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
    if given.len() + 1 == families {
        all.push(given.iter().copied().chain([parts]).collect());
        return;
    }
    for part in 0..=parts {
        given.push(part);
        share_out(families, parts - part, given, all);
        given.pop();
    }
}

/// C(parts + families − 1, families − 1), as far as it matters.
fn ways(families: usize, parts: u32) -> usize {
    (1..families).fold(1usize, |ways, chosen| ways.saturating_mul(parts as usize + chosen) / chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ports_are_given_once() {
        for (families, ports) in [(1, 6), (2, 1), (3, 6), (4, 6), (3, 18), (5, 4)] {
            let all = splits(families, ports);
            assert!(!all.is_empty() && all.len() <= MOST + 1, "{families} {ports}: {}", all.len());
            for split in &all {
                assert_eq!((split[0].0, split.iter().map(|range| range.1 - range.0).sum::<u32>()), (0, ports));
                assert!(split.windows(2).all(|pair| pair[0].1 == pair[1].0));
            }
            assert!(all.contains(&even(families, ports)));
        }
        assert_eq!(splits(3, 6).len(), 28);
    }

    #[test]
    fn every_family_has_the_first_ports_once() {
        let all = in_orders(&[vec![(0, 1), (1, 3), (3, 3)]]);
        assert_eq!(all, [vec![(0, 1), (1, 3), (0, 0)], vec![(2, 3), (0, 2), (0, 0)]]);
        // 10 splits among all three families in 6 orders, 15 among two in 2, 3 for one alone.
        assert_eq!(in_orders(&splits(3, 6)).len(), 93);
    }
}
