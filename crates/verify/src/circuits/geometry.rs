//! The places of the MZIs, waveguides and fibres of a mesh, and the loss of light on its way. Written from the
//! documentation of meshes, not from the crate that routes.

use model::{MziMesh, MziPort};

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
        let interposer = [gpu / each / interposers[1], gpu / each % interposers[1]];
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
