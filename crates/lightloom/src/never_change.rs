//! The best plan whose circuits never change after the start: the baseline of what changing them gains.
//!
//! The plan is the winner of the ordinary race at a delay at which no change pays. So it is never faster than that of
//! the same request, and equal to it to the last bit where that changes nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::{Error, Result};
use planners::{Choice, OperatingPoint, Planner};

use crate::best::starts_dark;
use crate::cutoffs::never_change::MOST_KEPT;
use crate::row::{Row, row_of};
use crate::{Prepared, Request, Workload};

/// Winners of races by the bits of their numbers.
#[derive(Default)]
pub(crate) struct KnownWinners(Mutex<BTreeMap<[u64; 5], Result<Choice>>>);

impl KnownWinners {
    pub(crate) fn at(&self, at: &OperatingPoint, race: impl FnOnce() -> Result<Choice>) -> Result<Choice> {
        let key = at.bits();
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let found = race();
        let mut known = lock();
        if known.len() == MOST_KEPT {
            known.clear();
        }
        known.insert(key, found.clone());
        found
    }
}

impl Prepared {
    /// The choice of least time, and that of those whose circuits never change: the same where the first changes
    /// nothing.
    pub(crate) fn with_unchanging_at(&self, at: &OperatingPoint) -> (Result<Choice>, Result<Choice>) {
        match (self.raced_at(at), self.raced_unchanging_at(at)) {
            (Ok(raced), Ok(unchanging)) if unchanging.total_s < raced.total_s => {
                (Ok(unchanging.clone()), Ok(unchanging))
            }
            (Ok(raced), _) if raced.never_changes() => (Ok(raced.clone()), Ok(raced)),
            (Err(_), Ok(unchanging)) => (Ok(unchanging.clone()), Ok(unchanging)),
            found => found,
        }
    }

    /// The choice of least time of those whose circuits never change.
    ///
    /// # Errors
    /// When no algorithm and planner serve the problem without a change.
    pub(crate) fn unchanging_at(&self, at: &OperatingPoint) -> Result<Choice> {
        if self.composes() { self.with_unchanging_at(at).1 } else { self.raced_unchanging_at(at) }
    }

    /// The winner at a delay at which no change pays, charged as the fabric charges it.
    pub(crate) fn raced_unchanging_at(&self, at: &OperatingPoint) -> Result<Choice> {
        let (fabric, still) = (at.on(&self.request().fabric), at.without_changes());
        let free = self.from_free_start.as_deref().filter(|_| starts_dark(&fabric));
        let choice = self.unchanging.at(&still, || free.unwrap_or(self).raced_at(&still))?;
        if !choice.never_changes() {
            let reason =
                format!("no plan serves the problem without a change of the circuits of `{}`", fabric.initial_name());
            return Err(Error::infeasible("planner", reason));
        }
        if free.is_some() { choice.started_on(&fabric)?.charged_as(&fabric) } else { choice.charged_as(&fabric) }
    }
}

/// The line of the planner whose circuits never change, by all algorithms, in a comparison of what is `prepared` of a
/// request. Where the request does not leave all algorithms and topologies open, the line of the best plan of all comes
/// first.
pub(crate) fn rows(request: &Request, prepared: &Prepared, at: &OperatingPoint) -> Vec<Row> {
    let line = |never_changes: bool, choice| {
        let is_it = |planner: &&&dyn Planner| {
            let takes = planner.capabilities();
            takes.chooses_algorithm && takes.never_changes == never_changes
        };
        planners::REGISTRY.iter().find(is_it).map(|planner| row_of(*planner, None, choice))
    };
    let is_open = prepared.composes() && request.candidates.is_none() && request.static_topologies.is_none();
    if is_open {
        return line(true, prepared.unchanging_at(at)).into_iter().collect();
    }
    let (best, unchanging) = match Prepared::new(&request.opened()) {
        Ok(opened) if opened.composes() => opened.with_unchanging_at(at),
        Ok(opened) => (opened.best_at(at), opened.unchanging_at(at)),
        Err(error) => (Err(error.clone()), Err(error)),
    };
    line(false, best).into_iter().chain(line(true, unchanging)).collect()
}

impl Request {
    /// This request with any algorithm and any topologies: the choices for a plan on circuits that never change, also
    /// where the plan compared with it is restricted.
    pub(crate) fn opened(&self) -> Self {
        let workload = match &self.workload {
            Workload::Collective { collective, options, .. } => {
                let options = collectives::Options { root: options.root, ..collectives::Options::default() };
                Workload::Collective { collective: *collective, algorithm: None, options }
            }
            Workload::Schedule(schedule) => match schedule.chunks().as_pieces() {
                Some(_) => Workload::Matrix(schedule.clone().into()),
                None => {
                    let root = schedule.chunks().root();
                    let options = collectives::Options { root, ..collectives::Options::default() };
                    Workload::Collective { collective: schedule.collective(), algorithm: None, options }
                }
            },
            Workload::Matrix(blocks) => Workload::Matrix(blocks.clone()),
        };
        let options = planners::PlannerOptions { optical_ports: self.options.optical_ports, ..Default::default() };
        Self { workload, planner: None, candidates: None, static_topologies: None, options, ..self.clone() }
    }
}
