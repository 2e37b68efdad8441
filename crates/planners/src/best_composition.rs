//! The best of compositions, one after another.

use compositions::Composition;
use model::{Result, Topology};

use crate::planners::synthesize;
use crate::{Choice, Problem, composition_cost};

/// Work on chunks over one topology where steps of every length can be tried with less: others, and whole compositions,
/// are tried too.
const QUICK_WORK: u64 = 1 << 18;

/// Compositions for a problem, of which the best is kept.
pub(crate) struct Composing<'a> {
    planner: &'static str,
    problem: &'a Problem,
    /// Candidates in addition to a composition's own topologies and the start.
    beside: &'a [Topology],
    limit_s: f64,
    best: Option<Choice>,
}

impl<'a> Composing<'a> {
    /// Compositions that take longer than `limit_s` are given up.
    pub(crate) fn new(planner: &'static str, problem: &'a Problem, beside: &'a [Topology], limit_s: f64) -> Self {
        Self { planner, problem, beside, limit_s, best: None }
    }

    /// Tries a composition.
    ///
    /// # Errors
    /// The errors of [`composition_cost::best_sequence`].
    pub(crate) fn consider(&mut self, mut composition: Composition) -> Result<()> {
        composition.topologies.extend_from_slice(self.beside);
        let found = composition_cost::best_sequence(self.planner, self.problem, composition, self.limit_s())?;
        if let Some(found) = found.filter(|found| self.best.as_ref().is_none_or(|best| found.total_s < best.total_s)) {
            self.best = Some(found);
        }
        Ok(())
    }

    /// Tries the collective in chunks over a topology.
    ///
    /// # Errors
    /// The errors of [`Composing::consider`].
    pub(crate) fn fill(&mut self, topology: &Topology) -> Result<()> {
        let Some((_, chunked)) = composition_cost::chunked(self.problem, topology, self.limit_s()) else {
            return Ok(());
        };
        let is_quick = chunked.work_of_each_length() <= QUICK_WORK;
        let work = if is_quick { QUICK_WORK } else { synthesize::MOST_WORK };
        chunked.compose(work)?.map_or(Ok(()), |composition| self.consider(composition))
    }

    /// Whether any composition was taken.
    pub(crate) fn has_any(&self) -> bool {
        self.best.is_some()
    }

    /// The topologies of the best composition, one for each run of steps on it.
    pub(crate) fn topologies(&self) -> Option<Vec<Topology>> {
        let best = self.best.as_ref()?;
        let runs = best.candidates.chunk_by(|a, b| a == b);
        Some(runs.map(|run| best.problem.table.candidate(run[0]).clone()).collect())
    }

    /// Time, s, above which a composition is given up.
    pub(crate) fn limit_s(&self) -> f64 {
        self.best.as_ref().map_or(self.limit_s, |choice| choice.total_s.min(self.limit_s))
    }

    /// The best of all that were tried.
    pub(crate) fn best(self) -> Option<Choice> {
        self.best
    }
}
