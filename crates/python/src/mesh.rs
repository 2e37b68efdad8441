//! `Mesh`: circuits routed on meshes of MZIs, and judged.

use model::{Error, Result};
use numpy::PyArray1;
use numpy::PyArray2;
use numpy::ndarray::Array2;
use optics::mesh::{
    Impossible, Losses, Mesh, MeshSettings, Placed, Port, Route, Unrouted, check, check_cut, check_lengths, follow,
    launch_power, loss_reason, place, route, states,
};
use optics::{Circuit, Grid, Side, rounds};
use pyo3::prelude::*;

use crate::arguments::text;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;

/// Source and destination, of circuits or of MZIs.
type Pair = (u32, u32);
/// Wavelength, MZIs, and which of the waveguides leads from each to the next.
type RouteTuple = (u32, Vec<u32>, Vec<u32>);
/// Kind of proof, in a sentence, and the MZIs inside a cut with the circuits that must leave it and the places to leave
/// by; or lengths, as (MZI, the next, length).
type ProofTuple = (&'static str, String, Option<(Vec<u32>, u64, u64)>, Option<Vec<(u32, u32, u32)>>);
/// Per circuit of a round its index, its route and loss or why it has none; method, passes, proof; the budget of lasers
/// that the round does not keep to.
type RoundTuple =
    (Vec<(usize, Option<(RouteTuple, f64)>, Option<String>)>, &'static str, u32, Option<ProofTuple>, Option<String>);
/// A tile in centimetres, dB of a crossing, of a centimetre and of a coupling, and the limit.
type LengthsTuple = (f64, f64, f64, f64, Option<f64>);
/// The values of [`model::LaunchPower::KEYS`].
type LaunchTuple = (Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<f64>);

#[pyclass(name = "Mesh", module = "lightloom._core", frozen)]
pub struct PyMesh {
    mesh: Mesh,
    grids: [String; 3],
    numbers: (u32, u32, u32),
    lengths: LengthsTuple,
    launch: LaunchTuple,
}

#[pymethods]
impl PyMesh {
    /// Grids: MZIs, tiles, interposers. Numbers: waveguides, wavelengths, fibres. Lengths: a tile in centimetres, dB of
    /// a crossing, of a centimetre and of a coupling, and the limit. Launch: what receivers need and lasers may give.
    #[new]
    fn new(
        mzis: &Bound<'_, PyAny>,
        tiles: &Bound<'_, PyAny>,
        interposers: &Bound<'_, PyAny>,
        numbers: (u32, u32, u32),
        lengths: LengthsTuple,
        launch: LaunchTuple,
    ) -> CoreResult<Self> {
        let grids = [text("mzis", mzis)?, text("tiles", tiles)?, text("interposers", interposers)?];
        let (waveguides, wavelengths, fibres) = numbers;
        let (tile_size_cm, crossing_db, waveguide_db_per_cm, coupling_db, max_loss_db) = lengths;
        let settings = MeshSettings {
            mzis: Grid::parse("mzis", &grids[0])?,
            tiles: Grid::parse("tiles", &grids[1])?,
            interposers: Grid::parse("interposers", &grids[2])?,
            waveguides,
            wavelengths,
            fibres,
            tile_size_cm,
            losses: Losses { crossing_db, waveguide_db_per_cm, coupling_db },
            max_loss_db,
            launch_power: launch_power(launch.into())?,
            fibre_lengths: None,
        };
        Ok(Self { mesh: Mesh::new(settings)?, grids, numbers, lengths, launch })
    }

    #[expect(clippy::type_complexity, reason = "what `__new__` takes")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, pyo3::types::PyType>, (String, String, String, (u32, u32, u32), LengthsTuple, LaunchTuple)) {
        let Self { grids: [mzis, tiles, interposers], numbers, lengths, launch, .. } = slf.get();
        (slf.get_type(), (mzis.clone(), tiles.clone(), interposers.clone(), *numbers, *lengths, *launch))
    }

    /// The power that the laser of a circuit launches which loses this much, mW; `None` where nothing is said about it.
    fn launch_mw(&self, loss_db: f64) -> Option<f64> {
        self.mesh.settings().launch_power.map(|power| power.launch_mw(loss_db))
    }

    #[getter]
    fn rows(&self) -> u32 {
        self.mesh.grid().rows()
    }

    #[getter]
    fn columns(&self) -> u32 {
        self.mesh.grid().columns()
    }

    #[getter]
    fn mzi_of_tile<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let tiles = 0..self.mesh.tile_grid().cells();
        PyArray1::from_iter(py, tiles.map(|tile| self.mesh.cell_of_tile(tile)))
    }

    fn route(
        &self,
        py: Python<'_>,
        circuits: Vec<Pair>,
        transmitters: Option<u32>,
        receivers: Option<u32>,
        seed: u64,
    ) -> CoreResult<(Vec<u32>, Vec<RoundTuple>)> {
        let limits = (transmitters.unwrap_or(u32::MAX), receivers.unwrap_or(u32::MAX));
        Ok(interruptible(py, || routed(&self.mesh, &circuits, limits, seed))??)
    }

    fn states<'py>(&self, py: Python<'py>, routes: Vec<RouteTuple>) -> Bound<'py, PyArray2<i32>> {
        let routes: Vec<Route> = routes.into_iter().map(route_of).collect();
        let port = |port: Port| match port {
            Port::Waveguide(side, number) => [side.index() as i32, number as i32],
            Port::Tile(number) => [Side::ALL.len() as i32, number as i32],
        };
        let rows: Vec<i32> = states(&self.mesh, &routes)
            .into_iter()
            .flat_map(|state| {
                let ([from, input], [to, output]) = (port(state.input), port(state.output));
                [state.cell as i32, state.wavelength as i32, from, input, to, output]
            })
            .collect();
        let table = Array2::from_shape_vec((rows.len() / 6, 6), rows);
        PyArray2::from_owned_array(py, table.unwrap_or_default())
    }

    fn check(
        &self,
        py: Python<'_>,
        circuits: Vec<Pair>,
        routes: Vec<Option<RouteTuple>>,
    ) -> CoreResult<Vec<Option<f64>>> {
        let routes: Vec<Option<Route>> = routes.into_iter().map(|route| route.map(route_of)).collect();
        Ok(interruptible(py, || {
            let losses = check(self.mesh.settings(), &circuits_of(&circuits), &refs(&routes))?;
            let followed = follow(self.mesh.settings(), &states(&self.mesh, routes.iter().flatten()))?;
            let lit = circuits.iter().zip(&routes);
            let mut asked: Vec<_> =
                lit.filter_map(|(pair, route)| Some((pair.0, pair.1, route.as_ref()?.wavelength))).collect();
            asked.sort_unstable();
            match followed == asked {
                true => Ok(losses),
                false => Err(Error::Rejected {
                    check: "routing".into(),
                    detail: "light followed through the MZIs joins other cells than the circuits do".into(),
                }),
            }
        })??)
    }

    fn check_lengths(&self, circuits: Vec<Pair>, lengths: Vec<(u32, u32, u32)>) -> CoreResult<(u64, u64)> {
        Ok(check_lengths(self.mesh.settings(), &circuits_of(&circuits), &lengths)?)
    }

    fn check_cut(&self, circuits: Vec<Pair>, inside: Vec<u32>) -> (u64, u64) {
        check_cut(self.mesh.settings(), &circuits_of(&circuits), &inside)
    }
}

fn circuits_of(pairs: &[Pair]) -> Vec<Circuit> {
    pairs.iter().map(|&(source, destination)| Circuit { source, destination }).collect()
}

fn refs(routes: &[Option<Route>]) -> Vec<Option<&Route>> {
    routes.iter().map(Option::as_ref).collect()
}

fn route_of((wavelength, cells, lanes): RouteTuple) -> Route {
    Route { wavelength, cells, lanes }
}

/// Settings of a mesh as [`PyMesh::new`] takes them, and the MZI of each GPU.
type PlacedTuple = ([String; 3], (u32, u32, u32), LengthsTuple, LaunchTuple, Vec<u32>);

/// The mesh that `mesh:...` of `--optics` describes, for this many GPUs.
#[pyfunction]
pub fn placed_mesh(parameters: &Bound<'_, PyAny>, gpus: u32) -> CoreResult<PlacedTuple> {
    let Placed { mesh, cells, .. } = place(&text("optics", parameters)?, gpus)?;
    let settings = mesh.settings().clone();
    let MeshSettings { mzis, tiles, interposers, waveguides, wavelengths, fibres, .. } = settings;
    let MeshSettings { tile_size_cm, losses, max_loss_db, launch_power, .. } = settings;
    let launch = launch_power.map_or([None; 6], |power| power.values());
    let Losses { crossing_db, waveguide_db_per_cm, coupling_db } = losses;
    Ok((
        [mzis, tiles, interposers].map(|grid| grid.to_string()),
        (waveguides, wavelengths, fibres),
        (tile_size_cm, crossing_db, waveguide_db_per_cm, coupling_db, max_loss_db),
        launch.into(),
        cells,
    ))
}

/// Rows and columns of interposers, positions of both in metres, and ns of a metre.
type FibresTuple = ((u32, u32), Vec<f64>, Vec<f64>, f64);

/// The interposers that `mesh:...` of `--optics` describes, and where they are; `None` without lengths of fibres.
#[pyfunction]
pub fn fibre_lengths(parameters: &Bound<'_, PyAny>, gpus: u32) -> CoreResult<Option<FibresTuple>> {
    let settings = place(&text("optics", parameters)?, gpus)?.mesh.settings().clone();
    let interposers = (settings.interposers.rows(), settings.interposers.columns());
    Ok(settings
        .fibre_lengths
        .map(|lengths| (interposers, lengths.row_positions_m, lengths.column_positions_m, lengths.delay_ns_per_m)))
}

/// The round of each circuit, and the routing of every round.
fn routed(mesh: &Mesh, pairs: &[Pair], limits: (u32, u32), seed: u64) -> Result<(Vec<u32>, Vec<RoundTuple>)> {
    let circuits = circuits_of(pairs);
    let given = rounds(&circuits, limits.0, limits.1)?;
    let count = given.iter().max().map_or(1, |last| last + 1);
    let mut told = Vec::with_capacity(count as usize);
    for round in 0..count {
        let indices: Vec<usize> = (0..circuits.len()).filter(|&index| given[index] == round).collect();
        let here: Vec<Circuit> = indices.iter().map(|&index| circuits[index]).collect();
        let routing = route(mesh, &here, seed)?;
        let over = routing.over_budget.map(|over| over.to_string());
        let proof = routing.impossible.map(|proof| proof_tuple(proof, mesh, &indices));
        let routes = indices.into_iter().zip(routing.routes).map(|(index, route)| match route {
            Ok(Route { wavelength, cells, lanes }) => {
                let loss_db = mesh.passed(&cells).map_or(f64::INFINITY, |passed| mesh.loss_db(passed));
                (index, Some(((wavelength, cells, lanes), loss_db)), None)
            }
            Err(why) => (index, None, Some(reason(mesh, why))),
        });
        told.push((routes.collect(), routing.method.name(), routing.passes, proof, over));
    }
    Ok((given, told))
}

fn reason(mesh: &Mesh, why: Unrouted) -> String {
    match why {
        Unrouted::Loss { least_db } => format!("its best path loses {}", loss_reason(mesh, least_db)),
        Unrouted::FreePathLoses { loss_db } => {
            format!("all free paths lose too much, the shortest {}", loss_reason(mesh, loss_db))
        }
        Unrouted::NoFreePath => "no path is free next to the other circuits".into(),
    }
}

fn proof_tuple(proof: Impossible, mesh: &Mesh, indices: &[usize]) -> ProofTuple {
    match proof {
        Impossible::Cut(cut) => ("cut", cut.to_string(), Some((cut.inside, cut.circuits, cut.places)), None),
        Impossible::Lengths(lengths) => ("lengths", lengths.to_string(), None, Some(lengths.of)),
        Impossible::Loss { circuit, least_db } => {
            let why = reason(mesh, Unrouted::Loss { least_db });
            ("loss", format!("circuit {}: {why}", indices[circuit]), None, None)
        }
        Impossible::Exhausted => {
            ("exhausted", "all combinations of paths were tried, and none serves all circuits".into(), None, None)
        }
    }
}
