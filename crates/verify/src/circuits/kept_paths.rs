//! Check that circuits of an iteration which stay lit keep their paths through a mesh.

use std::collections::BTreeMap;

use model::{Circuits, Connection, LightPath};

use crate::report::{Check, Tally};

/// Compares the paths of circuits that two configurations after each other have; the first one comes again after the
/// last, when the next iteration begins.
pub(super) fn check(circuits: &Circuits) -> Check {
    let mut tally = Tally::new("kept paths");
    let light = circuits.light();
    for (index, now) in light.iter().enumerate() {
        let next = (index + 1) % light.len();
        let before: BTreeMap<Connection, &LightPath> = now.paths.iter().map(|path| (path.connection, path)).collect();
        for path in &light[next].paths {
            let Some(was) = before.get(&path.connection) else { continue };
            let stays = (&was.mzis, &was.waveguides, was.wavelength) == (&path.mzis, &path.waveguides, path.wavelength);
            tally.expect(stays, || {
                let Connection { ingress, egress } = path.connection;
                let [one, other] = [index + 1, next + 1];
                format!("circuit {ingress} → {egress} stays from configuration {one} to {other}, on another path")
            });
        }
    }
    tally.into_check("circuit", "that stay from a configuration to the next, all on their paths")
}
