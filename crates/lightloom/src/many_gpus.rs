//! The parts that are left out where there are many GPUs and nothing is named, so that planning stays a matter of
//! seconds.

use crate::cutoffs::many_gpus::MOST_STEPS;
use collectives::{Algorithm, Options};
use model::{Collective, Error, Result, Schedule, Shape, Topology, Translations};
use planners::many_gpus::{MOST_FOR_ALL, MOST_KINDS};

/// The default candidates that are looked at: all up to [`MOST_FOR_ALL`] GPUs, beyond it those on which there are at
/// most [`MOST_KINDS`] kinds of GPUs in every step.
pub(crate) fn looked_at(topologies: Vec<Topology>, schedule: &Schedule) -> Vec<Topology> {
    if schedule.ranks() <= MOST_FOR_ALL {
        return topologies;
    }
    let mut groups: Vec<&Translations> = Vec::new();
    for group in schedule.steps().iter().map(|step| step.traffic().symmetry()) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let alike = |topology: &Topology| groups.iter().all(|group| group.meet(topology.symmetry()).orbits() <= MOST_KINDS);
    topologies.into_iter().filter(alike).collect()
}

/// # Errors
/// An algorithm of too many steps to be looked at among others.
pub(crate) fn check_steps(
    algorithm: &dyn Algorithm,
    collective: Collective,
    shape: &Shape,
    options: &Options,
) -> Result<()> {
    let steps = algorithm.extent(collective, shape, options).steps;
    if shape.gpus() <= MOST_FOR_ALL || steps <= MOST_STEPS {
        return Ok(());
    }
    let reason = format!(
        "it takes {steps} steps; above {MOST_FOR_ALL} GPUs an algorithm of more than {MOST_STEPS} steps is planned \
        only if \
         it is named"
    );
    Err(Error::refused("algorithm", algorithm.name(), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_gpus_have_every_candidate_and_many_those_that_share_the_symmetry_of_the_steps() {
        let names = |gpus: u32, algorithm: &str, specs: &[&str]| -> Vec<String> {
            let shape = Shape::new(gpus, &[], 13).unwrap();
            let built = specs.iter().map(|spec| topologies::build(spec, &shape).unwrap().renamed(*spec)).collect();
            let algorithm = collectives::find(algorithm).unwrap();
            let schedule = algorithm.build(Collective::AllGather, &shape, &Options::default()).unwrap();
            looked_at(built, &schedule).iter().map(|topology| topology.name().to_string()).collect()
        };
        assert_eq!(names(64, "halving-doubling", &["ring", "kautz", "torus:8x8"]), ["ring", "kautz", "torus:8x8"]);
        assert_eq!(names(8192, "bruck", &["ring", "torus:128x64", "torus:32x256"]), ["ring", "torus:128x64"]);
        assert_eq!(names(8192, "halving-doubling", &["ring", "torus:128x64", "hypercube"]), ["hypercube"]);
    }

    #[test]
    fn algorithms_of_many_steps_are_left_to_be_named() {
        let ring = collectives::find("ring").unwrap();
        let steps = |gpus| {
            let shape = Shape::new(gpus, &[], 1).unwrap();
            check_steps(ring, Collective::AllGather, &shape, &Options::default())
        };
        assert!(steps(4096).is_ok());
        assert!(steps(8192).unwrap_err().to_string().contains("8191 steps"));
    }
}
