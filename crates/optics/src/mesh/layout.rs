//! The layout of a mesh: interposers of tiles of MZIs, the waveguides and fibres between them, and the losses of light
//! on its way.

use model::{Error, FibreLengths, LaunchPower, Result};

pub(super) use crate::cutoffs::mesh_layout::MOST_LANES;
use crate::cutoffs::mesh_layout::{MOST_LOSS, MOST_PLACES};
use crate::grid::{Grid, MOST, Side};

/// Losses of light on its way, in dB. The defaults are PCCL's, §4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Losses {
    /// Loss of every crossing from one tile (reticle) to the next, dB.
    pub crossing_db: f64,
    /// Loss of a centimetre of waveguide, dB.
    pub waveguide_db_per_cm: f64,
    /// Between a waveguide and a fibre; a fibre has two such ends.
    pub coupling_db: f64,
}

impl Default for Losses {
    fn default() -> Self {
        Self { crossing_db: 0.25, waveguide_db_per_cm: 0.4, coupling_db: 0.5 }
    }
}

/// The elements that the light of a circuit passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Waveguides in the direction of rows, and of columns.
    pub waveguides: [u32; 2],
    /// Crossings from tile to tile.
    pub crossings: u32,
    /// Fibres between interposers.
    pub fibres: u32,
}

/// Settings of a [`Mesh`]; `Mesh::new` checks them.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSettings {
    /// MZIs of one interposer.
    pub mzis: Grid,
    /// Tiles of one interposer; their rows and columns divide those of the MZIs.
    pub tiles: Grid,
    /// Interposers, joined to their neighbours.
    pub interposers: Grid,
    /// Waveguides between neighbouring MZIs, in each direction.
    pub waveguides: u32,
    /// Wavelengths in a waveguide or fibre.
    pub wavelengths: u32,
    /// Fibres between facing sides of neighbouring interposers, in each direction.
    pub fibres: u32,
    /// Length of a tile's side in centimetres.
    pub tile_size_cm: f64,
    /// Losses of light.
    pub losses: Losses,
    /// The most that a circuit may lose, dB; `None` without a limit.
    pub max_loss_db: Option<f64>,
    /// Power that receivers need and lasers may launch; `None` where nothing is said about it.
    pub launch_power: Option<LaunchPower>,
    /// Where interposers are; `None` where nothing is said about the lengths of fibres.
    pub fibre_lengths: Option<FibreLengths>,
}

impl MeshSettings {
    /// Settings of one interposer of `mzis` MZIs with a tile for each, one waveguide of one wavelength in each
    /// direction.
    ///
    /// # Errors
    /// No error today for a valid grid; the grid of one interposer is made here.
    pub fn of(mzis: Grid) -> Result<Self> {
        Ok(Self {
            mzis,
            tiles: mzis,
            interposers: Grid::new("interposers", 1, 1)?,
            waveguides: 1,
            wavelengths: 1,
            fibres: 1,
            tile_size_cm: 1.0,
            losses: Losses::default(),
            max_loss_db: None,
            launch_power: None,
            fibre_lengths: None,
        })
    }
}

/// A mesh of MZIs. Its cells are the MZIs of all interposers on one grid, row by row: interposers lie next to each
/// other as they are joined. Neighbouring MZIs of an interposer are joined by waveguides, each for light in one
/// direction; those of neighbouring interposers only where a fibre is attached.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    settings: MeshSettings,
    grid: Grid,
    /// For each cell and side the waveguides or fibres that leave it there.
    lanes: Vec<u16>,
    /// Least loss from row 0 to a row, and from column 0 to a column.
    row_loss_db: Vec<f64>,
    column_loss_db: Vec<f64>,
}

impl Mesh {
    /// The mesh with these settings.
    ///
    /// # Errors
    /// A setting out of range, or tiles that do not divide the MZIs; names the setting.
    pub fn new(settings: MeshSettings) -> Result<Self> {
        let MeshSettings { mzis, tiles, interposers, losses, .. } = settings;
        for (field, value) in
            [("waveguides", settings.waveguides), ("wavelengths", settings.wavelengths), ("fibres", settings.fibres)]
        {
            if !(1..=MOST_LANES).contains(&value) {
                return Err(Error::value(field, value, format!("a whole number from 1 to {MOST_LANES}")));
            }
        }
        if mzis.rows() % tiles.rows() != 0 || mzis.columns() % tiles.columns() != 0 {
            let accepts = format!("ROWSxCOLUMNS that divide the {mzis} MZIs of an interposer");
            return Err(Error::value("tiles", tiles, accepts));
        }
        for (field, value) in [
            ("tile_size_cm", settings.tile_size_cm),
            ("crossing_loss_db", losses.crossing_db),
            ("waveguide_loss_db_per_cm", losses.waveguide_db_per_cm),
            ("coupling_loss_db", losses.coupling_db),
            ("max_loss_db", settings.max_loss_db.unwrap_or(0.0)),
        ] {
            if !(0.0..=MOST_LOSS).contains(&value) {
                return Err(Error::value(field, format!("{value:?}"), format!("a number from 0 to {MOST_LOSS:e}")));
            }
        }
        if let Some(power) = &settings.launch_power {
            power.check()?;
        }
        if let Some(lengths) = &settings.fibre_lengths {
            lengths.check([interposers.rows(), interposers.columns()])?;
        }
        let rows = mzis.rows().saturating_mul(interposers.rows());
        let columns = mzis.columns().saturating_mul(interposers.columns());
        let grid = Grid::new("interposers", rows, columns).map_err(|_| {
            let accepts = format!("at most {MOST} rows and columns of MZIs in all; an interposer has {mzis}");
            Error::value("interposers", interposers, accepts)
        })?;
        if u64::from(grid.cells()) * u64::from(settings.wavelengths) > MOST_PLACES {
            let accepts = format!("at most {MOST_PLACES} MZIs times wavelengths; these are {grid} MZIs");
            return Err(Error::value("wavelengths", settings.wavelengths, accepts));
        }
        let mut mesh = Self { settings, grid, lanes: Vec::new(), row_loss_db: vec![0.0], column_loss_db: vec![0.0] };
        mesh.lanes = (0..grid.cells()).flat_map(|cell| Side::ALL.map(|side| mesh.count_lanes(cell, side))).collect();
        for row in 1..rows {
            let step_db = mesh.loss_db(mesh.passes(grid.cell(row - 1, 0), Side::South));
            mesh.row_loss_db.push(mesh.row_loss_db[row as usize - 1] + step_db);
        }
        for column in 1..columns {
            let step_db = mesh.loss_db(mesh.passes(grid.cell(0, column - 1), Side::East));
            mesh.column_loss_db.push(mesh.column_loss_db[column as usize - 1] + step_db);
        }
        Ok(mesh)
    }

    /// The settings that it was made with.
    pub fn settings(&self) -> &MeshSettings {
        &self.settings
    }

    /// The most that a circuit may lose, dB: the limit on the loss, or what its laser can make up for.
    pub fn limit_db(&self) -> Option<f64> {
        let power_db = self.settings.launch_power.map(|power| power.max_loss_db());
        [self.settings.max_loss_db, power_db].into_iter().flatten().reduce(f64::min)
    }

    /// The MZIs of all interposers.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Wavelengths in a waveguide.
    pub fn wavelengths(&self) -> u32 {
        self.settings.wavelengths
    }

    /// Waveguides or fibres that leave a cell on a side; each has a place for every wavelength.
    pub fn lanes(&self, cell: u32, side: Side) -> u32 {
        u32::from(self.lanes[cell as usize * 4 + side.index()])
    }

    /// The tiles of all interposers.
    pub fn tile_grid(&self) -> Grid {
        let MeshSettings { tiles, interposers, .. } = self.settings;
        Grid::new("tiles", tiles.rows() * interposers.rows(), tiles.columns() * interposers.columns())
            .unwrap_or(self.grid)
    }

    /// The MZI that a tile's transmitters and receivers are attached to: in the middle of the tile.
    pub fn cell_of_tile(&self, tile: u32) -> u32 {
        let tiles = self.tile_grid();
        let (row, column) = tiles.place(tile);
        let [height, width] = self.tile_cells();
        self.grid.cell(row * height + height / 2, column * width + width / 2)
    }

    /// The tile that a cell is in, numbered as [`Self::cell_of_tile`] takes it, and its interposer, row by row.
    pub fn tile_and_interposer(&self, cell: u32) -> (u32, u32) {
        let MeshSettings { mzis, interposers, .. } = self.settings;
        let (row, column) = self.grid.place(cell);
        let [height, width] = self.tile_cells();
        let tile = self.tile_grid().cell(row / height, column / width);
        (tile, interposers.cell(row / mzis.rows(), column / mzis.columns()))
    }

    /// Loss of what is passed.
    pub fn loss_db(&self, passed: Passed) -> f64 {
        let MeshSettings { losses, tile_size_cm, .. } = self.settings;
        let [height, width] = self.tile_cells();
        let [along_rows, along_columns] = passed.waveguides;
        let waveguides_cm =
            tile_size_cm * (f64::from(along_rows) / f64::from(width) + f64::from(along_columns) / f64::from(height));
        losses.waveguide_db_per_cm * waveguides_cm
            + losses.crossing_db * f64::from(passed.crossings)
            + losses.coupling_db * f64::from(2 * passed.fibres)
    }

    /// The elements that light passes from a cell to the one on a side.
    pub fn passes(&self, cell: u32, side: Side) -> Passed {
        let (row, column) = self.grid.place(cell);
        let MeshSettings { mzis, .. } = self.settings;
        let [height, width] = self.tile_cells();
        // The line between the two cells, counted from the first row or column, and what lies on it.
        let (line, interposer, tile) = match side {
            Side::North => (row, mzis.rows(), height),
            Side::South => (row + 1, mzis.rows(), height),
            Side::West => (column, mzis.columns(), width),
            Side::East => (column + 1, mzis.columns(), width),
        };
        if line % interposer == 0 {
            return Passed { fibres: 1, ..Passed::default() };
        }
        let along_rows = matches!(side, Side::East | Side::West);
        Passed {
            waveguides: [u32::from(along_rows), u32::from(!along_rows)],
            crossings: u32::from(line % tile == 0),
            fibres: 0,
        }
    }

    /// The elements that the light of a path passes; `None` where two cells that follow each other are not neighbours.
    pub fn passed(&self, cells: &[u32]) -> Option<Passed> {
        let mut sum = Passed::default();
        for pair in cells.windows(2) {
            let step = self.passes(pair[0], self.grid.side_towards(pair[0], pair[1])?);
            sum.waveguides[0] += step.waveguides[0];
            sum.waveguides[1] += step.waveguides[1];
            sum.crossings += step.crossings;
            sum.fibres += step.fibres;
        }
        Some(sum)
    }

    /// Metres of fibre on a path; `None` where two cells that follow each other are not neighbours, or nothing is said
    /// about lengths.
    pub fn fibre_m(&self, cells: &[u32]) -> Option<f64> {
        let lengths = self.settings.fibre_lengths.as_ref()?;
        let MeshSettings { mzis, .. } = self.settings;
        let mut sum_m = 0.0;
        for pair in cells.windows(2) {
            let side = self.grid.side_towards(pair[0], pair[1])?;
            if self.passes(pair[0], side).fibres > 0 {
                let [(row, column), (next_row, next_column)] = [pair[0], pair[1]].map(|cell| self.grid.place(cell));
                let apart = |positions: &[f64], size: u32, here: u32, there: u32| {
                    (positions[(here / size) as usize] - positions[(there / size) as usize]).abs()
                };
                sum_m += match side {
                    Side::North | Side::South => apart(&lengths.row_positions_m, mzis.rows(), row, next_row),
                    Side::East | Side::West => apart(&lengths.column_positions_m, mzis.columns(), column, next_column),
                };
            }
        }
        Some(sum_m)
    }

    /// The least loss of a path from cell to cell, dB: it has to cross every line of the grid between them.
    pub fn least_loss_db(&self, from: u32, to: u32) -> f64 {
        let ((row, column), (other_row, other_column)) = (self.grid.place(from), self.grid.place(to));
        let between = |sums: &[f64], a: u32, b: u32| (sums[a as usize] - sums[b as usize]).abs();
        between(&self.row_loss_db, row, other_row) + between(&self.column_loss_db, column, other_column)
    }

    /// Rows and columns of MZIs in a tile.
    fn tile_cells(&self) -> [u32; 2] {
        let MeshSettings { mzis, tiles, .. } = self.settings;
        [mzis.rows() / tiles.rows(), mzis.columns() / tiles.columns()]
    }

    fn count_lanes(&self, cell: u32, side: Side) -> u16 {
        if self.grid.beside(cell, side).is_none() {
            return 0;
        }
        let MeshSettings { mzis, fibres, waveguides, .. } = self.settings;
        let (row, column) = self.grid.place(cell);
        let count = if self.passes(cell, side).fibres == 0 {
            waveguides
        } else {
            let (place, cells) = match side {
                Side::North | Side::South => (column % mzis.columns(), mzis.columns()),
                Side::East | Side::West => (row % mzis.rows(), mzis.rows()),
            };
            // Fibre k is attached in the middle of the k-th of equal parts of the side.
            (0..fibres).filter(|fibre| (2 * fibre + 1) * cells / (2 * fibres) == place).count() as u32
        };
        count as u16
    }
}
