//! `model::Error` as Python's `lightloom.base.errors.InputError`, which carries the field's name, and what ends a call
//! early.

use model::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Why a call returns nothing, on its way to Python.
pub enum CoreError {
    /// An error of the core.
    Core(Error),
    /// The exception that Python raised.
    Raised(PyErr),
    /// The thread was told to stop.
    Stopped,
}

/// Result of calls from Python.
pub type CoreResult<T> = std::result::Result<T, CoreError>;

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for CoreError {
    fn from(raised: PyErr) -> Self {
        Self::Raised(raised)
    }
}

impl From<CoreError> for PyErr {
    fn from(error: CoreError) -> Self {
        let (class, arguments) = match error {
            CoreError::Raised(raised) => return raised,
            CoreError::Stopped => ("StoppedError", Vec::new()),
            CoreError::Core(error @ Error::Rejected { .. }) => return PyRuntimeError::new_err(error.to_string()),
            CoreError::Core(error) => ("InputError", vec![error.field().to_string(), error.to_string()]),
        };
        Python::attach(|py| {
            let raised = py
                .import("lightloom.base.errors")
                .and_then(|module| module.getattr(class))
                .and_then(|class| class.call1(PyTuple::new(py, arguments)?));
            match raised {
                Ok(value) => PyErr::from_value(value),
                Err(error) => error,
            }
        })
    }
}
