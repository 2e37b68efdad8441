//! The program of a plan, as arrays.

use std::num::NonZeroU64;

use model::Error;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use runtime::{Copies, Data, PlanProgram};

use crate::arguments::shown;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::plan::PyPlan;

type Column = Py<PyArray1<i64>>;
/// Rank, where from, where to, how much.
type CopiesTuple = (Column, Column, Column, Column);

#[pyclass(name = "Program", module = "lightloom._core", frozen, get_all)]
pub struct PyProgram {
    collective: &'static str,
    ranks: u32,
    steps: u32,
    root: Option<u32>,
    element_bytes: u64,
    blocks: Option<Py<PyArray2<i64>>>,
    input_bytes: Column,
    output_bytes: Column,
    workspace_bytes: Column,
    loads: CopiesTuple,
    stores: CopiesTuple,
    step: Column,
    gpu_offsets: Column,
    gpus: Column,
    segment_offsets: Column,
    source_offset: Column,
    destination_offset: Column,
    size_bytes: Column,
    is_reduction: Py<PyArray1<bool>>,
}

#[pyfunction]
pub fn program(py: Python<'_>, plan: &PyPlan, element_bytes: &Bound<'_, PyAny>) -> CoreResult<PyProgram> {
    let refused = || Error::value("element_bytes", shown(element_bytes), "a whole number of bytes, at least 1");
    let size = element_bytes.extract::<u64>().ok().and_then(NonZeroU64::new).ok_or_else(refused)?;
    let (plan, made) = interruptible(py, || {
        let plan = plan.judged()?;
        Ok::<_, Error>((plan, runtime::program_of(plan, size, &Data::OfPlan)?))
    })??;
    let PlanProgram { program, blocks, input_bytes, output_bytes, loads, stores } = made;
    let ranks = program.ranks as usize;
    Ok(PyProgram {
        collective: plan.collective().name(),
        ranks: program.ranks,
        steps: program.steps,
        root: plan.chunks.root(),
        element_bytes: size.get(),
        blocks: blocks.map(|blocks| matrix(py, ranks, blocks)),
        input_bytes: wide(py, input_bytes),
        output_bytes: wide(py, output_bytes),
        workspace_bytes: wide(py, program.workspace_bytes),
        loads: copies(py, loads),
        stores: copies(py, stores),
        step: wide(py, program.step),
        gpu_offsets: wide(py, program.gpu_offsets),
        gpus: wide(py, program.gpus),
        segment_offsets: wide(py, program.segment_offsets),
        source_offset: wide(py, program.source_offset),
        destination_offset: wide(py, program.destination_offset),
        size_bytes: wide(py, program.size_bytes),
        is_reduction: PyArray1::from_vec(py, program.is_reduction).unbind(),
    })
}

/// A column of numbers below 2^63, as all of a program are.
fn wide<T: Into<u64>>(py: Python<'_>, numbers: Vec<T>) -> Column {
    PyArray1::from_vec(py, numbers.into_iter().map(|number| number.into() as i64).collect()).unbind()
}

fn matrix(py: Python<'_>, ranks: usize, numbers: Vec<u64>) -> Py<PyArray2<i64>> {
    let numbers = numbers.into_iter().map(|number| number as i64).collect();
    let rows = Array2::from_shape_vec((ranks, ranks), numbers);
    // A number for every pair of ranks, as the core makes them.
    PyArray2::from_owned_array(py, rows.unwrap_or_default()).unbind()
}

fn copies(py: Python<'_>, copies: Copies) -> CopiesTuple {
    let Copies { rank, source_offset, destination_offset, size_bytes } = copies;
    (wide(py, rank), wide(py, source_offset), wide(py, destination_offset), wide(py, size_bytes))
}
