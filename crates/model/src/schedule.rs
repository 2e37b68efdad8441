//! Steps of transfers, with the chunks that each carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Chunks, Collective, Error, Piece, Rank, Result, Traffic, TrafficEntry, Translations};

/// The receiver's operation on a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Keep it in place of what was there.
    Copy,
    /// Add it to what is there.
    Reduce,
}

/// Chunks that go from `src` to `dst`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Sender.
    pub src: Rank,
    /// Receiver.
    pub dst: Rank,
    /// The receiver's operation.
    pub op: Op,
    /// The chunks, ascending, each once.
    pub chunks: Vec<u32>,
}

/// Transfers that may all start together, each of what its sender had before, as one representative per orbit of
/// `symmetry`. Data that several transfers bring to a rank for one chunk is applied in the order of their senders: all
/// of it is added, or the first replaces what was there and the others are added to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    symmetry: Translations,
    transfers: Vec<Transfer>,
    share: f64,
    traffic: Traffic,
}

impl Step {
    /// The step that `symmetry` makes of `transfers`, chunks being translated with the ranks.
    ///
    /// # Errors
    /// No transfer, a rank or chunk out of range, a chunk named twice in one transfer, a rank sending to
    /// itself, or a symmetry where chunks do not follow their ranks.
    pub fn new(symmetry: Translations, transfers: impl IntoIterator<Item = Transfer>, chunks: &Chunks) -> Result<Self> {
        let refuse = |value: String, accepts: String| Err(Error::value("step", value, accepts));
        if symmetry.ranks() != chunks.ranks() || (symmetry.order() > 1 && !chunks.is_translatable()) {
            return refuse(
                format!("symmetry of order {} on {} ranks", symmetry.order(), symmetry.ranks()),
                format!("a symmetry of {} ranks that chunks follow", chunks.ranks()),
            );
        }
        let mut canonical: Vec<Transfer> = Vec::new();
        for mut transfer in interruption::checked(transfers) {
            let ranks = chunks.members();
            if transfer.src >= ranks || transfer.dst >= ranks || transfer.src == transfer.dst {
                return refuse(
                    format!("transfer {} → {}", transfer.src, transfer.dst),
                    format!("transfers between two different ranks below {ranks}"),
                );
            }
            transfer.chunks.sort_unstable();
            let doubled = transfer.chunks.windows(2).any(|pair| pair[0] == pair[1]);
            if transfer.chunks.last().is_none_or(|&last| doubled || last >= chunks.count()) {
                return refuse(
                    format!("the list of chunks of transfer {} → {}", transfer.src, transfer.dst),
                    format!("at least one chunk, none twice, each below {}", chunks.count()),
                );
            }
            let (representative, element) = symmetry.canonical(transfer.src);
            if element != 0 {
                let back = symmetry.inverse(element);
                transfer.src = representative;
                transfer.dst = symmetry.apply(back, transfer.dst);
                for chunk in &mut transfer.chunks {
                    *chunk = chunks.translate(&symmetry, back, *chunk);
                }
                transfer.chunks.sort_unstable();
            }
            canonical.push(transfer);
        }
        canonical.sort_by(|a, b| (a.src, a.dst, a.op, &a.chunks).cmp(&(b.src, b.dst, b.op, &b.chunks)));
        if canonical.is_empty() {
            return refuse("a step without transfers".into(), "at least one transfer".into());
        }
        let (share, traffic) = traffic_of(&symmetry, &canonical, chunks)?;
        Ok(Self { symmetry, transfers: canonical, share, traffic })
    }

    /// The group under which transfers and their chunks are invariant.
    pub fn symmetry(&self) -> &Translations {
        &self.symmetry
    }

    /// The transfers, one of each orbit, by (src, dst).
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// m_i over m: bytes between the pair that exchanges most, over the buffer.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The traffic of the step, with weights relative to m_i.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Every transfer.
    pub fn expanded(&self, chunks: &Chunks) -> Vec<Transfer> {
        let mut all = Vec::new();
        for element in self.symmetry.elements() {
            interruption::check();
            for transfer in &self.transfers {
                all.push(Transfer {
                    src: self.symmetry.apply(element, transfer.src),
                    dst: self.symmetry.apply(element, transfer.dst),
                    op: transfer.op,
                    chunks: transfer.chunks.iter().map(|&c| chunks.translate(&self.symmetry, element, c)).collect(),
                });
            }
        }
        all.sort_by_key(|transfer| (transfer.src, transfer.dst));
        all
    }
}

/// m_i / m and the pattern. Counts are added before they are divided, so that equal chunks give exact shares.
fn traffic_of(symmetry: &Translations, transfers: &[Transfer], chunks: &Chunks) -> Result<(f64, Traffic)> {
    let mut per_pair: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
    for transfer in interruption::checked(transfers) {
        let amount = match chunks.per_buffer() {
            Some(_) => transfer.chunks.len() as f64,
            None => transfer.chunks.iter().map(|&chunk| chunks.share(chunk)).sum(),
        };
        *per_pair.entry((transfer.src, transfer.dst)).or_insert(0.0) += amount;
    }
    let largest = per_pair.values().copied().fold(0.0, f64::max);
    let arcs = per_pair.into_iter().map(|((src, dst), amount)| TrafficEntry { src, dst, weight: amount / largest });
    let traffic = Traffic::new(symmetry.clone(), arcs)?;
    let traffic = if symmetry.order() == 1 { traffic.with_found_symmetry() } else { traffic };
    Ok((largest / chunks.per_buffer().map_or(1.0, f64::from), traffic))
}

/// An algorithm's steps for given ranks; it does not depend on the size m.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    algorithm: String,
    chunks: Chunks,
    /// Arc by all copies: planners pass schedules on as they are.
    steps: Arc<[Step]>,
}

impl Schedule {
    /// The schedule of `steps`, in order, separated by barriers.
    ///
    /// # Errors
    /// No steps, or steps of another number of ranks than the chunks'.
    pub fn new(algorithm: impl Into<String>, chunks: Chunks, steps: Vec<Step>) -> Result<Self> {
        let algorithm = algorithm.into();
        if steps.is_empty() || steps.iter().any(|step| step.symmetry.ranks() != chunks.ranks()) {
            return Err(Error::value(
                "schedule",
                format!("{algorithm} with {} steps", steps.len()),
                format!("at least one step, all on {} ranks", chunks.ranks()),
            ));
        }
        Ok(Self { algorithm, chunks, steps: steps.into() })
    }

    /// Name of the algorithm that made it.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The data that it moves.
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    /// The collective that it computes.
    pub fn collective(&self) -> Collective {
        self.chunks.collective()
    }

    /// Number of ranks n.
    pub fn ranks(&self) -> u32 {
        self.chunks.ranks()
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether this is a copy of `other` or the other way round, which is cheaper to tell than equality. O(1).
    pub fn shares_steps(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.steps, &other.steps)
    }

    /// The group under which every step is invariant.
    pub fn symmetry(&self) -> Translations {
        let first = self.steps[0].symmetry.clone();
        self.steps[1..].iter().fold(first, |group, step| group.meet(&step.symmetry))
    }

    /// Bytes that the busiest rank sends, over m: the sum over steps of what one rank sends at most.
    pub fn sent_share(&self) -> f64 {
        self.steps.iter().map(|step| step.share * step.traffic.node_load()).sum()
    }

    /// The schedule run backwards, of the collective [`Collective::backwards`]. Sums become copies and copies sums: an
    /// AllGather's reverse is a ReduceScatter, a Broadcast's a Reduce, and the other way round. An All-to-All of pieces
    /// becomes that of the transposed matrix. Where copies become sums, no rank may be sent a chunk twice.
    ///
    /// # Errors
    /// Another collective, or a schedule that both copies and reduces.
    pub fn reversed(&self) -> Result<Self> {
        let (chunks, op) = match (self.collective().backwards(), self.chunks.as_pieces()) {
            (Some(back), _) => (self.chunks.of(back), if back.reduces() { Op::Reduce } else { Op::Copy }),
            (None, Some(pieces)) => {
                let back = pieces.iter().map(|piece| Piece { src: piece.dst, dst: piece.src, share: piece.share });
                (Chunks::pieces(self.ranks(), back.collect())?, Op::Copy)
            }
            (None, None) => {
                let accepts =
                    "a collective that can be reversed: neither all-reduce nor an all-to-all without a matrix";
                return Err(Error::value("collective", self.collective().name(), accepts));
            }
        };
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            interruption::check();
            let back = step.transfers.iter().map(|transfer| Transfer {
                src: transfer.dst,
                dst: transfer.src,
                op,
                chunks: transfer.chunks.clone(),
            });
            steps.push(Step::new(step.symmetry.clone(), back, &chunks)?);
        }
        Self::new(self.algorithm.clone(), chunks, steps)
    }

    /// ReduceScatter, then AllGather of the same chunks: an AllReduce.
    ///
    /// # Errors
    /// When the two are not a ReduceScatter and an AllGather of the same chunks.
    pub fn reduce_then_gather(reduce: &Self, gather: &Self) -> Result<Self> {
        let fits = reduce.collective() == Collective::ReduceScatter
            && gather.collective() == Collective::AllGather
            && reduce.chunks.of(Collective::AllGather) == gather.chunks;
        if !fits {
            return Err(Error::value(
                "schedule",
                format!("{} then {}", reduce.algorithm, gather.algorithm),
                "a reduce-scatter and an all-gather of the same chunks",
            ));
        }
        let steps = reduce.steps.iter().chain(gather.steps.iter()).cloned().collect();
        Self::new(reduce.algorithm.clone(), reduce.chunks.of(Collective::AllReduce), steps)
    }
}
