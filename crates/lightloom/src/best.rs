//! The fastest choice that a prepared request allows at a point.

use model::{Error, Fabric, Faults, Initial, Overlap, Result, Routing};
use planners::{Choice, OperatingPoint, Planner, ties};

use crate::race::{Place, Race};
use crate::{Prepared, budget};

impl Prepared {
    /// The choice of least time at a point. Where all algorithms and planners are open to the request it is never
    /// slower than the best whose circuits never change, which searches may miss that look for changes.
    ///
    /// # Errors
    /// When no algorithm and planner serve the problem.
    pub(crate) fn best_at(&self, at: &OperatingPoint) -> Result<Choice> {
        if let Some(planner) = self.request().never_changes() {
            return self.unchanging_at(at).map(|choice| Choice { planner: planner.name(), ..choice });
        }
        // At any time one step is always among what is tried.
        if !self.composes() || self.is_any_time(at) {
            return self.raced_at(at);
        }
        let found = self.with_unchanging_at(at).0;
        let Some(alike) = &self.on_ports_left else { return found };
        let left = alike.best_at(at).and_then(|choice| choice.started_on(&at.on(&self.request().fabric)));
        match (left, found) {
            (Ok(left), Ok(found)) if ties::within(found.total_s, left.total_s) => Ok(found),
            (Ok(left), _) => Ok(left),
            (Err(_), found) => found,
        }
    }

    /// Whether all algorithms and planners are open, those that compose among them.
    pub(crate) fn composes(&self) -> bool {
        let composes = self.planners().iter().any(|planner| planner.capabilities().chooses_algorithm);
        composes && self.request().kept_algorithm().is_none()
    }

    /// The fastest of all planners and algorithms.
    ///
    /// Planners that make their own topologies go first, since they need no profiles. Then the others, the schedule of
    /// the least lower bound first; one whose bound is above the best time is left out, and the rest are given up as
    /// soon as they are known to be slower by more than rounding. Equal times go to the earlier planner, then to the
    /// earlier algorithm ([`ties`]), so that the order of work does not show.
    ///
    /// A given start is never worse than another one and a change: what is best from a free start is run from it too,
    /// where some planner composes or searches and so may miss that.
    ///
    /// # Errors
    /// When no algorithm and planner serve the problem.
    pub(crate) fn raced_at(&self, at: &OperatingPoint) -> Result<Choice> {
        let Some(free) = &self.from_free_start else { return self.best_with_known_starts(at) };
        let fabric = at.on(&self.request().fabric);
        let race_free = || match at.allows_changes() && free.composes() {
            true => free.with_unchanging_at(at).0,
            false => free.raced_at(at),
        };
        let from_free = || match &free.answers {
            Some(known) => known.at(at, race_free),
            None => race_free(),
        };
        if every_start_costs_the_same(&fabric) {
            return from_free()?.started_on(&fabric);
        }
        match (self.best_from_start(at), from_free()) {
            (Ok(own), Ok(free)) if ties::within(own.total_s, free.seconds_started_on(&fabric)) => Ok(own),
            (_, Ok(free)) => free.started_on(&fabric),
            (own, Err(_)) => own,
        }
    }

    /// The best from the start; from a free one also what is composed for the topologies that fabrics start on.
    fn best_with_known_starts(&self, at: &OperatingPoint) -> Result<Choice> {
        let own = self.best_from_start(at)?;
        let request = self.request();
        let composes = self.planners().iter().any(|planner| planner.capabilities().chooses_algorithm);
        let is_free = request.fabric.initial == Initial::Free && request.settings.overlap == Overlap::Additive;
        let is_given = request.options.warm_start.is_some();
        let shape = &request.fabric.shape;
        let is_whole = shape.faults().is_empty() && shape.rates().is_none();
        if !composes || !is_free || !is_whole || is_given || request.kept_algorithm().is_some() {
            return Ok(own);
        }
        let found = planners::from_known_starts(&self.problem_without_candidates(0, at)?, own.total_s)?;
        Ok(found.filter(|found| !ties::within(own.total_s, found.total_s)).unwrap_or(own))
    }

    /// Where what is composed needs too much memory as a plan, it on shortest paths, which need less than a flow does, or
    /// the best of the planners that do not compose.
    fn best_from_start(&self, at: &OperatingPoint) -> Result<Choice> {
        let composing = self.planners().iter().find(|planner| planner.capabilities().chooses_algorithm);
        let mut race = Race::new(self.request().kept_algorithm());
        self.run(&mut race, |_| true, at);
        let composes = |by: usize| self.planners()[by].capabilities().chooses_algorithm;
        if let Some((place, choice)) = race.fastest().filter(|((by, _), _)| composes(*by))
            && let Err(too_large) = budget::check_plan(choice)
        {
            let fewer_paths = [Routing::EqualSplit, Routing::SinglePath].into_iter();
            let mut routed = fewer_paths.filter_map(|routing| choice.routed(routing).ok());
            let routed = routed.find(|routed| budget::check_plan(routed).is_ok());
            race = Race::new(self.request().kept_algorithm());
            self.run(&mut race, |planner| !planner.capabilities().chooses_algorithm, at);
            routed.into_iter().for_each(|routed| race.add(place, routed));
            race.fastest().ok_or(too_large)?;
        }
        let (place, choice) = race.fastest().ok_or_else(|| self.refusal_around_faults(&race, at))?;
        match composing {
            Some(searching) => self.searched(place, choice, *searching, at),
            None => Ok(choice.clone()),
        }
    }

    /// Why a race has no winner: the faults, where a planner finds a plan without these.
    fn refusal_around_faults(&self, race: &Race<'_>, at: &OperatingPoint) -> Error {
        let (mut whole, refusal) = (self.request().clone(), self.refusal(race));
        let shape = &self.request().fabric.shape;
        if shape.faults().is_empty() {
            return refusal;
        }
        let found = shape.clone().with_faults(Faults::default()).and_then(|working| {
            whole.fabric.shape = working;
            whole.options.listener = None;
            Self::new(&whole)?.best_from_start(at)
        });
        let accepts = "faults around which a planner finds a plan; none does around these";
        found.map_or(refusal, |_| Error::value("failed", format!("`{}`", shape.faults()), accepts))
    }

    /// The best choice on better topologies, where they can be found and one of the planners may use any: a planner
    /// that chooses algorithms may, so where one is open to the request, so are these. They are looked for with every
    /// algorithm that may still be the fastest on them, so that none that is named does better than where all are open.
    fn searched(&self, place: Place, best: &Choice, searching: &dyn Planner, at: &OperatingPoint) -> Result<Choice> {
        let mut entered = vec![(place, best.clone())];
        let options = &self.request().options;
        if self.schedules().len() > 1 && planners::search_serves(&self.request().fabric.shape, options.budget) {
            entered.extend(self.rivals(place, best, at));
        }
        let budget = options.budget.map(|budget| budget / entered.len() as u32);
        let mut race = Race::new(None);
        for (place, choice) in entered {
            let given_s = choice.total_s;
            let mut found = planners::searched(choice, budget, self.request().seed)?;
            if found.total_s < given_s || self.request().keeps_the_best().is_some() {
                found.planner = searching.name();
            }
            race.add(place, found);
        }
        let fastest = race.fastest().map(|(_, choice)| choice.clone());
        fastest.ok_or_else(|| Error::infeasible("planner", "no planner serves this problem"))
    }

    /// The best choice of every other algorithm whose bound is below the best time and whose topologies can be
    /// searched.
    fn rivals(&self, (_, own): Place, best: &Choice, at: &OperatingPoint) -> Vec<(Place, Choice)> {
        let budget = self.request().options.budget;
        let mut rivals = Vec::new();
        for (bound_s, order) in self.by_bound(at, best.total_s) {
            let schedule = &self.schedules()[order];
            let is_best = order == own && best.problem.schedule().algorithm() == schedule.algorithm();
            if is_best || (bound_s > best.total_s && self.runs_as_given(order)) {
                continue;
            }
            let mut race = Race::new(Some(schedule.algorithm()));
            self.run_order(&mut race, order, at);
            let fastest = race.fastest().filter(|(_, choice)| planners::is_searchable(choice, budget));
            rivals.extend(fastest.map(|(place, choice)| (place, choice.clone())));
        }
        rivals
    }
}

/// Whether every plan is charged the same for its first topology: it starts dark, and no delay depends on the circuits.
fn every_start_costs_the_same(fabric: &Fabric) -> bool {
    starts_dark(fabric) && fabric.reconfiguration.delay().constant_s().is_some()
}

/// Whether no circuits are set up before the first step.
pub(crate) fn starts_dark(fabric: &Fabric) -> bool {
    matches!(&fabric.initial, Initial::Topology(topology) if topology.links().is_empty())
}
