//! Plans that are repaired.

use model::{Fault, Faults, Result};
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::parallel::on_all_cores;
use crate::plan::PyPlan;

/// The repaired plan, its circuits that are kept and new, whether it was planned anew, and a plan made anew.
type RepairTuple = (PyPlan, u64, u64, bool, Option<PyPlan>);

/// The plan mended for these faults; with `anew` also the plan that planning gives.
#[pyfunction]
pub fn repair(py: Python<'_>, plan: &Bound<'_, PyPlan>, failed: Vec<String>, anew: bool) -> CoreResult<RepairTuple> {
    let failed: Faults = failed.iter().map(|text| text.parse::<Fault>()).collect::<Result<_>>()?;
    let plan = plan.get();
    let (repaired, anew) = on_all_cores(py, || {
        let repaired = lightloom::repair(plan.judged()?, &failed)?;
        let anew = anew.then(|| match repaired.is_anew {
            true => Ok(repaired.plan.clone()),
            false => lightloom::plan(&repaired.request),
        });
        Ok((repaired, anew.transpose()?))
    })?;
    let circuits = repaired.circuits;
    let made = PyPlan::made(repaired.plan);
    Ok((made, circuits.kept, circuits.new, repaired.is_anew, anew.map(PyPlan::made)))
}
