//! Bounds where ports fail: what leaves a rank passes the transmitters of it that work, what enters it the receivers,
//! and all of it the circuits that can be made.
//!
//! With o_i and c_i transmitters and receivers of rank i that work, C = min(Σ o_i, Σ c_i) circuits and buffers of m:
//!
//! | collective | bytes over circuits, at least the largest of |
//! |---|---|
//! | AllGather | (m − m/n)/c_i, (m/n)/o_i, (n − 1)·m/C |
//! | ReduceScatter | the same with o and c exchanged |
//! | AllReduce | m/o_i, m/c_i, 2·(n − 1)·m/C, as every chunk has to leave every rank once, and to enter it once |
//! | All-to-All | (m − m/n)/o_i, (m − m/n)/c_i; with a matrix its rows and columns |
//! | Broadcast | m/o_root, m/c_i of the others, (n − 1)·m/C; Reduce with o and c exchanged |
//! | Scatter | (m − m/n)/o_root, (m/n)/c_i of the others; Gather with o and c exchanged |
//!
//! In an AllReduce the shards may be unequal, so that (2m − 2m/n)/c_i is no bound. The root is the one for which the
//! bound is the least.

use model::{Collective, Piece, Shape, WorkingPorts};

use super::one_step;
use crate::rates::Rates;
use crate::statement::Statement;

/// The bound; `None` where every port works, or some rank has none.
pub(super) fn bound(
    shape: &Shape,
    collective: Collective,
    pieces: Option<&[Piece]>,
    rates: &Rates,
    buffer_s: f64,
) -> Option<Statement> {
    let working = WorkingPorts::of(shape);
    if working.least() == shape.ports() {
        return None;
    }
    let buffers = match pieces {
        Some(pieces) => of_pieces(&working, pieces),
        None => of_collective(&working, collective),
    };
    if !buffers.is_finite() {
        return None;
    }
    let why = "what leaves a rank passes its transmitters that work, what enters it its receivers that work";
    let charges = (rates.hop_s, buffer_s * buffers);
    Some(one_step::bound("working-ports", "on the ports that work", why, collective, rates, charges))
}

/// Buffers through one port.
fn of_collective(WorkingPorts { out, into }: &WorkingPorts, collective: Collective) -> f64 {
    let n = out.len() as f64;
    let circuits = total(out).min(total(into));
    let (most, own) = (1.0 - 1.0 / n, 1.0 / n);
    match collective {
        Collective::AllGather => (most / least(into)).max(own / least(out)).max((n - 1.0) / circuits),
        Collective::ReduceScatter => (most / least(out)).max(own / least(into)).max((n - 1.0) / circuits),
        Collective::AllReduce => (1.0 / least(out).min(least(into))).max(2.0 * (n - 1.0) / circuits),
        Collective::AllToAll => most / least(out).min(least(into)),
        Collective::Broadcast => rooted(out, into, 1.0, 1.0).max((n - 1.0) / circuits),
        Collective::Reduce => rooted(into, out, 1.0, 1.0).max((n - 1.0) / circuits),
        Collective::Scatter => rooted(out, into, most, own),
        Collective::Gather => rooted(into, out, most, own),
    }
}

/// The least over all roots of the larger of what passes the root's ports and what passes those of each other rank.
fn rooted(of_root: &[u32], of_others: &[u32], root: f64, other: f64) -> f64 {
    let mut sorted: Vec<u32> = of_others.to_vec();
    sorted.sort_unstable();
    let each = of_root.iter().zip(of_others).map(|(&at_root, &own)| {
        // The fewest ports of the others: the second fewest where the root itself has the fewest.
        let fewest = if own == sorted[0] { sorted[1] } else { sorted[0] };
        (root / f64::from(at_root)).max(other / f64::from(fewest))
    });
    each.fold(f64::INFINITY, f64::min)
}

/// Buffers through one port for blocks of any size.
fn of_pieces(WorkingPorts { out, into }: &WorkingPorts, pieces: &[Piece]) -> f64 {
    let (mut sent, mut received) = (vec![0.0; out.len()], vec![0.0; into.len()]);
    for piece in pieces.iter().filter(|piece| piece.src != piece.dst) {
        sent[piece.src as usize] += piece.share;
        received[piece.dst as usize] += piece.share;
    }
    let by_ports = sent.iter().zip(out).chain(received.iter().zip(into));
    by_ports.filter(|(share, _)| **share > 0.0).map(|(share, &ports)| share / f64::from(ports)).fold(0.0, f64::max)
}

fn least(ports: &[u32]) -> f64 {
    f64::from(ports.iter().copied().min().unwrap_or(0))
}

fn total(ports: &[u32]) -> f64 {
    ports.iter().map(|&ports| f64::from(ports)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_by_hand() {
        // Four ranks with two ports, one of which lacks a transmitter.
        let working = WorkingPorts { out: vec![2, 1, 2, 2], into: vec![2; 4] };
        let by_hand = [
            (Collective::AllReduce, 1.0),
            (Collective::ReduceScatter, 0.75),
            (Collective::AllGather, 3.0 / 7.0),
            (Collective::AllToAll, 0.75),
            (Collective::Broadcast, 0.5),
            (Collective::Reduce, 0.5),
            (Collective::Scatter, 0.375),
            (Collective::Gather, 0.375),
        ];
        for (collective, expected) in by_hand {
            assert!((of_collective(&working, collective) - expected).abs() < 1e-12, "{collective:?}");
        }
    }
}
