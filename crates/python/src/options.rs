//! The table of planning options.

use lightloom::options::{self, Kind, OPTIONS, Part};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::text;
use crate::input_error::CoreResult;

/// A dictionary for each row: the fields that Python's `Option` has, and what the option is a part of.
#[pyfunction]
pub fn planning_options(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |option: &'static options::PlanningOption| {
        let row = PyDict::new(py);
        row.set_item("name", option.name)?;
        row.set_item("kind", kind_name(option.kind))?;
        row.set_item("part", part_name(option.part))?;
        row.set_item("group", option.group)?;
        row.set_item("meaning", option.meaning)?;
        row.set_item("verbs", option.verbs)?;
        row.set_item("default", option.default)?;
        row.set_item("otherwise", option.otherwise)?;
        row.set_item("names", option.names)?;
        row.set_item("others", option.others)?;
        row.set_item("metavar", option.metavar)?;
        row.set_item("example", option.example)?;
        row.set_item("python", option.python)?;
        row.set_item("range", option.range().map(|range| (range.least, range.most)))?;
        Ok(row)
    };
    OPTIONS.iter().map(row).collect()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "TEXT",
        Kind::Name => "NAME",
        Kind::Whole => "WHOLE",
        Kind::Size => "SIZE",
        Kind::Time => "TIME",
        Kind::Rate => "RATE",
        Kind::Delay => "DELAY",
        Kind::Barrier => "BARRIER",
        Kind::Positions => "POSITIONS",
        Kind::PairRates => "PAIR_RATES",
        Kind::Window => "WINDOW",
        Kind::Dims => "DIMS",
        Kind::Topology => "TOPOLOGY",
        Kind::Topologies => "TOPOLOGIES",
        Kind::Fabric => "FABRIC",
        Kind::Optics => "OPTICS",
        Kind::Matrix => "MATRIX",
        Kind::File => "FILE",
        Kind::YesOrNo => "YES_OR_NO",
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Argument => "argument",
        Part::Fabric => "fabric",
        Part::Setting => "setting",
        Part::Plan => "plan",
    }
}

/// The GPUs of a list of ranges.
#[pyfunction]
pub fn rank_list(field: &str, ranks: &Bound<'_, PyAny>) -> CoreResult<Vec<u32>> {
    Ok(options::rank_list::read(&crate::option_values::value_of(ranks)?, field)?)
}

/// The items of a list of topologies in one text.
#[pyfunction]
pub fn split_names(names: &Bound<'_, PyAny>) -> CoreResult<Vec<String>> {
    Ok(options::split_names(&text("names", names)?))
}

/// Whether a text is taken for a file that holds a topology.
#[pyfunction]
pub fn names_topology_file(name: &Bound<'_, PyAny>) -> CoreResult<bool> {
    Ok(options::names_topology_file(&text("name", name)?))
}
