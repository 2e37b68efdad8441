//! The messages of all steps, and the segments that they carry; here in elements.

use model::{Plan, Result, SentPath, paths_of};

use super::layout::Layout;
use super::sent::{Sent, SentChunks};
use crate::request::Program;

/// Elements that are contiguous at both ends of a transfer.
struct Run {
    source_offset: u64,
    destination_offset: u64,
    size: u64,
    is_reduction: bool,
}

/// The messages of a plan's steps; workspaces are left out.
///
/// # Errors
/// A step whose paths have more GPUs than are written out; a rank that sends a chunk that it does not have.
pub(super) fn messages_of(plan: &Plan, sent: &Sent, layout: &Layout) -> Result<Program> {
    let mut program = Program {
        ranks: plan.chunks.ranks(),
        steps: plan.steps.len() as u32,
        gpu_offsets: vec![0],
        segment_offsets: vec![0],
        ..Program::default()
    };
    let mut shares = 0.0;
    for (step, planned) in plan.steps.iter().enumerate() {
        let paths = paths_of(planned)?;
        let rows = paths.chunk_by(|one, next| (one.src, one.dst) == (next.src, next.dst));
        for row in interruption::checked(rows) {
            let runs = runs_of(sent, sent.row(step, row[0].src, row[0].dst), layout)?;
            let ends = ends_of(row, runs.iter().map(|run| run.size).sum(), &mut shares);
            push_row(&mut program, step as u32, row, &ends, runs);
        }
    }
    Ok(program)
}

/// The runs of the transfers from one rank to another, transfer after transfer.
fn runs_of(sent: &Sent, transfers: &[SentChunks], layout: &Layout) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for transfer in transfers {
        let first = runs.len();
        for &chunk in sent.chunks(transfer) {
            let size = layout.chunks[chunk as usize];
            if size == 0 {
                continue;
            }
            let source_offset = layout.slots.offset(transfer.source, chunk)?;
            let destination_offset = layout.slots.offset(transfer.destination, chunk)?;
            match runs[first..].last_mut() {
                Some(run)
                    if run.source_offset + run.size == source_offset
                        && run.destination_offset + run.size == destination_offset =>
                {
                    run.size += size;
                }
                _ => runs.push(Run { source_offset, destination_offset, size, is_reduction: transfer.is_reduction }),
            }
        }
    }
    Ok(runs)
}

/// The end of each path's data in a row of `elements` elements: the rounded sum of the shares up to it; the last path
/// takes the rest.
///
/// shares: the sum of the shares of all paths before, which goes on from row to row.
fn ends_of(row: &[SentPath], elements: u64, shares: &mut f64) -> Vec<u64> {
    let before = *shares + row[0].share - row[0].share;
    let ends = row.iter().map(|path| {
        *shares += path.share;
        (((*shares - before) * elements as f64).round_ties_even() as u64).min(elements)
    });
    let mut ends: Vec<u64> = ends.collect();
    if let Some(last) = ends.last_mut() {
        *last = elements;
    }
    ends
}

/// Adds the messages of a row, one for each path that carries data; the data are cut from the runs.
fn push_row(program: &mut Program, step: u32, row: &[SentPath], ends: &[u64], runs: Vec<Run>) {
    let mut runs = runs.into_iter();
    let mut run = runs.next();
    let mut begin = 0;
    for (path, &end) in row.iter().zip(ends) {
        if end <= begin {
            continue;
        }
        let mut left = end - begin;
        while let Some(one) = run.as_mut().filter(|_| left > 0) {
            let size = one.size.min(left);
            push_segment(program, one, size);
            (one.source_offset, one.destination_offset) = (one.source_offset + size, one.destination_offset + size);
            one.size -= size;
            left -= size;
            if one.size == 0 {
                run = runs.next();
            }
        }
        program.step.push(step);
        program.gpus.extend_from_slice(&path.nodes);
        program.gpu_offsets.push(program.gpus.len() as u64);
        program.segment_offsets.push(program.size_bytes.len() as u64);
        begin = end;
    }
}

fn push_segment(program: &mut Program, run: &Run, size: u64) {
    program.source_offset.push(run.source_offset);
    program.destination_offset.push(run.destination_offset);
    program.size_bytes.push(size);
    program.is_reduction.push(run.is_reduction);
}
