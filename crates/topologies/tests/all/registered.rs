//! Every source file of a family directory is in its registry.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names that the files of `directory` should have registered, by the habit `shifted_ring.rs` → `shifted-ring`.
fn files(directory: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(directory);
    let stems = fs::read_dir(path).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        path.file_stem().unwrap().to_string_lossy().replace('_', "-")
    });
    stems.filter(|stem| stem != "mod").collect()
}

#[test]
fn families() {
    let names: Vec<String> = lightloom_topologies::REGISTRY.iter().map(|family| family.name().into()).collect();
    assert_eq!(files("families"), names.iter().cloned().collect());
    assert_eq!(names.len(), files("families").len(), "a family is registered twice");
}

#[test]
fn candidates() {
    let names: Vec<String> =
        lightloom_topologies::candidates::REGISTRY.iter().map(|family| family.name().into()).collect();
    assert_eq!(files("candidates"), names.iter().cloned().collect());
    assert_eq!(names.len(), files("candidates").len(), "a family is registered twice");
    assert!(lightloom_topologies::candidates::defaults().iter().all(|name| names.iter().any(|known| known == name)));
    assert!(names.iter().any(|name| name == lightloom_topologies::candidates::STATIC_BASELINES));
}

#[test]
fn each_is_described_on_one_line() {
    for family in lightloom_topologies::REGISTRY {
        for text in [family.summary(), family.source()] {
            assert!(!text.is_empty() && !text.contains('\n'), "{}", family.name());
        }
    }
    for family in lightloom_topologies::candidates::REGISTRY {
        for text in [family.summary(), family.source()] {
            assert!(!text.is_empty() && !text.contains('\n'), "{}", family.name());
        }
    }
}
