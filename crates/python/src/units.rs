//! Sizes, times and rates as text.

use std::collections::BTreeMap;

use model::{ReconfigurationDelay, Window, units};
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

/// Seconds before every step, and by step from 0.
#[pyfunction]
pub fn parse_window(field: &str, text: &str) -> CoreResult<(f64, BTreeMap<usize, f64>)> {
    let window = Window::parse(field, text)?;
    Ok((window.every_s, window.steps))
}

#[pyfunction]
pub fn show_time(seconds: f64) -> String {
    units::show_time(seconds)
}

#[pyfunction]
pub fn show_size(size_bytes: f64) -> String {
    units::show_size(size_bytes)
}
