//! Twisted tori.

use model::{Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::{Parameters, by};

/// A torus whose short rings end where they began, moved on by half of every long ring.
pub(crate) struct TwistedTorus;

impl Family for TwistedTorus {
    fn name(&self) -> &'static str {
        "twisted-torus"
    }

    fn summary(&self) -> &'static str {
        "two-way torus whose dimensions are K or 2K: once round one of K leads half of the way along those of 2K; \
         ports as for torus"
    }

    fn source(&self) -> &'static str {
        "Cámara et al., Twisted torus topologies, TPDS 2010; Jouppi et al. 2023, TPU v4, §2.8"
    }

    fn parameters(&self) -> &'static str {
        "[:AxBxC]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "twisted-torus or twisted-torus:AxBxC, dimensions of K and of 2K",
        };
        let dims = parameters.dims(shape)?;
        let longest = dims.iter().copied().max().unwrap_or(0);
        let is_short = |dim: u32| 2 * dim == longest;
        if !dims.iter().any(|&dim| is_short(dim)) || !dims.iter().all(|&dim| dim == longest || is_short(dim)) {
            let reason = format!("dimensions are {}, where some have to be half of all others", by(&dims));
            return Err(parameters.refuse_shape(reason));
        }
        let count = shape.ports() / (2 * dims.len() as u32);
        if count == 0 {
            let (axes, ports) = (dims.len(), shape.ports());
            let reason = format!("{axes} dimensions need {} ports per GPU and the fabric has {ports}", 2 * axes);
            return Err(parameters.refuse_shape(reason));
        }
        let grid = Shape::new(shape.gpus(), &dims, shape.ports())?;
        // Translations along the long dimensions leave all of it as it is.
        let periods: Vec<u32> = dims.iter().map(|&dim| if is_short(dim) { dim } else { 1 }).collect();
        let symmetry = Translations::grid(&dims, &periods);
        let neighbour = |rank, axis: usize, is_up: bool| {
            let mut at = grid.coordinates(rank);
            let edge = if is_up { dims[axis] - 1 } else { 0 };
            if is_short(dims[axis]) && at[axis] == edge {
                for (other, &dim) in dims.iter().enumerate().filter(|&(_, &dim)| dim == longest) {
                    at[other] = (at[other] + dim / 2) % dim;
                }
            }
            at[axis] = (at[axis] + if is_up { 1 } else { dims[axis] - 1 }) % dims[axis];
            grid.rank(&at)
        };
        let mut links = Vec::new();
        for src in symmetry.representatives() {
            for axis in 0..dims.len() {
                links.extend([true, false].map(|is_up| Link { src, dst: neighbour(src, axis, is_up), count }));
            }
        }
        let name = match parameters.text.trim() {
            "" => self.name().to_string(),
            _ => format!("{}:{}", self.name(), by(&dims)),
        };
        Topology::new(name, symmetry, links)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Ranks by their number of hops from rank 0.
    fn distances(topology: &Topology) -> Vec<u32> {
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for link in topology.expanded() {
            next.entry(link.src).or_default().push(link.dst);
        }
        let mut hops = vec![u32::MAX; topology.ranks() as usize];
        hops[0] = 0;
        let mut queue = vec![0];
        for at in 0.. {
            let Some(&src) = queue.get(at) else { break };
            for &dst in &next[&src] {
                if hops[dst as usize] == u32::MAX {
                    hops[dst as usize] = hops[src as usize] + 1;
                    queue.push(dst);
                }
            }
        }
        hops
    }

    #[test]
    fn distances_are_those_of_the_literature() {
        // Cámara et al. 2010, table 1, for a×a×2a and a×2a×2a with a = 4: the twist shortens the longest path and the mean.
        for dims in [vec![4, 4, 8], vec![4, 8, 8]] {
            let shape = Shape::new(dims.iter().product(), &dims, 6).unwrap();
            let [twisted, plain] = ["twisted-torus", "torus"].map(|name| super::super::build(name, &shape).unwrap());
            assert_eq!(twisted.circuits(), plain.circuits());
            let [twisted, plain] = [&twisted, &plain].map(distances);
            assert!(twisted.iter().max() < plain.iter().max(), "{dims:?}");
            assert!(twisted.iter().sum::<u32>() < plain.iter().sum::<u32>(), "{dims:?}");
        }
    }

    #[test]
    fn every_circuit_has_one_the_other_way() {
        let shape = Shape::new(2 * 4, &[2, 4], 4).unwrap();
        let topology = TwistedTorus.build(&shape, "").unwrap();
        let links = topology.expanded();
        assert!(links.iter().all(|link| {
            links.iter().any(|back| (back.src, back.dst) == (link.dst, link.src) && back.count == link.count)
        }));
        for wrong in ["4x2x1", "8", "2x4,one-way", "x"] {
            assert!(TwistedTorus.build(&shape, wrong).is_err(), "{wrong}");
        }
        assert!(TwistedTorus.build(&Shape::new(16, &[4, 4], 4).unwrap(), "").is_err());
        assert!(TwistedTorus.build(&Shape::new(8, &[2, 4], 3).unwrap(), "").is_err());
    }
}
