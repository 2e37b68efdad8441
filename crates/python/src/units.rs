//! Sizes, times and rates as text.

use model::{ReconfigurationDelay, units};
use pyo3::prelude::*;

use crate::input_error::CoreResult;

#[pyfunction]
pub fn parse_size(field: &str, text: &str) -> CoreResult<u64> {
    Ok(units::parse_size(field, text)?)
}

#[pyfunction]
pub fn parse_time(field: &str, text: &str) -> CoreResult<f64> {
    Ok(units::parse_time(field, text)?)
}

#[pyfunction]
pub fn parse_rate(field: &str, text: &str) -> CoreResult<f64> {
    Ok(units::parse_rate(field, text)?)
}

#[pyfunction]
pub fn parse_reconfiguration_delay(field: &str, text: &str) -> CoreResult<(f64, f64)> {
    let delay = ReconfigurationDelay::parse(field, text)?;
    Ok((delay.fixed_s, delay.per_port_s))
}

#[pyfunction]
pub fn show_time(seconds: f64) -> String {
    units::show_time(seconds)
}

#[pyfunction]
pub fn show_size(size_bytes: f64) -> String {
    units::show_size(size_bytes)
}
