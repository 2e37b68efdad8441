//! The best choices of planners so far.

use model::{Error, Result};
use planners::{Choice, Planner, Problem, Promise, ties};

use crate::baseline_limits::BaselineLimits;
use crate::budget;

/// The place where a choice comes from: index of the planner, index of the schedule. Equally fast choices go by it.
pub(crate) type Place = (usize, usize);

/// Choices of several planners for several schedules; only those that may still be the fastest.
pub(crate) struct Race<'a> {
    /// The algorithm that a choice must keep.
    pub(crate) kept: Option<&'a str>,
    time_s: f64,
    found: Vec<(Place, Choice)>,
    /// Reasons why there is no choice, each with the index of the schedule.
    refusals: Vec<(usize, Error)>,
    pub(crate) limits: Option<BaselineLimits>,
    /// The least that was promised where a planner was left out because of a better plan.
    pub(crate) left_out: Option<Promise>,
}

impl<'a> Race<'a> {
    /// `kept`: the algorithm that a choice must keep.
    pub(crate) fn new(kept: Option<&'a str>) -> Self {
        Self { kept, time_s: f64::INFINITY, found: Vec::new(), refusals: Vec::new(), limits: None, left_out: None }
    }

    /// A race of planners for lines next to a plan, which need not all be exact.
    pub(crate) fn within(limits: Option<BaselineLimits>) -> Self {
        Self { limits, ..Self::new(None) }
    }

    /// The best choice, of equals that of the earliest planner and algorithm, with its place.
    pub(crate) fn fastest(&self) -> Option<(Place, &Choice)> {
        let by_time = |(place, choice): &(Place, Choice)| (choice.total_s, *place);
        let fastest = self.found.iter().min_by(|a, b| ties::order(by_time(a), by_time(b)));
        fastest.map(|(place, choice)| (*place, choice))
    }

    /// The time above which a choice is slower than the best.
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
            Err(error) => self.refuse(order, error),
        }
    }

    fn try_planner(&mut self, planner: &dyn Planner, place: Place, problem: &Problem) {
        if let Some(promise) = self.limits.and_then(|limits| limits.left_out(planner, problem)) {
            self.leave_out(promise);
            return;
        }
        let too_many = self.limits.filter(|limits| limits.has_too_many_patterns(problem.schedule()));
        let limit_s =
            too_many.map_or(f64::INFINITY, |limits| limits.best_s * (1.0 + ties::ROUNDING)).min(self.limit_s());
        match planners::choose(planner, problem, limit_s) {
            Ok(Some(choice)) if self.kept.is_some_and(|name| name != choice.problem.schedule().algorithm()) => {}
            Ok(Some(choice)) => self.add(place, choice),
            Ok(None) => too_many.into_iter().for_each(|limits| self.leave_out(limits.at_least_of(planner, problem))),
            Err(error) => self.refuse(place.1, error),
        }
    }

    /// A planner is left out that promises this.
    pub(crate) fn leave_out(&mut self, promise: Promise) {
        self.left_out = Some(self.left_out.map_or(promise, |other| other.or(promise)));
    }

    /// A choice joins the race.
    pub(crate) fn add(&mut self, place: Place, choice: Choice) {
        match choice.problem.total_s(&choice.candidates) {
            Ok(total_s) => {
                self.time_s = self.time_s.min(total_s);
                let choice = Choice { total_s, ..choice };
                if let Some(listener) = &choice.problem.options.listener
                    && budget::check_plan(&choice).is_ok()
                {
                    let mut told = choice.clone();
                    // A listener may keep the choice that it is told, so the choice must not hold the listener.
                    told.problem.options.listener = None;
                    listener.tell(total_s, move || move || Ok(told.clone()));
                }
                self.found.push((place, choice));
            }
            Err(error) => self.refuse(place.1, error),
        }
    }

    fn refuse(&mut self, order: usize, error: Error) {
        self.refusals.push((order, error));
    }

    /// The first of the reasons that hold for the fewest schedules, whose algorithms `name_of` tells: a planner that
    /// takes only one algorithm says so of all others, and of that one why it cannot be served.
    pub(crate) fn telling_refusal<'n>(&self, name_of: impl Fn(usize) -> &'n str) -> Option<&Error> {
        let reasons: Vec<String> =
            self.refusals.iter().map(|(of, error)| error.reason().replace(name_of(*of), "")).collect();
        let times = |reason: &String| reasons.iter().filter(|other| *other == reason).count();
        let (place, _) = reasons.iter().enumerate().min_by_key(|(_, reason)| times(reason))?;
        Some(&self.refusals[place].1)
    }
}
