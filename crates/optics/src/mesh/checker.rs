//! Judges routings, states and cuts of meshes. It reads only settings, circuits and routes and counts rows, columns,
//! fibres and decibels in its own way: it shares no code with what makes them.

use std::collections::{BTreeMap, BTreeSet};

use model::{Error, Result};

use super::layout::MeshSettings;
use super::routing::Route;
use super::states::{Port, Setting};
use crate::circuit::Circuit;
use crate::grid::Side;

/// A waveguide or fibre: the two MZIs that it joins, in the direction of its light, and its number among those.
type Lane = (u32, u32, u32);

/// Checks routes (`None` for circuits without one): each leads from its source to its destination over waveguides and
/// fibres that there are, on one wavelength, none twice on the same lane, none beyond the limit. Gives each route's
/// loss in dB.
///
/// # Errors
/// The first fault, with the circuit.
pub fn check(settings: &MeshSettings, circuits: &[Circuit], routes: &[Option<&Route>]) -> Result<Vec<Option<f64>>> {
    if circuits.len() != routes.len() {
        return Err(rejected(format!("{} routes for {} circuits", routes.len(), circuits.len())));
    }
    let mut taken: BTreeMap<(Lane, u32), usize> = BTreeMap::new();
    let mut losses = Vec::with_capacity(routes.len());
    for (index, (circuit, route)) in circuits.iter().zip(routes).enumerate() {
        let Some(route) = route else {
            losses.push(None);
            continue;
        };
        let fault =
            |what: String| rejected(format!("circuit {index}, {} to {}: {what}", circuit.source, circuit.destination));
        let ends = (route.cells.first().copied(), route.cells.last().copied());
        if ends != (Some(circuit.source), Some(circuit.destination)) {
            return Err(fault("its path does not lead from its source to its destination".into()));
        }
        if route.wavelength >= settings.wavelengths {
            return Err(fault(format!("there is no wavelength {}", route.wavelength)));
        }
        if route.lanes.len() + 1 != route.cells.len() {
            return Err(fault(format!("its path has {} MZIs and {} waveguides", route.cells.len(), route.lanes.len())));
        }
        let mut loss_db = 0.0;
        for (at, &number) in route.lanes.iter().enumerate() {
            let (from, to) = (route.cells[at], route.cells[at + 1]);
            let (lanes, step_db) =
                joined(settings, from, to).ok_or_else(|| fault(format!("nothing joins MZI {from} to MZI {to}")))?;
            if number >= lanes {
                return Err(fault(format!("waveguide {number} of {lanes} from MZI {from} to MZI {to}")));
            }
            loss_db += step_db;
            if let Some(other) = taken.insert(((from, to, number), route.wavelength), index) {
                let wavelength = route.wavelength;
                return Err(fault(format!(
                    "waveguide {number} from MZI {from} to MZI {to} carries wavelength {wavelength} of circuit {other} already"
                )));
            }
        }
        let power_db = settings.launch_power.map(|power| power.max_loss_db());
        if [settings.max_loss_db, power_db].into_iter().flatten().any(|limit_db| loss_db > limit_db + 1e-9) {
            return Err(fault(format!("it loses {loss_db:.3} dB")));
        }
        losses.push(Some(loss_db));
    }
    Ok(losses)
}

/// Follows light through states, from every transmitter: gives (source, destination, wavelength) of the circuits,
/// sorted.
///
/// # Errors
/// An input or an output that is used twice, light that ends at no receiver, states that no light reaches.
pub fn follow(settings: &MeshSettings, states: &[Setting]) -> Result<Vec<(u32, u32, u32)>> {
    let mut through: BTreeMap<(u32, u32, Port), Port> = BTreeMap::new();
    let mut outputs = BTreeSet::new();
    for state in states {
        let twice = |what: &str| {
            rejected(format!("MZI {}: an {what} is used twice on wavelength {}", state.cell, state.wavelength))
        };
        if through.insert((state.cell, state.wavelength, state.input), state.output).is_some() {
            return Err(twice("input"));
        }
        if !outputs.insert((state.cell, state.wavelength, state.output)) {
            return Err(twice("output"));
        }
    }
    let starts: Vec<_> = states.iter().filter(|state| matches!(state.input, Port::Tile(_))).collect();
    let mut circuits = Vec::new();
    for start in starts {
        let (mut cell, mut input) = (start.cell, start.input);
        loop {
            let lost = || rejected(format!("light of MZI {} ends at MZI {cell}", start.cell));
            let output = through.remove(&(cell, start.wavelength, input)).ok_or_else(lost)?;
            let Port::Waveguide(side, number) = output else { break };
            let next = across(settings, cell, side).ok_or_else(lost)?;
            let (lanes, _) = joined(settings, cell, next).ok_or_else(lost)?;
            if number >= lanes {
                return Err(lost());
            }
            cell = next;
            let entered = match side {
                Side::North => Side::South,
                Side::South => Side::North,
                Side::East => Side::West,
                Side::West => Side::East,
            };
            input = Port::Waveguide(entered, number);
        }
        circuits.push((start.cell, cell, start.wavelength));
    }
    if let Some((cell, ..)) = through.keys().next() {
        return Err(rejected(format!("no light reaches MZI {cell} where its state expects some")));
    }
    circuits.sort_unstable();
    Ok(circuits)
}

/// Circuits that must leave a set of cells, and places by which they may.
pub fn check_cut(settings: &MeshSettings, circuits: &[Circuit], inside: &[u32]) -> (u64, u64) {
    let inside: BTreeSet<u32> = inside.iter().copied().collect();
    let leaving =
        circuits.iter().filter(|one| inside.contains(&one.source) && !inside.contains(&one.destination)).count();
    let mut places = 0;
    for &cell in &inside {
        for side in [Side::North, Side::East, Side::South, Side::West] {
            let Some(other) = across(settings, cell, side).filter(|other| !inside.contains(other)) else { continue };
            let lanes = joined(settings, cell, other).map_or(0, |(lanes, _)| lanes);
            places += u64::from(lanes) * u64::from(settings.wavelengths);
        }
    }
    (leaving as u64, places)
}

/// The sum of the circuits' distances where places have these lengths (from cell to cell, each of the places between
/// them) and all others none; and the sum of the lengths of all places. Distances are found by going over all places
/// until nothing becomes nearer.
///
/// # Errors
/// A length between cells that nothing joins, or a second one.
pub fn check_lengths(settings: &MeshSettings, circuits: &[Circuit], lengths: &[(u32, u32, u32)]) -> Result<(u64, u64)> {
    let [rows, columns] = extent(settings);
    let mut long = BTreeMap::new();
    let mut all = 0;
    for &(from, to, length) in lengths {
        let place = || rejected(format!("a length from MZI {from} to MZI {to}"));
        let (lanes, _) = joined(settings, from, to).ok_or_else(place)?;
        if long.insert((from, to), u64::from(length)).is_some() {
            return Err(place());
        }
        all += u64::from(length) * u64::from(lanes) * u64::from(settings.wavelengths);
    }
    let mut ways = Vec::new();
    for cell in 0..rows * columns {
        for side in [Side::North, Side::East, Side::South, Side::West] {
            if let Some(other) = across(settings, cell, side).filter(|&other| joined(settings, cell, other).is_some()) {
                ways.push((cell, other, long.get(&(cell, other)).copied().unwrap_or(0)));
            }
        }
    }
    let mut needed = 0;
    for circuit in circuits {
        let mut near = vec![u64::MAX; (rows * columns) as usize];
        near[circuit.source as usize] = 0;
        let mut moved = true;
        while moved {
            moved = false;
            for &(from, to, length) in &ways {
                let through = near[from as usize].saturating_add(length);
                if through < near[to as usize] {
                    near[to as usize] = through;
                    moved = true;
                }
            }
        }
        needed += near[circuit.destination as usize];
    }
    Ok((needed, all))
}

/// Rows and columns of all interposers together.
fn extent(settings: &MeshSettings) -> [u32; 2] {
    let (mzis, interposers) = (settings.mzis, settings.interposers);
    [mzis.rows() * interposers.rows(), mzis.columns() * interposers.columns()]
}

/// The cell beyond a side.
fn across(settings: &MeshSettings, cell: u32, side: Side) -> Option<u32> {
    let [rows, columns] = extent(settings).map(i64::from);
    let (row, column) = (i64::from(cell) / columns, i64::from(cell) % columns);
    let (row, column) = match side {
        Side::North => (row - 1, column),
        Side::South => (row + 1, column),
        Side::East => (row, column + 1),
        Side::West => (row, column - 1),
    };
    ((0..rows).contains(&row) && (0..columns).contains(&column)).then(|| (row * columns + column) as u32)
}

/// Waveguides or fibres from one cell to its neighbour, and the loss of one of them; `None` where there are no
/// waveguides.
fn joined(settings: &MeshSettings, from: u32, to: u32) -> Option<(u32, f64)> {
    let [rows, columns] = extent(settings);
    if from >= rows * columns || to >= rows * columns {
        return None;
    }
    let (a, b) = ([from / columns, from % columns], [to / columns, to % columns]);
    let axis = match (a[0].abs_diff(b[0]), a[1].abs_diff(b[1])) {
        (1, 0) => 0,
        (0, 1) => 1,
        _ => return None,
    };
    let mzis = [settings.mzis.rows(), settings.mzis.columns()];
    let tiles = [settings.tiles.rows(), settings.tiles.columns()];
    let losses = settings.losses;
    if a[axis] / mzis[axis] != b[axis] / mzis[axis] {
        let (along, length) = (a[1 - axis] % mzis[1 - axis], mzis[1 - axis]);
        let here = (0..settings.fibres).filter(|&fibre| {
            let middle = (f64::from(fibre) + 0.5) * f64::from(length) / f64::from(settings.fibres);
            // Products of small whole numbers and halves: the quotient is rounded once, which must not leave its cell.
            (middle + 1e-9).floor() == f64::from(along)
        });
        let fibres = here.count() as u32;
        return (fibres > 0).then_some((fibres, 2.0 * losses.coupling_db));
    }
    let in_tile = mzis[axis] / tiles[axis];
    let crosses = a[axis] / in_tile != b[axis] / in_tile;
    let waveguide_db = losses.waveguide_db_per_cm * settings.tile_size_cm / f64::from(in_tile);
    Some((settings.waveguides, waveguide_db + if crosses { losses.crossing_db } else { 0.0 }))
}

fn rejected(detail: String) -> Error {
    Error::Rejected { check: "routing".into(), detail }
}
