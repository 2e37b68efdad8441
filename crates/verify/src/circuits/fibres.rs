//! Whether the fibres of circuits are as long as the positions of interposers make them, and their delay in a plan.

use model::{Circuits, Plan};

use super::circuit_name::at;
use super::geometry::Geometry;
use crate::report::{Check, Tally, agree};

/// The most by which a length or a time may be off, relative to it.
const TOLERANCE: f64 = 1e-9;

/// Checks the metres of fibre of every circuit, and the delay of every step of a plan and of all; `None` where nothing
/// is said about fibres.
pub(super) fn check(circuits: &Circuits, geometry: Geometry<'_>, plan: Option<&Plan>) -> Option<Check> {
    let lengths = geometry.mesh.fibre_lengths.as_ref();
    let mut tally = Tally::new("fibres");
    let mut most_m = vec![0.0_f64; circuits.light().len()];
    for (index, light) in circuits.light().iter().enumerate() {
        for path in &light.paths {
            let found_m = lengths.map(|lengths| geometry.fibre_m(lengths, &path.mzis));
            most_m[index] = most_m[index].max(found_m.unwrap_or(0.0));
            let agrees = match (path.fibre_m, found_m) {
                (Some(stated), Some(found)) => agree(stated, found, TOLERANCE),
                (stated, found) => stated.is_none() && found.is_none(),
            };
            tally.expect(agrees, || {
                let [stated, found] =
                    [path.fibre_m, found_m].map(|metres| metres.map_or("none".into(), |metres| format!("{metres} m")));
                format!("{}: its path has {found} of fibre, and {stated} are stated", at(index, path))
            });
        }
    }
    if let Some((plan, lengths)) = plan.zip(lengths) {
        let stated = circuits.fibre_delay();
        let mut total_s = 0.0;
        for (configuration, most_m) in circuits.configurations().iter().zip(&most_m) {
            for &step in &configuration.steps {
                let Some(planned) = plan.steps.get(step) else { continue };
                let delay_s = f64::from(planned.hops) * most_m * lengths.delay_ns_per_m / 1e9;
                total_s += delay_s;
                let said = stated.and_then(|stated| stated.steps_s.get(step).copied()).unwrap_or(f64::NAN);
                tally.expect(agree(said, delay_s, TOLERANCE), || {
                    format!("step {step}: its fibres take {delay_s} s, and {said} s are stated")
                });
            }
        }
        let (count, said) = stated.map_or((0, f64::NAN), |stated| (stated.steps_s.len(), stated.total_s));
        tally.expect(count == plan.steps.len(), || {
            format!("{count} steps have a delay of fibres, where the plan has {}", plan.steps.len())
        });
        tally.expect(agree(said, total_s, TOLERANCE), || {
            format!("the fibres of all steps take {total_s} s, and {said} s are stated")
        });
    }
    let says =
        lengths.is_some() || circuits.light().iter().any(|light| light.paths.iter().any(|one| one.fibre_m.is_some()));
    says.then(|| tally.into_check("number", "of metres and delays of fibres, recomputed from positions and paths"))
}
