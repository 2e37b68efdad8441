//! The common part of the All-to-All planners that forward whole blocks in rounds: the blocks of the problem, the cost
//! of one over a hop, and the choice that a strategy is.
//!
//! Such a planner replaces the problem's direct schedule by its own. Each round of h hops becomes h steps over single
//! circuits, so the plan costs α_r for every change of topology and T = α + δ + β·block for every hop of every round.
//! In chunks by index a block of c chunks takes c·(α + δ) + β·block for a hop.

use block_rounds::{Forwarding, MAX_STEPS, Strategy, schedule, without_empty_flows};
use model::{Bound, Chunks, Collective, CostSettings, Error, Piece, Result, Routing, Schedule};

use crate::{Choice, ClassBound, Problem};

/// Blocks are not cut into more chunks than this: each runs a round again.
const MAX_CHUNKS: u64 = 1 << 16;

/// The All-to-All that a planner is to serve in its own way.
pub(crate) struct ForwardedBlocks<'a> {
    problem: &'a Problem,
    planner: &'static str,
    settings: CostSettings,
}

impl<'a> ForwardedBlocks<'a> {
    /// # Errors
    /// Anything but a direct All-to-All.
    pub(crate) fn of(problem: &'a Problem, planner: &'static str) -> Result<Self> {
        let schedule = problem.schedule();
        let refuse = |reason: String| Err(Error::refused("planner", planner, reason));
        if schedule.collective() != Collective::AllToAll {
            return refuse(format!("it plans all-to-all, not {}", schedule.collective().name()));
        }
        if !Self::serves(schedule) {
            return refuse(format!(
                "it forwards blocks in a way of its own and takes algorithm `direct`, not `{}`",
                schedule.algorithm()
            ));
        }
        // One shortest path per transfer: the transfer's own circuit.
        let settings = CostSettings { routing: Routing::SinglePath, ..problem.settings };
        Ok(Self { problem, planner, settings })
    }

    /// Whether the schedule is a direct All-to-All.
    pub(crate) fn serves(schedule: &Schedule) -> bool {
        schedule.collective() == Collective::AllToAll && schedule.algorithm() == "direct"
    }

    pub(crate) fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// Name of the planner that serves them.
    pub(crate) fn planner(&self) -> &'static str {
        self.planner
    }

    fn ranks(&self) -> u32 {
        self.problem.fabric.shape.gpus()
    }

    /// Bytes of each block where all are equal.
    pub(crate) fn block_bytes(&self) -> f64 {
        self.problem.size_bytes as f64 / f64::from(self.ranks())
    }

    /// Bytes `[src][dst]` where blocks are of different sizes.
    pub(crate) fn matrix(&self) -> Option<Vec<Vec<f64>>> {
        let pieces = self.problem.schedule().chunks().as_pieces()?;
        let ranks = self.ranks() as usize;
        let mut matrix = vec![vec![0.0; ranks]; ranks];
        for piece in pieces {
            matrix[piece.src as usize][piece.dst as usize] += piece.share * self.problem.size_bytes as f64;
        }
        Some(matrix)
    }

    /// Chunks that a block of this many bytes is cut into.
    fn chunks_of(&self, bytes: f64) -> f64 {
        let whole = |chunk: u64| (bytes / chunk as f64 * (1.0 - 1e-12)).ceil().max(1.0);
        self.problem.options.chunk_bytes.map_or(1.0, whole)
    }

    /// Seconds for a block of this many bytes over one hop, at least: where propagation is charged by throughput, a
    /// round that leaves ports dark takes more.
    pub(crate) fn hop_s(&self, bytes: f64) -> f64 {
        let (fabric, chunks) = (&self.problem.fabric, self.chunks_of(bytes));
        fabric.per_step_s() * chunks + fabric.hop_delay_s * chunks + fabric.byte_s() * bytes
    }

    /// Whether a strategy on one topology may cost no more than `limit_s`, as far as theorem 1 says.
    ///
    /// # Errors
    /// More slots than a plan has steps.
    fn one_topology_may_do(&self, limit_s: f64) -> Result<bool> {
        let Some(least) = self.least_block_bytes() else { return Ok(true) };
        let slots = bounds::all_to_all_hops(self.ranks(), self.problem.fabric.shape.ports(), 1);
        if slots > MAX_STEPS {
            let reason =
                format!("one topology takes at least {slots} steps of one hop; at most {MAX_STEPS} are planned");
            return Err(Error::refused("planner", self.planner, reason));
        }
        Ok(slots as f64 * self.hop_s(least) <= limit_s * (1.0 + 1e-9))
    }

    /// Whether all blocks in one step on one topology may cost no more than `limit_s`: every block passes as many
    /// circuits as theorem 1 says, and all circuits carry as much.
    pub(crate) fn one_step_may_do(&self, limit_s: f64) -> bool {
        let Some(least) = self.least_block_bytes() else { return true };
        let fabric = &self.problem.fabric;
        let slots = bounds::all_to_all_hops(self.ranks(), fabric.shape.ports(), 1);
        // Slots are whole, flows are not.
        let load = slots.saturating_sub(1) as f64;
        fabric.per_step_s() + fabric.byte_s() * least * load <= limit_s * (1.0 + 1e-6)
    }

    /// Whether a strategy may cost no more than `limit_s`, as far as theorem 1 says.
    pub(crate) fn may_do(&self, limit_s: f64) -> bool {
        let least = self.least_block_bytes();
        least.is_none_or(|bytes| self.theorem_1(bytes).seconds <= limit_s * (1.0 + 1e-9))
    }

    /// Bytes of the smallest block; `None` where some pair exchanges nothing, so that not all blocks take slots.
    fn least_block_bytes(&self) -> Option<f64> {
        let Some(matrix) = self.matrix() else { return Some(self.block_bytes()) };
        let blocks = (0..matrix.len()).flat_map(|src| {
            let row = matrix[src].iter().enumerate();
            row.filter(move |(dst, _)| *dst != src).map(|(_, &bytes)| bytes)
        });
        let least = blocks.fold(f64::INFINITY, f64::min);
        (least > 0.0).then_some(least)
    }

    /// The plan of the strategy on one topology that `make` finds for the matrix, or for equal blocks, unless it costs
    /// more than `limit_s`.
    pub(crate) fn on_one_topology(
        &self,
        limit_s: f64,
        make: impl FnOnce(Option<&[Vec<f64>]>) -> Result<Strategy>,
    ) -> Result<Option<Choice>> {
        if !self.one_topology_may_do(limit_s)? {
            return Ok(None);
        }
        let matrix = self.matrix();
        let strategy = make(matrix.as_deref())?;
        let strategy = match &matrix {
            Some(matrix) => without_empty_flows(&strategy, matrix)?,
            None => strategy,
        };
        self.choice(strategy, limit_s)
    }

    /// The plan of a strategy for these blocks, unless it costs more than `limit_s`. Flows without bytes are left
    /// out of it already.
    pub(crate) fn choice(&self, strategy: Strategy, limit_s: f64) -> Result<Option<Choice>> {
        let forwarding = match self.problem.options.chunk_bytes {
            Some(_) => Forwarding::ChunksByIndex,
            None => Forwarding::Blocks,
        };
        let (schedule, candidates) = schedule(&strategy, &self.chunks()?, forwarding, self.planner)?;
        let topologies = strategy.stages.into_iter().map(|stage| stage.topology).collect();
        let problem = self.problem;
        let own = problem.with(schedule, self.settings, topologies)?;
        let mut choice = Choice::priced(self.planner, own, candidates)?;
        choice.class_bound = self.class_bound().map(ClassBound::Stated);
        Ok((choice.total_s <= limit_s).then_some(choice))
    }

    /// The problem's chunks, cut to the size that is set.
    fn chunks(&self) -> Result<Chunks> {
        let chunks = self.problem.schedule().chunks();
        let Some(chunk_bytes) = self.problem.options.chunk_bytes else { return Ok(chunks.clone()) };
        let matrix = self.matrix();
        let largest = matrix.iter().flatten().flatten().copied().fold(0.0, f64::max);
        let most = self.chunks_of(if matrix.is_some() { largest } else { self.block_bytes() });
        if most > MAX_CHUNKS as f64 {
            let found = format!("{chunk_bytes} B, which cuts the largest block into {most} chunks,");
            return Err(Error::value(
                "chunk_size",
                found,
                format!("a size that cuts a block into at most {MAX_CHUNKS} chunks"),
            ));
        }
        let Some(matrix) = matrix else { return Chunks::even(Collective::AllToAll, self.ranks(), most as u32) };
        let size = self.problem.size_bytes as f64;
        let mut pieces = Vec::new();
        for (src, row) in (0..).zip(&matrix) {
            interruption::check();
            for (dst, &bytes) in (0..).zip(row).filter(|(_, bytes)| **bytes > 0.0) {
                let count = self.chunks_of(bytes) as u64;
                let full = (chunk_bytes as f64).min(bytes);
                let piece = |bytes: f64| Piece { src, dst, share: bytes / size };
                pieces.extend((1..count).map(|_| piece(full)));
                pieces.push(piece(bytes - full * (count - 1) as f64));
            }
        }
        Chunks::pieces(self.ranks(), pieces)
    }

    /// Theorem 1, where all blocks are equal and every change costs at least what no change can hide.
    fn class_bound(&self) -> Option<Bound> {
        if self.problem.schedule().chunks().as_pieces().is_some() {
            return None;
        }
        Some(self.theorem_1(self.block_bytes()))
    }

    /// Theorem 1 for blocks of this many bytes or more.
    fn theorem_1(&self, bytes: f64) -> Bound {
        let fabric = &self.problem.fabric;
        let change_s = fabric.reconfiguration.lower_bound_s();
        bounds::all_to_all_rounds(self.ranks(), fabric.shape.ports(), self.hop_s(bytes), change_s)
    }
}
