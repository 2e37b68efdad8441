//! Whatever runs one after another, timed independently, passes.

use proptest::prelude::*;

use super::failures;
use super::timer::{Item, settled};

/// The choice of a node: kind, and three choices within it.
type Choice = (u8, usize, usize, usize);

const SHIFTS: [&[u32]; 5] = [&[1, 1], &[1, 2], &[3, 3], &[3, 2], &[1, 3]];
const PAIRS: [&[(u32, u32)]; 4] = [&[(0, 1)], &[(0, 2), (1, 3)], &[(2, 1)], &[(3, 0), (0, 3), (1, 2)]];
const ACROSS: [&[(u32, u32)]; 3] = [&[(0, 4)], &[(0, 4), (4, 0), (1, 6)], &[(5, 2), (2, 7)]];
const PORTS: [&[u32]; 4] = [&[0], &[1], &[0, 1], &[0, 1, 2]];
const SIZES: [u64; 3] = [4096, 1 << 20, 1 << 23];

/// The ring that the first ranks have after a gather over tp, where it leads everywhere.
fn left(item: &Item) -> Option<(Vec<u32>, u32)> {
    match item {
        Item::Gather { axis: 0, ports, shifts, initial, returns, .. } => {
            let shift = if *returns { (*initial)? } else { *shifts.last().unwrap() };
            (shift != 2).then(|| (ports.clone(), shift))
        }
        _ => None,
    }
}

/// Circuits are carried over, on any ports.
fn carried((kind, a, b, c): Choice, before: Option<&Item>) -> Item {
    let (size_bytes, ports) = (SIZES[a % 3], PORTS[b % 4].to_vec());
    match (kind, before.and_then(left)) {
        (0, _) => Item::Compute { duration_s: [0.0, 4e-6, 5e-5][a % 3] },
        (1 | 2, _) => {
            let shifts = SHIFTS[c % 5].to_vec();
            let initial = [None, Some(1), Some(3)][c % 3];
            Item::Gather { axis: 0, size_bytes, ports, shifts, initial, returns: false }
        }
        (3, _) => Item::Gather { axis: 1, size_bytes, ports, shifts: vec![1], initial: None, returns: false },
        (4, Some((ports, shift))) => Item::Routed { pairs: PAIRS[c % 4].to_vec(), size_bytes, ports, shift },
        _ => Item::Direct { pairs: ACROSS[c % 3].to_vec(), size_bytes, ports, returns: false },
    }
}

/// Ports belong to an axis each and rest in its rings.
fn resting((kind, a, b, c): Choice, before: Option<&Item>) -> Item {
    let (size_bytes, returns) = (SIZES[a % 3], b % 3 > 0);
    match (kind, before.and_then(left)) {
        (0, _) => Item::Compute { duration_s: [0.0, 4e-6, 5e-5][a % 3] },
        (1 | 2, _) => {
            let shifts = SHIFTS[c % 5].to_vec();
            Item::Gather { axis: 0, size_bytes, ports: vec![0, 1], shifts, initial: Some(1), returns }
        }
        (3, _) => Item::Gather { axis: 1, size_bytes, ports: vec![2], shifts: vec![1], initial: Some(1), returns },
        (4, Some((ports, shift))) => Item::Routed { pairs: PAIRS[c % 4].to_vec(), size_bytes, ports, shift },
        _ => Item::Direct { pairs: ACROSS[c % 3].to_vec(), size_bytes, ports: PORTS[b % 4].to_vec(), returns },
    }
}

fn items(choices: &[Choice], of: fn(Choice, Option<&Item>) -> Item) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for &choice in choices {
        items.push(of(choice, items.last()));
    }
    items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

    #[test]
    fn carried_circuits_pass(choices in prop::collection::vec((0u8..6, 0usize..60, 0usize..60, 0usize..60), 1..12)) {
        let training = settled(&items(&choices, carried));
        prop_assume!(training.is_some());
        prop_assert_eq!(failures(&training.unwrap()), vec![]);
    }

    #[test]
    fn resting_circuits_pass(choices in prop::collection::vec((0u8..6, 0usize..60, 0usize..60, 0usize..60), 1..12)) {
        let training = settled(&items(&choices, resting));
        prop_assume!(training.is_some());
        prop_assert_eq!(failures(&training.unwrap()), vec![]);
    }

    /// No event may begin earlier, later or last otherwise, and no flag may be another.
    #[test]
    fn a_wrong_event_fails(
        choices in prop::collection::vec((0u8..6, 0usize..60, 0usize..60, 0usize..60), 1..12),
        at in 0usize..12,
        what in 0usize..5,
    ) {
        let right = settled(&items(&choices, carried));
        prop_assume!(right.is_some());
        let right = right.unwrap();
        let mut training = right.clone();
        let at = at % training.events.len();
        let by_s = 1e-6 * training.total_s;
        prop_assume!(training.total_s > 0.0);
        let event = &mut training.events[at];
        match what {
            0 => event.start_s += by_s.min(event.end_s - event.start_s),
            1 => event.end_s += by_s,
            2 => (event.start_s, event.end_s) = (event.start_s + by_s, event.end_s + by_s),
            3 => event.reconfigured = !event.reconfigured,
            _ => event.reconfiguration_exposed_s += by_s,
        }
        prop_assume!(what != 0 || training.events[at] != right.events[at]);
        prop_assert!(!failures(&training).is_empty());
    }
}
