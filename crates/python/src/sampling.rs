//! Plans on fabrics whose times are uncertain: the function that samples one, and the one that chooses among many.

use std::cell::RefCell;

use ::simulate::{Basis, Estimate, Objective, Sampled, Uncertainty};
use model::Error;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::input_error::{CoreError, CoreResult};
use crate::interrupts::interruptible;
use crate::keywords::Keywords;
use crate::parallel::on_all_cores;
use crate::plan::PyPlan;
use crate::request::PyRequest;
use crate::simulation::settings_of;
use crate::step::{TermsTuple, terms};

/// Quantiles that are told.
const PROBABILITIES: [f64; 3] = [0.5, 0.95, 0.99];

/// An estimate with the ends of its confidence interval, s.
type EstimateTuple = (f64, Option<f64>, Option<f64>);
/// Times by sample; time where nothing is uncertain, standard deviation; terms in the mean; the mean; probabilities
/// with their quantiles.
type SampledTuple<'py> = (Bound<'py, PyArray1<f64>>, (f64, f64), TermsTuple, EstimateTuple, Vec<(f64, EstimateTuple)>);

/// `settings`: the fields of Python's `SimulationSettings` where step times come from a simulation; without them they
/// are the plan's own. `read`: gives the text of a file of samples.
#[pyfunction]
#[pyo3(signature = (plan, uncertain, read, samples, seed, settings=None))]
pub fn sample<'py>(
    py: Python<'py>,
    plan: &PyPlan,
    uncertain: &str,
    read: &Bound<'py, PyAny>,
    samples: u64,
    seed: u64,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<SampledTuple<'py>> {
    let uncertainty = uncertainty_of(uncertain, read)?;
    let settings = match settings {
        None => None,
        Some(settings) => {
            let mut given = Keywords::new(Some(settings))?;
            let settings = settings_of(&mut given)?;
            given.finish()?;
            Some(settings)
        }
    };
    let basis = settings.as_ref().map_or(Basis::Plan, Basis::Simulated);
    let sampled = interruptible(py, || ::simulate::sample(plan.judged()?, &uncertainty, basis, samples, seed))?;
    Ok(sampled_tuple(py, &sampled.map_err(CoreError::from)?))
}

/// Candidates for a request, the best by `objective` first: each with its samples and its mean regret, s.
#[pyfunction]
pub fn plans_by<'py>(
    py: Python<'py>,
    request: &PyRequest,
    uncertain: &str,
    read: &Bound<'py, PyAny>,
    objective: &str,
    samples: u64,
    seed: u64,
) -> CoreResult<Vec<(PyPlan, SampledTuple<'py>, f64)>> {
    let uncertainty = uncertainty_of(uncertain, read)?;
    let objective = Objective::parse(objective)?;
    let found = on_all_cores(py, || lightloom::plans_by(&request.0, &uncertainty, objective, samples, seed))?;
    let told = found.into_iter().map(|of| (PyPlan::made(of.plan), sampled_tuple(py, &of.sampled), of.regret_s));
    Ok(told.collect())
}

/// The uncertain quantities of a text. What `read` raises is raised.
fn uncertainty_of(text: &str, read: &Bound<'_, PyAny>) -> CoreResult<Uncertainty> {
    let raised = RefCell::new(None);
    let read = |path: &str| {
        read.call1((path,)).and_then(|text| text.extract()).map_err(|error| {
            raised.replace(Some(error));
            Error::malformed("uncertain", path)
        })
    };
    let parsed = Uncertainty::parse(text, &read);
    raised.take().map_or_else(|| Ok(parsed?), |error| Err(error.into()))
}

fn sampled_tuple<'py>(py: Python<'py>, sampled: &Sampled) -> SampledTuple<'py> {
    let quantiles = PROBABILITIES.map(|probability| (probability, estimate_tuple(sampled.quantile(probability))));
    (
        PyArray1::from_slice(py, &sampled.totals_s),
        (sampled.nominal_s, sampled.deviation_s()),
        terms(&sampled.terms),
        estimate_tuple(sampled.mean()),
        quantiles.to_vec(),
    )
}

fn estimate_tuple(of: Estimate) -> EstimateTuple {
    (of.seconds, of.low_s, of.high_s)
}
