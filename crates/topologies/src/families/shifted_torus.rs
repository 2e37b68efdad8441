//! Tori whose rings join ranks an offset apart.

use model::{Result, Shape, Topology};

use super::torus::tori;
use crate::family::Family;
use crate::parameters::{Parameters, by, listed, remainder};

/// Rings of an own offset along every dimension of a grid.
pub(crate) struct ShiftedTorus;

impl Family for ShiftedTorus {
    fn name(&self) -> &'static str {
        "shifted-torus"
    }

    fn summary(&self) -> &'static str {
        "torus whose rings along dimension j join ranks Sj apart; ports as for torus"
    }

    fn source(&self) -> &'static str {
        "HARVEST appendix A"
    }

    fn parameters(&self) -> &'static str {
        ":[AxBxC:]S1,S2,...[,one-way|,two-way]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters {
            family: self.name(),
            text: parameters,
            accepts: "shifted-torus:[AxBxC:]S1,S2,...[,one-way|,two-way], one whole number per dimension, \
                      not a multiple of its size",
        };
        let (rest, way) = parameters.split_way();
        let (grid, offsets) = match rest.text.split_once(':') {
            Some((grid, offsets)) => (Parameters { text: grid, ..parameters }, offsets),
            None => (Parameters { text: "", ..parameters }, rest.text),
        };
        let dims = grid.dims(shape)?;
        let offsets = Parameters { text: offsets, ..parameters }
            .offsets(|index| dims.get(index).copied())
            .map_err(|_| parameters.refuse())?;
        if offsets.len() != dims.len() {
            return Err(parameters.refuse());
        }
        let shifts: Vec<u32> = offsets.iter().zip(&dims).map(|(&offset, &dim)| remainder(offset, dim)).collect();
        let grid_text = if grid.text.trim().is_empty() { String::new() } else { format!("{}:", by(&dims)) };
        let way_text = way.map_or(String::new(), |way| format!(",{}", way.name()));
        let name = format!("{}:{grid_text}{}{way_text}", self.name(), listed(&offsets));
        tori(name, &dims, &shifts, way, shape.ports(), &parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dimension_has_its_own_offset() {
        let shape = Shape::new(40, &[5, 8], 4).unwrap();
        let topology = ShiftedTorus.build(&shape, "2,-3").unwrap();
        let peers: Vec<u32> = topology.links().iter().map(|link| link.dst).collect();
        assert_eq!(peers, [3, 5, 2 * 8, 3 * 8]);
        let stated = ShiftedTorus.build(&Shape::new(40, &[], 4).unwrap(), "5x8:2,-3").unwrap();
        assert_eq!(stated.name(), "shifted-torus:5x8:2,-3");
        assert!(stated.same_links(&topology));
    }

    #[test]
    fn offsets_of_one_are_the_torus() {
        let shape = Shape::new(64, &[4, 4, 4], 6).unwrap();
        let torus = super::super::build("torus", &shape).unwrap();
        assert!(ShiftedTorus.build(&shape, "1,1,1").unwrap().same_links(&torus));
        assert!(ShiftedTorus.build(&shape, "3,5,-1").unwrap().same_links(&torus));
    }

    #[test]
    fn wrong_offsets_are_refused() {
        let shape = Shape::new(16, &[4, 4], 4).unwrap();
        for wrong in ["", "1", "1,4", "1,1,1", "4x4:", "4x4:1", "2x2:1,1", "4x4:1,1:1", ":1", "1,x", "4x4"] {
            let error = ShiftedTorus.build(&shape, wrong).unwrap_err().to_string();
            assert!(error.starts_with("topology: "), "{wrong}: {error}");
        }
    }
}
