//! The verbs that compare planners; their lines as plain values.

use lightloom::Row;
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::parallel::on_all_cores;
use crate::plan::PyPlan;
use crate::request::PyRequest;
use crate::step::{TermsTuple, terms};

/// Planner, algorithm, topology; whether the planner keeps the best plan of all, and plans this collective at all; what
/// it found; why it found nothing, and a lower bound on its time if it is known to be slower.
type RowTuple = ((String, String, String), (bool, bool), Option<FoundTuple>, (String, Option<f64>));
/// Time, its terms, reconfigurations.
type FoundTuple = (f64, TermsTuple, usize);

fn row_tuple(row: &Row) -> RowTuple {
    let found = row.outcome.as_ref().map(|found| (found.total_s, terms(&found.cost), found.reconfigurations));
    let reason = row.outcome.as_ref().err().map(model::Error::reason).unwrap_or_default();
    let names = (row.planner.clone(), row.algorithm.clone(), row.topology.clone());
    (names, (row.keeps_the_best, row.is_for_collective), found.ok(), (reason, row.at_least_s))
}

#[pyfunction]
#[pyo3(signature = (request, plan=None))]
pub fn baselines(py: Python<'_>, request: &PyRequest, plan: Option<&Bound<'_, PyPlan>>) -> CoreResult<Vec<RowTuple>> {
    let plan = plan.map(Bound::get);
    let made = || lightloom::baselines(&request.0, plan.map(PyPlan::judged).transpose()?);
    Ok(on_all_cores(py, made)?.iter().map(row_tuple).collect())
}

#[pyfunction]
#[pyo3(signature = (request, seen=None))]
pub fn compare(
    py: Python<'_>,
    request: &PyRequest,
    seen: Option<Py<PyAny>>,
) -> CoreResult<(Vec<RowTuple>, f64, String)> {
    let show = |row: &Row| {
        let Some(seen) = &seen else { return };
        Python::attach(|py| {
            if let Err(error) = seen.call1(py, (row_tuple(row),)) {
                error.write_unraisable(py, None);
            }
        });
    };
    let found = on_all_cores(py, || lightloom::compare_as_found(&request.0, &show))?;
    Ok((found.rows.iter().map(row_tuple).collect(), found.lower_bound_s, found.bound_class))
}
