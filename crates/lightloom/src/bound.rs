//! Every lower bound that is known for a request.

use bounds::Statement;
use model::{Result, Schedule};

use crate::{Request, Workload};

/// The bound for every algorithm of the collective; and, where the request names an algorithm or a schedule, those for its
/// steps as given, up to ones that take seconds.
///
/// # Errors
/// Wrong input.
pub fn bound(request: &Request) -> Result<Vec<Statement>> {
    let (fabric, settings, size_bytes) = (&request.fabric, request.settings, request.size_bytes()?);
    fabric.check()?;
    let given: Option<Schedule> = match &request.workload {
        Workload::Collective { algorithm, .. } if algorithm.as_deref().is_none_or(|name| name == "auto") => None,
        _ => request.schedules()?.0.into_iter().next(),
    };
    let pieces = given.as_ref().and_then(|schedule| schedule.chunks().as_pieces());
    let mut all = vec![bounds::any_algorithm(request.collective(), pieces, fabric, settings, size_bytes)];
    // A matrix names no algorithm: its schedule is one of many.
    if let (Some(schedule), Workload::Collective { .. } | Workload::Schedule(_)) = (&given, &request.workload) {
        all.extend(bounds::given_schedule_statements(schedule, fabric, settings, size_bytes));
    }
    Ok(all)
}
