//! Pickles: results are taken apart into plain values, and made of them again by the constructors that check.

use model::{Digit, Error, Translations};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use pyo3::{Borrowed, PyTypeInfo, intern};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::input_error::CoreResult;

/// The result of `__reduce__`: the function that makes the object, and its arguments.
pub type Reduced<'py, T> = (Bound<'py, PyAny>, T);

/// Stride and radix.
pub type DigitTuple = (u32, u32);

/// The static method that makes an object of a class from its parts.
pub fn of_parts<T: PyTypeInfo>(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let class: Bound<'_, PyType> = py.get_type::<T>();
    class.getattr(intern!(py, "_of_parts"))
}

/// The digits of a symmetry.
pub fn digits(symmetry: &Translations) -> Vec<DigitTuple> {
    symmetry.digits().iter().map(|digit| (digit.stride, digit.radix)).collect()
}

/// The symmetry of this many ranks with these digits.
pub fn translations(ranks: u32, digits: Vec<DigitTuple>) -> CoreResult<Translations> {
    let digits = digits.into_iter().map(|(stride, radix)| Digit { stride, radix }).collect();
    Ok(Translations::new(ranks, digits)?)
}

/// Entries as bytes in the format postcard, in which small numbers take few bytes.
pub struct Packed(pub Vec<u8>);

impl<'py> IntoPyObject<'py> for Packed {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, &self.0))
    }
}

impl<'py> FromPyObject<'_, 'py> for Packed {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(object.cast::<PyBytes>()?.as_bytes().to_vec()))
    }
}

/// Entries as bytes.
///
/// # Errors
/// No error for entries of plain numbers.
pub fn packed<T: Serialize>(entries: &[T]) -> CoreResult<Packed> {
    let bytes = postcard::to_allocvec(entries);
    Ok(Packed(bytes.map_err(|error| Error::value("pickle", error, "entries of plain numbers"))?))
}

/// The entries that were packed.
///
/// # Errors
/// Other bytes.
pub fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> CoreResult<Vec<T>> {
    let refuse = || Error::value("pickle", format!("{} bytes", bytes.len()), "bytes that Lightloom pickled");
    let (entries, rest) = postcard::take_from_bytes(bytes).map_err(|_| refuse())?;
    if rest.is_empty() { Ok(entries) } else { Err(refuse().into()) }
}
