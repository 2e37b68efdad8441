//! Rings of neighbours one apart.

use model::{Link, Result, Shape, Topology, Translations};

use crate::family::Family;
use crate::parameters::{Parameters, Way};

/// The family in which each rank is joined to the next, and with two ports or more to the one before.
pub(crate) struct Ring;

impl Family for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn summary(&self) -> &'static str {
        "ring of neighbours: one-way with one port, else two-way, an odd port left over going forward"
    }

    fn source(&self) -> &'static str {
        "HARVEST §3.2 and §6.1; PCCL §5"
    }

    fn parameters(&self) -> &'static str {
        "[:one-way|:two-way]"
    }

    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology> {
        let parameters =
            Parameters { family: self.name(), text: parameters, accepts: "ring, ring:one-way or ring:two-way" };
        let (rest, way) = parameters.split_way();
        rest.none().map_err(|_| parameters.refuse())?;
        let name = way.map_or("ring".to_string(), |way| format!("ring:{}", way.name()));
        rings(name, shape, 1, way, &parameters)
    }
}

/// The circuits `rank → rank + shift`, and `rank → rank − shift` where the way is two-way or not said and
/// there are two ports. All ports are used, as evenly as they can be, an odd one going forward.
pub(super) fn rings(
    name: String,
    shape: &Shape,
    shift: u32,
    way: Option<Way>,
    parameters: &Parameters,
) -> Result<Topology> {
    let (gpus, ports) = (shape.gpus(), shape.ports());
    if way == Some(Way::TwoWay) && ports < 2 {
        return Err(parameters.refuse_shape("a two-way ring needs 2 ports per GPU and the fabric has 1"));
    }
    let backward = if way == Some(Way::OneWay) { 0 } else { ports / 2 };
    let links = [(shift, ports - backward), (gpus - shift, backward)];
    let links = links.into_iter().filter(|&(_, count)| count > 0).map(|(dst, count)| Link { src: 0, dst, count });
    Topology::new(name, Translations::cyclic(gpus), links)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(ports: u32, parameters: &str) -> Vec<(u32, u32)> {
        let shape = Shape::new(8, &[], ports).unwrap();
        Ring.build(&shape, parameters).unwrap().links().iter().map(|link| (link.dst, link.count)).collect()
    }

    #[test]
    fn ports_are_divided_over_both_directions() {
        assert_eq!(links(1, ""), [(1, 1)]);
        assert_eq!(links(2, ""), [(1, 1), (7, 1)]);
        assert_eq!(links(5, ""), [(1, 3), (7, 2)]);
        assert_eq!(links(5, "two-way"), links(5, ""));
        assert_eq!(links(5, "one-way"), [(1, 5)]);
    }

    #[test]
    fn two_gpus_share_all_circuits() {
        let ring = Ring.build(&Shape::new(2, &[], 3).unwrap(), "").unwrap();
        assert_eq!(ring.links(), [Link { src: 0, dst: 1, count: 3 }]);
    }

    #[test]
    fn a_two_way_ring_needs_two_ports() {
        let error = Ring.build(&Shape::new(8, &[], 1).unwrap(), "two-way").unwrap_err();
        assert!(error.to_string().contains("needs 2 ports"), "{error}");
        assert!(Ring.build(&Shape::new(8, &[], 2).unwrap(), "both").is_err());
    }
}
