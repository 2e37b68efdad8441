//! The circuits that a step's own traffic asks for.

use model::{Error, Result, Shape, Topology, Traffic};

use crate::candidate_family::CandidateFamily;

/// Meaning of the names of this module's topologies.
pub(super) const NAME: (&str, &str) =
    ("matching-K", "a circuit for every transfer of a step, for the K-th kind of step");

/// The family with a topology for each pattern of the schedule, in which all its transfers take one hop.
pub(crate) struct StepMatchings;

impl CandidateFamily for StepMatchings {
    fn name(&self) -> &'static str {
        "step-matchings"
    }

    fn summary(&self) -> &'static str {
        "a circuit for every transfer of a step, parallel where ports allow evenly, \
         for each step that fits the ports"
    }

    fn source(&self) -> &'static str {
        "HARVEST appendix A; PCCL §3"
    }

    fn build(&self, shape: &Shape, patterns: &[&Traffic], _seed: u64) -> Result<Vec<Topology>> {
        if let Some(pattern) = patterns.iter().find(|pattern| pattern.ranks() != shape.gpus()) {
            let accepts = format!("patterns of {} ranks", shape.gpus());
            return Err(Error::value("candidates", format!("a traffic pattern of {} ranks", pattern.ranks()), accepts));
        }
        let fitting = patterns.iter().enumerate().filter_map(|(index, pattern)| {
            Topology::of_traffic(format!("matching-{}", index + 1), pattern, shape.ports())
        });
        Ok(fitting.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{TrafficEntry, Translations};

    fn shifts(by: &[u32]) -> Traffic {
        let arcs = by.iter().map(|&dst| TrafficEntry { src: 0, dst, weight: 1.0 });
        Traffic::new(Translations::cyclic(8), arcs).unwrap()
    }

    #[test]
    fn patterns_that_fit_the_ports_get_their_circuits() {
        let patterns = [shifts(&[3]), shifts(&[1, 2, 4]), shifts(&[1, 7])];
        let patterns: Vec<&Traffic> = patterns.iter().collect();
        let built = StepMatchings.build(&Shape::new(8, &[], 2).unwrap(), &patterns, 0).unwrap();
        let described: Vec<_> = built.iter().map(|topology| (topology.name(), topology.links()[0].count)).collect();
        assert_eq!(described, [("matching-1", 2), ("matching-3", 1)]);
        assert!(StepMatchings.build(&Shape::new(9, &[], 2).unwrap(), &patterns, 0).is_err());
    }
}
