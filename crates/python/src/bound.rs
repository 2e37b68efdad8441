//! `Statement` and the verb that makes them.

use std::hash::{DefaultHasher, Hash, Hasher};

use lightloom::Statement;
use pyo3::prelude::*;

use crate::input_error::CoreResult;
use crate::parallel::on_all_cores;
use crate::pickles::{Reduced, of_parts};
use crate::request::PyRequest;

#[pyclass(name = "Statement", module = "lightloom._core", frozen, eq)]
#[derive(PartialEq)]
pub struct PyStatement {
    name: String,
    bound_class: String,
    why: String,
    startup_s: f64,
    propagation_s: f64,
    transmission_s: f64,
    reconfiguration_s: f64,
    lower_bound_s: f64,
    topologies: u32,
    steps: u32,
    segments: Vec<(u32, u32, f64)>,
}

/// Name, class, and why.
type WordsTuple = (String, String, String);
/// Startup, propagation, transmission, reconfiguration, all.
type SecondsTuple = (f64, f64, f64, f64, f64);
/// Topologies, steps, and the segments' steps, hops and growth.
type CountsTuple = (u32, u32, Vec<(u32, u32, f64)>);

impl From<Statement> for PyStatement {
    fn from(statement: Statement) -> Self {
        let segments = statement.segments.iter();
        Self {
            name: statement.name.into(),
            why: statement.why.into(),
            startup_s: statement.startup_s,
            propagation_s: statement.propagation_s,
            transmission_s: statement.transmission_s,
            reconfiguration_s: statement.reconfiguration_s,
            lower_bound_s: statement.seconds(),
            topologies: statement.topologies,
            steps: statement.steps,
            segments: segments.map(|segment| (segment.steps, segment.hops, segment.growth)).collect(),
            bound_class: statement.class,
        }
    }
}

#[pymethods]
impl PyStatement {
    /// Equal bounds have the same hash; zeros are equal that differ in their sign, so that no term is part of it.
    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.name, &self.bound_class, self.topologies, self.steps).hash(&mut hasher);
        hasher.finish()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn bound_class(&self) -> &str {
        &self.bound_class
    }

    #[getter]
    fn why(&self) -> &str {
        &self.why
    }

    #[getter]
    fn startup_s(&self) -> f64 {
        self.startup_s
    }

    #[getter]
    fn propagation_s(&self) -> f64 {
        self.propagation_s
    }

    #[getter]
    fn transmission_s(&self) -> f64 {
        self.transmission_s
    }

    #[getter]
    fn reconfiguration_s(&self) -> f64 {
        self.reconfiguration_s
    }

    #[getter]
    fn lower_bound_s(&self) -> f64 {
        self.lower_bound_s
    }

    #[getter]
    fn topologies(&self) -> u32 {
        self.topologies
    }

    #[getter]
    fn steps(&self) -> u32 {
        self.steps
    }

    #[getter]
    fn segments(&self) -> Vec<(u32, u32, f64)> {
        self.segments.clone()
    }

    #[staticmethod]
    fn _of_parts(words: WordsTuple, seconds: SecondsTuple, counts: CountsTuple) -> Self {
        let (name, bound_class, why) = words;
        let (startup_s, propagation_s, transmission_s, reconfiguration_s, lower_bound_s) = seconds;
        let (topologies, steps, segments) = counts;
        Self {
            name,
            bound_class,
            why,
            startup_s,
            propagation_s,
            transmission_s,
            reconfiguration_s,
            lower_bound_s,
            topologies,
            steps,
            segments,
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, (WordsTuple, SecondsTuple, CountsTuple)>> {
        let Self { startup_s, propagation_s, transmission_s, reconfiguration_s, lower_bound_s, .. } = *self;
        let words = (self.name.clone(), self.bound_class.clone(), self.why.clone());
        let seconds = (startup_s, propagation_s, transmission_s, reconfiguration_s, lower_bound_s);
        let counts = (self.topologies, self.steps, self.segments.clone());
        Ok((of_parts::<Self>(py)?, (words, seconds, counts)))
    }

    fn __repr__(&self) -> String {
        format!(
            "Statement('{}', lower_bound_s={:?}, bound_class='{}')",
            self.name, self.lower_bound_s, self.bound_class
        )
    }
}

#[pyfunction]
pub fn bound(py: Python<'_>, request: &PyRequest) -> CoreResult<(Vec<PyStatement>, usize)> {
    let found = on_all_cores(py, || lightloom::bound(&request.0))?;
    Ok((found.statements.into_iter().map(PyStatement::from).collect(), found.largest))
}
