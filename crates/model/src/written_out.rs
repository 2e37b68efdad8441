//! The transfers of a plan's step, of every rank, for those that carry it out or write it for other tools.

use std::collections::BTreeMap;

use crate::{Error, Op, Plan, PlanStep, Rank, Result};

/// Chunks, or GPUs of paths, that one step may be written out to.
const MAX_WRITTEN: u64 = 1 << 26;

/// A transfer of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct SentTransfer {
    /// Sender.
    pub src: Rank,
    /// Receiver.
    pub dst: Rank,
    /// The receiver's operation.
    pub op: Op,
    /// Bytes of all chunks together.
    pub bytes: f64,
    /// Chunks of the transfer, ascending.
    pub chunks: Vec<u32>,
}

/// A path of the bytes that one GPU sends to another in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct SentPath {
    /// Sender.
    pub src: Rank,
    /// Receiver.
    pub dst: Rank,
    /// Part of what the one sends to the other that goes this way.
    pub share: f64,
    /// Bytes that go this way.
    pub bytes: f64,
    /// GPUs on the path, sender first, receiver last.
    pub nodes: Vec<Rank>,
}

/// Every transfer of a step of the plan, by source and destination.
///
/// # Errors
/// A step of more chunks than are written out.
pub fn transfers_of(plan: &Plan, step: &PlanStep) -> Result<Vec<SentTransfer>> {
    let held: usize = step.step.transfers().iter().map(|transfer| transfer.chunks.len()).sum();
    check_written("chunks of transfers", held, step.step.symmetry().order())?;
    let size_bytes = plan.size_bytes as f64;
    let bytes = |chunks: &[u32]| match plan.chunks.per_buffer() {
        Some(parts) => size_bytes * chunks.len() as f64 / f64::from(parts),
        None => chunks.iter().map(|&chunk| size_bytes * plan.chunks.share(chunk)).sum(),
    };
    let sent = step.step.expanded(&plan.chunks).into_iter().map(|transfer| {
        let mut chunks = transfer.chunks;
        // Translations keep no order.
        chunks.sort_unstable();
        SentTransfer { src: transfer.src, dst: transfer.dst, op: transfer.op, bytes: bytes(&chunks), chunks }
    });
    Ok(sent.collect())
}

/// Every path of a step, by source and destination.
///
/// # Errors
/// A step whose paths have more GPUs than are written out.
pub fn paths_of(step: &PlanStep) -> Result<Vec<SentPath>> {
    let held: usize = step.routes.arcs.iter().flat_map(|arc| &arc.paths).map(|path| path.nodes.len()).sum();
    check_written("GPUs of paths", held, step.routes.symmetry.order())?;
    let arcs = step.step.traffic().expanded();
    let weights: BTreeMap<(Rank, Rank), f64> = arcs.into_iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
    let bytes = |src, dst| weights.get(&(src, dst)).map_or(0.0, |weight| weight * step.transfer_bytes);
    let sent = step.routes.expanded().into_iter().flat_map(|arc| {
        let (src, dst) = (arc.src, arc.dst);
        let all = bytes(src, dst);
        arc.paths.into_iter().map(move |path| SentPath {
            src,
            dst,
            share: path.share,
            bytes: path.share * all,
            nodes: path.nodes,
        })
    });
    Ok(sent.collect())
}

fn check_written(what: &str, held: usize, order: u32) -> Result<()> {
    let count = held as u64 * u64::from(order);
    if count <= MAX_WRITTEN {
        return Ok(());
    }
    Err(Error::infeasible("plan", format!("a step has {count} {what}; at most {MAX_WRITTEN} can be listed")))
}
