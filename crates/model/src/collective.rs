//! The collectives, their names, and how they are related.

use strum::{IntoStaticStr, VariantArray};

use crate::{Result, unknown_name};

/// The collectives, named as in NCCL's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Collective {
    /// Every rank ends with the reduction of all buffers.
    AllReduce,
    /// Rank r ends with the r-th share of the reduction.
    ReduceScatter,
    /// Every rank ends with every rank's share.
    AllGather,
    /// Rank d ends with block (s, d) of every rank s.
    AllToAll,
    /// Every rank ends with the root's buffer.
    Broadcast,
    /// The root ends with the reduction of all buffers.
    Reduce,
    /// The root ends with every rank's share.
    Gather,
    /// Rank r ends with the r-th share of the root's buffer.
    Scatter,
}

impl Collective {
    /// All collectives, in the order in which they are listed to users.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name in the command line, in JSON and in Python.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// A description in a sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::AllReduce => "every rank ends with the reduction of all buffers; m in and out",
            Self::ReduceScatter => "rank r ends with the r-th share of the reduction; m in, m/n out",
            Self::AllGather => "every rank ends with every rank's share; m/n in, m out",
            Self::AllToAll => "rank d ends with block (s, d) of every rank s; m = n blocks, own block included",
            Self::Broadcast => "every rank ends with the root's buffer of m",
            Self::Reduce => "the root ends with the reduction of all buffers of m",
            Self::Gather => "the root ends with every rank's share; m/n in, m out at the root",
            Self::Scatter => "rank r ends with the r-th share of the root's buffer; m in at the root, m/n out",
        }
    }

    /// The collective of that name; `_` and missing hyphens are forgiven (`allreduce`, `ALL_REDUCE`).
    pub fn parse(name: &str) -> Result<Self> {
        let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
        let found = Self::ALL.iter().copied().find(|collective| plain(collective.name()) == plain(name));
        found.ok_or_else(|| unknown_name("collective", name, Self::ALL.iter().map(|collective| collective.name())))
    }

    /// Whether the result is a reduction over all ranks.
    pub fn reduces(self) -> bool {
        matches!(self, Self::AllReduce | Self::ReduceScatter | Self::Reduce)
    }

    /// Whether one rank, the root, has or gets what the others do not.
    pub fn has_root(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter)
    }

    /// The collective that a schedule of this one computes when it is run backwards; `None` where there is none.
    pub fn backwards(self) -> Option<Self> {
        match self {
            Self::AllGather => Some(Self::ReduceScatter),
            Self::ReduceScatter => Some(Self::AllGather),
            Self::Broadcast => Some(Self::Reduce),
            Self::Reduce => Some(Self::Broadcast),
            Self::Gather => Some(Self::Scatter),
            Self::Scatter => Some(Self::Gather),
            Self::AllReduce | Self::AllToAll => None,
        }
    }

    /// busbw over algbw as NCCL's tests define them, where algbw is m over the time
    /// (nccl-tests, doc/PERFORMANCE.md; Gather and Scatter by its sources, `gather.cu` and `scatter.cu`).
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let n = f64::from(ranks);
        match self {
            Self::AllReduce => 2.0 * (n - 1.0) / n,
            Self::ReduceScatter | Self::AllGather | Self::AllToAll | Self::Gather | Self::Scatter => (n - 1.0) / n,
            Self::Broadcast | Self::Reduce => 1.0,
        }
    }
}
