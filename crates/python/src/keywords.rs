//! Keyword arguments that are taken by name, so that a signature needs none of them.

use std::collections::BTreeMap;

use model::Error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{shown, text};
use crate::input_error::CoreResult;

/// Keywords that were given and not taken yet.
pub struct Keywords<'py>(BTreeMap<String, Bound<'py, PyAny>>);

impl<'py> Keywords<'py> {
    /// The keywords of a call; a keyword that is `None` was not given.
    ///
    /// # Errors
    /// No error: the keys of keyword arguments are text.
    pub fn new(given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let items = given.into_iter().flat_map(|given| given.iter()).filter(|(_, value)| !value.is_none());
        Ok(Self(items.map(|(name, value)| Ok((name.extract()?, value))).collect::<PyResult<_>>()?))
    }

    /// The text of that name, if it was given.
    ///
    /// # Errors
    /// Something else than text.
    pub fn text(&mut self, name: &str) -> CoreResult<Option<String>> {
        self.0.remove(name).map(|value| text(name, &value)).transpose()
    }

    /// The value of that name, if it was given.
    ///
    /// # Errors
    /// Another type, which the package does not pass on.
    pub fn value<T: for<'a> FromPyObject<'a, 'py>>(&mut self, name: &str) -> CoreResult<Option<T>> {
        let Some(value) = self.0.remove(name) else { return Ok(None) };
        Ok(Some(value.extract().map_err(|_| Error::value(name, shown(&value), "what the package makes of it"))?))
    }

    /// The result of `parse` for the text of that name, the default if it was not given.
    ///
    /// # Errors
    /// Something else than text, and what `parse` refuses.
    pub fn choice<T: Default>(&mut self, name: &str, parse: impl Fn(&str) -> model::Result<T>) -> CoreResult<T> {
        Ok(self.text(name)?.map_or_else(|| Ok(T::default()), |text| parse(&text))?)
    }

    /// Refuses what nothing has taken.
    ///
    /// # Errors
    /// `TypeError` that names it.
    pub fn finish(self) -> PyResult<()> {
        let left = self.0.into_keys().next();
        left.map_or(Ok(()), |name| Err(PyTypeError::new_err(format!("unexpected keyword argument `{name}`"))))
    }
}
