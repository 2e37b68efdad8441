//! Values of options as Python has them, for the core's one reader of options.

use lightloom::options::{Given, Value};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyRange, PyString, PyTuple};

use crate::input_error::CoreResult;
use crate::schedule::{PySchedule, rows_of};
use crate::topology::PyTopology;

/// Keyword arguments as options.
///
/// # Errors
/// An option that there is not.
pub fn given(options: Option<&Bound<'_, PyDict>>) -> CoreResult<Given> {
    let items = options.into_iter().flat_map(|options| options.iter());
    let values = items.map(|(name, value)| Ok((name.extract::<String>()?, value_of(&value)?)));
    Ok(Given::new(values.collect::<PyResult<Vec<_>>>()?)?)
}

/// A value as the core reads it.
///
/// # Errors
/// The exception that an object of the caller raises when it is asked what it is.
pub fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(text) = value.cast::<PyString>() {
        // Text that cannot be encoded is not text that an option takes.
        return text.extract().map(Value::Text).or_else(|_| shown(value));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Truth(truth.is_true()));
    }
    if let Ok(topology) = value.cast::<PyTopology>() {
        return Ok(Value::Topology(topology.get().0.clone()));
    }
    if let Ok(schedule) = value.cast::<PySchedule>() {
        return Ok(Value::Schedule(schedule.get().0.clone()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyRange>() {
        return Ok(Value::List(value.try_iter()?.map(|item| value_of(&item?)).collect::<PyResult<_>>()?));
    }
    // Asking for an array imports NumPy, which what has no `dtype` cannot need.
    if value.hasattr("dtype")?
        && let Ok(matrix) = value.extract::<PyReadonlyArray2<'_, f64>>()
    {
        return Ok(Value::Matrix(rows_of(&matrix)));
    }
    if let Some(number) = number(value)? {
        return Ok(number);
    }
    let is_row = value.hasattr("dtype")? && value.getattr("ndim")?.extract::<usize>().is_ok_and(|count| count == 1);
    if is_row { value_of(&value.call_method0("tolist")?) } else { shown(value) }
}

/// A real number, also one of NumPy's; `None` for truths, dates, durations and masked numbers.
fn number(value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let py = value.py();
    if value.hasattr("dtype")? {
        let kind: String = value.getattr("dtype")?.getattr("kind")?.extract().unwrap_or_default();
        let is_one = value.getattr("ndim").and_then(|count| count.extract::<u32>()).is_ok_and(|count| count == 0);
        let mask = value.getattr_opt("mask")?;
        if !is_one || mask.is_some_and(|mask| mask.is_truthy().unwrap_or(true)) {
            return Ok(None);
        }
        return Ok(match kind.as_str() {
            "i" | "u" => value.call_method0("__index__")?.extract().ok().map(Value::Whole),
            "f" => value.extract().ok().map(Value::Number),
            _ => None,
        });
    }
    if value.hasattr("__index__")? {
        // An object whose own conversion fails is no number.
        let index = value.call_method0("__index__").ok();
        return Ok(index.and_then(|index| index.extract().ok()).map(Value::Whole));
    }
    let is_real = value.is_instance_of::<PyFloat>() || value.is_instance(&py.import("numbers")?.getattr("Real")?)?;
    Ok(if is_real { value.extract().ok().map(Value::Number) } else { None })
}

/// A value that no option takes, as messages show it.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let shown = value.py().import("lightloom.base.errors")?.getattr("shown")?.call1((value,))?;
    Ok(Value::Other(shown.extract::<String>().unwrap_or_else(|_| "text that cannot be encoded".to_string())))
}

/// Reads one value by its kind.
fn read<T>(field: &str, value: &Bound<'_, PyAny>, read: impl Fn(&Value, &str) -> model::Result<T>) -> CoreResult<T> {
    Ok(read(&value_of(value)?, field)?)
}

/// Seconds of text with a unit, or a number of them.
#[pyfunction]
pub fn read_time(field: &str, value: &Bound<'_, PyAny>) -> CoreResult<f64> {
    read(field, value, Value::time)
}

/// Bits per second of text with a unit, or a number of them.
#[pyfunction]
pub fn read_rate(field: &str, value: &Bound<'_, PyAny>) -> CoreResult<f64> {
    read(field, value, Value::rate)
}

/// Bytes of text with a unit, or a number of them.
#[pyfunction]
pub fn read_bytes(field: &str, value: &Bound<'_, PyAny>) -> CoreResult<u64> {
    read(field, value, Value::bytes)
}
