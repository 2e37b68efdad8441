//! The topology without circuits.

use model::{Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::Parameters;

/// The topology without circuits. As the initial topology it makes the first one a charged reconfiguration.
pub(crate) struct Dark;

impl Family for Dark {
    fn name(&self) -> &'static str {
        "dark"
    }

    fn summary(&self) -> &'static str {
        "no circuits: as the initial topology it makes the first one a charged reconfiguration"
    }

    fn source(&self) -> &'static str {
        "To reconfigure or not to reconfigure, §3 (the first topology is charged)"
    }

    fn parameters(&self) -> &'static str {
        ""
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        Parameters { family: self.name(), text: parameters, accepts: "dark" }.none()?;
        Topology::new(self.name(), Translations::cyclic(shape.gpus()), [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_joined() {
        let shape = Shape::new(8, &[], 2).unwrap();
        let dark = Dark.build(&shape, "").unwrap();
        assert_eq!((dark.circuits(), dark.degree(), dark.expanded().len()), (0, 0, 0));
        assert!(Dark.build(&shape, "1").is_err());
    }
}
