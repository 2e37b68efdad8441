//! Sizes, times and rates as text.

use model::{ranges::RANGES, ranges::WHOLES, units};
use pyo3::prelude::*;

use crate::arguments;
use crate::input_error::CoreResult;

#[pyfunction]
pub fn parse_size(field: &str, text: &Bound<'_, PyAny>) -> CoreResult<u64> {
    Ok(units::parse_size(field, &arguments::text(field, text)?)?)
}

#[pyfunction]
pub fn parse_time(field: &str, text: &Bound<'_, PyAny>) -> CoreResult<f64> {
    Ok(units::parse_time(field, &arguments::text(field, text)?)?)
}

#[pyfunction]
pub fn parse_rate(field: &str, text: &Bound<'_, PyAny>) -> CoreResult<f64> {
    Ok(units::parse_rate(field, &arguments::text(field, text)?)?)
}

/// A number of seconds that is in the range of times.
#[pyfunction]
pub fn check_time(field: &str, time_s: f64) -> CoreResult<f64> {
    Ok(units::time_from_f64(field, time_s)?)
}

/// A number of bits per second that is in the range of rates.
#[pyfunction]
pub fn check_rate(field: &str, rate_bps: f64) -> CoreResult<f64> {
    Ok(units::rate_from_f64(field, rate_bps)?)
}

/// A number of bytes that is in the range of sizes.
#[pyfunction]
pub fn check_size(field: &str, size_bytes: f64) -> CoreResult<u64> {
    Ok(units::size_from_f64(field, size_bytes)?)
}

#[pyfunction]
pub fn show_time(seconds: f64) -> String {
    units::show_time(seconds)
}

#[pyfunction]
#[pyo3(signature = (size_bytes, like_bytes=None))]
pub fn show_size(size_bytes: f64, like_bytes: Option<f64>) -> String {
    like_bytes.map_or_else(|| units::show_size(size_bytes), |like| units::show_size_like(size_bytes, like))
}

#[pyfunction]
pub fn counted(count: u64, noun: &str) -> String {
    model::counted(count, noun)
}

/// Name, unit, least above zero, largest, whether zero is accepted, and all of it in words.
type RangeTuple = (&'static str, &'static str, f64, f64, bool, &'static str);

/// Name, least and largest of the options of whole numbers.
#[pyfunction]
pub fn whole_ranges() -> Vec<(&'static str, u64, u64)> {
    WHOLES.iter().map(|range| (range.name, range.least, range.most)).collect()
}

/// The ranges of numbers.
#[pyfunction]
pub fn ranges() -> Vec<RangeTuple> {
    RANGES.iter().map(|range| (range.name, range.unit, range.least, range.most, range.or_zero, range.accepts)).collect()
}
