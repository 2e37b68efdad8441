//! One hop a step on a circulant topology: what is new at a rank goes on to where it is missing.
//!
//! After step j a rank has what the ranks up to j hops behind it had. The steps are as many as the diameter, and every
//! link carries each of them once, so a phase costs as few bytes as a ring and far fewer hops.

use std::collections::BTreeMap;

use model::{BreadthFirst, Rank};

use crate::relative::{Circuits, Send, Sums};

/// Hops from a rank to the rank `places` ahead, by places; `None` where it cannot be reached. O(span · circuits).
pub(crate) fn distances(span: u32, circuits: &Circuits) -> Option<Vec<u32>> {
    let n = i64::from(span);
    let mut search = BreadthFirst::new(span as usize);
    search.search(0, |at| circuits.iter().map(move |(ahead, _)| (i64::from(at) + ahead).rem_euclid(n) as Rank));
    (search.reached().len() == span as usize).then(|| search.into_distances())
}

/// The transfers of an AllGather, by step: for every place the circuit over which it is reached first, chosen so that
/// circuits carry about as much as each other. O(span · circuits), and the order of the places of each level.
pub(crate) fn sends(span: u32, circuits: &Circuits) -> Vec<Vec<Send>> {
    let Some(distances) = distances(span, circuits) else { return Vec::new() };
    let diameter = distances.iter().copied().max().unwrap_or(0);
    let mut places: Vec<Vec<i64>> = vec![Vec::new(); diameter as usize + 1];
    (0..).zip(&distances).for_each(|(place, &distance)| places[distance as usize].push(place));
    let levels = (0..).zip(places).skip(1);
    levels.map(|(level, places)| level_sends(span, circuits, &distances, level, places)).collect()
}

fn level_sends(span: u32, circuits: &Circuits, distances: &[u32], level: u32, places: Vec<i64>) -> Vec<Send> {
    let n = i64::from(span);
    // Circuits over which a place may be reached, those with the fewest first.
    let mut choices: Vec<(i64, Vec<usize>)> = places
        .into_iter()
        .map(|place| {
            let before = |ahead: i64| distances[(place - ahead).rem_euclid(n) as usize];
            let ways = circuits.iter().enumerate().filter(|(_, (ahead, _))| before(*ahead) + 1 == level);
            (place, ways.map(|(way, _)| way).collect())
        })
        .collect();
    choices.sort_by_key(|(place, ways)| (ways.len(), *place));
    let mut carried = vec![0u32; circuits.len()];
    let mut chosen: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (place, ways) in choices {
        interruption::check();
        let load = |way: usize| f64::from(carried[way] + 1) / f64::from(circuits[way].1);
        let Some(way) = ways.into_iter().min_by(|&a, &b| load(a).total_cmp(&load(b))) else { continue };
        carried[way] += 1;
        let ahead = circuits[way].0;
        chosen.entry(ahead).or_default().push((place - ahead).rem_euclid(n));
    }
    chosen.into_iter().map(|(ahead, behind)| Send { ahead, behind }).collect()
}

/// The cost of the phase.
pub(crate) fn sums(span: u32, circuits: &Circuits) -> Sums {
    let mut sums = Sums::default();
    for sends in sends(span, circuits) {
        let count =
            |ahead: i64| circuits.iter().find(|(way, _)| *way == ahead).map_or(1.0, |(_, count)| f64::from(*count));
        let amount = sends.iter().map(|send| send.behind.len() as f64 / count(send.ahead)).fold(0.0, f64::max);
        let largest = sends.iter().map(|send| send.behind.len()).max().unwrap_or(1);
        sums.steps += 1;
        sums.hops += 1.0;
        sums.load += amount / largest as f64;
        sums.amount += amount;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_there_and_everything_arrives_once() {
        for (span, ways) in [(5, vec![1, 2]), (8, vec![1, 3]), (16, vec![1, 4, 9]), (21, vec![1, 4, 16]), (7, vec![1])]
        {
            let circuits: Circuits = ways.into_iter().map(|ahead| (ahead, 1)).collect();
            let mut held = vec![0i64];
            let distances = distances(span, &circuits).unwrap();
            for (level, sends) in (1u32..).zip(sends(span, &circuits)) {
                let mut brought = Vec::new();
                for send in &sends {
                    assert!(circuits.iter().any(|(ahead, _)| *ahead == send.ahead), "one circuit a transfer");
                    for behind in &send.behind {
                        assert!(held.contains(behind), "{span} {circuits:?}");
                        let place = (behind + send.ahead).rem_euclid(i64::from(span));
                        assert_eq!(distances[place as usize], level);
                        brought.push(place);
                    }
                }
                held.extend(brought);
            }
            held.sort_unstable();
            assert_eq!(held, (0..i64::from(span)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn by_hand_for_five_ranks_with_two_ports() {
        // 1 and 2 at one hop; 3 and 4 at two, one over each circuit: as few bytes as a ring, in two steps.
        let found = sums(5, &vec![(1, 1), (2, 1)]);
        assert_eq!(found, Sums { steps: 2, hops: 2.0, load: 2.0, amount: 2.0 });
    }
}
