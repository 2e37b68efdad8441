//! Circuits by wavelength: every circuit of a topology has a wavelength, and as many ports, or bands of ports, lead to its
//! group as it needs.

use std::collections::BTreeMap;

use model::{Plan, counted};

use crate::report::{Check, Tally};

/// Counts circuits by GPU, direction and distance between groups of `size` GPUs, whose lasers have `wavelengths`.
pub(crate) fn check(plan: &Plan, size: u64, wavelengths: u64) -> Check {
    let mut tally = Tally::new("optics");
    for topology in plan.topologies.iter().chain(plan.fabric.initial.given()) {
        for link in topology.expanded() {
            let [src, dst] = [link.src, link.dst].map(u64::from);
            let wavelength = (dst % size + size - src % size) % size;
            tally.expect(wavelength < wavelengths, || {
                format!("topology `{}`: {src} → {dst} needs wavelength {wavelength} of {wavelengths}", topology.name())
            });
        }
    }
    count(&mut tally, plan, size, (1, "port"));
    tally.into_check("count", "of wavelengths and ports, all among those that lasers and routers have")
}

/// Counts circuits by GPU, direction and distance between groups of `outputs` GPUs, each port of which has `bands`.
pub(crate) fn bands_check(plan: &Plan, outputs: u64, bands: u64) -> Check {
    let mut tally = Tally::new("optics");
    let ports = u64::from(plan.fabric.shape.ports());
    tally.expect(ports.is_multiple_of(bands), || format!("{ports} circuits a GPU do not fill fibres of {bands} bands"));
    count(&mut tally, plan, outputs, (bands, "band"));
    tally.into_check("count", "of bands, all among those that fibres to the group have")
}

/// Counts circuits by GPU, direction and distance between groups, against fibres that carry so many circuits each.
fn count(tally: &mut Tally, plan: &Plan, size: u64, (bands, noun): (u64, &str)) {
    let shape = &plan.fabric.shape;
    let groups = u64::from(shape.gpus()).div_ceil(size);
    for topology in plan.topologies.iter().chain(plan.fabric.initial.given()) {
        let mut at: BTreeMap<(u32, &str, u64), u64> = BTreeMap::new();
        for link in topology.expanded() {
            let [src, dst] = [link.src, link.dst].map(u64::from);
            let distance = (dst / size + groups - src / size) % groups;
            *at.entry((link.src, "out of", distance)).or_insert(0) += u64::from(link.count);
            *at.entry((link.dst, "into", distance)).or_insert(0) += u64::from(link.count);
        }
        for ((gpu, direction, distance), circuits) in at {
            let ports = 0..u64::from(shape.ports());
            let leading = ports.filter(|port| port / bands % groups == distance).count() as u64;
            tally.expect(circuits <= leading, || {
                let (found, there) = (counted(circuits, "circuit"), counted(leading, noun));
                format!(
                    "topology `{}`: {found} {direction} GPU {gpu} over {distance} groups, for which it has {there}",
                    topology.name()
                )
            });
        }
    }
}
