//! Lengths of waveguides and fibres: proof that circuits cannot be routed at once where no cut is.
//!
//! For any lengths of places, circuits that are routed at once together pass no more length than all places have,
//! and each at least the distance between its ends. By linear programming lengths that contradict exist exactly where
//! not even fractions of circuits fit (multi-commodity flow). They are sought by multiplicative weights: all circuits
//! take their shortest ways, and places become the longer the fuller those make them (Plotkin, Shmoys, Tardos 1995).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use model::counted;

use crate::circuit::Circuit;
use crate::grid::Side;

use super::layout::Mesh;
use crate::cutoffs::mesh_lengths::{FEWEST_ROUNDS, LONGEST, MOST_CELLS, MOST_ROUNDS};

/// Lengths by which the shortest ways of circuits are longer, together, than all places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// (cell, neighbour, length of each place between them); places that are left out have length 0.
    pub of: Vec<(u32, u32, u32)>,
    /// Number of circuits.
    pub circuits: usize,
    /// The sum of their distances.
    pub needed: u64,
    /// The sum over places, that is (waveguide or fibre, wavelength).
    pub places: u64,
}

impl fmt::Display for Lengths {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beyond = 100.0 * (self.needed as f64 / self.places as f64 - 1.0);
        write!(
            out,
            "with lengths by how many circuits seek a waveguide, the shortest paths of {} are {beyond:.2}% longer \
            together than \
             all wavelengths of all waveguides",
            counted(self.circuits as u64, "circuit")
        )
    }
}

/// Lengths that prove that the circuits cannot be routed at once, if some are found. O(rounds · sources · cells · log
/// cells).
pub(super) fn lengths(mesh: &Mesh, circuits: &[Circuit]) -> Option<Lengths> {
    let mut by_source: Vec<Circuit> = circuits.to_vec();
    by_source.sort_unstable_by_key(|circuit| (circuit.source, circuit.destination));
    let groups: Vec<&[Circuit]> = by_source.chunk_by(|a, b| a.source == b.source).collect();
    let rounds = (MOST_CELLS / (groups.len().max(1) * mesh.grid().cells() as usize)).min(MOST_ROUNDS);
    if rounds < FEWEST_ROUNDS {
        return None;
    }
    let places: Vec<f64> = (0..mesh.grid().cells())
        .flat_map(|cell| Side::ALL.map(|side| f64::from(mesh.lanes(cell, side) * mesh.wavelengths())))
        .collect();
    let mut weights: Vec<f64> = places.iter().map(|&places| if places > 0.0 { 1.0 } else { 0.0 }).collect();
    let mut carried = vec![0.0; places.len()];
    let mut search = Search::of(mesh);
    for round in 1..=rounds {
        interruption::check();
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        weights.iter_mut().for_each(|weight| *weight /= heaviest);
        search.lengths = weights.iter().map(|weight| (weight * LONGEST) as u32).collect();
        let mut taken = vec![0.0; places.len()];
        let needed = groups.iter().map(|group| search.distances(group, &mut taken)).sum();
        let length_of_places = search.lengths.iter().zip(&places).map(|(&long, &many)| u64::from(long) * many as u64);
        let all: u64 = length_of_places.sum();
        if needed > all {
            return Some(Lengths { of: search.joined(), circuits: circuits.len(), needed, places: all });
        }
        let fullness =
            |of: &[f64]| of.iter().zip(&places).map(|(&of, &places)| of / places.max(1.0)).fold(0.0, f64::max);
        carried.iter_mut().zip(&taken).for_each(|(sum, taken)| *sum += taken);
        // The mean of all rounds' ways is one of fractions; where it fits, no lengths contradict.
        if fullness(&carried) <= round as f64 {
            return None;
        }
        let rate = ((places.len() as f64).ln() / round as f64).sqrt().min(0.5) / fullness(&taken);
        for ((weight, taken), places) in weights.iter_mut().zip(&taken).zip(&places) {
            *weight *= (rate * taken / places.max(1.0)).exp();
        }
    }
    None
}

/// Shortest ways by the lengths of (cell, side).
struct Search<'a> {
    mesh: &'a Mesh,
    lengths: Vec<u32>,
    distances: Vec<u64>,
    came_by: Vec<Side>,
}

impl<'a> Search<'a> {
    fn of(mesh: &'a Mesh) -> Self {
        let cells = mesh.grid().cells() as usize;
        Self { mesh, lengths: Vec::new(), distances: vec![0; cells], came_by: vec![Side::North; cells] }
    }

    /// The sum of the distances of circuits of one source; adds their shortest ways to `taken`.
    fn distances(&mut self, circuits: &[Circuit], taken: &mut [f64]) -> u64 {
        let grid = self.mesh.grid();
        let Some(source) = circuits.first().map(|circuit| circuit.source) else { return 0 };
        self.distances.fill(u64::MAX);
        self.distances[source as usize] = 0;
        let mut queue = BinaryHeap::from([Reverse((0, source))]);
        while let Some(Reverse((distance, cell))) = queue.pop() {
            if distance > self.distances[cell as usize] {
                continue;
            }
            for side in Side::ALL {
                let Some(other) = grid.beside(cell, side).filter(|_| self.mesh.lanes(cell, side) > 0) else { continue };
                let total = distance + u64::from(self.lengths[cell as usize * 4 + side.index()]);
                if total < self.distances[other as usize] {
                    self.distances[other as usize] = total;
                    self.came_by[other as usize] = side;
                    queue.push(Reverse((total, other)));
                }
            }
        }
        let mut sum = 0;
        for circuit in circuits.iter().filter(|one| self.distances[one.destination as usize] < u64::MAX) {
            interruption::check();
            sum += self.distances[circuit.destination as usize];
            let mut cell = circuit.destination;
            while cell != source {
                let side = self.came_by[cell as usize];
                let Some(before) = grid.beside(cell, side.opposite()) else { break };
                taken[before as usize * 4 + side.index()] += 1.0;
                cell = before;
            }
        }
        sum
    }

    /// The lengths by the cells that they are between.
    fn joined(&self) -> Vec<(u32, u32, u32)> {
        let grid = self.mesh.grid();
        let of = |cell: u32| Side::ALL.map(|side| (cell, side));
        let found = (0..grid.cells()).flat_map(of).filter_map(|(cell, side)| {
            let length = self.lengths[cell as usize * 4 + side.index()];
            grid.beside(cell, side).filter(|_| length > 0).map(|other| (cell, other, length))
        });
        found.collect()
    }
}
