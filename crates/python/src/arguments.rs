//! Text and whole numbers from Python, refused like any other wrong input where they are something else.

use model::Error;
use pyo3::prelude::*;

use crate::input_error::CoreResult;

/// Characters of a value that a message shows.
const SHOWN: usize = 60;

/// Bytes of a name, as in plan files.
const MAX_NAME: usize = 500;

/// The text that an argument is.
pub fn text(field: &str, value: &Bound<'_, PyAny>) -> CoreResult<String> {
    Ok(value.extract::<String>().map_err(|_| Error::value(field, shown(value), "text"))?)
}

/// The text that an argument is, if there is one.
pub fn optional_text(field: &str, value: Option<&Bound<'_, PyAny>>) -> CoreResult<Option<String>> {
    value.map(|value| text(field, value)).transpose()
}

/// A name that plan files take.
pub fn name(field: &str, value: &Bound<'_, PyAny>) -> CoreResult<String> {
    let text = text(field, value)?;
    if text.is_empty() || text.len() > MAX_NAME || text.chars().any(char::is_control) {
        return Err(Error::value(field, shown(value), format!("one line of 1 to {MAX_NAME} bytes")).into());
    }
    Ok(text)
}

/// The whole number of at most 32 bits that an argument is.
pub fn whole(field: &str, value: &Bound<'_, PyAny>) -> CoreResult<u32> {
    let accepts = || format!("a whole number from 0 to {}", u32::MAX);
    Ok(value.extract::<u32>().map_err(|_| Error::value(field, shown(value), accepts()))?)
}

/// The whole numbers of a list.
pub fn wholes(field: &str, list: &Bound<'_, PyAny>) -> CoreResult<Vec<u32>> {
    let items = list.extract::<Vec<Bound<'_, PyAny>>>();
    let items = items.map_err(|_| Error::value(field, shown(list), "a list of whole numbers"))?;
    items.iter().map(|item| whole(field, item)).collect()
}

/// A value as a message shows it.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "it".into(), |text| text.to_string_lossy().into_owned());
    text.chars().take(SHOWN).collect()
}
