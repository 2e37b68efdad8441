//! Grids, which are tori without the wrap-around circuits.

use model::{Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::{Parameters, by};

/// The family in which each rank is joined to the next and the previous one along every dimension, where there is one.
pub(crate) struct Grid;

impl Family for Grid {
    fn name(&self) -> &'static str {
        "grid"
    }

    fn summary(&self) -> &'static str {
        "mesh: neighbours along each dimension without wrap-around, with parallel circuits where ports allow evenly"
    }

    fn source(&self) -> &'static str {
        "PCCL §5 (2-D and 3-D grids)"
    }

    fn parameters(&self) -> &'static str {
        "[:AxBxC]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters { family: self.name(), text: parameters, accepts: "grid or grid:AxBxC" };
        let dims = parameters.dims(shape)?;
        let name = if parameters.text.trim().is_empty() { "grid".into() } else { format!("grid:{}", by(&dims)) };
        let needed: u32 = dims.iter().map(|&dim| (dim - 1).min(2)).sum();
        if shape.ports() < needed {
            return Err(parameters.refuse_shape(format!(
                "it needs {needed} ports per GPU for {} and the fabric has {}",
                by(&dims),
                shape.ports()
            )));
        }
        let count = shape.ports() / needed;
        // Only a dimension of two ranks, which has no border, keeps its translation.
        let periods: Vec<u32> = dims.iter().map(|&dim| if dim == 2 { 1 } else { dim }).collect();
        let symmetry = Translations::grid(&dims, &periods);
        let mut links = Vec::new();
        for src in symmetry.representatives() {
            let mut stride = 1;
            for &dim in dims.iter().rev() {
                let coordinate = src / stride % dim;
                if coordinate + 1 < dim {
                    links.push(Link { src, dst: src + stride, count });
                }
                if coordinate > 0 {
                    links.push(Link { src, dst: src - stride, count });
                }
                stride *= dim;
            }
        }
        Topology::new(name, symmetry, links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_at_distance_one() {
        for dims in [vec![5], vec![3, 4], vec![2, 3, 4], vec![2, 2], vec![2, 5, 2]] {
            let shape = Shape::new(dims.iter().product(), &dims, 6).unwrap();
            let grid = Grid.build(&shape, "").unwrap();
            let mut pairs: Vec<(u32, u32)> = grid.expanded().iter().map(|link| (link.src, link.dst)).collect();
            let mut expected = Vec::new();
            for src in 0..shape.gpus() {
                for dst in 0..shape.gpus() {
                    let (a, b) = (shape.coordinates(src), shape.coordinates(dst));
                    if a.iter().zip(&b).map(|(x, y)| x.abs_diff(*y)).sum::<u32>() == 1 {
                        expected.push((src, dst));
                    }
                }
            }
            pairs.sort_unstable();
            assert_eq!(pairs, expected, "{dims:?}");
        }
    }

    #[test]
    fn no_symmetry_is_missed() {
        for dims in [vec![5], vec![3, 4], vec![2, 3, 4], vec![2, 2], vec![4, 4], vec![2, 5, 2]] {
            let shape = Shape::new(dims.iter().product(), &dims, 6).unwrap();
            let grid = Grid.build(&shape, "").unwrap();
            assert_eq!(grid.clone().with_found_symmetry().symmetry().order(), grid.symmetry().order(), "{dims:?}");
        }
    }

    #[test]
    fn ports_are_what_inner_ranks_need() {
        let ports = |dims: &[u32], ports| Grid.build(&Shape::new(dims.iter().product(), dims, ports).unwrap(), "");
        assert!(ports(&[4, 4], 3).is_err());
        assert_eq!(ports(&[4, 4], 9).unwrap().degree(), 8);
        assert_eq!(ports(&[2, 4], 3).unwrap().degree(), 3);
    }
}
