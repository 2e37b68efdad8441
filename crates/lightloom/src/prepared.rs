//! A request made ready: its planners and schedules, and problems whose candidates and profiles serve all points.

use std::sync::OnceLock;

use model::{Error, Result, Schedule};
use planners::{Choice, Numbers, Planner, Problem, is_concave};

use crate::Request;

/// Times closer than this, relatively, are equal.
const ROUNDING: f64 = 1e-12;

/// What does not depend on the numbers of a point.
pub(crate) struct Prepared {
    request: Request,
    planners: Vec<&'static dyn Planner>,
    schedules: Vec<Schedule>,
    refusals: Vec<(&'static str, Error)>,
    /// By schedule: for planners that make their own topologies, and for those that choose from the candidates.
    without_candidates: Vec<OnceLock<Result<Problem>>>,
    with_candidates: Vec<OnceLock<Result<Problem>>>,
}

impl Prepared {
    /// # Errors
    /// Wrong input.
    pub(crate) fn new(request: &Request) -> Result<Self> {
        let planners = request.planners()?;
        request.size_bytes()?;
        let (schedules, refusals) = request.schedules()?;
        let unknown = || schedules.iter().map(|_| OnceLock::new()).collect();
        let (without_candidates, with_candidates) = (unknown(), unknown());
        Ok(Self { request: request.clone(), planners, schedules, refusals, without_candidates, with_candidates })
    }

    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// The numbers of the request itself.
    ///
    /// # Errors
    /// A size that the collective does not take.
    pub(crate) fn own_numbers(&self) -> Result<Numbers> {
        Ok(Numbers::of(&self.request.fabric, self.request.size_bytes()?))
    }

    /// The problem of a schedule for planners that make their own topologies.
    fn problem_without_candidates(&self, order: usize, at: &Numbers) -> Result<Problem> {
        let made = || self.request.problem_without_candidates(self.schedules[order].clone());
        self.without_candidates[order].get_or_init(made).as_ref().map(|problem| problem.at(at)).map_err(Error::clone)
    }

    /// The problem of a schedule for planners that choose from the candidates.
    fn problem(&self, order: usize, at: &Numbers) -> Result<Problem> {
        let made = || self.request.problem(self.schedules[order].clone());
        self.with_candidates[order].get_or_init(made).as_ref().map(|problem| problem.at(at)).map_err(Error::clone)
    }

    /// Makes every problem that some planner may be given, with what its table keeps for all points, so that threads
    /// need not wait for it.
    pub(crate) fn make_problems(&self) -> Result<()> {
        let own = self.own_numbers()?;
        for order in 0..self.schedules.len() {
            if self.planners.iter().any(|planner| !planner.takes_candidates()) {
                let _ = self.problem_without_candidates(order, &own);
            }
            if self.planners.iter().any(|planner| planner.takes_candidates())
                && let Ok(problem) = self.problem(order, &own)
            {
                problem.charges();
            }
        }
        Ok(())
    }

    /// Whether the least time is a concave function of α, δ, β·m and α_r, found by [`Prepared::best_at`].
    pub(crate) fn is_concave(&self) -> bool {
        let Request { settings, fabric, options, .. } = &self.request;
        let on = |planner: &dyn Planner, schedule| is_concave(planner, schedule, fabric, *settings, options);
        self.planners.iter().all(|planner| {
            // A choice of another algorithm than the one that must be kept does not count.
            let keeps = self.request.kept_algorithm().is_none() || planner.takes_candidates();
            keeps && self.schedules.iter().all(|schedule| on(*planner, schedule))
        })
    }

    /// The choice of least time at a point, with the schedule that was to be planned.
    ///
    /// Planners that make their own topologies go first, since they need no profiles. Then the others, the
    /// schedule of the least lower bound first; one whose bound is above the best time is left out, and the rest
    /// are given up as soon as they are known to be slower. Times that differ by rounding alone are ties, which
    /// go to the earlier planner, then to the earlier algorithm, so that the order of work does not show.
    ///
    /// # Errors
    /// When no algorithm and planner serve the problem.
    pub(crate) fn best_at(&self, at: &Numbers) -> Result<(&Schedule, Choice)> {
        let mut race = Race::new(self.request.kept_algorithm());
        self.run(&mut race, |_| true, at);
        let (order, choice) = race.fastest().ok_or_else(|| self.refusal(&race))?;
        Ok((&self.schedules[order], self.searched(choice.clone())?))
    }

    /// Lets some planners run at a point, each for every schedule.
    pub(crate) fn run(&self, race: &mut Race<'_>, takes_part: impl Fn(&dyn Planner) -> bool, at: &Numbers) {
        let Self { planners, schedules, .. } = self;
        let (choosing, making): (Vec<usize>, Vec<usize>) = (0..planners.len())
            .filter(|&planner| takes_part(planners[planner]))
            .partition(|&planner| planners[planner].takes_candidates());
        let (composing, making): (Vec<usize>, Vec<usize>) =
            making.into_iter().partition(|&planner| planners[planner].chooses_algorithm());
        if race.kept.is_none() && !schedules.is_empty() && !composing.is_empty() {
            race.try_planners(self.problem_without_candidates(0, at), &composing, planners, 0);
        }
        for order in (0..schedules.len()).filter(|_| !making.is_empty()) {
            race.try_planners(self.problem_without_candidates(order, at), &making, planners, order);
        }
        if choosing.is_empty() {
            return;
        }
        for (bound_s, order) in self.by_bound(at) {
            // A step that must be split runs as others than the bound is for.
            let ports = self.request.fabric.shape.ports();
            let as_given = || schedules[order].steps().iter().all(|step| step.traffic().degree() <= ports);
            if bound_s > race.limit_s() && as_given() {
                continue;
            }
            race.try_planners(self.problem(order, at), &choosing, planners, order);
        }
    }

    /// Why a race has no winner. An algorithm that does not take this shape is no news where another fails for a better
    /// reason.
    pub(crate) fn refusal(&self, race: &Race<'_>) -> Error {
        let of_shape = || self.refusals.first().map(|(_, error)| error.clone());
        let none = || Error::infeasible("algorithm", "no algorithm and planner serve this problem");
        race.refusal.clone().or_else(of_shape).unwrap_or_else(none)
    }

    /// The choice on better topologies, where they can be found and one of the planners may use any. A planner that
    /// chooses algorithms may, so where one is open to the request, so are these.
    fn searched(&self, mut choice: Choice) -> Result<Choice> {
        let Some(planner) = self.planners.iter().find(|planner| planner.chooses_algorithm()) else {
            return Ok(choice);
        };
        let given_s = choice.total_s;
        choice = planners::searched(choice, self.request.options.budget, self.request.seed)?;
        if choice.total_s < given_s || self.request.keeps_the_best().is_some() {
            choice.planner = planner.name();
        }
        Ok(choice)
    }

    /// The schedules by lower bounds on their times. A single one has nothing to be left out for.
    fn by_bound(&self, at: &Numbers) -> Vec<(f64, usize)> {
        if self.schedules.len() == 1 {
            return vec![(0.0, 0)];
        }
        let fabric = at.on(&self.request.fabric);
        let bound_s = |schedule: &Schedule| {
            bounds::given_schedule(schedule, &fabric, self.request.settings, at.size_bytes).seconds()
        };
        let mut by_bound: Vec<(f64, usize)> = self.schedules.iter().map(bound_s).zip(0..).collect();
        by_bound.sort_by(|a, b| a.0.total_cmp(&b.0));
        by_bound
    }
}

/// The best choices of planners so far.
pub(crate) struct Race<'a> {
    /// The algorithm that a choice must keep.
    kept: Option<&'a str>,
    time_s: f64,
    /// By place, that is planner and algorithm.
    found: Vec<((usize, usize), Choice)>,
    refusal: Option<Error>,
}

impl<'a> Race<'a> {
    /// `kept`: the algorithm that a choice must keep.
    pub(crate) fn new(kept: Option<&'a str>) -> Self {
        Self { kept, time_s: f64::INFINITY, found: Vec::new(), refusal: None }
    }

    /// The best choice, of equals that of the earliest planner and algorithm, with the place of its schedule.
    pub(crate) fn fastest(&self) -> Option<(usize, &Choice)> {
        let limit_s = self.limit_s();
        let fastest = self.found.iter().filter(|(_, choice)| choice.total_s <= limit_s).min_by_key(|(place, _)| *place);
        fastest.map(|((_, order), choice)| (*order, choice))
    }

    /// Above this a choice is slower than the best.
    fn limit_s(&self) -> f64 {
        self.time_s * (1.0 + ROUNDING)
    }

    /// Tries some of `planners`, by index, on the problem of one schedule.
    fn try_planners(
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

    fn try_planner(&mut self, planner: &dyn Planner, place: (usize, usize), problem: &Problem) {
        match planners::choose(planner, problem, self.limit_s()) {
            Ok(Some(choice)) if self.kept.is_some_and(|name| name != choice.problem.schedule().algorithm()) => {}
            Ok(Some(choice)) => {
                self.time_s = self.time_s.min(choice.total_s);
                self.found.push((place, choice));
            }
            Ok(None) => {}
            Err(error) => self.refuse(error),
        }
    }

    /// Keeps the first reason.
    fn refuse(&mut self, error: Error) {
        self.refusal.get_or_insert(error);
    }
}
