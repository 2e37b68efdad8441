//! Whether the light of a mesh of MZIs is that of the circuits: paths, losses, and where the states of MZIs lead.

use std::collections::{BTreeMap, BTreeSet};

use model::{Circuits, LightPath, MziMesh, MziPort, MziState, Plan, Result, Shape, counted};

use super::circuit_name::at;
use super::fibres;
use super::geometry::Geometry;
use super::lasers;
use super::mesh_description::compare;
use crate::report::{Check, Tally, agree};

/// The most by which a loss may be off, relative to it, as decibels are added in any order.
const TOLERANCE: f64 = 1e-9;

/// Judges the light of `circuits`, of a plan or of an iteration. `described` is the text after `mesh:`, where the mesh
/// was described: it has to be that of the file.
///
/// # Errors
/// Text that describes no mesh.
pub(super) fn checks(
    circuits: &Circuits,
    shape: &Shape,
    plan: Option<&Plan>,
    described: Option<&str>,
) -> Result<Vec<Check>> {
    if circuits.light().is_empty() {
        let mut tally = Tally::new("mesh");
        tally.expect(described.is_none(), || "the circuits have no light, although the optical layer is a mesh".into());
        return Ok(if described.is_none() { Vec::new() } else { vec![tally.into_check("mesh", "")] });
    }
    let Some(mesh) = circuits.mesh() else { return Ok(vec![counts_check(circuits)]) };
    let geometry = Geometry { mesh, gpus: shape.gpus() };
    let mut tally = Tally::new("mesh");
    if let Some(text) = described {
        compare(mesh, text, shape.ports(), &mut tally)?;
    }
    let (gpus, tiles) = geometry.gpus_and_tiles();
    let has_tiles = tally.expect(gpus <= tiles, || {
        let [gpus, tiles] = [counted(u64::from(gpus), "GPU"), counted(u64::from(tiles), "tile")];
        format!("an interposer has {tiles} for {gpus}")
    });
    let what = if described.is_some() { "of the mesh as it was described" } else { "of the mesh that the file states" };
    let mut checks = vec![tally.into_check("number", what)];
    if has_tiles {
        let lit = Lit { geometry, ports: shape.ports() };
        checks.extend([lit.paths_check(circuits), lit.losses_check(circuits), lit.states_check(circuits)]);
        let has_powers = circuits.light().iter().any(|light| light.paths.iter().any(|path| path.launch_mw.is_some()));
        if mesh.launch_power.is_some() || has_powers {
            checks.push(lasers::power_check(circuits, geometry, shape, plan));
        }
        checks.extend(fibres::check(circuits, geometry, plan));
        checks.extend(plan.and_then(|plan| lasers::energy_check(circuits, geometry, plan)));
    }
    Ok(checks)
}

/// A check for a file that does not say how its mesh is built: whether every MZI has a state for each circuit that
/// passes it, by wavelength, and no other.
fn counts_check(circuits: &Circuits) -> Check {
    let mut tally = Tally::new("light");
    for (index, light) in circuits.light().iter().enumerate() {
        let mut passages: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
        for path in &light.paths {
            path.mzis.iter().for_each(|&mzi| passages.entry((mzi, path.wavelength)).or_default().0 += 1);
        }
        for state in &light.mzis {
            passages.entry((state.mzi, state.wavelength)).or_default().1 += 1;
        }
        for ((mzi, wavelength), (circuits, states)) in passages {
            tally.expect(circuits == states, || {
                let [circuits, states] = [counted(circuits as u64, "circuit"), counted(states as u64, "state")];
                format!(
                    "configuration {}: MZI {mzi} passes {circuits} of wavelength {wavelength} and has {states}",
                    index + 1
                )
            });
        }
    }
    tally.into_check(
        "MZI",
        "and wavelengths with a state for each circuit; the file does not say how its mesh is built: paths, losses and \
         where states lead are stated, not checked",
    )
}

/// Circuits in a mesh with a tile for each GPU.
#[derive(Clone, Copy)]
struct Lit<'a> {
    geometry: Geometry<'a>,
    /// Ports of a GPU.
    ports: u32,
}

impl Lit<'_> {
    /// Checks that each path of light leads from MZI to neighbouring MZI, from the tile of its transmitter to that of
    /// its receiver, on existing waveguides and an existing wavelength, and that no waveguide carries a wavelength
    /// twice.
    fn paths_check(self, circuits: &Circuits) -> Check {
        let mut tally = Tally::new("paths");
        for (index, light) in circuits.light().iter().enumerate() {
            let mut carried = BTreeMap::new();
            for path in &light.paths {
                let fault = self.way_fault(path);
                tally.expect(fault.is_none(), || format!("{}: {}", at(index, path), fault.unwrap_or_default()));
                for (pair, &lane) in path.mzis.windows(2).zip(&path.waveguides) {
                    let other = carried.insert((pair[0], pair[1], lane, path.wavelength), path.connection.ingress);
                    tally.expect(other.is_none(), || {
                        let (here, next, wavelength) = (pair[0], pair[1], path.wavelength);
                        format!(
                            "{}: waveguide {lane} from MZI {here} to MZI {next} carries wavelength {wavelength} of the \
                             circuit from port {} already",
                            at(index, path),
                            other.unwrap_or_default()
                        )
                    });
                }
            }
        }
        tally.into_check(
            "statement",
            "of paths: from tile to tile over existing waveguides, no wavelength twice on one of them",
        )
    }

    /// The fault of a path, by itself.
    fn way_fault(self, path: &LightPath) -> Option<String> {
        let Self { geometry, ports } = self;
        let MziMesh { wavelengths, transmitters, receivers, .. } = *geometry.mesh;
        let ends = [
            (path.connection.ingress, path.mzis.first(), "starts", "transmitter", transmitters),
            (path.connection.egress, path.mzis.last(), "ends", "receiver", receivers),
        ];
        for (port, mzi, verb, noun, count) in ends {
            let (gpu, number) = ((port - 1) / ports, (port - 1) % ports);
            let own = geometry.mzi_of_gpu(gpu);
            if own.is_none() {
                return Some(format!("port {port} belongs to no GPU"));
            }
            if own != mzi.copied() {
                let [found, own] = [mzi.copied(), own].map(|mzi| mzi.map_or("none".to_string(), |mzi| mzi.to_string()));
                return Some(format!("its path {verb} at MZI {found}, and the tile of GPU {gpu} is at MZI {own}"));
            }
            if number >= count {
                let has = counted(u64::from(count), noun);
                return Some(format!("it uses {noun} {number} (from 0) of the tile of GPU {gpu}, which has {has}"));
            }
        }
        if path.wavelength >= wavelengths {
            return Some(format!("it uses wavelength {} (from 0) of {wavelengths}", path.wavelength));
        }
        if path.waveguides.len() + 1 != path.mzis.len() {
            return Some(format!("its path has {} MZIs and {} waveguides", path.mzis.len(), path.waveguides.len()));
        }
        for (pair, &lane) in path.mzis.windows(2).zip(&path.waveguides) {
            let (here, next) = (pair[0], pair[1]);
            let lanes = geometry.lanes(here, next);
            if lanes == 0 {
                return Some(format!("nothing joins MZI {here} to MZI {next}"));
            }
            if lane >= lanes {
                return Some(format!("it uses waveguide {lane} (from 0) of {lanes} from MZI {here} to MZI {next}"));
            }
        }
        None
    }

    /// Checks that each stated loss is that of its path, and within the limit.
    fn losses_check(self, circuits: &Circuits) -> Check {
        let mut tally = Tally::new("losses");
        for (index, light) in circuits.light().iter().enumerate() {
            for path in &light.paths {
                let Some(loss_db) = self.geometry.loss_db(&path.mzis) else { continue };
                tally.expect(agree(path.loss_db, loss_db, TOLERANCE), || {
                    format!("{}: its path loses {loss_db} dB, and {} dB are stated", at(index, path), path.loss_db)
                });
                let limit_db = self.geometry.mesh.max_loss_db.unwrap_or(f64::INFINITY);
                tally.expect(loss_db <= limit_db + TOLERANCE, || {
                    format!("{}: its path loses {loss_db} dB, more than the limit of {limit_db} dB", at(index, path))
                });
            }
        }
        tally.into_check("number", "of losses, recomputed from the paths and compared with the limit")
    }

    /// Checks that light followed from every transmitter through the states takes the stated path to the stated
    /// receiver, and that it passes all states.
    fn states_check(self, circuits: &Circuits) -> Check {
        let mut tally = Tally::new("states");
        for (index, light) in circuits.light().iter().enumerate() {
            let mut through: BTreeMap<(u32, u32, MziPort), MziPort> = BTreeMap::new();
            let mut outputs = BTreeSet::new();
            for state in &light.mzis {
                let MziState { mzi, wavelength, input, output } = *state;
                let is_new = through.insert((mzi, wavelength, input), output).is_none();
                tally.expect(is_new && outputs.insert((mzi, wavelength, output)), || {
                    format!(
                        "configuration {}: MZI {mzi} has two states for one input or output on wavelength {wavelength}",
                        index + 1
                    )
                });
            }
            for path in &light.paths {
                let fault = self.light_fault(path, &mut through);
                tally.expect(fault.is_none(), || format!("{}: {}", at(index, path), fault.unwrap_or_default()));
            }
            let left_over = through.keys().next().map(|&(mzi, wavelength, enters)| {
                let (number, enters) = (index + 1, words(enters, "transmitter"));
                format!(
                    "configuration {number}: MZI {mzi} has a state for light of wavelength {wavelength} that enters \
                    {enters}, \
                     and none does"
                )
            });
            tally.expect(left_over.is_none(), || left_over.unwrap_or_default());
        }
        tally.into_check(
            "statement",
            "of states: light followed from every transmitter to its receiver, no state left over",
        )
    }

    /// The place where the light of a circuit goes wrong; takes the states that it passes.
    fn light_fault(self, path: &LightPath, through: &mut BTreeMap<(u32, u32, MziPort), MziPort>) -> Option<String> {
        let Self { geometry, ports } = self;
        let of = |port: u32| (geometry.mzi_of_gpu((port - 1) / ports), (port - 1) % ports);
        let ((start, transmitter), (end, receiver)) = (of(path.connection.ingress), of(path.connection.egress));
        let (mut mzi, mut enters) = (start?, MziPort::Tile(transmitter));
        let mut place = 0;
        loop {
            if path.mzis.get(place) != Some(&mzi) {
                return Some(format!("its light comes to MZI {mzi}, and its path does not"));
            }
            let Some(leaves) = through.remove(&(mzi, path.wavelength, enters)) else {
                return Some(format!(
                    "its light ends at MZI {mzi}, which has no state for wavelength {} that enters {}",
                    path.wavelength,
                    words(enters, "transmitter")
                ));
            };
            if let MziPort::Tile(_) = leaves {
                let arrives = (Some(mzi), leaves) == (end, MziPort::Tile(receiver)) && place + 1 == path.mzis.len();
                let place = words(leaves, "receiver");
                return (!arrives)
                    .then(|| format!("its light leaves MZI {mzi} {place}, which is not the end of the circuit"));
            }
            let Some(next) = geometry.beyond(mzi, leaves) else {
                return Some(format!(
                    "its light leaves MZI {mzi} {}, where there is nothing",
                    words(leaves, "receiver")
                ));
            };
            if path.waveguides.get(place) != Some(&number(leaves)) {
                return Some(format!(
                    "its light leaves MZI {mzi} {}, and its path does not",
                    words(leaves, "receiver")
                ));
            }
            (mzi, enters) = next;
            place += 1;
        }
    }
}

fn number(port: MziPort) -> u32 {
    match port {
        MziPort::North(number)
        | MziPort::East(number)
        | MziPort::South(number)
        | MziPort::West(number)
        | MziPort::Tile(number) => number,
    }
}

/// The place where light enters or leaves, in words; `tile` says what of the tile.
fn words(port: MziPort, tile: &str) -> String {
    let (place, noun) = match port {
        MziPort::North(_) => ("in the north", "waveguide"),
        MziPort::East(_) => ("in the east", "waveguide"),
        MziPort::South(_) => ("in the south", "waveguide"),
        MziPort::West(_) => ("in the west", "waveguide"),
        MziPort::Tile(_) => ("at its tile", tile),
    };
    format!("{place} by {noun} {}", number(port))
}
