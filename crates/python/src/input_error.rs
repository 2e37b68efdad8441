//! `model::Error` as Python's `lightloom.errors.InputError`, which carries the field's name.

use model::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A model error on its way to Python.
pub struct CoreError(Error);

/// Result of calls from Python.
pub type CoreResult<T> = std::result::Result<T, CoreError>;

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<CoreError> for PyErr {
    fn from(CoreError(error): CoreError) -> Self {
        let message = error.to_string();
        if let Error::Rejected { .. } = error {
            return PyRuntimeError::new_err(message);
        }
        Python::attach(|py| {
            let raised = py
                .import("lightloom.errors")
                .and_then(|module| module.getattr("InputError"))
                .and_then(|class| class.call1((error.field(), &message)));
            match raised {
                Ok(value) => PyErr::from_value(value),
                Err(error) => error,
            }
        })
    }
}
