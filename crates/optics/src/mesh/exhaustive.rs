//! All combinations of paths, for few circuits on a small mesh: finds a routing if there is one, and otherwise
//! proves that there is none.

use super::layout::Mesh;
use super::routing::{Path, Usage};
use super::search::{BLOCKED, LOSS_TOLERANCE_DB, STEP, Search};
use crate::circuit::Circuit;

use crate::cutoffs::mesh_exhaustive::{MOST_CELLS, MOST_CIRCUITS, MOST_STEPS};
use crate::grid::Side;

/// The result of trying all combinations.
pub(super) enum Exhausted {
    Routed(Vec<Path>),
    Impossible,
    GaveUp,
}

/// Tries all combinations of paths of the circuits.
pub(super) fn exhaust<'m>(mesh: &'m Mesh, circuits: &[Circuit], search: &mut Search<'m>) -> Exhausted {
    if circuits.len() > MOST_CIRCUITS || mesh.grid().cells() > MOST_CELLS {
        return Exhausted::GaveUp;
    }
    // The shortest first: they have the fewest ways around.
    let mut order: Vec<usize> = (0..circuits.len()).collect();
    order.sort_by_key(|&index| (mesh.grid().distance(circuits[index].source, circuits[index].destination), index));
    let ordered: Vec<Circuit> = order.iter().map(|&index| circuits[index]).collect();
    let mut trial = Trial {
        mesh,
        circuits: &ordered,
        search,
        usage: Usage::new(mesh),
        paths: Vec::new(),
        visited: vec![false; mesh.grid().cells() as usize],
        steps: 0,
    };
    match trial.route_rest(0) {
        Some(true) => {
            let mut paths: Vec<(usize, Path)> = order.into_iter().zip(trial.paths).collect();
            paths.sort_by_key(|(index, _)| *index);
            Exhausted::Routed(paths.into_iter().map(|(_, path)| path).collect())
        }
        Some(false) => Exhausted::Impossible,
        None => Exhausted::GaveUp,
    }
}

struct Trial<'a, 'm> {
    mesh: &'m Mesh,
    circuits: &'a [Circuit],
    search: &'a mut Search<'m>,
    usage: Usage,
    paths: Vec<Path>,
    visited: Vec<bool>,
    steps: u32,
}

impl Trial<'_, '_> {
    /// Whether the circuits from the `lowest_unused` wavelength on can be routed together with those that are; `None`
    /// where it gave up.
    fn route_rest(&mut self, lowest_unused: u32) -> Option<bool> {
        let Some(&circuit) = self.circuits.get(self.paths.len()) else { return Some(true) };
        for other in &self.circuits[self.paths.len()..] {
            let usage = &self.usage;
            let free = |place: usize| if usage.is_free(place) { STEP } else { BLOCKED };
            if self.search.cheapest(*other, true, free).is_none() {
                return Some(false);
            }
        }
        // Wavelengths are alike: one of those that are not in use yet is enough.
        for wavelength in 0..self.mesh.wavelengths().min(lowest_unused + 1) {
            let mut path = Path { wavelength, cells: vec![circuit.source] };
            self.visited[circuit.source as usize] = true;
            let found = self.extend(&mut path, circuit.destination, 0.0, lowest_unused.max(wavelength + 1));
            self.visited[circuit.source as usize] = false;
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    /// Tries all ways on from the end of a path.
    fn extend(&mut self, path: &mut Path, destination: u32, loss_db: f64, lowest_unused: u32) -> Option<bool> {
        let cell = path.cells[path.cells.len() - 1];
        if cell == destination {
            let (outer, path) = (std::mem::take(&mut self.visited), path.clone());
            self.visited = vec![false; outer.len()];
            self.usage.add(self.mesh, &path);
            self.paths.push(path.clone());
            let found = self.route_rest(lowest_unused);
            if found != Some(true) {
                self.paths.pop();
                self.usage.remove(self.mesh, &path);
            }
            self.visited = outer;
            return found;
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
            let loss_db = loss_db + self.mesh.loss_db(self.mesh.passes(cell, side));
            let rest_db = self.mesh.least_loss_db(other, destination);
            let limit_db = self.mesh.limit_db().unwrap_or(f64::INFINITY);
            if loss_db + rest_db > limit_db + LOSS_TOLERANCE_DB {
                continue;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return None;
            }
            self.visited[other as usize] = true;
            path.cells.push(other);
            let found = self.extend(path, destination, loss_db, lowest_unused);
            path.cells.pop();
            self.visited[other as usize] = false;
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }
}
