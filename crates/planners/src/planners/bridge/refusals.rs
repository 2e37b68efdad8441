//! Refusals of the planner.

use model::{Error, Result, counted};

use crate::Problem;

/// The planner's name.
pub(super) const NAME: &str = "bridge";

/// # Errors
/// Always, for this reason.
pub(super) fn refuse<T>(reason: String) -> Result<T> {
    Err(Error::refused("planner", NAME, reason))
}

/// # Errors
/// A schedule with a rank that has more peers in a step than ports.
pub(super) fn check_ports(problem: &Problem) -> Result<()> {
    let ports = problem.fabric.shape.ports();
    let peers = problem.schedule().steps().iter().map(|step| step.traffic().degree()).max().unwrap_or(0);
    if peers > ports {
        return refuse(format!(
            "ranks have {} in a step and {}; it takes a port for each peer",
            counted(peers, "peer"),
            counted(ports, "port")
        ));
    }
    Ok(())
}
