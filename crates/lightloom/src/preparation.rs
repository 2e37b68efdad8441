//! A request made ready: its planners and schedules, and problems whose candidates and profiles serve all points.

use std::sync::{Arc, OnceLock};

use model::{Bound, Error, Fault, Initial, Result, Schedule, WorkingPorts};
use planners::{OperatingPoint, Planner, Problem, is_concave, search_serves};

use crate::Request;
use crate::best::starts_dark;
use crate::never_change::KnownWinners;
use crate::race::Race;

/// The part of a request that does not depend on the numbers of a point.
pub(crate) struct Prepared {
    request: Request,
    planners: Vec<&'static dyn Planner>,
    schedules: Vec<Schedule>,
    refusals: Vec<(&'static str, Error)>,
    /// By schedule: for planners that make their own topologies, and for those that choose from the candidates.
    without_candidates: Vec<OnceLock<Result<Problem>>>,
    with_candidates: Vec<OnceLock<Result<Problem>>>,
    /// This request from a free start, where it starts on a given topology and some planner composes or searches.
    pub(crate) from_free_start: Option<Arc<Prepared>>,
    /// This request on a fabric with as many ports as dead switches leave, all of which work.
    pub(crate) on_ports_left: Option<Box<Prepared>>,
    pub(crate) unchanging: KnownWinners,
    /// Where requests from several starts share this one: its best choices.
    pub(crate) answers: Option<KnownWinners>,
}

impl Prepared {
    /// # Errors
    /// Wrong input.
    pub(crate) fn new(request: &Request) -> Result<Self> {
        Self::for_planners(request, request.planners()?)
    }

    /// [`Prepared::new`] for `planners` only.
    ///
    /// # Errors
    /// Wrong input.
    pub(crate) fn for_planners(request: &Request, planners: Vec<&'static dyn Planner>) -> Result<Self> {
        request.size_bytes()?;
        let from_free_start = match Self::planners_from_free_start(request, &planners) {
            some if some.is_empty() => None,
            some => {
                let mut free = request.clone();
                free.fabric.initial = Initial::Free;
                // The listener is dropped, since the times of such plans lack the change from the start.
                free.options.listener = None;
                Some(Arc::new(Self::for_planners(&free, some)?))
            }
        };
        let on_ports_left = match Self::ports_left(request, &planners)? {
            Some(alike) => Some(Box::new(Self::for_planners(&alike, planners.clone())?)),
            None => None,
        };
        let (schedules, refusals) = request.schedules()?;
        let unknown = || schedules.iter().map(|_| OnceLock::new()).collect();
        let (without_candidates, with_candidates) = (unknown(), unknown());
        let request = request.clone();
        let unchanging = KnownWinners::default();
        Ok(Self {
            request,
            planners,
            schedules,
            refusals,
            without_candidates,
            with_candidates,
            from_free_start,
            on_ports_left,
            unchanging,
            answers: None,
        })
    }

    /// The planners whose plans from a free start are worth trying from the given one: those that compose, which may
    /// miss them; all where topologies are searched too, or where the start has no circuits, so that the free one
    /// stands for it.
    fn planners_from_free_start(request: &Request, planners: &[&'static dyn Planner]) -> Vec<&'static dyn Planner> {
        let fabric = &request.fabric;
        let composes = planners.iter().any(|planner| planner.capabilities().chooses_algorithm);
        if fabric.initial == Initial::Free || !composes {
            return Vec::new();
        }
        let all = starts_dark(fabric) || search_serves(&fabric.shape, request.options.budget);
        planners.iter().copied().filter(|planner| all || planner.capabilities().chooses_algorithm).collect()
    }

    /// The request with a port fewer for each switch that is dead, where nothing else is broken and a planner composes:
    /// a plan of it needs no other circuits than those that can be made, and all that is tried where all works is tried
    /// for it.
    fn ports_left(request: &Request, planners: &[&'static dyn Planner]) -> Result<Option<Request>> {
        let fabric = &request.fabric;
        let faults = fabric.shape.faults().all();
        let is_even = !faults.is_empty() && faults.iter().all(|fault| matches!(fault, Fault::Switch(_)));
        let composes = planners.iter().any(|planner| planner.capabilities().chooses_algorithm);
        let ports = WorkingPorts::of(&fabric.shape).least();
        if !is_even || !composes || ports == 0 || fabric.optics.is_some() || fabric.shape.unlike_rates().is_some() {
            return Ok(None);
        }
        let mut alike = request.clone();
        alike.fabric.shape = fabric.shape.without_faults(ports)?;
        if let Initial::Topology(start) = &fabric.initial {
            alike.fabric.initial = Initial::Topology(start.clone().on_any_ports());
        }
        // The listener is dropped, since these plans are not on the fabric as it is.
        alike.options.listener = None;
        Ok(Some(alike))
    }

    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    pub(crate) fn planners(&self) -> &[&'static dyn Planner] {
        &self.planners
    }

    pub(crate) fn schedules(&self) -> &[Schedule] {
        &self.schedules
    }

    /// Why other algorithms of the collective have no schedule.
    pub(crate) fn refusals(&self) -> &[(&'static str, Error)] {
        &self.refusals
    }

    /// Whether every plan of the request runs the steps of one algorithm that was named, so that the bound for these
    /// steps holds for all of them.
    pub(crate) fn keeps_steps(&self) -> bool {
        let ports = self.request.fabric.shape.ports();
        let kept = self.request.kept_algorithm().is_some();
        !self.request.leaves_algorithm_open()
            && self.schedules.iter().all(|schedule| {
                let keeps = |planner: &&dyn Planner| {
                    !planner.changes_steps(schedule, ports) && (kept || !planner.capabilities().replaces_algorithm)
                };
                self.planners.iter().all(keeps)
            })
    }

    /// The bound for all plans of the request: for the steps of the algorithm that was named, where all run these and
    /// `keeps_steps`; else for every algorithm.
    pub(crate) fn bound_at(&self, at: &OperatingPoint, keeps_steps: bool) -> Bound {
        let (request, fabric) = (&self.request, at.on(&self.request.fabric));
        let pieces = self.schedules.first().and_then(|schedule| schedule.chunks().as_pieces());
        let any =
            request.cache.bounds.any_algorithm(request.collective(), pieces, &fabric, request.settings, at.size_bytes);
        let given = self.schedules.first().filter(|_| keeps_steps && self.keeps_steps());
        let given = given.map(|schedule| bounds::given_schedule(schedule, &fabric, request.settings, at.size_bytes));
        given.filter(|given| given.seconds() > any.seconds()).unwrap_or(any).bound()
    }

    /// The problem of a schedule as a planner takes it.
    ///
    /// # Errors
    /// The errors of [`Request::problem`].
    pub(crate) fn problem_for(&self, planner: &dyn Planner, order: usize, at: &OperatingPoint) -> Result<Problem> {
        if planner.capabilities().takes_candidates {
            self.problem(order, at)
        } else {
            self.problem_without_candidates(order, at)
        }
    }

    /// The numbers of the request itself.
    ///
    /// # Errors
    /// A size that the collective does not take.
    pub(crate) fn own_numbers(&self) -> Result<OperatingPoint> {
        Ok(OperatingPoint::of(&self.request.fabric, self.request.size_bytes()?))
    }

    /// The problem of a schedule for planners that make their own topologies.
    pub(crate) fn problem_without_candidates(&self, order: usize, at: &OperatingPoint) -> Result<Problem> {
        let made = || self.request.problem_without_candidates(self.schedules[order].clone());
        self.without_candidates[order].get_or_init(made).as_ref().map(|problem| problem.at(at)).map_err(Error::clone)
    }

    /// The problem of a schedule for planners that choose from the candidates.
    fn problem(&self, order: usize, at: &OperatingPoint) -> Result<Problem> {
        let made = || self.request.problem(self.schedules[order].clone());
        self.with_candidates[order].get_or_init(made).as_ref().map(|problem| problem.at(at)).map_err(Error::clone)
    }

    /// Makes every problem that some planner may be given, with what its table keeps for all points, so that threads
    /// need not wait for it.
    pub(crate) fn make_problems(&self) -> Result<()> {
        let own = self.own_numbers()?;
        for order in 0..self.schedules.len() {
            if self.planners.iter().any(|planner| !planner.capabilities().takes_candidates) {
                let _ = self.problem_without_candidates(order, &own);
            }
            if self.planners.iter().any(|planner| planner.capabilities().takes_candidates)
                && let Ok(problem) = self.problem(order, &own)
            {
                problem.charges();
            }
        }
        self.from_free_start.as_ref().map_or(Ok(()), |free| free.make_problems())
    }

    /// Whether the least time is a concave function of α, δ, β·m and α_r, found by [`Prepared::best_at`].
    pub(crate) fn is_concave(&self) -> bool {
        let Request { settings, fabric, options, .. } = &self.request;
        let on = |planner: &dyn Planner, schedule| is_concave(planner, schedule, fabric, *settings, options);
        self.planners.iter().all(|planner| {
            // A choice of another algorithm than the one that must be kept does not count.
            let keeps = self.request.kept_algorithm().is_none() || planner.capabilities().takes_candidates;
            keeps && self.schedules.iter().all(|schedule| on(*planner, schedule))
        })
    }

    /// Lets some planners run at a point, each for every schedule.
    pub(crate) fn run(&self, race: &mut Race<'_>, takes_part: impl Fn(&dyn Planner) -> bool, at: &OperatingPoint) {
        let Self { planners, schedules, .. } = self;
        let (choosing, making): (Vec<usize>, Vec<usize>) = (0..planners.len())
            .filter(|&planner| takes_part(planners[planner]))
            .partition(|&planner| planners[planner].capabilities().takes_candidates);
        let (composing, making): (Vec<usize>, Vec<usize>) =
            making.into_iter().partition(|&planner| planners[planner].capabilities().chooses_algorithm);
        if race.kept.is_none() && !schedules.is_empty() && !composing.is_empty() {
            race.try_planners(self.problem_without_candidates(0, at), &composing, planners, 0);
            if race.fastest().is_some() && self.is_any_time(at) {
                return;
            }
        }
        for order in (0..schedules.len()).filter(|_| !making.is_empty()) {
            race.try_planners(self.problem_without_candidates(order, at), &making, planners, order);
        }
        if choosing.is_empty() {
            return;
        }
        for (bound_s, order) in self.by_bound(at, race.limit_s()) {
            let as_given = || choosing.iter().all(|&planner| !self.changes_steps(planners[planner], order));
            if bound_s > race.limit_s() && as_given() {
                continue;
            }
            if let Some(limits) = race.limits.filter(|limits| limits.has_too_many_patterns(&schedules[order])) {
                race.leave_out(limits.at_least(if as_given() { bound_s } else { 0.0 }));
                continue;
            }
            race.try_planners(self.problem(order, at), &choosing, planners, order);
        }
    }

    /// Whether nothing is tried but what composes ([`planners::is_any_time`]).
    pub(crate) fn is_any_time(&self, at: &OperatingPoint) -> bool {
        // Where no algorithm serves the request, nothing is tried.
        !self.schedules.is_empty()
            && self.problem_without_candidates(0, at).is_ok_and(|problem| planners::is_any_time(&problem))
    }

    /// Lets all planners that are given an algorithm run at a point for one schedule.
    pub(crate) fn run_order(&self, race: &mut Race<'_>, order: usize, at: &OperatingPoint) {
        let given: Vec<usize> =
            (0..self.planners.len()).filter(|&index| !self.planners[index].capabilities().chooses_algorithm).collect();
        let (choosing, making): (Vec<usize>, Vec<usize>) =
            given.into_iter().partition(|&index| self.planners[index].capabilities().takes_candidates);
        for (some, problem) in [
            (making, Self::problem_without_candidates as fn(&Self, usize, &OperatingPoint) -> Result<Problem>),
            (choosing, Self::problem),
        ] {
            if !some.is_empty() {
                race.try_planners(problem(self, order, at), &some, &self.planners, order);
            }
        }
    }

    /// Whether no planner splits or joins steps of a schedule, so that its bound holds for what they make of it.
    pub(crate) fn runs_as_given(&self, order: usize) -> bool {
        !self.planners.iter().any(|planner| self.changes_steps(*planner, order))
    }

    fn changes_steps(&self, planner: &dyn Planner, order: usize) -> bool {
        planner.changes_steps(&self.schedules[order], self.request.fabric.shape.ports())
    }

    /// Why a race has no winner. An algorithm that does not take this shape is no news where another fails for a better
    /// reason.
    pub(crate) fn refusal(&self, race: &Race<'_>) -> Error {
        let of_shape = || self.refusals.first().map(|(_, error)| error.clone());
        let none = || Error::infeasible("algorithm", "no algorithm and planner serve this problem");
        let telling = race.telling_refusal(|order| self.schedules[order].algorithm());
        telling.cloned().or_else(of_shape).unwrap_or_else(none)
    }

    /// The schedules by lower bounds on their times. For a single one that is known at once: planners that make their
    /// own may have left it behind by far. Where that is above `limit_s`, no closer bound is computed.
    pub(crate) fn by_bound(&self, at: &OperatingPoint, limit_s: f64) -> Vec<(f64, usize)> {
        let fabric = at.on(&self.request.fabric);
        if let [schedule] = &self.schedules[..] {
            return vec![(planners::least_seconds(schedule, &fabric, self.request.settings, at.size_bytes), 0)];
        }
        let bound_s = |schedule: &Schedule| {
            let least_s = planners::least_seconds(schedule, &fabric, self.request.settings, at.size_bytes);
            if least_s > limit_s {
                return least_s;
            }
            bounds::given_schedule(schedule, &fabric, self.request.settings, at.size_bytes).seconds().max(least_s)
        };
        let mut by_bound: Vec<(f64, usize)> = self.schedules.iter().map(bound_s).zip(0..).collect();
        by_bound.sort_by(|a, b| a.0.total_cmp(&b.0));
        by_bound
    }
}
