//! Requests that were made ready, kept for plans at other sizes, rates and delays.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::{Latest, Plan, Result};
use planners::{Cache, Choice, OperatingPoint, PlannerOptions};

use crate::cutoffs::known_requests::{MOST_KEPT, MOST_POINTS, MOST_PORTS};
use crate::never_change::KnownWinners;
use crate::{Prepared, Request, better, planned, tiers};

/// Requests, each made ready once, with their plans. Schedules, candidates and profiles serve all sizes, rates and
/// delays; what is best from a free start serves every start, and what never changes its circuits every delay.
#[derive(Default)]
pub struct KnownRequests {
    /// Profiles and bounds that requests on such fabrics have found.
    pub cache: Arc<Cache>,
    ready: Latest<Arc<Ready>, MOST_KEPT>,
    free: Latest<Arc<Prepared>, MOST_KEPT>,
}

/// A request made ready, and what was planned for it.
struct Ready {
    prepared: Prepared,
    known: Mutex<Known>,
}

/// Plans of a request.
#[derive(Default)]
struct Known {
    /// By the bits of the numbers at which they were asked for.
    at: BTreeMap<[u64; 5], Result<KnownPlan>>,
    /// Each with the choice that it was made of.
    made: Vec<(OperatingPoint, Choice, Arc<Plan>)>,
}

/// The plan of a request, made at this reconfiguration delay or another one.
#[derive(Debug, Clone)]
pub struct KnownPlan {
    /// Steps, topologies and routes; charges of changes and bounds are those of the delay at which they were found
    /// first.
    pub plan: Arc<Plan>,
    /// Completion time at the delay that was asked for, s.
    pub total_s: f64,
}

impl KnownRequests {
    /// The steps of [`plan`](crate::plan) for a request.
    ///
    /// # Errors
    /// The errors of [`plan`](crate::plan).
    pub fn plan(&self, request: &Request) -> Result<KnownPlan> {
        let shape = &request.fabric.shape;
        let is_large = u64::from(shape.gpus()) * u64::from(shape.ports()) > MOST_PORTS;
        if is_large || request.options != PlannerOptions::default() || tiers::serves(request) {
            let plan = crate::plan(request)?;
            return Ok(KnownPlan { total_s: plan.total_s(), plan: Arc::new(plan) });
        }
        let ready = match self.ready.find(|ready| is_like(ready.prepared.request(), request)) {
            Some(ready) => ready,
            None => self.made_ready(request)?,
        };
        ready.at(&OperatingPoint::of(&request.fabric, request.size_bytes()?))
    }

    fn made_ready(&self, request: &Request) -> Result<Arc<Ready>> {
        let mut prepared = Prepared::new(&better::with_whole_blocks(request.clone())?)?;
        let free = prepared.from_free_start.take();
        prepared.from_free_start = free.map(|free| self.shared(free)).transpose()?;
        // Threads that plan at several numbers must not wait for each other's problems.
        prepared.make_problems()?;
        let ready = Arc::new(Ready { prepared, known: Mutex::default() });
        self.ready.keep(ready.clone());
        Ok(ready)
    }

    /// The request from a free start, the same for all starts.
    fn shared(&self, mut free: Arc<Prepared>) -> Result<Arc<Prepared>> {
        let names = |of: &Prepared| of.planners().iter().map(|planner| planner.name()).collect::<Vec<_>>();
        let is_it = |known: &&Arc<Prepared>| is_like(known.request(), free.request()) && names(known) == names(&free);
        if let Some(known) = self.free.find(is_it) {
            return Ok(known);
        }
        free.make_problems()?;
        if let Some(own) = Arc::get_mut(&mut free) {
            own.answers = Some(KnownWinners::default());
        }
        self.free.keep(free.clone());
        Ok(free)
    }
}

impl Ready {
    fn at(&self, at: &OperatingPoint) -> Result<KnownPlan> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().at.get(&at.bits()) {
            return known.clone();
        }
        let found = self.planned(at);
        let mut known = lock();
        if known.at.len() >= MOST_POINTS {
            *known = Known::default();
        }
        known.at.insert(at.bits(), found.clone());
        found
    }

    fn planned(&self, at: &OperatingPoint) -> Result<KnownPlan> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let choice = self.prepared.best_at(at)?;
        let total_s = choice.total_s;
        let is_it = |(other, known, _): &&(OperatingPoint, Choice, Arc<Plan>)| {
            other.without_changes() == at.without_changes() && has_same_steps(known, &choice)
        };
        let known = lock().made.iter().find(is_it).map(|(.., plan)| plan.clone());
        if let Some(plan) = known {
            return Ok(KnownPlan { plan, total_s });
        }
        let plan = Arc::new(planned(choice.clone(), self.prepared.keeps_steps())?);
        lock().made.push((*at, choice, plan.clone()));
        Ok(KnownPlan { plan, total_s })
    }
}

/// Whether requests differ in nothing but sizes, rates and delays.
fn is_like(known: &Request, asked: &Request) -> bool {
    let Request { workload, settings, planner, candidates, static_topologies, seed, .. } = known;
    let (fabric, other) = (&known.fabric, &asked.fabric);
    let delay = |fabric: &model::Fabric| fabric.reconfiguration.with_fixed_s(0.0);
    (planner, settings, seed) == (&asked.planner, &asked.settings, &asked.seed)
        && fabric.shape == other.shape
        && (workload, candidates) == (&asked.workload, &asked.candidates)
        && (static_topologies, known.routing_is_given) == (&asked.static_topologies, asked.routing_is_given)
        && fabric.initial == other.initial
        && fabric.barrier_s == other.barrier_s
        && (&fabric.optics, &fabric.electrical) == (&other.optics, &other.electrical)
        && delay(fabric) == delay(other)
}

/// Whether plans of two choices at the same numbers, but for the delay of changes, have the same steps on the same
/// topologies.
fn has_same_steps(one: &Choice, other: &Choice) -> bool {
    let (table, others) = (&one.problem.table, &other.problem.table);
    let on = |(&a, &b): (&usize, &usize)| table.candidate(a) == others.candidate(b);
    one.planner == other.planner
        && one.problem.settings == other.problem.settings
        && one.problem.quick_flows == other.problem.quick_flows
        && one.candidates.len() == other.candidates.len()
        && one.candidates.iter().zip(&other.candidates).all(on)
        && one.problem.schedule() == other.problem.schedule()
}
