//! The bound for ranks among other GPUs that forward.
//!
//! Circuits of the other GPUs carry bytes too, so that bounds on what n·d links carry over several hops do not hold.
//! Bytes that leave the ranks or enter them still pass the ranks' own ports.

use model::{Bound, Chunks, Collective, CostSettings, Fabric, Overlap, Propagation};

/// The class of the bound.
const CLASS: &str = "ports of the ranks, any algorithm, any paths over other GPUs";

/// Below one by more than all roundings together.
const ROUNDING: f64 = 1.0 - 4e-13;

/// The least time of the collective of `chunks`, whose ranks have the fabric's ports and other GPUs only forward: one
/// step, one hop, and the bytes that leave the ranks or enter them over their ports.
///
/// Only ranks reduce and copy, so that n − 1 transfers of a chunk reduce it and n − 1 more bring it to all: on average a
/// rank sends 2·(n − 1)/n·m in an AllReduce, and half of that in a ReduceScatter or an AllGather.
pub fn forwarded(chunks: &Chunks, fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> Bound {
    let n = f64::from(chunks.members());
    let share = match (chunks.collective(), chunks.as_pieces()) {
        (_, Some(pieces)) => {
            let mut sent = vec![[0.0; 2]; chunks.ranks() as usize];
            for piece in pieces.iter().filter(|piece| piece.src != piece.dst) {
                sent[piece.src as usize][0] += piece.share;
                sent[piece.dst as usize][1] += piece.share;
            }
            sent.into_iter().flatten().fold(0.0, f64::max)
        }
        (Collective::AllReduce, None) => 2.0 * (n - 1.0) / n,
        (Collective::ReduceScatter | Collective::AllGather | Collective::AllToAll, None) => (n - 1.0) / n,
        // The root sends or receives the shares of all others.
        (Collective::Gather | Collective::Scatter, None) => (n - 1.0) / n,
        (Collective::Broadcast | Collective::Reduce, None) => 1.0,
    };
    let is_additive = (settings.propagation, settings.overlap) == (Propagation::Hops, Overlap::Additive);
    let hop_s = if is_additive { fabric.hop_delay_s } else { 0.0 };
    let transmission_s = share * size_bytes as f64 * fabric.byte_s() / f64::from(fabric.shape.ports());
    Bound { seconds: (fabric.per_step_s() + hop_s + transmission_s) * ROUNDING, class: CLASS.to_string() }
}
