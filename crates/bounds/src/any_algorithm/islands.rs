//! Islands of GPUs behind shared ports: bytes that have to leave or enter one pass these ports in any algorithm.

use model::{Collective, Islands, Piece};

use crate::rates::Rates;
use crate::statement::Statement;
use crate::topology_class::any_topology;

/// Time that every schedule takes without bytes, `latency`, and time that the ports of the busiest island take for the
/// bytes that must pass them; `None` where all GPUs are one island.
pub(super) fn bound(
    islands: Islands,
    collective: Collective,
    pieces: Option<&[Piece]>,
    rates: &Rates,
    buffer_s: f64,
    latency: Statement,
) -> Option<Statement> {
    if rates.ranks <= islands.gpus {
        return None;
    }
    let passing = match pieces {
        Some(pieces) => most_between(islands, pieces),
        None => shares(islands, collective, rates.ranks),
    };
    let transmission_s = buffer_s * passing / f64::from(islands.ports);
    // Where transmission hides hop delays, a schedule with more hops may have fewer steps, so only one startup is sure.
    let latency = match rates.overlaps {
        false => latency,
        true => Statement {
            startup_s: rates.startup_s,
            propagation_s: 0.0,
            reconfiguration_s: rates.change_s * f64::from(rates.first_changes),
            topologies: 1,
            steps: 1,
            segments: Vec::new(),
            ..latency
        },
    };
    let topology = any_topology(rates.ports, Some(islands));
    let class = format!("any algorithm for {}, {topology} in each step, any reconfigurations", collective.name());
    let why = "all data between the GPUs of an island and the other GPUs passes through the island's ports";
    Some(Statement { name: "islands", class, why, transmission_s, ..latency })
}

/// The largest part of the buffer m that must leave or enter some island.
fn shares(islands: Islands, collective: Collective, ranks: u32) -> f64 {
    let of_island = |gpus: u32| {
        let (inside, outside) = (f64::from(gpus), f64::from(ranks - gpus));
        match collective {
            // Every element of the result takes something from outside; the whole buffer comes from one rank.
            Collective::AllReduce | Collective::Broadcast | Collective::Reduce => 1.0,
            // The blocks of the others come in, or their sums go out.
            Collective::AllGather | Collective::ReduceScatter => outside / f64::from(ranks),
            Collective::AllToAll => inside * outside / f64::from(ranks),
            // The root is in some island, whichever it is: the shares of the GPUs outside pass its ports.
            Collective::Gather | Collective::Scatter => f64::from(ranks - islands.gpus) / f64::from(ranks),
        }
    };
    let last = match ranks % islands.gpus {
        0 => islands.gpus,
        rest => rest,
    };
    of_island(islands.gpus).max(of_island(last))
}

/// The largest part of the buffer that the blocks `pieces` take out of an island or into it.
fn most_between(islands: Islands, pieces: &[Piece]) -> f64 {
    let count = pieces.iter().map(|piece| piece.src.max(piece.dst) / islands.gpus + 1).max().unwrap_or(0);
    let mut out = vec![0.0; count as usize];
    let mut into = out.clone();
    for piece in pieces {
        let (from, to) = (piece.src / islands.gpus, piece.dst / islands.gpus);
        if from != to {
            out[from as usize] += piece.share;
            into[to as usize] += piece.share;
        }
    }
    out.into_iter().chain(into).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_an_island_is_counted_by_hand() {
        let islands = Islands { gpus: 4, ports: 2 };
        // 8 GPUs: an island gets 4 of 8 blocks, sends 4·4 blocks of an eighth each, takes the whole sum or buffer.
        for (collective, expected) in [
            (Collective::AllGather, 0.5),
            (Collective::ReduceScatter, 0.5),
            (Collective::AllToAll, 2.0),
            (Collective::AllReduce, 1.0),
            (Collective::Broadcast, 1.0),
            (Collective::Reduce, 1.0),
            (Collective::Gather, 0.5),
            (Collective::Scatter, 0.5),
        ] {
            assert_eq!(shares(islands, collective, 8), expected, "{collective:?}");
        }
        // The root of 9 GPUs may be in an island of four, with five outside.
        assert_eq!(shares(islands, Collective::Scatter, 9), 5.0 / 9.0);
        // The last island of 9 GPUs is one GPU, which needs 8 of 9 blocks.
        assert_eq!(shares(islands, Collective::AllGather, 9), 8.0 / 9.0);
        let pieces = [(0, 1, 0.5), (0, 4, 0.25), (1, 5, 0.125), (6, 2, 0.125)].map(|(src, dst, share)| Piece {
            src,
            dst,
            share,
        });
        assert_eq!(most_between(islands, &pieces), 0.375);
    }
}
