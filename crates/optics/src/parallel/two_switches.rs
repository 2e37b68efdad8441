//! The circuits of two switches, swapped between them over the whole sequence at once.
//!
//! On two switches the circuits of a topology are paths and even cycles: connected parts in which they alternate (Kempe
//! chains). Each part is kept or swapped independently of the others, and the number of circuits that stay between two
//! topologies is a sum over pairs of parts that share circuits. So the best swaps are the ground state of an Ising
//! model with a spin a part. It is solved exactly on a spanning forest of the strongest pairs, and then spin by spin on
//! all of them: where no cycle of pairs is frustrated, that is the best there is.

use model::Rank;

use super::colouring::{Colouring, DARK, Placed};

/// Two parts of topologies next to each other, and what stays between them by whether each is swapped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub parts: (usize, usize),
    /// By swap of the first, then of the second.
    pub kept: [[f64; 2]; 2],
}

impl Pair {
    /// The strength of the dependence between the two.
    fn strength(&self) -> f64 {
        (self.kept[0][0] + self.kept[1][1] - self.kept[0][1] - self.kept[1][0]).abs()
    }
}

/// The parts of all topologies on two switches: per topology, switch and source, the part of the circuit there.
pub(super) struct Parts {
    part: Vec<[Vec<usize>; 2]>,
    /// Topology and circuits of each part.
    circuits: Vec<(usize, Vec<Placed>)>,
}

impl Parts {
    pub fn of(colourings: &[Colouring], (a, b): (usize, usize)) -> Self {
        let mut parts = Self { part: Vec::with_capacity(colourings.len()), circuits: Vec::new() };
        for (place, colouring) in colourings.iter().enumerate() {
            let mut part = [vec![usize::MAX; colouring.gpus()], vec![usize::MAX; colouring.gpus()]];
            let mut stack = Vec::new();
            for (side, src) in [0, 1].into_iter().flat_map(|side| (0..colouring.gpus()).map(move |src| (side, src))) {
                if part[side][src] != usize::MAX || colouring.out[[a, b][side]][src] == DARK {
                    continue;
                }
                let mut circuits = Vec::new();
                stack.push((side, src));
                while let Some((side, src)) = stack.pop() {
                    let dst = colouring.out[[a, b][side]][src];
                    if dst == DARK || part[side][src] != usize::MAX {
                        continue;
                    }
                    part[side][src] = parts.circuits.len();
                    circuits.push(([a, b][side], src as Rank, dst));
                    stack.push((1 - side, src));
                    let beside = colouring.into[[b, a][side]][dst as usize];
                    if beside != DARK {
                        stack.push((1 - side, beside as usize));
                    }
                }
                parts.circuits.push((place, circuits));
            }
            parts.part.push(part);
        }
        parts
    }

    /// All pairs of parts that share circuits, by their parts.
    pub fn pairs(&self, colourings: &[Colouring], (a, b): (usize, usize), weights: [f64; 2]) -> Vec<Pair> {
        let switches = [a, b];
        let mut pairs: Vec<Pair> = Vec::new();
        for place in 1..colourings.len() {
            let (before, after) = (&colourings[place - 1], &colourings[place]);
            for (side, src) in [0, 1].into_iter().flat_map(|side| (0..before.gpus()).map(move |src| (side, src))) {
                let dst = before.out[switches[side]][src];
                if dst == DARK {
                    continue;
                }
                for now in [0, 1] {
                    if after.out[switches[now]][src] != dst {
                        continue;
                    }
                    let mut kept = [[0.0; 2]; 2];
                    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        if side ^ first == now ^ second {
                            kept[first][second] = weights[side ^ first];
                        }
                    }
                    pairs.push(Pair { parts: (self.part[place - 1][side][src], self.part[place][now][src]), kept });
                }
            }
        }
        pairs.sort_by_key(|pair| pair.parts);
        pairs.dedup_by(|next, pair| {
            let same = next.parts == pair.parts;
            if same {
                pair.kept.iter_mut().flatten().zip(next.kept.iter().flatten()).for_each(|(sum, more)| *sum += more);
            }
            same
        });
        pairs
    }
}

/// The sequence with parts of the circuits of two switches swapped so that more stay; `None` where nothing is gained.
pub(super) fn improve(colourings: &[Colouring], switches: (usize, usize), weights: &[f64]) -> Option<Vec<Colouring>> {
    let parts = Parts::of(colourings, switches);
    let pairs = parts.pairs(colourings, switches, [weights[switches.0], weights[switches.1]]);
    let swapped = best_swaps(parts.circuits.len(), &pairs)?;
    let mut improved = colourings.to_vec();
    for ((place, circuits), _) in parts.circuits.iter().zip(&swapped).filter(|(_, swapped)| **swapped) {
        circuits.iter().for_each(|&(switch, src, dst)| improved[*place].part(switch, src, dst));
    }
    for ((place, circuits), _) in parts.circuits.iter().zip(&swapped).filter(|(_, swapped)| **swapped) {
        let other = |switch| switches.0 + switches.1 - switch;
        circuits.iter().for_each(|&(switch, src, dst)| improved[*place].join(other(switch), src, dst));
    }
    Some(improved)
}

/// The parts to swap; `None` where nothing better is found than no swap.
fn best_swaps(parts: usize, pairs: &[Pair]) -> Option<Vec<bool>> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); parts];
    for (index, pair) in pairs.iter().enumerate() {
        neighbours[pair.parts.0].push(index);
        neighbours[pair.parts.1].push(index);
    }
    let mut swapped = on_forest(parts, pairs);
    let kept = |swapped: &[bool], index: usize| {
        let Pair { parts: (first, second), kept } = &pairs[index];
        kept[usize::from(swapped[*first])][usize::from(swapped[*second])]
    };
    // Each swap of one part that gains is made; what stays grows, so it ends.
    let mut waiting: Vec<usize> = (0..parts).rev().collect();
    while let Some(part) = waiting.pop() {
        let around = |swapped: &[bool]| neighbours[part].iter().map(|&index| kept(swapped, index)).sum::<f64>();
        let before = around(&swapped);
        swapped[part] ^= true;
        if around(&swapped) > before + 1e-9 {
            let beside = neighbours[part].iter().map(|&index| pairs[index].parts);
            waiting.extend(beside.map(|(first, second)| if first == part { second } else { first }));
        } else {
            swapped[part] ^= true;
        }
    }
    let total = |swapped: &[bool]| (0..pairs.len()).map(|index| kept(swapped, index)).sum::<f64>();
    (total(&swapped) > total(&vec![false; parts]) + 1e-9).then_some(swapped)
}

/// The best swaps if only a spanning forest of the strongest pairs counts; in ties a part is not swapped.
fn on_forest(parts: usize, pairs: &[Pair]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&one, &other| pairs[other].strength().total_cmp(&pairs[one].strength()).then(one.cmp(&other)));
    let mut roots: Vec<usize> = (0..parts).collect();
    let mut tree: Vec<Vec<usize>> = vec![Vec::new(); parts];
    for index in order {
        let (first, second) = pairs[index].parts;
        let (one, other) = (root_of(&mut roots, first), root_of(&mut roots, second));
        if one != other {
            roots[one] = other;
            tree[first].push(index);
            tree[second].push(index);
        }
    }
    let mut swapped = vec![false; parts];
    let mut seen = vec![false; parts];
    for root in 0..parts {
        if seen[root] {
            continue;
        }
        // Parts from the root outwards, each with the pair towards it.
        let mut outwards: Vec<(usize, Option<usize>)> = vec![(root, None)];
        seen[root] = true;
        let mut next = 0;
        while let Some(&(part, _)) = outwards.get(next) {
            next += 1;
            for &index in &tree[part] {
                let (first, second) = pairs[index].parts;
                let other = if first == part { second } else { first };
                if !std::mem::replace(&mut seen[other], true) {
                    outwards.push((other, Some(index)));
                }
            }
        }
        settle(&outwards, pairs, &mut swapped);
    }
    swapped
}

/// The best swaps on one tree, by the most that stays in the subtree of each part.
fn settle(outwards: &[(usize, Option<usize>)], pairs: &[Pair], swapped: &mut [bool]) {
    let place: std::collections::BTreeMap<usize, usize> =
        outwards.iter().enumerate().map(|(place, &(part, _))| (part, place)).collect();
    // By swap of the part: what stays below it, towards its parent included.
    let mut below = vec![[0.0_f64; 2]; outwards.len()];
    let towards = |part: usize, index: usize, own: usize, parent: usize| {
        let pair = &pairs[index];
        if pair.parts.0 == part { pair.kept[own][parent] } else { pair.kept[parent][own] }
    };
    let parent_of = |part: usize, index: usize| {
        let (first, second) = pairs[index].parts;
        if first == part { second } else { first }
    };
    for at in (1..outwards.len()).rev() {
        let (part, Some(index)) = outwards[at] else { continue };
        let parent = place[&parent_of(part, index)];
        for swap in [0, 1] {
            let best = [0, 1].map(|own| below[at][own] + towards(part, index, own, swap));
            below[parent][swap] += best[0].max(best[1]);
        }
    }
    for (at, &(part, towards_parent)) in outwards.iter().enumerate() {
        let value = |own: usize| match towards_parent {
            None => below[at][own],
            Some(index) => {
                let parent = usize::from(swapped[parent_of(part, index)]);
                below[at][own] + towards(part, index, own, parent)
            }
        };
        swapped[part] = value(1) > value(0) + 1e-12;
    }
}

fn root_of(roots: &mut [usize], mut part: usize) -> usize {
    while roots[part] != part {
        roots[part] = roots[roots[part]];
        part = roots[part];
    }
    part
}
