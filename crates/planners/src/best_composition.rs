//! The best of compositions, one after another.

use compositions::Composition;
use model::{Error, Result, Step, Topology};

use crate::cutoffs::best_composition::{MANY_ROUTED, MOST_FILLED};
use crate::planners::synthesize;
use crate::{Choice, Problem, composition_cost, ties};

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
    /// Why the first composition of which no topologies serve a step was left out.
    refusal: Option<Error>,
}

impl<'a> Composing<'a> {
    /// Compositions that take longer than `limit_s` are given up.
    pub(crate) fn new(planner: &'static str, problem: &'a Problem, beside: &'a [Topology], limit_s: f64) -> Self {
        Self { planner, problem, beside, limit_s, best: None, refusal: None }
    }

    /// Tries a composition. One is left out where no topologies that the optical layer can hold serve a step of it. Of
    /// equally fast ones the first is kept, unless it would be a large plan and another one has fewer routes: schedules
    /// written by a symmetry that the topology lacks have the same times and many more routes.
    ///
    /// # Errors
    /// The errors of [`composition_cost::best_sequence`].
    pub(crate) fn consider(&mut self, mut composition: Composition) -> Result<()> {
        composition.topologies.extend_from_slice(self.beside);
        let many = self.best.as_ref().map(routed).filter(|routed| *routed > MANY_ROUTED);
        let rounding = if many.is_some() { ties::ROUNDING } else { 0.0 };
        let limit_s = self.limit_s() * (1.0 + rounding);
        let found = match composition_cost::best_sequence(self.planner, self.problem, composition, limit_s) {
            Err(refusal @ Error::Infeasible { .. }) => {
                self.refusal.get_or_insert(refusal);
                return Ok(());
            }
            found => found?,
        };
        let is_better = |found: &Choice| match (&self.best, many) {
            (None, _) => true,
            (Some(best), Some(many)) if ties::within(best.total_s, found.total_s) => routed(found) < many,
            (Some(best), _) => found.total_s < best.total_s,
        };
        if let Some(found) = found.filter(is_better) {
            self.best = Some(found);
        }
        Ok(())
    }

    /// Tries the collective in chunks over a topology.
    ///
    /// # Errors
    /// The errors of [`Composing::consider`].
    pub(crate) fn fill(&mut self, topology: &Topology) -> Result<()> {
        self.fill_within(topology, synthesize::MOST_WORK)
    }

    fn fill_within(&mut self, topology: &Topology, most_work: u64) -> Result<()> {
        let Some((_, chunked)) = composition_cost::chunked(self.problem, topology, self.limit_s()) else {
            return Ok(());
        };
        let is_quick = chunked.work_of_each_length() <= QUICK_WORK;
        let work = if is_quick { QUICK_WORK } else { most_work };
        chunked.compose(work)?.map_or(Ok(()), |composition| self.consider(composition))
    }

    /// Tries the collective in chunks over the topologies on which it may stay, and over that of the best composition
    /// where it stays on one and ranks are few.
    ///
    /// # Errors
    /// The errors of [`Composing::consider`].
    pub(crate) fn fill_staying(&mut self) -> Result<()> {
        let (fabric, collective) = (self.problem.fabric.with_likely_hops(), self.problem.schedule().collective());
        let libraries = &self.problem.cache.libraries;
        let staying = compositions::staying(libraries, collective, &fabric, self.problem.settings);
        staying.iter().try_for_each(|topology| self.fill(topology))?;
        match self.topologies().as_deref() {
            Some([on]) if on.ranks() <= MOST_FILLED && !staying.iter().any(|other| other.same_links(on)) => {
                self.fill_within(on, QUICK_WORK)
            }
            _ => Ok(()),
        }
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

    /// The best of all that were tried; `None` where none takes `limit_s` or less.
    ///
    /// # Errors
    /// Where there is none: why the first that was left out was.
    pub(crate) fn found(self) -> Result<Option<Choice>> {
        match (self.best, self.refusal) {
            (None, Some(refusal)) => Err(refusal),
            (best, _) => Ok(best),
        }
    }

    /// The best of all that were tried.
    pub(crate) fn best(self) -> Option<Choice> {
        self.best
    }
}

/// Traffic entries of all steps that a plan of the choice has routes of: those that no symmetry which a step shares
/// with its topology moves to each other.
fn routed(choice: &Choice) -> u64 {
    let problem = &choice.problem;
    let of_step = |(step, &candidate): (&Step, &usize)| {
        let traffic = step.traffic();
        let (own, topology) = (traffic.symmetry(), problem.table.candidate(candidate));
        traffic.arcs().len() as u64 * u64::from(own.order() / own.meet(topology.symmetry()).order())
    };
    problem.schedule().steps().iter().zip(&choice.candidates).map(of_step).sum()
}
