//! All-to-All: a rank holds few of the n² blocks. Its workspace has its input, by destination; behind it the data that
//! it receives for itself, by source; and then a slot for every chunk that it only forwards.
//!
//! Sums saturate; a workspace whose size saturates is refused afterwards.

use std::collections::HashMap;
use std::num::NonZeroU64;

use model::{Plan, Rank, Result};

use super::copies::Copies;
use super::data::Data;
use super::layout::{Layout, Slots, buffer_of, cut, sizes};
use super::pair_slots::{Ends, PairSlots};
use super::refusal::refuse;
use super::sent::Sent;

/// Relative rounding error of the sum of a pair's bytes, below which no element more is counted.
const ROUNDING: f64 = 1e-12;

/// Amounts of elements by rank.
struct Amounts {
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    /// Elements that a rank has for itself.
    own: Vec<u64>,
    /// Elements that a rank has for ranks of smaller numbers.
    to_before: Vec<u64>,
    /// Elements that a rank gets from ranks of smaller numbers.
    from_before: Vec<u64>,
}

/// The layout of a plan's data.
pub(super) fn layout_of(plan: &Plan, sent: &Sent, element_bytes: NonZeroU64, data: &Data) -> Result<Layout> {
    let chunks = match (data, plan.chunks.per_buffer()) {
        (Data::Blocks(blocks), _) => of_blocks(plan, blocks)?,
        (Data::Elements(elements), Some(parts)) => {
            let of_buffer = sizes(&cut(*elements, parts));
            of_buffer.iter().copied().cycle().take(plan.chunks.count() as usize).collect()
        }
        (_, None) => pieces(plan, element_bytes),
        (Data::OfPlan, Some(parts)) => {
            let of_buffer = sizes(&cut(buffer_of(plan, element_bytes)?, parts));
            of_buffer.iter().copied().cycle().take(plan.chunks.count() as usize).collect()
        }
    };
    let ends = Ends::new(plan);
    let ranks = plan.chunks.ranks() as usize;
    let blocks = blocks(ranks, &ends, &chunks)?;
    let amounts = amounts(ranks, &ends, &chunks);
    let (loads, stores) = copies(&amounts);
    let slots_in = in_rows(ends.iter(), &chunks, &vec![0; ranks]);
    let slots_out = slots_out(&ends, &chunks, &slots_in, &amounts.inputs);
    let mut workspaces: Vec<u64> = (0..ranks).map(|rank| amounts.received_end(rank)).collect();
    let passed = passed(&ends, sent, &chunks, &mut workspaces);
    let slots = Slots::Pairs(PairSlots::new(ends, slots_in, slots_out, passed));
    let Amounts { inputs, outputs, .. } = amounts;
    Ok(Layout { blocks: Some(blocks), inputs, outputs, workspaces, loads, stores, chunks, slots })
}

/// Elements of each chunk, where chunks have sizes of their own.
fn pieces(plan: &Plan, element_bytes: NonZeroU64) -> Vec<u64> {
    let (size_bytes, element_bytes) = (plan.size_bytes as f64, element_bytes.get() as f64);
    // Bytes and elements of a pair of ranks so far.
    let mut so_far: HashMap<(Rank, Rank), (f64, u64)> = HashMap::new();
    let pieces = interruption::checked(plan.chunks.as_pieces().unwrap_or_default());
    let elements = pieces.map(|piece| {
        let (bytes, elements) = so_far.entry((piece.src, piece.dst)).or_default();
        *bytes += size_bytes * piece.share;
        let end = ((*bytes * (1.0 - ROUNDING) / element_bytes).ceil() as u64).max(1);
        end - std::mem::replace(elements, end)
    });
    elements.collect()
}

/// Elements of each chunk, where those of a pair of ranks are given: its chunks divide them as the plan's data.
fn of_blocks(plan: &Plan, blocks: &[u64]) -> Result<Vec<u64>> {
    let (ranks, ends) = (plan.chunks.ranks() as usize, Ends::new(plan));
    let shares: Vec<f64> = match plan.chunks.as_pieces() {
        Some(pieces) => pieces.iter().map(|piece| piece.share).collect(),
        None => vec![1.0; plan.chunks.count() as usize],
    };
    if blocks.len() != ranks * ranks {
        return Err(refuse(format!("it has {ranks} ranks, and {} blocks of data are given", blocks.len())));
    }
    let place = |(source, destination): (Rank, Rank)| source as usize * ranks + destination as usize;
    let mut whole = vec![0.0; blocks.len()];
    ends.iter().zip(&shares).for_each(|(pair, share)| whole[place(pair)] += share);
    if let Some(missing) = (0..blocks.len()).find(|&pair| blocks[pair] > 0 && whole[pair] <= 0.0) {
        let (source, destination) = (missing / ranks, missing % ranks);
        return Err(refuse(format!("it sends nothing from rank {source} to rank {destination}, and data are given")));
    }
    // The share and the elements of each pair so far.
    let mut so_far = vec![(0.0, 0u64); blocks.len()];
    let elements = ends.iter().zip(&shares).map(|(pair, share)| {
        let pair = place(pair);
        let (before, begin) = &mut so_far[pair];
        *before += share;
        let is_last = *before >= whole[pair] * (1.0 - ROUNDING);
        let end = if is_last { blocks[pair] } else { (*before / whole[pair] * blocks[pair] as f64).round() as u64 };
        let end = end.clamp(*begin, blocks[pair]);
        end - std::mem::replace(begin, end)
    });
    Ok(elements.collect())
}

/// Number of elements by source and destination.
fn blocks(ranks: usize, ends: &Ends, chunks: &[u64]) -> Result<Vec<u64>> {
    let mut blocks = Vec::new();
    let reserved = ranks.checked_mul(ranks).map(|count| (count, blocks.try_reserve_exact(count)));
    let Some((count, Ok(()))) = reserved else {
        return Err(refuse(format!("there is no memory for its {ranks} × {ranks} blocks")));
    };
    blocks.resize(count, 0u64);
    for ((source, destination), &size) in ends.iter().zip(chunks) {
        let block = &mut blocks[source as usize * ranks + destination as usize];
        *block = block.saturating_add(size);
    }
    Ok(blocks)
}

fn amounts(ranks: usize, ends: &Ends, chunks: &[u64]) -> Amounts {
    let [mut inputs, mut outputs, mut own, mut to_before, mut from_before] = [const { Vec::new() }; 5];
    for column in [&mut inputs, &mut outputs, &mut own, &mut to_before, &mut from_before] {
        column.resize(ranks, 0u64);
    }
    let add = |column: &mut [u64], rank: Rank, size: u64| {
        column[rank as usize] = column[rank as usize].saturating_add(size);
    };
    for ((source, destination), &size) in ends.iter().zip(chunks) {
        add(&mut inputs, source, size);
        add(&mut outputs, destination, size);
        match source.cmp(&destination) {
            std::cmp::Ordering::Less => add(&mut from_before, destination, size),
            std::cmp::Ordering::Equal => add(&mut own, source, size),
            std::cmp::Ordering::Greater => add(&mut to_before, source, size),
        }
    }
    Amounts { inputs, outputs, own, to_before, from_before }
}

impl Amounts {
    /// Elements that a rank gets from other ranks.
    fn received(&self, rank: usize) -> u64 {
        self.outputs[rank] - self.own[rank]
    }

    /// The place where the data that a rank gets end in its workspace.
    fn received_end(&self, rank: usize) -> u64 {
        self.inputs[rank].saturating_add(self.received(rank))
    }
}

/// Copies from inputs to workspaces, and from workspaces to outputs: the data from ranks of smaller numbers, from the
/// rank itself, and from ranks of larger numbers.
fn copies(amounts: &Amounts) -> (Copies, Copies) {
    let (mut loads, mut stores) = (Copies::default(), Copies::default());
    let ranks = 0..amounts.inputs.len();
    for rank in ranks.clone() {
        loads.push(rank, 0, 0, amounts.inputs[rank]);
        stores.push(rank, amounts.inputs[rank], 0, amounts.from_before[rank]);
    }
    for rank in ranks.clone() {
        stores.push(rank, amounts.to_before[rank], amounts.from_before[rank], amounts.own[rank]);
    }
    for rank in ranks {
        let (before, own) = (amounts.from_before[rank], amounts.own[rank]);
        let begin = amounts.inputs[rank].saturating_add(before);
        stores.push(rank, begin, before.saturating_add(own), amounts.received(rank).saturating_sub(before));
    }
    (loads, stores)
}

/// Where each chunk lies at its destination: after that rank's inputs, in order of source; a rank's chunks to itself
/// stay where they are.
fn slots_out(ends: &Ends, chunks: &[u64], slots_in: &[u64], inputs: &[u64]) -> Vec<u64> {
    let is_own = |chunk: usize| {
        let (source, destination) = ends.of(chunk as u32);
        source == destination
    };
    let received: Vec<u64> = (0..chunks.len()).map(|chunk| if is_own(chunk) { 0 } else { chunks[chunk] }).collect();
    let turned = ends.iter().map(|(source, destination)| (destination, source));
    let mut slots = in_rows(turned, &received, inputs);
    for chunk in (0..chunks.len()).filter(|&chunk| is_own(chunk)) {
        slots[chunk] = slots_in[chunk];
    }
    slots
}

/// Slots of chunks at the ranks that forward them, by which their workspaces grow.
fn passed(ends: &Ends, sent: &Sent, chunks: &[u64], workspaces: &mut [u64]) -> Vec<(u64, u64)> {
    let mut keys: Vec<u64> = Vec::new();
    for transfer in interruption::checked(sent.transfers()) {
        let at = transfer.destination;
        let passes = |&&chunk: &&u32| !<[Rank; 2]>::from(ends.of(chunk)).contains(&at);
        keys.extend(sent.chunks(transfer).iter().filter(passes).map(|&chunk| ends.key(at, chunk)));
    }
    keys.sort_unstable();
    keys.dedup();
    let count = chunks.len() as u64;
    let slots = keys.into_iter().map(|key| {
        let end = &mut workspaces[(key / count) as usize];
        let begin = *end;
        *end = begin.saturating_add(chunks[(key % count) as usize]);
        (key, begin)
    });
    slots.collect()
}

/// The place where each chunk begins if the chunks of a row lie one after the other from `starts[row]` on, in the order
/// of their places, ties by index. places: row and place of every chunk.
fn in_rows(places: impl Iterator<Item = (Rank, Rank)>, sizes: &[u64], starts: &[u64]) -> Vec<u64> {
    let mut order: Vec<((Rank, Rank), u32)> = places.zip(0..).collect();
    order.sort_unstable();
    let (mut next, mut begins) = (starts.to_vec(), vec![0; sizes.len()]);
    for ((row, _), chunk) in order {
        let end = &mut next[row as usize];
        begins[chunk as usize] = *end;
        *end = end.saturating_add(sizes[chunk as usize]);
    }
    begins
}
