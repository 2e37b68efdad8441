//! Every lower bound that is known for a request.

use bounds::Statement;
use model::Result;

use crate::{Prepared, Request, Workload};

/// Every bound that is known for a request, and which of them is the largest that holds for all of its plans.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// The bound for any algorithm first.
    pub statements: Vec<Statement>,
    /// Index of the largest that holds for every plan of the request.
    pub largest: usize,
}

/// The bound for every algorithm of the collective; and, where the request names an algorithm or a schedule, those for
/// its steps as they are, up to ones that take seconds. Where some planner splits or joins steps, the bounds for the
/// steps do not hold for its plans, and the largest that holds for all is the one for every algorithm.
///
/// # Errors
/// Wrong input.
pub fn bound(request: &Request) -> Result<Bounds> {
    request.refuse_forwarding()?;
    let (fabric, settings, size_bytes) = (&request.fabric, request.settings, request.size_bytes()?);
    fabric.check()?;
    if let Workload::Collective { options, .. } = &request.workload {
        collectives::check_root(&fabric.shape, options.root())?;
    }
    let schedule = request.named_schedule()?;
    let pieces = schedule.as_ref().and_then(|schedule| schedule.chunks().as_pieces());
    let mut statements = vec![bounds::any_algorithm(request.collective(), pieces, fabric, settings, size_bytes)];
    // A matrix names no algorithm: its schedule is one of many.
    if let Some(schedule) = schedule.filter(|_| !request.leaves_algorithm_open()) {
        statements.extend(bounds::given_schedule_statements(&schedule, fabric, settings, size_bytes));
    }
    let count = if statements.len() > 1 && Prepared::new(request)?.keeps_steps() { statements.len() } else { 1 };
    let larger = |best: usize, next: usize| {
        if statements[next].seconds() > statements[best].seconds() { next } else { best }
    };
    let largest = (0..count).reduce(larger).unwrap_or(0);
    Ok(Bounds { statements, largest })
}
