//! The transfers of a plan, where and along which paths, every rank of it: arrays for those that write it for other
//! tools.

use model::{Error, Op, Plan, PlanStep};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arguments::shown;
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;

/// Stands for every rank.
const ALL_RANKS: i64 = -1;

/// By transfer: source, destination, whether the receiver adds, bytes, where its chunks begin; and all chunks.
pub type TransferArrays<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
);

/// By path: source, destination, share, bytes, where its GPUs begin; and all GPUs.
pub type RouteArrays<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
);

/// By chunk: the rank that has it first, the one that must have it, its bytes; and equal chunks of a buffer, if they
/// are.
pub type ChunkArrays<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Option<u32>);

/// The step of that index.
///
/// # Errors
/// The plan has no such step.
pub fn step_of<'a>(plan: &'a Plan, step: &Bound<'_, PyAny>) -> CoreResult<&'a PlanStep> {
    let found = step.extract::<usize>().ok().and_then(|step| plan.steps.get(step));
    Ok(found.ok_or_else(|| Error::value("step", shown(step), format!("0 to {}", plan.steps.len() - 1)))?)
}

/// # Errors
/// A step of more chunks than are written out.
pub fn transfers<'py>(py: Python<'py>, plan: &Plan, step: &PlanStep) -> CoreResult<TransferArrays<'py>> {
    let all = interruptible(py, || model::transfers_of(plan, step))??;
    Ok((
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.src)),
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.dst)),
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.op == Op::Reduce)),
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.bytes)),
        PyArray1::from_vec(py, offsets(all.iter().map(|transfer| transfer.chunks.len()))),
        PyArray1::from_vec(py, all.iter().flat_map(|transfer| transfer.chunks.iter().copied()).collect()),
    ))
}

/// # Errors
/// A step whose paths have more GPUs than are written out.
pub fn routes<'py>(py: Python<'py>, step: &PlanStep) -> CoreResult<RouteArrays<'py>> {
    let paths = interruptible(py, || model::paths_of(step))??;
    Ok((
        PyArray1::from_iter(py, paths.iter().map(|path| path.src)),
        PyArray1::from_iter(py, paths.iter().map(|path| path.dst)),
        PyArray1::from_iter(py, paths.iter().map(|path| path.share)),
        PyArray1::from_iter(py, paths.iter().map(|path| path.bytes)),
        PyArray1::from_vec(py, offsets(paths.iter().map(|path| path.nodes.len()))),
        PyArray1::from_vec(py, paths.iter().flat_map(|path| path.nodes.iter().copied()).collect()),
    ))
}

pub fn chunks<'py>(py: Python<'py>, plan: &Plan) -> ChunkArrays<'py> {
    let (chunks, size_bytes) = (&plan.chunks, plan.size_bytes as f64);
    let all = || 0..chunks.count();
    (
        PyArray1::from_iter(py, all().map(|chunk| chunks.first_rank(chunk).map_or(ALL_RANKS, i64::from))),
        PyArray1::from_iter(py, all().map(|chunk| chunks.last_rank(chunk).map_or(ALL_RANKS, i64::from))),
        PyArray1::from_iter(py, all().map(|chunk| size_bytes * chunks.share(chunk))),
        chunks.per_buffer(),
    )
}

/// The place where each item's part of a joined array begins, and where the last one ends.
fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let ends = lengths.scan(0, |end, length| {
        *end += length as u64;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}
