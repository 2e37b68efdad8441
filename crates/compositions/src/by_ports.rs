//! An AllReduce in which GPUs with fewer ports own more of the buffer.
//!
//! A rank with c of p circuits that owns 1/n of the sum receives all other parts over c circuits, and an AllReduce by
//! equal shards takes p/c of its time. Nothing asks for equal shards there: what a rank owns it receives only once,
//! as contributions, and sends only once, as the sum. With the share s = min(1/2, 1 − c/p) of the buffer at the rank, a
//! ReduceScatter brings it s·m and takes (1 − s)·m away, and the AllGather the other way round, so that it is no slower
//! than the others. Where only transmitters are lacking, some other rank lacks the circuits in, and owns as much.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Fabric, Op, Rank, Result, Schedule, Step, Topology, Transfer, Translations};

use crate::composition::Composition;
use crate::cutoffs::by_ports::{CHUNKS_A_RANK, MOST_CHUNKS, MOST_TAKEN, SHARES};
use crate::prices::Prices;
use crate::synthesis::{ChunkStep, Length, Network, steps};

/// The most promising AllReduces on a topology that stays, with shards by the ports of ranks; none where some rank
/// cannot reach another.
///
/// # Errors
/// The errors of [`Step::new`].
pub fn by_ports(topology: &Topology, fabric: &Fabric, size_bytes: u64) -> Result<Vec<Composition>> {
    let ranks = topology.ranks();
    let prices = Prices::new(fabric, size_bytes);
    let buffer_s = fabric.byte_s() * size_bytes as f64;
    let lacking = lacking(topology);
    let forward = Network::without_translations(topology);
    let turned = forward.turned();
    if forward.distances(0).is_none() || turned.distances(0).is_none() {
        return Ok(Vec::new());
    }
    let mut found: Vec<(f64, Vec<u32>, [Vec<ChunkStep>; 2])> = Vec::new();
    for each in CHUNKS_A_RANK {
        for scale in SHARES {
            let owned = owned(&lacking, scale, each);
            let chunks: u32 = owned.iter().sum();
            if chunks > MOST_CHUNKS || found.iter().any(|(_, other, _)| *other == owned) {
                continue;
            }
            let origins: Vec<Rank> =
                (0..ranks).zip(&owned).flat_map(|(rank, &count)| (0..count).map(move |_| rank)).collect();
            let startup = (16.0 * prices.one_hop_s() * f64::from(chunks) / buffer_s) as u32;
            for length in [Length::AtMost(1), Length::Worthwhile { startup }, Length::AtMost(4 * each)] {
                interruption::check();
                let passes = [&turned, &forward].map(|network| steps(network, &origins, 1, length));
                let [Some(reduce), Some(gather)] = passes else { continue };
                let all = reduce.iter().chain(&gather);
                let rounds: u32 = all.clone().map(|step| step.rounds).sum();
                let bytes_s = f64::from(rounds) / f64::from(chunks) * buffer_s;
                let seconds = all.count() as f64 * prices.one_hop_s() + bytes_s;
                found.push((seconds, owned.clone(), [reduce, gather]));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().take(MOST_TAKEN).map(|(_, owned, passes)| composition(topology, &owned, &passes)).collect()
}

/// By rank, the part of its circuits that it lacks, out or in, compared with the rank that has the most.
fn lacking(topology: &Topology) -> Vec<f64> {
    let ranks = topology.ranks() as usize;
    let (mut out, mut into) = (vec![0u32; ranks], vec![0u32; ranks]);
    for link in topology.expanded() {
        out[link.src as usize] += link.count;
        into[link.dst as usize] += link.count;
    }
    let most = out.iter().chain(&into).copied().max().unwrap_or(1).max(1);
    out.iter().zip(&into).map(|(&out, &into)| 1.0 - f64::from(out.min(into)) / f64::from(most)).collect()
}

/// Chunks that each rank owns: `each` where it lacks nothing, else as many as make up its share of the buffer.
fn owned(lacking: &[f64], scale: f64, each: u32) -> Vec<u32> {
    let shares: Vec<f64> = lacking.iter().map(|part| part.min(0.5) * scale).collect();
    let all: f64 = shares.iter().sum();
    // Something is left for the others.
    let shrink = if all > 0.9 { 0.9 / all } else { 1.0 };
    let others = shares.iter().filter(|&&share| share == 0.0).count().max(1) as f64;
    let left = 1.0 - all * shrink;
    let count = |share: &f64| (share * shrink / left * others * f64::from(each)).round() as u32;
    shares.iter().map(|share| count(share).max(each)).collect()
}

fn composition(topology: &Topology, owned: &[u32], [reduce, gather]: &[Vec<ChunkStep>; 2]) -> Result<Composition> {
    let ranks = topology.ranks();
    let chunks = Chunks::buffer(Collective::AllReduce, ranks, 0, owned.iter().sum())?;
    let mut first = vec![0u32; owned.len()];
    for rank in 1..owned.len() {
        first[rank] = first[rank - 1] + owned[rank - 1];
    }
    let step = |sent: &ChunkStep, op: Op| {
        let mut by_link: BTreeMap<(Rank, Rank), Vec<u32>> = BTreeMap::new();
        for sent in &sent.sent {
            let ends = if op == Op::Reduce { (sent.dst, sent.src) } else { (sent.src, sent.dst) };
            by_link.entry(ends).or_default().push(first[sent.origin as usize] + sent.part);
        }
        let transfers = by_link.into_iter().map(|((src, dst), chunks)| Transfer { src, dst, op, chunks });
        Step::new(Translations::trivial(ranks), transfers, &chunks)
    };
    let reduced = reduce.iter().rev().map(|sent| step(sent, Op::Reduce));
    let steps = reduced.chain(gather.iter().map(|sent| step(sent, Op::Copy))).collect::<Result<Vec<_>>>()?;
    let schedule = Schedule::new(crate::SYNTHESIZED, chunks.clone(), steps)?;
    Ok(Composition { schedule, topologies: vec![topology.clone()], over_circuits: true, routes: Vec::new() })
}
