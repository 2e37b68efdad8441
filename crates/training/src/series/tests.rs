//! The shortest path against all choices: of every communication's ports and entry, and of where circuits change.

use model::{Collective, Fabric, Initial, ReconfigurationPolicy, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::jobs::{Family, FamilyKey, Kind, Message};

/// A random instance: entries of each kind, and communications of these kinds.
struct Drawn {
    delay_s: f64,
    families: Vec<Family>,
    kinds: Vec<Kind>,
    splits: Vec<Split>,
    entries: BTreeMap<(usize, (u32, u32)), Vec<Entry>>,
    turns: Vec<Turn>,
}

impl Drawn {
    fn from(rng: &mut ChaCha8Rng) -> Self {
        let families = rng.random_range(1..=2);
        let family = |index| Family { key: FamilyKey::Axis(index), size: 4, label: "axis".into(), overlaps: false };
        let splits: Vec<Split> = if families == 1 {
            vec![vec![(0, 3)]]
        } else {
            let all = [vec![(0, 1), (1, 3)], vec![(0, 2), (2, 3)], vec![(0, 3), (3, 3)], vec![(0, 0), (0, 3)]];
            let first = rng.random_range(0..all.len());
            all.into_iter().cycle().skip(first).take(rng.random_range(1..=3)).collect()
        };
        let kinds: Vec<Kind> = (0..rng.random_range(1..=3usize))
            .map(|kind| Kind {
                family: kind % families,
                message: Message::Collective(Collective::AllReduce),
                size_bytes: kind as u64,
                matrix: None,
            })
            .collect();
        let mut entries = BTreeMap::new();
        for (kind, of) in kinds.iter().enumerate() {
            for ports in 1..=3 {
                // Families have different topologies: 6 of one, 2 or 3 of each where there are two.
                let known = if families == 1 { 6 } else { 2 + of.family as u32 };
                let mut topology = || TopologyId(10 * of.family as u32 + rng.random_range(0..known));
                let ends = [(); 4].map(|()| (topology(), topology()));
                let some = rng.random_range(0..=4);
                let entry = |(first, last)| Entry {
                    plan: None,
                    // Few different times, so that ties happen.
                    duration_s: f64::from(rng.random_range(1..8u32)),
                    first,
                    last,
                    direct: false,
                    keeps: first == last,
                    through: rng.random_bool(0.1),
                };
                entries.insert((kind, (0, ports)), ends.into_iter().map(entry).take(some).collect());
            }
        }
        let count = rng.random_range(1..=4);
        let turn = |_| {
            let kind = rng.random_range(0..kinds.len());
            Turn { kind, family: kinds[kind].family, idle_s: f64::from(rng.random_range(0..4u32)) }
        };
        let turns = (0..count).map(turn).collect();
        let delay_s = f64::from(rng.random_range(0..6u32));
        Self { delay_s, families: (0..families).map(family).collect(), kinds, splits, entries, turns }
    }

    fn found(&self) -> Option<Found> {
        let fabric = Fabric {
            shape: Shape::new(4, &[4], 3).expect("a shape"),
            bandwidth_bps: 8e11,
            startup_s: 0.0,
            barrier_s: 0.0,
            hop_delay_s: 0.0,
            reconfiguration: ReconfigurationPolicy::constant(self.delay_s),
            initial: Initial::Free,
            optics: None,
            electrical: None,
        };
        let library = Library::of_entries(&fabric, self.delay_s, &self.families, &self.kinds, self.entries.clone());
        shortest(&library, self.families.len(), &self.splits, &self.turns)
    }

    /// The choices for a communication: one of the splits, and an entry on the ports that its family has there.
    fn choices(&self, turn: &Turn) -> Vec<(usize, Entry)> {
        let of_split = |(index, split): (usize, &Split)| {
            let range = split[turn.family];
            let known = self.entries.get(&(turn.kind, (0, range.1 - range.0))).cloned().unwrap_or_default();
            known.into_iter().filter(|entry| !entry.through).map(move |entry| (index, entry)).collect::<Vec<_>>()
        };
        self.splits.iter().enumerate().flat_map(of_split).collect()
    }

    /// The least cost of a choice by brute force: before some communications all circuits change to any wanted ones;
    /// between changes the split stays, and each family's communication begins with the circuits that its last one
    /// left.
    fn cost_s(&self, chosen: &[(usize, Entry)]) -> Option<f64> {
        let turns = chosen.len();
        let durations_s: f64 = chosen.iter().map(|(_, entry)| entry.duration_s).sum();
        let possible = (0..1usize << turns).filter(|changes| self.stays_between(chosen, *changes));
        let cost = |changes: usize| -> f64 {
            let changed = (0..turns).filter(|turn| changes >> turn & 1 == 1);
            changed.map(|turn| (self.delay_s - self.turns[turn].idle_s).max(0.0)).sum()
        };
        possible.map(cost).min_by(f64::total_cmp).map(|changes_s| durations_s + changes_s)
    }

    /// Whether the choice fits if circuits change only before the communications in `changes`, in a repeated series.
    fn stays_between(&self, chosen: &[(usize, Entry)], changes: usize) -> bool {
        let turns = chosen.len();
        (0..turns).all(|turn| {
            let before = (turn + turns - 1) % turns;
            if changes >> turn & 1 == 0 && chosen[turn].0 != chosen[before].0 {
                return false;
            }
            // Back to the family's communication before, unless a change is met first.
            let mut at = turn;
            for _ in 0..turns {
                if changes >> at & 1 == 1 {
                    return true;
                }
                at = (at + turns - 1) % turns;
                if self.turns[at].family == self.turns[turn].family {
                    return chosen[at].1.last == chosen[turn].1.first;
                }
            }
            true
        })
    }

    /// The least cost of all choices.
    fn least_s(&self) -> Option<f64> {
        let choices: Vec<Vec<(usize, Entry)>> = self.turns.iter().map(|turn| self.choices(turn)).collect();
        let all: usize = choices.iter().map(Vec::len).product();
        let chosen = |mut number: usize| -> Vec<(usize, Entry)> {
            let of_turn = |choices: &Vec<(usize, Entry)>| {
                let one = choices[number % choices.len()];
                number /= choices.len();
                one
            };
            choices.iter().map(of_turn).collect()
        };
        (0..all).filter_map(|number| self.cost_s(&chosen(number))).min_by(f64::total_cmp)
    }
}

#[test]
fn the_shortest_path_is_the_best_of_all_choices() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let (mut served, mut changed) = (0, 0);
    for case in 0..600 {
        let drawn = Drawn::from(&mut rng);
        let (found, least_s) = (drawn.found(), drawn.least_s());
        assert_eq!(found.as_ref().map(|found| found.cost_s), least_s, "case {case}");
        let Some(found) = found else { continue };
        assert!(found.is_shortest, "case {case}");
        // The returned choice costs the stated amount, by the definition: in one of the splits that give these ports.
        let splits = |(turn, (range, entry)): (&Turn, &((u32, u32), Entry))| -> Vec<(usize, Entry)> {
            let fits = drawn.splits.iter().enumerate().filter(|(_, split)| split[turn.family] == *range);
            fits.map(|(index, _)| (index, *entry)).collect()
        };
        let of_turns: Vec<Vec<(usize, Entry)>> = drawn.turns.iter().zip(&found.chosen).map(splits).collect();
        let mut ways: Vec<Vec<(usize, Entry)>> = vec![Vec::new()];
        for choices in of_turns {
            let longer = |way: &Vec<(usize, Entry)>| {
                choices.iter().map(|one| way.iter().copied().chain([*one]).collect()).collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        let cost_s = ways.iter().filter_map(|way| drawn.cost_s(way)).min_by(f64::total_cmp);
        assert_eq!(cost_s, Some(found.cost_s), "case {case}");
        served += 1;
        let durations_s: f64 = found.chosen.iter().map(|(_, entry)| entry.duration_s).sum();
        changed += usize::from(found.cost_s > durations_s);
    }
    assert!(served > 200 && changed > 50, "{served} {changed}");
}
