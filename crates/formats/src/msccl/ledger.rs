//! Values and deliveries: which version of a chunk a GPU holds, and what each receive turned out to be.
//!
//! A schedule keeps one value per (rank, chunk). Where nothing is reduced, all copies of a chunk are equal
//! and versions stay 0. Where sums grow, every change of (rank, chunk) makes a new version; only the newest
//! may be used. A receive that does not replace the newest version waits for its use to be understood:
//! added to it, it is a reduction; sent on or kept, it is a replacement.

use std::fmt::Display;

use model::{Error, Op, Rank, Result};

/// The contents of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Held {
        chunk: u32,
        version: usize,
    },
    /// The delivery of that index, not understood yet.
    Arrived(usize),
}

/// A chunk that crosses the network.
#[derive(Debug)]
pub(super) struct Delivery {
    pub level: u32,
    pub src: Rank,
    pub dst: Rank,
    pub chunk: u32,
    /// `None` until its use is understood.
    pub op: Option<Op>,
    /// Version that (dst, chunk) had when it arrived.
    before: usize,
}

#[derive(Clone, Default)]
struct Versions {
    /// Step of each change, ascending; the version is their number.
    changes: Vec<u32>,
    /// Last step in which the rank sent the chunk.
    sent: u32,
}

pub(super) struct Ledger {
    reduces: bool,
    chunks: u32,
    versions: Vec<Versions>,
    pub deliveries: Vec<Delivery>,
}

impl Ledger {
    pub(super) fn new(reduces: bool, ranks: u32, chunks: u32) -> Self {
        let kept = if reduces { ranks as usize * chunks as usize } else { 0 };
        Self { reduces, chunks, versions: vec![Versions::default(); kept], deliveries: Vec::new() }
    }

    fn of(&mut self, rank: Rank, chunk: u32) -> Option<&mut Versions> {
        self.versions.get_mut(rank as usize * self.chunks as usize + chunk as usize)
    }

    fn newest(&mut self, rank: Rank, chunk: u32) -> usize {
        self.of(rank, chunk).map_or(0, |versions| versions.changes.len())
    }

    fn change(&mut self, rank: Rank, chunk: u32, level: u32) -> Value {
        let version = self.of(rank, chunk).map_or(0, |versions| {
            let last = versions.changes.last().copied().unwrap_or(0);
            versions.changes.push(level.max(last));
            versions.changes.len()
        });
        Value::Held { chunk, version }
    }

    /// Notes that `rank` sends `chunk` in step `level`.
    pub(super) fn send(&mut self, rank: Rank, chunk: u32, level: u32) {
        if let Some(versions) = self.of(rank, chunk) {
            versions.sent = versions.sent.max(level);
        }
    }

    /// Whether `version` is still the newest at the start of step `level`.
    pub(super) fn lasts_until(&mut self, rank: Rank, chunk: u32, version: usize, level: u32) -> bool {
        self.of(rank, chunk).is_none_or(|versions| versions.changes.get(version).is_none_or(|&change| change >= level))
    }

    /// The chunk and version in `value`, which is used as a value in its own right.
    ///
    /// # Errors
    /// An older version than the newest of that rank and chunk.
    pub(super) fn settle(&mut self, value: &mut Value, rank: Rank, at: &impl Display) -> Result<(u32, usize)> {
        let (chunk, version) = match *value {
            Value::Held { chunk, version } => (chunk, version),
            Value::Arrived(delivery) => {
                *value = self.understand(delivery, Op::Copy, at)?;
                let chunk = self.deliveries[delivery].chunk;
                (chunk, self.newest(rank, chunk))
            }
        };
        if version != self.newest(rank, chunk) {
            return Err(Error::malformed(at, format!("it uses a partial sum of chunk {chunk} that is out of date")));
        }
        Ok((chunk, version))
    }

    /// A chunk is received into a slot that held `before`; what the slot holds then.
    pub(super) fn receive(&mut self, mut delivery: Delivery, before: Option<Value>) -> Value {
        let (dst, chunk, level) = (delivery.dst, delivery.chunk, delivery.level);
        delivery.before = self.newest(dst, chunk);
        let replaces_newest = before == Some(Value::Held { chunk, version: delivery.before });
        let value = if !self.reduces {
            delivery.op = Some(Op::Copy);
            Value::Held { chunk, version: 0 }
        } else if replaces_newest {
            delivery.op = Some(Op::Copy);
            self.change(dst, chunk, level)
        } else {
            Value::Arrived(self.deliveries.len())
        };
        self.deliveries.push(delivery);
        value
    }

    /// A chunk is received and added to `operand`; the sum.
    ///
    /// # Errors
    /// An operand that is another chunk or out of date, or a collective that reduces nothing.
    pub(super) fn receive_sum(
        &mut self,
        mut delivery: Delivery,
        operand: &mut Value,
        at: &impl Display,
    ) -> Result<Value> {
        let (dst, chunk, level) = (delivery.dst, delivery.chunk, delivery.level);
        let (operand, _) = self.settle(operand, dst, at)?;
        self.check_sum(operand, chunk, at)?;
        delivery.op = Some(Op::Reduce);
        self.deliveries.push(delivery);
        Ok(self.change(dst, chunk, level))
    }

    /// The sum of two slots of one GPU, one of which holds what has just arrived.
    ///
    /// # Errors
    /// Two different chunks, or two values of which none or both are deliveries: a rank has one value per chunk.
    pub(super) fn add(&mut self, a: Value, b: Value, rank: Rank, at: &impl Display) -> Result<Value> {
        let (delivery, mut held) = match (a, b) {
            (Value::Arrived(delivery), held @ Value::Held { .. })
            | (held @ Value::Held { .. }, Value::Arrived(delivery)) => (delivery, held),
            _ => {
                return Err(Error::malformed(
                    at,
                    "a sum must add a received chunk to the GPU's own chunk, or the reverse",
                ));
            }
        };
        let (own, _) = self.settle(&mut held, rank, at)?;
        self.check_sum(own, self.deliveries[delivery].chunk, at)?;
        self.understand(delivery, Op::Reduce, at)
    }

    fn check_sum(&self, own: u32, arriving: u32, at: &impl Display) -> Result<()> {
        if !self.reduces {
            return Err(Error::malformed(at, "it adds chunks in a collective that reduces nothing"));
        }
        if own != arriving {
            return Err(Error::malformed(
                at,
                format!("it adds chunk {arriving} to chunk {own}; a sum takes copies of one chunk"),
            ));
        }
        Ok(())
    }

    /// Gives a delivery its meaning, as of the step in which it arrived.
    fn understand(&mut self, index: usize, op: Op, at: &impl Display) -> Result<Value> {
        let Delivery { level, dst, chunk, before, op: known, .. } = self.deliveries[index];
        let sent = self.of(dst, chunk).map_or(0, |versions| versions.sent);
        // A replacement undoes every change since; a sum may join sums, but nothing sent since may lack it.
        let too_late = sent > level || (op == Op::Copy && self.newest(dst, chunk) != before);
        if known.is_some() || too_late {
            let reason =
                format!("chunk {chunk} changed or was sent after this copy of it arrived, or the copy is used twice");
            return Err(Error::malformed(at, reason));
        }
        self.deliveries[index].op = Some(op);
        Ok(self.change(dst, chunk, level))
    }
}

impl Delivery {
    pub(super) fn new(level: u32, src: Rank, dst: Rank, chunk: u32) -> Self {
        Self { level, src, dst, chunk, op: None, before: 0 }
    }
}
