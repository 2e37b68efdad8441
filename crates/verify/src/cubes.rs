//! Cubes of GPUs wired inside, of which only the faces reach switches: a table of where every port leads, read from
//! `docs/circuits.md`, and topologies held against it.

use std::collections::BTreeMap;

use model::{Connection, Error, Plan, Result, Shape, Topology};

use crate::report::{Check, Tally};

/// Where a port of a GPU leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lead {
    /// To a neighbour in the cube.
    Wire(u32),
    /// To a port of a switch, both from 0.
    Switch(usize, u32),
}

/// A fabric of cubes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cubes {
    sides: [u32; 3],
    grid: [u32; 3],
}

impl Cubes {
    /// # Errors
    /// Text that describes no cubes of this shape.
    pub(crate) fn of(text: &str, shape: &Shape) -> Result<Self> {
        let refuse = || {
            let given: String = text.chars().take(60).collect();
            let accepts = "`cubes:AxBxC`, a grid of such cubes, and six ports";
            Error::value("optics", format!("`{given}`"), accepts)
        };
        let numbers: Option<Vec<u32>> =
            text.strip_prefix("cubes:").unwrap_or("").split('x').map(|number| number.parse().ok()).collect();
        let sides = numbers.and_then(|sides| <[u32; 3]>::try_from(sides).ok()).ok_or_else(refuse)?;
        if sides.contains(&0) || shape.ports() != 6 {
            return Err(refuse());
        }
        let grid = match shape.dims() {
            [gpus] => [gpus / sides[1].saturating_mul(sides[2]).max(1), sides[1], sides[2]],
            dims => <[u32; 3]>::try_from(dims).map_err(|_| refuse())?,
        };
        let is_filled = (0..3).all(|axis| grid[axis] > 0 && grid[axis].is_multiple_of(sides[axis]));
        let is_all = u64::from(shape.gpus()) == grid.map(u64::from).iter().product::<u64>();
        if is_filled && is_all { Ok(Self { sides, grid }) } else { Err(refuse()) }
    }

    /// Switches, and the ports of each.
    pub(crate) fn switches(self) -> (usize, u32) {
        let [a, b, c] = self.sides;
        let cubes: u32 = (0..3).map(|axis| self.grid[axis] / self.sides[axis]).product();
        ((b * c + a * c + a * b) as usize, 2 * cubes)
    }

    fn number(self, [x, y, z]: [u32; 3]) -> u32 {
        (x * self.grid[1] + y) * self.grid[2] + z
    }

    /// The six ports of the GPU at three coordinates: down and up along each dimension.
    fn leads(self, at: [u32; 3]) -> [Lead; 6] {
        let ([a, b, c], [x, y, z]) = (self.sides, at);
        let (i, j, k) = (x % a, y % b, z % c);
        let cubes = [self.grid[1] / b, self.grid[2] / c];
        let cube = (x / a * cubes[0] + y / b) * cubes[1] + z / c;
        let faces = [j * c + k, b * c + i * c + k, b * c + a * c + i * b + j];
        std::array::from_fn(|port| {
            let (axis, up) = (port / 2, port as u32 % 2);
            let (place, side) = ([i, j, k][axis], self.sides[axis]);
            if place == up * (side - 1) {
                return Lead::Switch(faces[axis] as usize, 2 * cube + up);
            }
            let mut next = at;
            next[axis] = next[axis] + 2 * up - 1;
            Lead::Wire(self.number(next))
        })
    }

    fn of_gpu(self, gpu: u32) -> [Lead; 6] {
        let [_, rows, columns] = self.grid;
        self.leads([gpu / (rows * columns), gpu / columns % rows, gpu % columns])
    }

    /// The circuits of a topology that need a switch, by their GPUs.
    pub(crate) fn switched(self, topology: &Topology) -> BTreeMap<(u32, u32), u32> {
        let mut found = BTreeMap::new();
        for link in topology.expanded() {
            let wires = self.of_gpu(link.src).iter().filter(|lead| **lead == Lead::Wire(link.dst)).count() as u32;
            if link.count > wires {
                found.insert((link.src, link.dst), link.count - wires);
            }
        }
        found
    }

    /// The GPUs at the ends of a connection.
    pub(crate) fn ends(self, switch: usize, connection: &Connection) -> (u32, u32) {
        let [a, b, c] = self.sides;
        let [rows, columns] = [self.grid[1] / b, self.grid[2] / c];
        let at = |port: u32| {
            let cube = (port - 1) / 2;
            let first = [cube / columns / rows * a, cube / columns % rows * b, cube % columns * c];
            let all = (0..a * b * c).map(|gpu| [first[0] + gpu / c / b, first[1] + gpu / c % b, first[2] + gpu % c]);
            let mut leads = all.filter(|&at| self.leads(at).contains(&Lead::Switch(switch, port - 1)));
            leads.next().map_or(u32::MAX, |at| self.number(at))
        };
        (at(connection.ingress), at(connection.egress))
    }

    /// The faults of a topology: circuits without fibres, fibres that lead to two others.
    fn wrong(self, topology: &Topology) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut other_end: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        for ((src, dst), count) in self.switched(topology) {
            let at_switch =
                |lead: Lead| if let Lead::Switch(switch, port) = lead { Some((switch, port)) } else { None };
            let [out, into] = [src, dst].map(|gpu| self.of_gpu(gpu).into_iter().filter_map(at_switch));
            let into: Vec<(usize, u32)> = into.collect();
            // A switch joins an upper face to a lower one.
            let ways: Vec<(usize, u32, u32)> = out
                .flat_map(|(switch, port)| {
                    into.iter().filter(move |end| end.0 == switch).map(move |end| (switch, port, end.1))
                })
                .filter(|(_, port, end)| port % 2 != end % 2)
                .collect();
            let [(switch, port, end)] = ways[..] else {
                wrong.push(format!("no fibres of opposite faces for a circuit {src} → {dst}"));
                continue;
            };
            if count > 1 {
                wrong.push(format!("{count} circuits {src} → {dst} by one fibre"));
            }
            for (one, other) in [(port, end), (end, port)] {
                if *other_end.entry((switch, one)).or_insert(other) != other {
                    wrong.push(format!("a fibre of circuit {src} → {dst} leads to two others"));
                }
            }
        }
        wrong
    }
}

/// Holds the topologies of a plan against the wires and fibres of cubes.
pub(crate) fn check(plan: &Plan, spelling: &str) -> Check {
    let mut tally = Tally::new("optics");
    match Cubes::of(spelling, &plan.fabric.shape) {
        Err(error) => {
            tally.expect(false, || error.to_string());
        }
        Ok(cubes) => {
            for topology in plan.topologies.iter().chain(plan.fabric.initial.given()) {
                let wrong = cubes.wrong(topology);
                tally.expect(wrong.is_empty(), || format!("topology `{}`: {}", topology.name(), wrong[0]));
            }
        }
    }
    tally.into_check("topology", "on the wires of cubes and the fibres of their faces")
}
