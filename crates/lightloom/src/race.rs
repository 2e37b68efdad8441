//! The best choices of planners so far.

use model::{Error, Result};
use planners::{Choice, Planner, Problem, ties};

/// Where a choice comes from: index of the planner, index of the schedule. Equally fast choices go by it.
pub(crate) type Place = (usize, usize);

/// Choices of several planners for several schedules; only those that may still be the fastest.
pub(crate) struct Race<'a> {
    /// The algorithm that a choice must keep.
    pub(crate) kept: Option<&'a str>,
    time_s: f64,
    found: Vec<(Place, Choice)>,
    pub(crate) refusal: Option<Error>,
}

impl<'a> Race<'a> {
    /// `kept`: the algorithm that a choice must keep.
    pub(crate) fn new(kept: Option<&'a str>) -> Self {
        Self { kept, time_s: f64::INFINITY, found: Vec::new(), refusal: None }
    }

    /// The best choice, of equals that of the earliest planner and algorithm, with its place.
    pub(crate) fn fastest(&self) -> Option<(Place, &Choice)> {
        let by_time = |(place, choice): &(Place, Choice)| (choice.total_s, *place);
        let fastest = self.found.iter().min_by(|a, b| ties::order(by_time(a), by_time(b)));
        fastest.map(|(place, choice)| (*place, choice))
    }

    /// Above this a choice is slower than the best.
    pub(crate) fn limit_s(&self) -> f64 {
        self.time_s * (1.0 + ties::ROUNDING)
    }

    /// Tries some of `planners`, by index, on the problem of one schedule.
    pub(crate) fn try_planners(
        &mut self,
        problem: Result<Problem>,
        some: &[usize],
        planners: &[&'static dyn Planner],
        order: usize,
    ) {
        match problem {
            Ok(problem) => {
                some.iter().for_each(|&planner| self.try_planner(planners[planner], (planner, order), &problem));
            }
            Err(error) => self.refuse(error),
        }
    }

    fn try_planner(&mut self, planner: &dyn Planner, place: Place, problem: &Problem) {
        match planners::choose(planner, problem, self.limit_s()) {
            Ok(Some(choice)) if self.kept.is_some_and(|name| name != choice.problem.schedule().algorithm()) => {}
            Ok(Some(choice)) => self.add(place, choice),
            Ok(None) => {}
            Err(error) => self.refuse(error),
        }
    }

    /// A choice joins the race.
    pub(crate) fn add(&mut self, place: Place, choice: Choice) {
        match choice.problem.total_s(&choice.candidates) {
            Ok(total_s) => {
                self.time_s = self.time_s.min(total_s);
                self.found.push((place, Choice { total_s, ..choice }));
            }
            Err(error) => self.refuse(error),
        }
    }

    /// Keeps the first reason.
    fn refuse(&mut self, error: Error) {
        self.refusal.get_or_insert(error);
    }
}
