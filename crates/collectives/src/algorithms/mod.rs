//! The algorithms, one a file, and their registry. The command line, Python, comparisons and test loops read it.

mod binary_tree;
mod bine_butterfly;
mod bine_tree;
mod binomial_tree;
mod bruck;
mod bruck_doubling;
mod bruck_mirrored;
mod bruck_torus;
mod bucket;
mod dex;
pub(crate) mod direct;
mod dissemination;
mod halving_doubling;
mod one_step;
mod pairwise_xor;
mod pat;
mod recursive_doubling;
mod ring;
mod scatter_allgather;
mod swing;
mod swing_mirrored;

use model::{Result, unknown_name};

use crate::Algorithm;

/// Every algorithm, in the order in which they are listed to people.
pub static REGISTRY: &[&dyn Algorithm] = &[
    &ring::Ring,
    &recursive_doubling::RecursiveDoubling,
    &halving_doubling::HalvingDoubling,
    &swing::Swing,
    &swing_mirrored::SwingMirrored,
    &bine_butterfly::BineButterfly,
    &bucket::Bucket,
    &bruck::Bruck,
    &bruck_doubling::BruckDoubling,
    &bruck_mirrored::BruckMirrored,
    &bruck_torus::BruckTorus,
    &pat::Pat,
    &dissemination::Dissemination,
    &one_step::OneStep,
    &direct::Direct,
    &pairwise_xor::PairwiseXor,
    &dex::Dex,
    &binomial_tree::BinomialTree,
    &binary_tree::BinaryTree,
    &bine_tree::BineTree,
    &scatter_allgather::ScatterAllGather,
];

/// The algorithm of that name.
///
/// # Errors
/// An unknown name; the error lists the known ones and the nearest.
pub fn find(name: &str) -> Result<&'static dyn Algorithm> {
    let found = REGISTRY.iter().copied().find(|algorithm| algorithm.name() == name);
    found.ok_or_else(|| unknown_name("algorithm", name, REGISTRY.iter().map(|algorithm| algorithm.name())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use model::{Collective, Shape};
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_family_is_registered_under_its_own_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/algorithms");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().replace('_', "-"))
            .filter(|name| name != "mod")
            .collect();
        let names: BTreeSet<String> = REGISTRY.iter().map(|algorithm| algorithm.name().to_string()).collect();
        assert_eq!(files, names);
        assert_eq!(names.len(), REGISTRY.len(), "a name is used twice");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_the_nearest() {
        let message = find("rng").err().unwrap().to_string();
        assert!(message.contains("did you mean `ring`?") && message.contains("halving-doubling"), "{message}");
        assert_eq!(find("bruck").unwrap().name(), "bruck");
    }

    #[test]
    fn every_collective_has_an_algorithm_for_any_number_of_ranks() {
        for &collective in Collective::ALL {
            for n in 2..=17 {
                let shape = Shape::new(n, &[], 1).unwrap();
                let accepted = |a: &&dyn Algorithm| a.accepts(collective, &shape, &Options::default()).is_ok();
                assert!(REGISTRY.iter().any(accepted), "{collective:?} of {n}");
            }
        }
    }
}
