//! Paths on which lasers launch the least power, all together: other paths for circuits that all have one already.
//!
//! A circuit's launch power grows with its loss alone, so that a single circuit's best path is the free one of least
//! loss. Circuits that take each other's places are improved one by one, then in pairs, and on small meshes all
//! combinations are tried that a bound does not exclude.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::LaunchPower;

use super::launch::{Launched, launched, loses_less};
use super::layout::Mesh;
use super::routing::{Path, Usage};
use crate::circuit::Circuit;
use crate::cutoffs::mesh_least_power::{MOST_CELLS, MOST_CIRCUITS, MOST_PAIRS, MOST_PASSES, MOST_STEPS};
use crate::grid::Side;

/// Paths of less launched power, or `paths` where none are found. Those of `kept` circuits stay.
pub(super) fn least_power(mesh: &Mesh, circuits: &[Circuit], paths: Vec<Path>, kept: &[bool]) -> Vec<Path> {
    let Some(power) = mesh.settings().launch_power.as_ref() else { return paths };
    let free = Usage::new(mesh);
    let loss_db = |path: &Path| mesh.passed(&path.cells).map_or(f64::INFINITY, |passed| mesh.loss_db(passed));
    let least_db: Vec<f64> = (circuits.iter().zip(&paths).zip(kept))
        .map(|((&circuit, path), &kept)| match kept {
            true => loss_db(path),
            false => least_loss(mesh, circuit, &free).as_ref().map_or(f64::INFINITY, loss_db),
        })
        .collect();
    let mut found = Found { mesh, power, circuits, least_db, paths };
    let moves: Vec<usize> = (0..circuits.len()).filter(|&index| !kept[index]).collect();
    found.one_by_one(&moves);
    if found.is_least() {
        return found.paths;
    }
    found.in_pairs(&moves);
    if !found.is_least() && moves.len() <= MOST_CIRCUITS && mesh.grid().cells() <= MOST_CELLS {
        found.try_all(&moves);
    }
    found.paths
}

struct Found<'a> {
    mesh: &'a Mesh,
    power: &'a LaunchPower,
    circuits: &'a [Circuit],
    /// The loss that each circuit has at least.
    least_db: Vec<f64>,
    paths: Vec<Path>,
}

impl Found<'_> {
    fn loss_db(&self, path: &Path) -> f64 {
        self.mesh.passed(&path.cells).map_or(f64::INFINITY, |passed| self.mesh.loss_db(passed))
    }

    fn launched(&self) -> Launched {
        let losses_db = self.circuits.iter().zip(&self.paths).map(|(one, path)| (one.source, self.loss_db(path)));
        launched(self.mesh, self.power, &losses_db.collect::<Vec<_>>())
    }

    /// Whether every circuit loses the least that it can.
    fn is_least(&self) -> bool {
        self.paths.iter().zip(&self.least_db).all(|(path, &least_db)| !loses_less(least_db, self.loss_db(path)))
    }

    fn usage_without(&self, left_out: &[usize]) -> Usage {
        let mut usage = Usage::new(self.mesh);
        let others = self.paths.iter().enumerate().filter(|(index, _)| !left_out.contains(index));
        others.for_each(|(_, path)| usage.add(self.mesh, path));
        usage
    }

    /// Each circuit on its best path that the others leave free, until none has a better one.
    fn one_by_one(&mut self, moves: &[usize]) {
        let mut usage = self.usage_without(&[]);
        for _ in 0..MOST_PASSES {
            let mut is_better = false;
            for &index in moves {
                interruption::check();
                let now_db = self.loss_db(&self.paths[index]);
                if !loses_less(self.least_db[index], now_db) {
                    continue;
                }
                usage.remove(self.mesh, &self.paths[index]);
                let other = least_loss(self.mesh, self.circuits[index], &usage);
                if let Some(other) = other.filter(|other| loses_less(self.loss_db(other), now_db)) {
                    self.paths[index] = other;
                    is_better = true;
                }
                usage.add(self.mesh, &self.paths[index]);
            }
            if !is_better {
                return;
            }
        }
    }

    /// Tries pairs: a circuit that loses more than it must takes its best path as if one other circuit were not there,
    /// and that other circuit then takes the best path that is left.
    fn in_pairs(&mut self, moves: &[usize]) {
        let mut tried = 0;
        for &first in moves {
            for &second in moves {
                if !loses_less(self.least_db[first], self.loss_db(&self.paths[first])) {
                    break;
                }
                tried += 1;
                if tried > MOST_PAIRS {
                    return;
                }
                if first == second {
                    continue;
                }
                interruption::check();
                let (before, mut usage) = (self.launched(), self.usage_without(&[first, second]));
                let Some(one) = least_loss(self.mesh, self.circuits[first], &usage) else { continue };
                usage.add(self.mesh, &one);
                let Some(other) = least_loss(self.mesh, self.circuits[second], &usage) else { continue };
                let limit_db = self.mesh.limit_db().unwrap_or(f64::INFINITY);
                if loses_less(limit_db, self.loss_db(&other)) {
                    continue;
                }
                let given =
                    [std::mem::replace(&mut self.paths[first], one), std::mem::replace(&mut self.paths[second], other)];
                if !self.launched().is_below(before) {
                    [self.paths[first], self.paths[second]] = given;
                }
            }
        }
    }

    /// All combinations of paths that may launch less than those there are.
    fn try_all(&mut self, moves: &[usize]) {
        let losses_db: Vec<(u32, f64)> =
            self.circuits.iter().zip(&self.least_db).map(|(one, &least_db)| (one.source, least_db)).collect();
        let mut trial = Trial {
            mesh: self.mesh,
            power: self.power,
            circuits: self.circuits,
            moves,
            usage: self.usage_without(moves),
            visited: vec![false; self.mesh.grid().cells() as usize],
            losses_db,
            paths: Vec::new(),
            best: self.launched(),
            found: None,
            steps: 0,
        };
        let is_one_kept = moves.len() < self.circuits.len();
        trial.rest(if is_one_kept { self.mesh.wavelengths() } else { 0 });
        if let Some(found) = trial.found {
            moves.iter().zip(found).for_each(|(&index, path)| self.paths[index] = path);
        }
    }
}

/// A search over all combinations of paths.
struct Trial<'a> {
    mesh: &'a Mesh,
    power: &'a LaunchPower,
    circuits: &'a [Circuit],
    /// The circuits that are given paths, in this order.
    moves: &'a [usize],
    usage: Usage,
    visited: Vec<bool>,
    /// Where each circuit starts, and its loss, or the least that it can be.
    losses_db: Vec<(u32, f64)>,
    paths: Vec<Path>,
    best: Launched,
    found: Option<Vec<Path>>,
    steps: u32,
}

impl Trial<'_> {
    /// Whether paths as far as they go may come to less than the best.
    fn may_be_less(&self) -> bool {
        launched(self.mesh, self.power, &self.losses_db).is_below(self.best)
    }

    /// Gives the circuits after those with a path theirs. Wavelengths from `unused` on are alike.
    fn rest(&mut self, unused: u32) {
        if !self.may_be_less() {
            return;
        }
        let Some(&index) = self.moves.get(self.paths.len()) else {
            self.best = launched(self.mesh, self.power, &self.losses_db);
            self.found = Some(self.paths.clone());
            return;
        };
        let Circuit { source, destination } = self.circuits[index];
        let least = self.losses_db[index];
        for wavelength in 0..self.mesh.wavelengths().min(unused + 1) {
            let mut path = Path { wavelength, cells: vec![source] };
            self.visited[source as usize] = true;
            self.extend(&mut path, index, destination, 0.0, unused.max(wavelength + 1));
            self.visited[source as usize] = false;
        }
        self.losses_db[index] = least;
    }

    fn extend(&mut self, path: &mut Path, index: usize, destination: u32, loss_db: f64, unused: u32) {
        let cell = path.cells[path.cells.len() - 1];
        if cell == destination {
            let outer = std::mem::replace(&mut self.visited, vec![false; self.mesh.grid().cells() as usize]);
            self.usage.add(self.mesh, path);
            self.paths.push(path.clone());
            self.rest(unused);
            self.paths.pop();
            self.usage.remove(self.mesh, path);
            self.visited = outer;
            return;
        }
        let grid = self.mesh.grid();
        let mut sides = Side::ALL;
        sides.sort_by_key(|&side| grid.beside(cell, side).map_or(u32::MAX, |other| grid.distance(other, destination)));
        for side in sides {
            interruption::check();
            let Some(other) = grid.beside(cell, side) else { continue };
            let place = (path.wavelength * grid.cells() + cell) as usize * 4 + side.index();
            if self.visited[other as usize] || !self.usage.is_free(place) {
                continue;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return;
            }
            let loss_db = loss_db + self.mesh.loss_db(self.mesh.passes(cell, side));
            let at_least_db = loss_db + self.mesh.least_loss_db(other, destination);
            let before_db = self.losses_db[index].1;
            self.losses_db[index].1 = at_least_db.max(before_db);
            let limit_db = self.mesh.limit_db().unwrap_or(f64::INFINITY);
            if !loses_less(limit_db, at_least_db) && self.may_be_less() {
                self.visited[other as usize] = true;
                path.cells.push(other);
                self.extend(path, index, destination, loss_db, unused);
                path.cells.pop();
                self.visited[other as usize] = false;
            }
            self.losses_db[index].1 = before_db;
        }
    }
}

/// The free path of least loss; of those, one with the fewest MZIs. O(states · log states).
pub(super) fn least_loss(mesh: &Mesh, circuit: Circuit, usage: &Usage) -> Option<Path> {
    let (grid, cells) = (mesh.grid(), mesh.grid().cells());
    let states = (cells * mesh.wavelengths()) as usize;
    let mut least: Vec<(f64, u32)> = vec![(f64::INFINITY, u32::MAX); states];
    let mut came_by = vec![0_usize; states];
    let mut queue = BinaryHeap::new();
    // Bits of numbers that are not negative are in the order of the numbers.
    let ahead = |loss_db: f64, cell: u32| (loss_db + mesh.least_loss_db(cell, circuit.destination)).to_bits();
    for wavelength in 0..mesh.wavelengths() {
        let state = wavelength * cells + circuit.source;
        least[state as usize] = (0.0, 0);
        queue.push(Reverse((ahead(0.0, circuit.source), 0, state, 0.0_f64.to_bits())));
    }
    while let Some(Reverse((_, hops, state, bits))) = queue.pop() {
        let here = (f64::from_bits(bits), hops);
        if here > least[state as usize] {
            continue;
        }
        let (cell, first) = (state % cells, state - state % cells);
        if cell == circuit.destination {
            let mut way = vec![cell];
            let mut at = cell;
            while at != circuit.source {
                let back = Side::ALL[came_by[(first + at) as usize]].opposite();
                let Some(before) = grid.beside(at, back) else { break };
                at = before;
                way.push(at);
            }
            way.reverse();
            return Some(Path { wavelength: state / cells, cells: way });
        }
        for side in Side::ALL {
            let Some(other) = grid.beside(cell, side) else { continue };
            if !usage.is_free(state as usize * 4 + side.index()) {
                continue;
            }
            let next = (here.0 + mesh.loss_db(mesh.passes(cell, side)), hops + 1);
            let at = (first + other) as usize;
            if next < least[at] {
                least[at] = next;
                came_by[at] = side.index();
                queue.push(Reverse((ahead(next.0, other), next.1, first + other, next.0.to_bits())));
            }
        }
    }
    None
}
