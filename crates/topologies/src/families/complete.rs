//! Complete graphs.

use model::{Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::Parameters;

/// The family in which each rank is joined to every other.
pub(crate) struct Complete;

impl Family for Complete {
    fn name(&self) -> &'static str {
        "complete"
    }

    fn summary(&self) -> &'static str {
        "every rank joined to every other; n − 1 ports, or a multiple for parallel circuits"
    }

    fn source(&self) -> &'static str {
        "every pair its own circuit, as in a small electrical switch"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters = Parameters { family: self.name(), text: parameters, accepts: "complete, without parameters" };
        parameters.none()?;
        let (gpus, ports) = (shape.gpus(), shape.ports());
        let count = ports / (gpus - 1);
        if count == 0 {
            return Err(
                parameters.refuse_shape(format!("it needs {} ports per GPU and the fabric has {ports}", gpus - 1))
            );
        }
        let links = (1..gpus).map(|dst| Link { src: 0, dst, count });
        Topology::new(self.name(), Translations::cyclic(gpus), links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_linked() {
        let complete = Complete.build(&Shape::new(9, &[], 17).unwrap(), "").unwrap();
        assert_eq!(complete.expanded().len(), 9 * 8);
        assert_eq!(complete.degree(), 16);
        assert!(Complete.build(&Shape::new(9, &[], 7).unwrap(), "").is_err());
    }
}
