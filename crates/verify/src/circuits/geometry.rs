//! The places of the MZIs, waveguides and fibres of a mesh, and the loss of light on its way. Written from the
//! documentation of meshes, not from the crate that routes.

use model::{FibreLengths, MziMesh, MziPort};

/// A mesh with GPUs on its tiles. MZIs are numbered row by row over all interposers together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry<'a> {
    pub mesh: &'a MziMesh,
    pub gpus: u32,
}

/// The join between two MZIs.
#[derive(Debug, Clone, Copy)]
enum Between {
    /// Waveguides in the direction of rows (1) or of columns (0), and whether they cross from tile to tile.
    Waveguides { axis: usize, crossing: bool },
    /// Fibres from one interposer to the next, and how many.
    Fibres(u32),
}

impl Geometry<'_> {
    /// GPUs of an interposer, and the tiles that it has for them.
    pub fn gpus_and_tiles(self) -> (u32, u32) {
        let [interposers, tiles] = [self.mesh.interposers, self.mesh.tiles].map(|[rows, columns]| rows * columns);
        (self.gpus.div_ceil(interposers), tiles)
    }

    /// The MZI in the middle of a GPU's tile; there is one where an interposer has enough tiles.
    pub fn mzi_of_gpu(self, gpu: u32) -> Option<u32> {
        let MziMesh { mzis, tiles, interposers, .. } = *self.mesh;
        let (each, most) = self.gpus_and_tiles();
        if gpu >= self.gpus || each > most {
            return None;
        }
        let block = gpu / each;
        let number =
            self.mesh.interposer_order.as_ref().map_or(Some(block), |order| order.get(block as usize).copied())?;
        let interposer = [number / interposers[1], number % interposers[1]];
        let tile = [gpu % each / tiles[1], gpu % each % tiles[1]];
        let [row, column] = [0, 1].map(|axis| {
            let side = mzis[axis] / tiles[axis];
            interposer[axis] * mzis[axis] + tile[axis] * side + side / 2
        });
        Some(row * self.extent()[1] + column)
    }

    /// Waveguides, or fibres, from one MZI to another; 0 where they are not next to each other.
    pub fn lanes(self, from: u32, to: u32) -> u32 {
        match self.between(from, to) {
            Some(Between::Waveguides { .. }) => self.mesh.waveguides,
            Some(Between::Fibres(count)) => count,
            None => 0,
        }
    }

    /// dB that light loses from each of these MZIs to the next; `None` where nothing joins two of them.
    pub fn loss_db(self, mzis: &[u32]) -> Option<f64> {
        let (mut waveguides, mut crossings, mut fibres) = ([0_u32; 2], 0_u32, 0_u32);
        for pair in mzis.windows(2) {
            match self.between(pair[0], pair[1])? {
                Between::Waveguides { axis, crossing } => {
                    waveguides[axis] += 1;
                    crossings += u32::from(crossing);
                }
                Between::Fibres(_) => fibres += 1,
            }
        }
        let mesh = self.mesh;
        let way_cm = |axis: usize| {
            let cells = f64::from(mesh.mzis[axis] / mesh.tiles[axis]);
            f64::from(waveguides[axis]) * mesh.tile_size_cm / cells
        };
        Some(
            mesh.waveguide_loss_db_per_cm * (way_cm(0) + way_cm(1))
                + mesh.crossing_loss_db * f64::from(crossings)
                + 2.0 * mesh.coupling_loss_db * f64::from(fibres),
        )
    }

    /// The interposer that an MZI is on.
    pub fn interposer_of(self, mzi: u32) -> [u32; 2] {
        let columns = self.extent()[1];
        [mzi / columns / self.mesh.mzis[0], mzi % columns / self.mesh.mzis[1]]
    }

    /// Metres of fibre that light passes from each of these MZIs to the next, by the positions of their interposers.
    pub fn fibre_m(self, lengths: &FibreLengths, mzis: &[u32]) -> f64 {
        let place = |mzi: &u32| {
            let [row, column] = self.interposer_of(*mzi).map(|index| index as usize);
            let of = |positions: &[f64], index: usize| positions.get(index).copied().unwrap_or(f64::NAN);
            [of(&lengths.row_positions_m, row), of(&lengths.column_positions_m, column)]
        };
        let places: Vec<[f64; 2]> = mzis.iter().map(place).collect();
        places.windows(2).map(|pair| (pair[0][0] - pair[1][0]).abs() + (pair[0][1] - pair[1][1]).abs()).sum()
    }

    /// The MZI that light enters which leaves one by a waveguide, and where it enters.
    pub fn beyond(self, mzi: u32, leaves: MziPort) -> Option<(u32, MziPort)> {
        let columns = self.extent()[1];
        let (next, enters, lane) = match leaves {
            MziPort::North(lane) => (mzi.checked_sub(columns)?, MziPort::South(lane), lane),
            MziPort::South(lane) => (mzi.checked_add(columns)?, MziPort::North(lane), lane),
            MziPort::West(lane) => (mzi.checked_sub(1)?, MziPort::East(lane), lane),
            MziPort::East(lane) => (mzi.checked_add(1)?, MziPort::West(lane), lane),
            MziPort::Tile(_) => return None,
        };
        (lane < self.lanes(mzi, next)).then_some((next, enters))
    }

    fn extent(self) -> [u32; 2] {
        [0, 1].map(|axis| self.mesh.mzis[axis] * self.mesh.interposers[axis])
    }

    fn between(self, from: u32, to: u32) -> Option<Between> {
        let MziMesh { mzis, tiles, fibres, .. } = *self.mesh;
        let [rows, columns] = self.extent();
        if from.max(to) >= rows * columns {
            return None;
        }
        let [a, b] = [from, to].map(|mzi| [mzi / columns, mzi % columns]);
        let axis = match [0, 1].map(|axis| a[axis].abs_diff(b[axis])) {
            [1, 0] => 0,
            [0, 1] => 1,
            _ => return None,
        };
        // The line between the two, counted from the first row or column.
        let line = a[axis].max(b[axis]);
        if line.is_multiple_of(mzis[axis]) {
            let (place, side) = (u64::from(a[1 - axis] % mzis[1 - axis]), u64::from(mzis[1 - axis]));
            let is_here = |fibre: u32| (2 * u64::from(fibre) + 1) * side / (2 * u64::from(fibres)) == place;
            let here = (0..fibres).filter(|&fibre| is_here(fibre)).count() as u32;
            return (here > 0).then_some(Between::Fibres(here));
        }
        Some(Between::Waveguides { axis, crossing: line.is_multiple_of(mzis[axis] / tiles[axis]) })
    }
}
