//! What a plan sends, where and along which paths, every rank of it: arrays for those that write it for other tools.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Error, Op, Plan, PlanStep, Rank, Result};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arguments::shown;
use crate::input_error::CoreResult;

/// Chunks, or GPUs of paths, that one step may be expanded to.
const MAX_EXPANDED: u64 = 1 << 26;
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

/// By chunk: the rank that has it first, the one that must have it, its bytes; and equal chunks of a buffer, if they are.
pub type ChunkArrays<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Option<u32>);

/// The step of that index.
///
/// # Errors
/// There is none.
pub fn step_of<'a>(plan: &'a Plan, step: &Bound<'_, PyAny>) -> CoreResult<&'a PlanStep> {
    let found = step.extract::<usize>().ok().and_then(|step| plan.steps.get(step));
    Ok(found.ok_or_else(|| Error::value("step", shown(step), format!("0 to {}", plan.steps.len() - 1)))?)
}

/// # Errors
/// A step of more chunks than are expanded.
pub fn transfers<'py>(py: Python<'py>, plan: &Plan, step: &PlanStep) -> CoreResult<TransferArrays<'py>> {
    let held: usize = step.step.transfers().iter().map(|transfer| transfer.chunks.len()).sum();
    check_expanded("chunks of transfers", held, step.step.symmetry().order())?;
    let all = py.detach(|| {
        let mut all = step.step.expanded(&plan.chunks);
        // Translations keep no order.
        all.iter_mut().for_each(|transfer| transfer.chunks.sort_unstable());
        all
    });
    let size_bytes = plan.size_bytes as f64;
    let bytes = |chunks: &[u32]| match plan.chunks.per_buffer() {
        Some(parts) => size_bytes * chunks.len() as f64 / f64::from(parts),
        None => chunks.iter().map(|&chunk| size_bytes * plan.chunks.share(chunk)).sum(),
    };
    Ok((
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.src)),
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.dst)),
        PyArray1::from_iter(py, all.iter().map(|transfer| transfer.op == Op::Reduce)),
        PyArray1::from_iter(py, all.iter().map(|transfer| bytes(&transfer.chunks))),
        PyArray1::from_vec(py, offsets(all.iter().map(|transfer| transfer.chunks.len()))),
        PyArray1::from_vec(py, all.iter().flat_map(|transfer| transfer.chunks.iter().copied()).collect()),
    ))
}

/// # Errors
/// A step whose paths have more GPUs than are expanded.
pub fn routes<'py>(py: Python<'py>, step: &PlanStep) -> CoreResult<RouteArrays<'py>> {
    let held: usize = step.routes.arcs.iter().flat_map(|arc| &arc.paths).map(|path| path.nodes.len()).sum();
    check_expanded("GPUs of paths", held, step.routes.symmetry.order())?;
    let (all, weights) = py.detach(|| {
        let arcs = step.step.traffic().expanded();
        let weights: BTreeMap<(Rank, Rank), f64> =
            arcs.into_iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
        (step.routes.expanded(), weights)
    });
    let bytes = |src, dst| weights.get(&(src, dst)).map_or(0.0, |weight| weight * step.transfer_bytes);
    let paths: Vec<_> =
        all.iter().flat_map(|arc| arc.paths.iter().map(|path| (arc.src, arc.dst, path.share, &path.nodes))).collect();
    Ok((
        PyArray1::from_iter(py, paths.iter().map(|&(src, ..)| src)),
        PyArray1::from_iter(py, paths.iter().map(|&(_, dst, ..)| dst)),
        PyArray1::from_iter(py, paths.iter().map(|&(_, _, share, _)| share)),
        PyArray1::from_iter(py, paths.iter().map(|&(src, dst, share, _)| share * bytes(src, dst))),
        PyArray1::from_vec(py, offsets(paths.iter().map(|(.., nodes)| nodes.len()))),
        PyArray1::from_vec(py, paths.iter().flat_map(|(.., nodes)| nodes.iter().copied()).collect()),
    ))
}

pub fn chunks<'py>(py: Python<'py>, plan: &Plan) -> ChunkArrays<'py> {
    let (chunks, size_bytes) = (&plan.chunks, plan.size_bytes as f64);
    let all = || 0..chunks.count();
    (
        PyArray1::from_iter(py, all().map(|chunk| first_rank(chunks, chunk))),
        PyArray1::from_iter(py, all().map(|chunk| last_rank(chunks, chunk))),
        PyArray1::from_iter(py, all().map(|chunk| size_bytes * chunks.share(chunk))),
        chunks.per_buffer(),
    )
}

/// The rank that holds the chunk before the first step.
fn first_rank(chunks: &Chunks, chunk: u32) -> i64 {
    let (block, ranks) = (chunk / chunks.parts().unwrap_or(1), chunks.ranks());
    match (chunks.collective(), chunks.as_pieces(), chunks.as_buffer()) {
        (Collective::AllReduce | Collective::ReduceScatter, ..) => ALL_RANKS,
        (_, Some(pieces), _) => i64::from(pieces[chunk as usize].src),
        (_, _, Some((root, _))) => i64::from(root),
        (Collective::AllToAll, ..) => i64::from(block / ranks),
        (Collective::AllGather | Collective::Broadcast, ..) => i64::from(block),
    }
}

/// The rank that must hold the chunk after the last step.
fn last_rank(chunks: &Chunks, chunk: u32) -> i64 {
    let (block, ranks) = (chunk / chunks.parts().unwrap_or(1), chunks.ranks());
    match (chunks.collective(), chunks.as_pieces()) {
        (_, Some(pieces)) => i64::from(pieces[chunk as usize].dst),
        (Collective::ReduceScatter, _) => i64::from(block),
        (Collective::AllToAll, _) => i64::from(block % ranks),
        (Collective::AllReduce | Collective::AllGather | Collective::Broadcast, _) => ALL_RANKS,
    }
}

/// Where each item's part of a joined array begins, and where the last one ends.
fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<u64> {
    let ends = lengths.scan(0, |end, length| {
        *end += length as u64;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn check_expanded(what: &str, held: usize, order: u32) -> Result<()> {
    let count = held as u64 * u64::from(order);
    if count <= MAX_EXPANDED {
        return Ok(());
    }
    Err(Error::infeasible("plan", format!("a step of it has {count} {what}; at most {MAX_EXPANDED} are written out")))
}
