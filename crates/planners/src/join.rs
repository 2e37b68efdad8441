//! Steps that do not depend on each other, put together into fewer.

use model::{Result, Schedule, Step, Translations};

/// The schedule with every `together` consecutive steps made one. The steps must not forward what one of the others
/// brings, as the matchings of a direct All-to-All do not.
///
/// # Errors
/// No error for steps of one schedule.
pub(crate) fn join_steps(schedule: &Schedule, together: usize) -> Result<Schedule> {
    if !joins_steps(schedule, together) {
        return Ok(schedule.clone());
    }
    let chunks = schedule.chunks();
    let joined = |steps: &[Step]| {
        let symmetry = steps[0].symmetry();
        if steps.iter().all(|step| step.symmetry() == symmetry) {
            return Step::new(symmetry.clone(), steps.iter().flat_map(|step| step.transfers().iter().cloned()), chunks);
        }
        let every = steps.iter().flat_map(|step| step.expanded(chunks));
        Step::new(Translations::trivial(schedule.ranks()), every, chunks)
    };
    let steps: Result<Vec<Step>> = schedule.steps().chunks(together).map(joined).collect();
    Schedule::new(schedule.algorithm(), chunks.clone(), steps?)
}

/// Whether [`join_steps`] makes fewer steps of them.
pub(crate) fn joins_steps(schedule: &Schedule, together: usize) -> bool {
    together > 1 && schedule.steps().len() > 1
}
