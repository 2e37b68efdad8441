//! The size of a schedule, known before it is built.

use std::ops::{Add, Mul};

use model::{Collective, Schedule, Traffic, Translations};

/// The size of a schedule as it is kept: one representative of every orbit of transfers, with its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Steps.
    pub steps: u64,
    /// Traffic patterns, each counted once.
    pub patterns: u64,
    /// Transfers that are kept.
    pub transfers: u64,
    /// Chunks that these transfers name.
    pub chunks: u64,
    /// Transfers that look different from each other on a cyclic topology, over all steps: each has paths of its own
    /// there.
    pub arcs: u64,
    /// Ranks that look different from each other on a cyclic topology, at most.
    pub orbits: u64,
}

impl Extent {
    /// Steps of one transfer each, of `patterns` kinds, that are invariant under all translations of the ranks.
    pub(crate) fn cyclic(steps: u64, patterns: u64, chunks: u64) -> Self {
        Self { steps, patterns, transfers: steps, chunks, arcs: steps, orbits: 1 }
    }

    /// Log2 n steps of one transfer each in which partners differ in bits: two translations of the ranks keep such a
    /// step.
    pub(crate) fn pairwise(steps: u64, gpus: u32, chunks: u64) -> Self {
        let orbits = u64::from(gpus / 2).max(1);
        Self { arcs: steps * orbits, orbits, ..Self::cyclic(steps, steps, chunks) }
    }

    /// Steps down a tree that sends `chunks` to every rank but the root once, of no symmetry.
    pub(crate) fn tree(steps: u64, gpus: u32, chunks: u64) -> Self {
        let edges = u64::from(gpus) - 1;
        Self { steps, patterns: steps, transfers: edges, chunks, arcs: edges, orbits: u64::from(gpus) }
    }

    /// The extent `self` of a ReduceScatter or an AllGather, and for an AllReduce that of the two, which have the same
    /// patterns.
    pub(crate) fn of_half(self, collective: Collective) -> Self {
        if collective == Collective::AllReduce { Self { patterns: self.patterns, ..self * 2 } } else { self }
    }

    /// Counted on a schedule.
    pub fn of(schedule: &Schedule) -> Self {
        let cyclic = Translations::cyclic(schedule.ranks());
        let mut known: Vec<&Traffic> = Vec::new();
        let mut extent = Self { steps: 0, patterns: 0, transfers: 0, chunks: 0, arcs: 0, orbits: 1 };
        for step in schedule.steps() {
            let traffic = step.traffic();
            // Schedules of many patterns repeat none, so that looking back a little finds what repeats.
            if !known.iter().rev().take(RECENT).any(|pattern| *pattern == traffic) {
                known.push(traffic);
            }
            let common = u64::from(traffic.symmetry().meet(&cyclic).order());
            extent.orbits = extent.orbits.max(u64::from(schedule.ranks()) / common);
            extent.steps += 1;
            extent.transfers += step.transfers().len() as u64;
            extent.chunks += step.transfers().iter().map(|transfer| transfer.chunks.len() as u64).sum::<u64>();
            extent.arcs += traffic.arcs().len() as u64 * u64::from(traffic.symmetry().order()) / common;
        }
        extent.patterns = known.len() as u64;
        extent
    }
}

/// Patterns that a step's is compared with.
const RECENT: usize = 64;

impl Add for Extent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            patterns: self.patterns + other.patterns,
            transfers: self.transfers + other.transfers,
            chunks: self.chunks + other.chunks,
            arcs: self.arcs + other.arcs,
            orbits: self.orbits.max(other.orbits),
        }
    }
}

impl Mul<u64> for Extent {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self {
            steps: self.steps * times,
            patterns: self.patterns * times,
            transfers: self.transfers * times,
            chunks: self.chunks * times,
            arcs: self.arcs * times,
            orbits: self.orbits,
        }
    }
}
