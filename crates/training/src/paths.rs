//! Paths through a mesh for the circuits of an iteration, which are looked for when all of them are known.

use model::{Error, Result, TrainingPlan};
use optics::{Optics, iteration_circuits};

use crate::policies::Outcome;

/// The plan of `chosen`, whose circuits have paths through the mesh of the fabric, where it has one.
///
/// # Errors
/// Circuits without paths, with the policies whose circuits have some; the errors of `plan_of`.
pub(crate) fn with_paths(
    outcomes: &[&Outcome],
    chosen: &Outcome,
    plan_of: impl Fn(&Outcome) -> Result<TrainingPlan>,
) -> Result<TrainingPlan> {
    let plan = plan_of(chosen)?;
    let Some(layer) = &plan.fabric.optics else { return Ok(plan) };
    let optics = Optics::parse(layer.spelling())?;
    if !optics.has_paths(&plan.fabric.shape)? {
        return Ok(plan);
    }
    let Err(error) = iteration_circuits(&plan, &optics) else { return Ok(plan) };
    let others = outcomes.iter().filter(|other| other.policy != chosen.policy);
    let fits = |other: &&&Outcome| plan_of(other).and_then(|plan| iteration_circuits(&plan, &optics)).is_ok();
    let fitting: Vec<&str> = others.filter(fits).map(|other| other.policy).collect();
    let what_fits = match &fitting[..] {
        [] => {
            "no other policy's circuits have paths either; a mesh of more waveguides or wavelengths is accepted".into()
        }
        some => format!("circuits of these other policies have paths: {}", some.join(", ")),
    };
    Err(Error::infeasible("optics", format!("{}; {what_fits}", error.reason())))
}
