//! The best of several choices, and the topology on which one stays.

use model::{Result, Topology};

use crate::Choice;

/// The faster of two choices, the first of equals.
pub(super) fn faster(best: Option<Choice>, found: Option<Choice>) -> Option<Choice> {
    match (&best, &found) {
        (Some(first), Some(other)) if other.total_s < first.total_s => found,
        (None, _) => found,
        _ => best,
    }
}

/// The fastest of what was found, the first of equals; `None` where nothing was.
///
/// # Errors
/// The first refusal, where there is one and no choice.
pub(super) fn fastest_of(found: impl IntoIterator<Item = Result<Option<Choice>>>) -> Result<Option<Choice>> {
    let (mut best, mut refusal) = (None, None);
    for found in found {
        match found {
            Ok(found) => best = faster(best, found),
            Err(error) => drop(refusal.get_or_insert(error)),
        }
    }
    match (best, refusal) {
        (None, Some(refusal)) => Err(refusal),
        (best, _) => Ok(best),
    }
}

/// The topology that a choice is on from its first step to its last; `None` where it changes.
pub(super) fn stays_on(choice: &Choice) -> Option<Topology> {
    let all_equal = choice.candidates.windows(2).all(|pair| pair[0] == pair[1]);
    all_equal.then(|| choice.problem.table.candidate(choice.candidates[0]).clone())
}
