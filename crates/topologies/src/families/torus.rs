//! Tori.

use model::{Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::{Parameters, Way, by};

/// A ring along every dimension of a grid.
pub(crate) struct Torus;

impl Family for Torus {
    fn name(&self) -> &'static str {
        "torus"
    }

    fn summary(&self) -> &'static str {
        "ring along each of D dimensions: two-way with 2D ports or more, one-way with D; \
         every 2D further ports (D if one-way) add a parallel circuit to each"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1; PCCL §5"
    }

    fn parameters(&self) -> &'static str {
        "[:AxBxC][,one-way|,two-way]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "torus, torus:AxBxC, torus:one-way or torus:AxBxC,two-way",
        };
        let (rest, way) = parameters.split_way();
        let dims = rest.dims(shape)?;
        let stated = if rest.text.trim().is_empty() { Vec::new() } else { vec![by(&dims)] };
        let stated: Vec<String> = stated.into_iter().chain(way.map(|way| way.name().to_string())).collect();
        let name = if stated.is_empty() { self.name().into() } else { format!("{}:{}", self.name(), stated.join(",")) };
        tori(name, &dims, &vec![1; dims.len()], way, shape.ports(), &parameters)
    }
}

/// The circuits that shift coordinate j of the grid `dims` by `shifts[j]`, and by `−shifts[j]` where the
/// way is two-way or not said and there are 2D ports, each as many times in parallel as ports allow
/// evenly. In a dimension of size 2 both directions lead to the same neighbour, over parallel circuits.
pub(super) fn tori(
    name: String,
    dims: &[u32],
    shifts: &[u32],
    way: Option<Way>,
    ports: u32,
    parameters: &Parameters,
) -> Result<Topology> {
    let rings = dims.len() as u32;
    let way = way.unwrap_or(if ports < 2 * rings { Way::OneWay } else { Way::TwoWay });
    let needed = if way == Way::OneWay { rings } else { 2 * rings };
    if ports < needed {
        return Err(parameters.refuse_shape(format!(
            "a {} torus of {rings} dimensions needs {needed} ports per GPU and the fabric has {ports}",
            way.name()
        )));
    }
    let count = ports / needed;
    let mut links = Vec::new();
    let mut stride = 1;
    for (&dim, &shift) in dims.iter().zip(shifts).rev() {
        links.push(Link { src: 0, dst: shift * stride, count });
        if way == Way::TwoWay {
            links.push(Link { src: 0, dst: (dim - shift) * stride, count });
        }
        stride *= dim;
    }
    Topology::new(name, Translations::grid(dims, &vec![1; dims.len()]), links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_by_one_in_one_coordinate() {
        for (dims, ports, way) in
            [(vec![3, 4, 5], 6, "two-way"), (vec![4, 4], 2, "one-way"), (vec![2, 6], 5, "two-way")]
        {
            let shape = Shape::new(dims.iter().product(), &dims, ports).unwrap();
            let torus = Torus.build(&shape, "").unwrap();
            assert!(torus.same_links(&Torus.build(&shape, way).unwrap()));
            assert_eq!(torus.symmetry().order(), shape.gpus());
            for link in torus.expanded() {
                let (src, dst) = (shape.coordinates(link.src), shape.coordinates(link.dst));
                let moved: Vec<usize> = (0..dims.len()).filter(|&j| src[j] != dst[j]).collect();
                assert_eq!(moved.len(), 1);
                let (j, dim) = (moved[0], dims[moved[0]]);
                let forward = (src[j] + 1) % dim == dst[j];
                assert!(forward || (way == "two-way" && (dst[j] + 1) % dim == src[j]));
                assert_eq!(link.count, if dim == 2 { 2 } else { 1 });
            }
            let per_gpu = if way == "two-way" { 2 } else { 1 } * dims.len() as u64;
            assert_eq!(torus.circuits(), per_gpu * u64::from(shape.gpus()));
        }
    }

    #[test]
    fn spare_ports_make_parallel_circuits_evenly() {
        let shape = Shape::new(16, &[4, 4], 11).unwrap();
        assert_eq!(Torus.build(&shape, "").unwrap().degree(), 8);
        assert_eq!(Torus.build(&shape, "one-way").unwrap().degree(), 10);
    }

    #[test]
    fn dimensions_come_from_the_spec_or_the_shape() {
        let shape = Shape::new(64, &[], 6).unwrap();
        let torus = Torus.build(&shape, "4x4x4").unwrap();
        assert_eq!(torus.name(), "torus:4x4x4");
        assert_eq!(torus.links().len(), 6);
        for wrong in ["4x4", "4x4x4x", "x", "0x64", "64x1", "-8x-8", "4294967296x1", "8,8", "8x8,8"] {
            let error = Torus.build(&shape, wrong).unwrap_err().to_string();
            assert!(error.starts_with("topology: "), "{error}");
        }
        let error = Torus.build(&Shape::new(64, &[4, 4, 4], 2).unwrap(), "").unwrap_err().to_string();
        assert!(error.contains("needs 3 ports"), "{error}");
    }
}
