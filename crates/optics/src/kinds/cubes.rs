//! Cubes of GPUs wired inside, of which only the faces reach optical switches (TPU v4).
//!
//! `cubes:AxBxC`: the GPUs are a grid, `--dims`, or cubes one after the other along the first dimension; blocks of A×B×C
//! of it are cubes, in their row-major order. A GPU has two ports along every dimension. Inside a cube fixed wires join
//! neighbours; a port at a face is a fibre that carries light both ways. The fibres at one place of the two faces across
//! a dimension, of all cubes, end at one switch, which joins upper faces to lower ones, those of one cube or of two.

use std::collections::{BTreeMap, BTreeSet};

use model::{Connection, Error, Fabric, Rank, Result, Shape, Switch, Topology};

use crate::cutoffs::kinds_cubes::MOST_SIDE;
use crate::held::Held;
use crate::kind::{Assignment, Kind, PortMap};

/// Cubes whose faces are at switches.
pub(super) struct OfCubes;

/// Dimensions of a cube.
const AXES: usize = 3;

type Place = [u32; AXES];

/// The cubes of a fabric.
struct Cubes {
    sides: Place,
    grid: Place,
}

/// A fibre of a GPU: along a dimension, at the upper face or at the lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fibre {
    gpu: Rank,
    axis: usize,
    is_upper: bool,
}

/// Sides of a cube.
///
/// # Errors
/// Anything but three whole numbers within bounds.
fn sides(parameters: &str) -> Result<Place> {
    let whole = |text: &str| text.parse::<u32>().ok().filter(|side| (2..=MOST_SIDE).contains(side));
    let all: Option<Vec<u32>> = parameters.split('x').map(whole).collect();
    all.and_then(|all| Place::try_from(all).ok()).ok_or_else(|| {
        let given: String = parameters.chars().take(60).collect();
        let colon = if given.is_empty() { "" } else { ":" };
        let accepts = format!("`cubes:AxBxC`, three sides from 2 to {MOST_SIDE}, such as cubes:4x4x4");
        Error::value("optics", format!("`cubes{colon}{given}`"), accepts)
    })
}

impl Cubes {
    /// # Errors
    /// Parameters that do not go with the GPUs, their grid or their ports.
    fn of(parameters: &str, shape: &Shape) -> Result<Self> {
        let sides = sides(parameters)?;
        let ports = 2 * AXES as u32;
        if shape.ports() != ports {
            let accepts = format!("{ports} with optics of cubes, two along each dimension");
            return Err(Error::value("ports", shape.ports(), accepts));
        }
        if shape.fabric_gpus() != shape.gpus() {
            return Err(Error::value("ranks", "some GPUs", "all GPUs with optics of cubes"));
        }
        let of_cube: u32 = sides.iter().product();
        let spelled = || sides.map(|side| side.to_string()).join("x");
        if !shape.gpus().is_multiple_of(of_cube) {
            let accepts = format!("a multiple of {of_cube}, with optics of cubes of {} GPUs", spelled());
            return Err(Error::value("gpus", shape.gpus(), accepts));
        }
        let in_a_row = [shape.gpus() / of_cube * sides[0], sides[1], sides[2]];
        let grid = if shape.dims().len() == 1 { Some(in_a_row) } else { Place::try_from(shape.dims()).ok() };
        let fits = |grid: &Place| grid.iter().zip(&sides).all(|(size, side)| size.is_multiple_of(*side));
        let grid = grid.filter(fits).ok_or_else(|| {
            let given: Vec<String> = shape.dims().iter().map(u32::to_string).collect();
            let accepts = format!("three dimensions that are multiples of those of cubes of {} GPUs", spelled());
            Error::value("dims", given.join("x"), accepts)
        })?;
        Ok(Self { sides, grid })
    }

    /// The coordinates of a GPU in its cube, and those of the cube.
    fn place(&self, gpu: Rank) -> (Place, Place) {
        let [_, rows, columns] = self.grid;
        let at = [gpu / columns / rows, gpu / columns % rows, gpu % columns];
        let both = |axis: usize| (at[axis] % self.sides[axis], at[axis] / self.sides[axis]);
        (std::array::from_fn(|axis| both(axis).0), std::array::from_fn(|axis| both(axis).1))
    }

    /// The number of a cube by its coordinates.
    fn cube(&self, at: Place) -> u32 {
        (0..AXES).fold(0, |number, axis| number * (self.grid[axis] / self.sides[axis]) + at[axis])
    }

    fn count(&self) -> u32 {
        (0..AXES).map(|axis| self.grid[axis] / self.sides[axis]).product()
    }

    /// Places of a face across a dimension.
    fn places(&self, axis: usize) -> u32 {
        (0..AXES).filter(|&other| other != axis).map(|other| self.sides[other]).product()
    }

    /// The switch and the port, from 1, at which a fibre ends.
    fn end(&self, Fibre { gpu, axis, is_upper }: Fibre) -> (usize, u32) {
        let (inside, cube) = self.place(gpu);
        let others = (0..AXES).filter(|&other| other != axis);
        let place = others.fold(0, |number, other| number * self.sides[other] + inside[other]);
        let before: u32 = (0..axis).map(|axis| self.places(axis)).sum();
        ((before + place) as usize, 2 * self.cube(cube) + 1 + u32::from(is_upper))
    }

    /// The fibres by which a switch can join two GPUs, of which it has one pair at most.
    fn fibres(&self, src: Rank, dst: Rank) -> Option<(Fibre, Fibre)> {
        let ((from, _), (to, _)) = (self.place(src), self.place(dst));
        let mut apart = (0..AXES).filter(|&axis| from[axis] != to[axis]);
        let (axis, None) = (apart.next()?, apart.next()) else { return None };
        let last = self.sides[axis] - 1;
        let is_upper = from[axis] == last;
        let is_across = [(last, 0), (0, last)].contains(&(from[axis], to[axis]));
        is_across.then_some((Fibre { gpu: src, axis, is_upper }, Fibre { gpu: dst, axis, is_upper: !is_upper }))
    }

    /// Whether a wire joins two GPUs.
    fn is_wired(&self, src: Rank, dst: Rank) -> bool {
        let ((from, here), (to, there)) = (self.place(src), self.place(dst));
        here == there && (0..AXES).map(|axis| from[axis].abs_diff(to[axis])).sum::<u32>() == 1
    }

    /// The pairs of fibres by which switches carry a topology's circuits; wires carry the others.
    ///
    /// # Errors
    /// A circuit for which there is neither, or fibres that would have to lead to two others.
    fn joined(&self, topology: &Topology) -> Result<BTreeSet<(Fibre, Fibre)>> {
        let mut joined = BTreeSet::new();
        let mut other_end: BTreeMap<Fibre, Fibre> = BTreeMap::new();
        let refuse = |reason: String| Err(Error::infeasible("optics", format!("{}: {reason}", topology.name())));
        for link in topology.expanded() {
            interruption::check();
            let rest = link.count - u32::from(self.is_wired(link.src, link.dst));
            if rest == 0 {
                continue;
            }
            let (src, dst) = (link.src, link.dst);
            let Some((from, to)) = self.fibres(src, dst).filter(|_| rest == 1) else {
                return refuse(format!(
                    "no wire of a cube and no fibres of opposite faces are left for a circuit from GPU {src} to GPU {dst}"
                ));
            };
            for (fibre, end) in [(from, to), (to, from)] {
                let known = *other_end.entry(fibre).or_insert(end);
                if known != end {
                    let (gpu, one, two) = (fibre.gpu, known.gpu, end.gpu);
                    return refuse(format!("GPU {gpu} would be joined to GPUs {one} and {two} by one fibre"));
                }
            }
            joined.insert((from, to));
        }
        Ok(joined)
    }
}

impl Kind for OfCubes {
    fn name(&self) -> &'static str {
        "cubes"
    }

    fn parameters(&self) -> &'static str {
        "AxBxC"
    }

    fn summary(&self) -> &'static str {
        "cubes of AxBxC GPUs wired inside; a switch for each place of opposite faces joins those of all cubes"
    }

    fn source(&self) -> &'static str {
        "Jouppi et al. 2023, TPU v4, §2"
    }

    fn numbering(&self) -> &'static str {
        "GPUs are a grid (--dims, or cubes in a row along the first dimension), row by row, cubes its blocks; for each \
        dimension in turn and each place of a face across it, row by row, a switch has port 2c + 1 at the lower face of \
        cube c and port 2c + 2 at the upper one (from 0), as ingress and as egress port"
    }

    fn check(&self, parameters: &str) -> Result<()> {
        sides(parameters).map(|_| ())
    }

    fn port_map(&self, parameters: &str, shape: &Shape) -> Result<PortMap> {
        let cubes = Cubes::of(parameters, shape)?;
        let ports = 2 * cubes.count();
        let (mut switches, mut ends) = (Vec::new(), Vec::new());
        for axis in 0..AXES {
            for place in 0..cubes.places(axis) {
                switches.push(Switch { name: format!("face-{axis}.{place}"), ports });
                ends.push(vec![String::new(); ports as usize]);
            }
        }
        for gpu in 0..shape.gpus() {
            let (inside, _) = cubes.place(gpu);
            for (axis, place) in inside.into_iter().enumerate() {
                for is_upper in [false, true] {
                    if place == if is_upper { cubes.sides[axis] - 1 } else { 0 } {
                        let (switch, port) = cubes.end(Fibre { gpu, axis, is_upper });
                        ends[switch][port as usize - 1] = gpu.to_string();
                    }
                }
            }
        }
        Ok(PortMap { switches, ends })
    }

    fn admits(&self, parameters: &str, shape: &Shape, topology: &Topology) -> Result<()> {
        Cubes::of(parameters, shape)?.joined(topology).map(|_| ())
    }

    /// The torus of the whole grid, and the twisted one.
    fn topologies(&self, parameters: &str, shape: &Shape) -> Vec<String> {
        let Ok(cubes) = Cubes::of(parameters, shape) else { return Vec::new() };
        let grid = cubes.grid.map(|size| size.to_string()).join("x");
        let longest = cubes.grid.into_iter().max().unwrap_or(0);
        let short = cubes.grid.into_iter().filter(|&dim| 2 * dim == longest).count();
        let long = cubes.grid.into_iter().filter(|&dim| dim == longest).count();
        // A torus is twisted where its short dimensions are half of all others.
        let can_be_twisted = short > 0 && short + long == cubes.grid.len();
        let families = ["torus"].into_iter().chain(can_be_twisted.then_some("twisted-torus"));
        families.map(|family| format!("{family}:{grid}")).collect()
    }

    fn assign(&self, parameters: &str, fabric: &Fabric, held: &[Held]) -> Result<Assignment> {
        let cubes = Cubes::of(parameters, &fabric.shape)?;
        let switches: u32 = (0..AXES).map(|axis| cubes.places(axis)).sum();
        let mut before = BTreeSet::new();
        let (mut connections, mut least_connects) = (Vec::with_capacity(held.len()), 0);
        for (index, held) in held.iter().enumerate() {
            let refused = |error: Error| Error::infeasible("optics", format!("{}, {}", error.reason(), held.when()));
            let joined = cubes.joined(held.topology).map_err(refused)?;
            let mut of_switch = vec![Vec::new(); switches as usize];
            for &(from, to) in &joined {
                let ((switch, ingress), (_, egress)) = (cubes.end(from), cubes.end(to));
                of_switch[switch].push(Connection { ingress, egress });
            }
            of_switch.iter_mut().for_each(|connections| connections.sort_unstable());
            if index > 0 {
                least_connects += joined.difference(&before).count() as u64;
            }
            connections.push(of_switch);
            before = joined;
        }
        Ok(Assignment { connections, least_connects })
    }
}

#[cfg(test)]
mod tests {
    use model::{Link, Translations};

    use super::*;

    fn fits(links: &[(Rank, Rank, u32)], dims: &[u32], gpus: u32) -> bool {
        let links = links.iter().map(|&(src, dst, count)| Link { src, dst, count });
        let topology = Topology::new("given", Translations::trivial(gpus), links).unwrap();
        OfCubes.admits("2x2x2", &Shape::new(gpus, dims, 6).unwrap(), &topology).is_ok()
    }

    #[test]
    fn only_faces_reach_switches() {
        // Two cubes of eight GPUs in a row: GPU 4 is on the upper face of the first, 8 on the lower one of the second.
        assert!(fits(&[(4, 8, 1), (8, 4, 1), (12, 0, 1), (0, 4, 1)], &[], 16));
        assert!(fits(&[(0, 4, 2), (4, 0, 2)], &[], 16), "a wire and the fibres of both faces");
        assert!(!fits(&[(0, 4, 3)], &[], 16), "three");
        assert!(!fits(&[(0, 8, 1)], &[], 16), "both on lower faces");
        assert!(!fits(&[(0, 12, 1), (12, 8, 1), (0, 4, 2)], &[], 16), "GPU 0's lower fibre to two others");
        assert!(!fits(&[(4, 8, 1), (12, 8, 2)], &[], 16), "GPU 8's lower fibre to two others");
        assert!(!fits(&[(0, 3, 1)], &[], 16), "a diagonal");
    }

    #[test]
    fn cubes_go_with_grid_and_ports() {
        let refused = |gpus, dims: &[u32], ports| {
            let shape = Shape::new(gpus, dims, ports).unwrap();
            OfCubes.port_map("2x2x2", &shape).err().map(|error| error.field().to_string())
        };
        assert_eq!(refused(16, &[2, 2, 4], 6), None);
        assert_eq!(refused(16, &[], 4).as_deref(), Some("ports"));
        assert_eq!(refused(12, &[], 6).as_deref(), Some("gpus"));
        assert_eq!(refused(24, &[3, 2, 4], 6).as_deref(), Some("dims"));
        assert_eq!(refused(16, &[4, 4], 6).as_deref(), Some("dims"));
        for wrong in ["", "4x4", "4x4x4x4", "1x4x4", "4x4xx", "4x4x-4"] {
            assert_eq!(OfCubes.check(wrong).unwrap_err().field(), "optics", "{wrong}");
        }
        // 48 switches of 128 ports for 64 cubes (Jouppi et al. 2023, figure 2).
        let map = OfCubes.port_map("4x4x4", &Shape::new(4096, &[], 6).unwrap()).unwrap();
        assert_eq!((map.switches.len(), map.switches[0].ports), (48, 128));
        assert!(map.ends.iter().flatten().all(|end| !end.is_empty()));
    }
}
