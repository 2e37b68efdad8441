//! Circuits on a mesh and the routes that they were given.

use crate::grid::Side;

use super::cuts::Cut;
use super::layout::Mesh;
use super::lengths::Lengths;
use super::over_budget::OverBudget;

/// The path that the light of a circuit takes through a mesh, and its wavelength.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The wavelength, the same along the whole path.
    pub wavelength: u32,
    /// The MZIs on the path, from source to destination.
    pub cells: Vec<u32>,
    /// The number of the waveguide or fibre from each MZI to the next, among those in that direction.
    pub lanes: Vec<u32>,
}

/// Why a circuit has no route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unrouted {
    /// Every path of the mesh loses more than the limit; the least is this.
    Loss {
        /// Loss of the best path of an empty mesh.
        least_db: f64,
    },
    /// There are free paths, and all of them lose more than the limit; the shortest this.
    FreePathLoses {
        /// Loss of the shortest free path, dB.
        loss_db: f64,
    },
    /// The mesh has no path at all from its source to its destination that other circuits leave free.
    NoFreePath,
}

/// Why not all circuits can be routed at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Impossible {
    /// More circuits have to leave a set of cells than waveguides times wavelengths lead out of it.
    Cut(Cut),
    /// The circuits' shortest ways are longer, together, than all places, by these lengths.
    Lengths(Lengths),
    /// A circuit's best path loses more than the limit.
    Loss {
        /// Index of the circuit.
        circuit: usize,
        /// Loss of the circuit on the best path, dB.
        least_db: f64,
    },
    /// All combinations of paths were tried.
    Exhausted,
}

/// The method that found routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The method that gives each circuit its shortest free path, one circuit after the other.
    OneByOne,
    /// Circuits that share places moved until none did.
    Negotiated,
    /// All combinations of paths, in order.
    Exhaustive,
}

impl Method {
    /// The name of this method.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneByOne => "one-by-one",
            Self::Negotiated => "negotiated",
            Self::Exhaustive => "exhaustive",
        }
    }
}

/// The result of routing circuits on a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Routing {
    /// Each circuit's route, or why it has none.
    pub routes: Vec<Result<Route, Unrouted>>,
    /// Proof that not all could be routed, where one was found.
    pub impossible: Option<Impossible>,
    /// The method that found the routes.
    pub method: Method,
    /// Passes of re-routing.
    pub passes: u32,
    /// A tile or interposer whose lasers launch more than its budget for these routes.
    pub over_budget: Option<OverBudget>,
}

impl Routing {
    /// Number of circuits with a route.
    pub fn routed(&self) -> usize {
        self.routes.iter().filter(|route| route.is_ok()).count()
    }

    /// Whether every circuit has a route.
    pub fn is_complete(&self) -> bool {
        self.routed() == self.routes.len()
    }
}

/// A path of one wavelength, before its waveguides are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub wavelength: u32,
    pub cells: Vec<u32>,
}

/// The use of places: circuits in every place, a place being a (cell, side, wavelength).
#[derive(Clone, Debug)]
pub(super) struct Usage {
    used: Vec<u16>,
    /// Waveguides or fibres at each place.
    room: Vec<u16>,
    edges: usize,
}

impl Usage {
    pub fn new(mesh: &Mesh) -> Self {
        let (cells, wavelengths) = (mesh.grid().cells(), mesh.wavelengths() as usize);
        let lanes = (0..cells).flat_map(|cell| Side::ALL.map(|side| mesh.lanes(cell, side) as u16));
        let room = lanes.collect::<Vec<u16>>().repeat(wavelengths);
        Self { used: vec![0; room.len()], room, edges: cells as usize * 4 }
    }

    /// The places of a path.
    pub fn places<'a>(&self, mesh: &'a Mesh, path: &'a Path) -> impl Iterator<Item = usize> + use<'a> {
        let first = path.wavelength as usize * self.edges;
        path.cells.windows(2).map(move |pair| {
            let side = mesh.grid().side_towards(pair[0], pair[1]).map_or(0, Side::index);
            first + pair[0] as usize * 4 + side
        })
    }

    pub fn add(&mut self, mesh: &Mesh, path: &Path) {
        for place in self.places(mesh, path) {
            self.used[place] += 1;
        }
    }

    pub fn remove(&mut self, mesh: &Mesh, path: &Path) {
        for place in self.places(mesh, path) {
            self.used[place] -= 1;
        }
    }

    pub fn of(&self, place: usize) -> u32 {
        u32::from(self.used[place])
    }

    /// The number of circuits in a place above its room.
    pub fn excess(&self, place: usize) -> u32 {
        self.of(place).saturating_sub(self.room(place))
    }

    /// Waveguides or fibres at a place.
    pub fn room(&self, place: usize) -> u32 {
        u32::from(self.room[place])
    }

    /// Whether a place takes one circuit more.
    pub fn is_free(&self, place: usize) -> bool {
        self.used[place] < self.room[place]
    }

    pub fn len(&self) -> usize {
        self.used.len()
    }
}

/// Routes of paths: the waveguides of every place are given in the order of the circuits.
pub(super) fn numbered(mesh: &Mesh, paths: Vec<Result<Path, Unrouted>>) -> Vec<Result<Route, Unrouted>> {
    let mut usage = Usage::new(mesh);
    let mut route = |path: Path| {
        let lanes = usage.places(mesh, &path).map(|place| usage.of(place)).collect();
        usage.add(mesh, &path);
        Route { wavelength: path.wavelength, cells: path.cells, lanes }
    };
    paths.into_iter().map(|path| path.map(&mut route)).collect()
}
