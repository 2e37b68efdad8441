//! Whole numbers from Python, refused like any other wrong input where they do not fit.

use model::Error;
use pyo3::prelude::*;
use pyo3::{Borrowed, PyAny};

use crate::input_error::CoreError;

/// A whole number of at most 32 bits.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub u32);

impl Whole {
    /// The plain numbers of a list.
    pub fn all(list: Vec<Self>) -> Vec<u32> {
        list.into_iter().map(|whole| whole.0).collect()
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.extract::<u32>().map(Self).map_err(|_| {
            let shown: String = object.repr().map_or_else(|_| "it".into(), |text| text.to_string());
            let shown: String = shown.chars().take(60).collect();
            CoreError::from(Error::value("argument", shown, format!("a whole number from 0 to {}", u32::MAX))).into()
        })
    }
}
