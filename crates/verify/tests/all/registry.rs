//! Every registered algorithm computes its collective, for every shape that it accepts here.

#[allow(dead_code, reason = "each test file uses a part of them")]
use crate::schedules;

use collectives::{Options, REGISTRY};
use model::{Collective, Shape};
use schedules::forget_symmetry;

/// Schedules that were built and passed, of every algorithm and collective on `shape`.
fn check_all(shape: &Shape, written_out: bool) -> usize {
    let mut passed = 0;
    for algorithm in REGISTRY {
        for radix in [None, Some(3)] {
            for root in [None, Some(shape.gpus() - 1)] {
                let options = Options { radix, root, ..Options::default() };
                for &collective in Collective::ALL {
                    if root.is_some() && !collective.has_root() {
                        continue;
                    }
                    let Ok(schedule) = algorithm.build(collective, shape, &options) else { continue };
                    let name = format!("{} {} {shape:?} {options:?}", algorithm.name(), collective.name());
                    assert_eq!(lightloom_verify::schedule(&schedule).first_failure(), None, "{name}");
                    if written_out {
                        let plain = forget_symmetry(&schedule);
                        assert_eq!(lightloom_verify::schedule(&plain).first_failure(), None, "{name} written out");
                    }
                    passed += 1;
                }
            }
        }
    }
    passed
}

#[test]
fn every_algorithm_on_up_to_64_ranks() {
    for n in 2..=64 {
        let passed = check_all(&Shape::new(n, &[], 1).unwrap(), n <= 17);
        assert!(passed >= Collective::ALL.len(), "n={n}: {passed}");
    }
}

#[test]
fn every_algorithm_on_grids() {
    for dims in [&[2, 3][..], &[4, 4], &[3, 5], &[8, 8], &[2, 2, 2], &[3, 4, 5], &[4, 4, 4]] {
        let ports = 2 * dims.len() as u32;
        let shape = Shape::new(dims.iter().product(), dims, ports).unwrap();
        assert!(check_all(&shape, shape.gpus() <= 16) >= Collective::ALL.len(), "{dims:?}");
    }
}

#[test]
#[ignore = "large: make test-large"]
fn every_algorithm_on_1024_ranks() {
    // Broadcasts from rank 0 only, and radix 2: the shapes above vary those.
    let shape = Shape::new(1024, &[], 1).unwrap();
    for algorithm in REGISTRY {
        for &collective in Collective::ALL {
            let Ok(schedule) = algorithm.build(collective, &shape, &Options::default()) else { continue };
            let name = format!("{} {}", algorithm.name(), collective.name());
            assert_eq!(lightloom_verify::schedule(&schedule).first_failure(), None, "{name}");
        }
    }
}
