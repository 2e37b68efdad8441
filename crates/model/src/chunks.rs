//! The data that a collective starts from and must end with, per (rank, chunk).

use std::sync::Arc;

use crate::{Collective, Error, Rank, Result, Translations};

/// A part of a block of an unequal All-to-All: it goes from `src` to `dst` and is `share` of the buffer m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Rank that has it at the start.
    pub src: Rank,
    /// Rank that must have it at the end.
    pub dst: Rank,
    /// Bytes over m.
    pub share: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// Chunk `owner·parts + part`: AllReduce, ReduceScatter, AllGather.
    Owned { parts: u32 },
    /// Chunk `(src·n + dst)·parts + part`: All-to-All.
    Pairs { parts: u32 },
    /// Chunk `owner·parts + part`, all of them at `root` at the start or at the end: Gather, Scatter.
    Rooted { root: Rank, parts: u32 },
    /// Chunk `part`, of no owner: Broadcast from `root`, Reduce to it, and AllReduce buffers cut in any number of
    /// chunks.
    Buffer { root: Rank, parts: u32 },
    /// All-to-All with pieces of any size.
    Pieces(Arc<[Piece]>),
}

/// The smallest units of data of a schedule: how many, how large, where each starts and must end.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunks {
    collective: Collective,
    /// Ranks that take part: the first ones.
    members: u32,
    /// GPUs after them that only forward.
    forwarding: u32,
    kind: Kind,
}

/// Bytes of a sum that a rank holds while a schedule is executed, in addition to its contributors.
const SUM_BYTES: u64 = 96;

/// More chunks than this are refused, so that outside files cannot exhaust memory.
const MAX_CHUNKS: u64 = 1 << 26;

impl Chunks {
    /// `parts` equal chunks per block; a block is one rank's share (or one pair's, for All-to-All; the
    /// whole buffer, for Broadcast and Reduce). Where there is a root, it is rank 0.
    ///
    /// # Errors
    /// No ranks, no parts, or more than 2^26 chunks.
    pub fn even(collective: Collective, ranks: u32, parts: u32) -> Result<Self> {
        let kind = match collective {
            Collective::AllToAll => Kind::Pairs { parts },
            Collective::Broadcast | Collective::Reduce => Kind::Buffer { root: 0, parts },
            Collective::Gather | Collective::Scatter => Kind::Rooted { root: 0, parts },
            Collective::AllReduce | Collective::ReduceScatter | Collective::AllGather => Kind::Owned { parts },
        };
        let per_rank = u64::from(parts) * u64::from(ranks);
        let total =
            if collective == Collective::AllToAll { per_rank.checked_mul(u64::from(ranks)) } else { Some(per_rank) };
        if ranks == 0 || parts == 0 || total.is_none_or(|total| total > MAX_CHUNKS) {
            return Err(Error::value(
                "chunks",
                format!("{parts} parts for each of {ranks} ranks"),
                format!("1 to {MAX_CHUNKS} chunks in all"),
            ));
        }
        Ok(Self { collective, members: ranks, forwarding: 0, kind })
    }

    /// `parts` equal chunks per block of a collective that has a root: of a rank's share for Gather and Scatter, of the
    /// whole buffer for Broadcast and Reduce.
    ///
    /// # Errors
    /// A collective without a root, a root outside the ranks, or the errors of [`Chunks::even`].
    pub fn rooted(collective: Collective, ranks: u32, root: Rank, parts: u32) -> Result<Self> {
        if matches!(collective, Collective::Broadcast | Collective::Reduce) {
            return Self::buffer(collective, ranks, root, parts);
        }
        if !collective.has_root() {
            return Err(Error::value(
                "collective",
                collective.name(),
                "broadcast, reduce, gather or scatter with a root",
            ));
        }
        let even = Self::even(collective, ranks, parts)?;
        if root >= ranks {
            return Err(Error::value("chunks", format!("root {root}"), format!("a root below {ranks}")));
        }
        Ok(Self { kind: Kind::Rooted { root, parts }, ..even })
    }

    /// An AllReduce buffer cut in any number of equal chunks, a Broadcast from `root` or a Reduce to it.
    ///
    /// # Errors
    /// Another collective, a root outside the ranks, or no chunks.
    pub fn buffer(collective: Collective, ranks: u32, root: Rank, parts: u32) -> Result<Self> {
        if !matches!(collective, Collective::AllReduce | Collective::Broadcast | Collective::Reduce) {
            return Err(Error::value(
                "collective",
                collective.name(),
                "all-reduce, broadcast or reduce where chunks have no owner",
            ));
        }
        if ranks == 0 || root >= ranks || parts == 0 || u64::from(parts) > MAX_CHUNKS {
            return Err(Error::value(
                "chunks",
                format!("root {root} with {parts} parts"),
                format!("a root below {ranks} and 1 to {MAX_CHUNKS} parts"),
            ));
        }
        Ok(Self { collective, members: ranks, forwarding: 0, kind: Kind::Buffer { root, parts } })
    }

    /// The pieces of an unequal All-to-All.
    ///
    /// # Errors
    /// A rank outside `0..ranks` or a share that is not a finite number above zero.
    pub fn pieces(ranks: u32, pieces: Vec<Piece>) -> Result<Self> {
        for piece in &pieces {
            if piece.src >= ranks || piece.dst >= ranks || !(piece.share.is_finite() && piece.share > 0.0) {
                return Err(Error::value(
                    "chunks",
                    format!("piece {} → {} with share {}", piece.src, piece.dst, piece.share),
                    format!("pieces between ranks below {ranks} with a share above zero"),
                ));
            }
        }
        let kind = Kind::Pieces(pieces.into());
        Ok(Self { collective: Collective::AllToAll, members: ranks, forwarding: 0, kind })
    }

    /// The collective whose data these are.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// These chunks as data of another collective with chunks of the same kind, as when ReduceScatter and
    /// AllGather are joined into an AllReduce, or a Broadcast is turned into a Reduce.
    pub fn of(&self, collective: Collective) -> Self {
        Self { collective, ..self.clone() }
    }

    /// These chunks among the first ranks of more GPUs, the last `forwarding` of which have no data and only forward.
    #[must_use]
    pub fn with_forwarding(self, forwarding: u32) -> Self {
        Self { forwarding, ..self }
    }

    /// Number of GPUs: the ranks that take part, then those that only forward.
    pub fn ranks(&self) -> u32 {
        self.members.saturating_add(self.forwarding)
    }

    /// Number of ranks that take part, n in all sizes and shares; the first of [`Chunks::ranks`].
    pub fn members(&self) -> u32 {
        self.members
    }

    /// Number of GPUs that have no data and only forward.
    pub fn forwarding(&self) -> u32 {
        self.forwarding
    }

    /// Number of chunks.
    pub fn count(&self) -> u32 {
        match &self.kind {
            Kind::Owned { parts } | Kind::Rooted { parts, .. } => parts * self.members,
            Kind::Pairs { parts } => parts * self.members * self.members,
            Kind::Buffer { parts, .. } => *parts,
            Kind::Pieces(pieces) => pieces.len() as u32,
        }
    }

    /// Equal parts per block; `None` for pieces of their own sizes.
    pub fn parts(&self) -> Option<u32> {
        match &self.kind {
            Kind::Owned { parts } | Kind::Pairs { parts } | Kind::Buffer { parts, .. } | Kind::Rooted { parts, .. } => {
                Some(*parts)
            }
            Kind::Pieces(_) => None,
        }
    }

    /// The root and the number of parts, where chunks have no owner.
    pub fn as_buffer(&self) -> Option<(Rank, u32)> {
        if let Kind::Buffer { root, parts } = self.kind { Some((root, parts)) } else { None }
    }

    /// The rank whose buffer a Broadcast or Scatter sends, or that a Reduce or Gather brings its result to; `None` for
    /// other collectives.
    pub fn root(&self) -> Option<Rank> {
        match self.kind {
            Kind::Buffer { root, .. } if self.collective.has_root() => Some(root),
            Kind::Rooted { root, .. } => Some(root),
            _ => None,
        }
    }

    /// The pieces, where they have their own sizes.
    pub fn as_pieces(&self) -> Option<&[Piece]> {
        if let Kind::Pieces(pieces) = &self.kind { Some(pieces) } else { None }
    }

    /// The data that all ranks send to others in an All-to-All, over the busiest rank's buffer; `None` for other
    /// collectives.
    pub fn exchanged_share(&self) -> Option<f64> {
        match &self.kind {
            Kind::Pairs { .. } => Some(f64::from(self.members - 1)),
            Kind::Pieces(pieces) => {
                Some(pieces.iter().filter(|piece| piece.src != piece.dst).map(|piece| piece.share).sum())
            }
            _ => None,
        }
    }

    /// Chunk `part` of the block that `owner` owns (AllReduce, ReduceScatter, AllGather, Gather, Scatter).
    pub fn owned(&self, owner: Rank, part: u32) -> u32 {
        debug_assert!(matches!(self.kind, Kind::Owned { .. } | Kind::Rooted { .. }));
        owner * self.parts().unwrap_or(1) + part
    }

    /// Chunk `part` of the block from `src` to `dst` (All-to-All).
    pub fn pair(&self, src: Rank, dst: Rank, part: u32) -> u32 {
        debug_assert!(matches!(self.kind, Kind::Pairs { .. }));
        (src * self.members + dst) * self.parts().unwrap_or(1) + part
    }

    /// Number of equal chunks that make up the buffer m, where chunks are equal: a chunk is m over this.
    pub fn per_buffer(&self) -> Option<u32> {
        match self.kind {
            Kind::Owned { parts } | Kind::Pairs { parts } | Kind::Rooted { parts, .. } => Some(parts * self.members),
            Kind::Buffer { parts, .. } => Some(parts),
            Kind::Pieces(_) => None,
        }
    }

    /// Bytes of a chunk over m.
    pub fn share(&self, chunk: u32) -> f64 {
        match &self.kind {
            Kind::Pieces(pieces) => pieces[chunk as usize].share,
            _ => 1.0 / f64::from(self.per_buffer().unwrap_or(1)),
        }
    }

    /// Whether chunks follow their ranks under translations.
    pub fn is_translatable(&self) -> bool {
        self.forwarding == 0 && matches!(self.kind, Kind::Owned { .. } | Kind::Pairs { .. })
    }

    /// The chunk that `chunk` becomes when every rank is moved by `element` of `group`. Chunks without
    /// an owner, and those of a collective with a root, stay what they are.
    pub fn translate(&self, group: &Translations, element: u32, chunk: u32) -> u32 {
        match self.kind {
            Kind::Owned { parts } => group.apply(element, chunk / parts) * parts + chunk % parts,
            Kind::Pairs { parts } => {
                let (pair, part) = (chunk / parts, chunk % parts);
                let src = group.apply(element, pair / self.members);
                let dst = group.apply(element, pair % self.members);
                (src * self.members + dst) * parts + part
            }
            Kind::Rooted { .. } | Kind::Buffer { .. } | Kind::Pieces(_) => chunk,
        }
    }

    /// The one rank that holds the chunk before the first step; `None` where all do, each its own contribution.
    pub fn first_rank(&self, chunk: u32) -> Option<Rank> {
        match (&self.kind, self.collective) {
            (_, Collective::AllReduce | Collective::ReduceScatter | Collective::Reduce) => None,
            (Kind::Rooted { root, .. }, Collective::Scatter) => Some(*root),
            (Kind::Owned { parts } | Kind::Rooted { parts, .. }, _) => Some(chunk / parts),
            (Kind::Pairs { parts }, _) => Some(chunk / parts / self.members),
            (Kind::Buffer { root, .. }, _) => Some(*root),
            (Kind::Pieces(pieces), _) => Some(pieces[chunk as usize].src),
        }
    }

    /// The one rank that must hold the chunk after the last step; `None` where all must.
    pub fn last_rank(&self, chunk: u32) -> Option<Rank> {
        match (&self.kind, self.collective) {
            (Kind::Owned { parts }, Collective::ReduceScatter) => Some(chunk / parts),
            (Kind::Buffer { root, .. }, Collective::Reduce) => Some(*root),
            (Kind::Rooted { root, .. }, Collective::Gather) => Some(*root),
            (Kind::Rooted { parts, .. }, _) => Some(chunk / parts),
            (Kind::Pairs { parts }, _) => Some(chunk / parts % self.members),
            (Kind::Pieces(pieces), _) => Some(pieces[chunk as usize].dst),
            _ => None,
        }
    }

    /// Bytes, from above, of what `holders` ranks hold of all chunks while a schedule is executed step by step: of a
    /// sum a bit for each contributor, twice where sums are joined.
    pub fn executed_bytes(&self, holders: u32) -> u64 {
        let one = if self.collective.reduces() { SUM_BYTES + u64::from(self.members) / 4 } else { 1 };
        (u64::from(holders) * u64::from(self.count())).saturating_mul(one)
    }

    /// Whether `rank` holds its own contribution to `chunk` before the first step.
    pub fn starts_at(&self, rank: Rank, chunk: u32) -> bool {
        rank < self.members && self.first_rank(chunk).is_none_or(|first| first == rank)
    }

    /// Whether `rank` must hold `chunk`, complete, after the last step.
    pub fn ends_at(&self, rank: Rank, chunk: u32) -> bool {
        rank < self.members && self.last_rank(chunk).is_none_or(|last| last == rank)
    }
}
