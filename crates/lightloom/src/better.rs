//! Plans that are told while better ones are looked for, and plans that begin with another one's circuits.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use model::{Plan, Result};
use planners::{Choice, Listener};

use crate::{Prepared, Request, Workload, forwarding, planned, tiers, warm_start};

/// A plan that is faster than those before it.
pub struct Better {
    /// Time since planning began, s.
    pub elapsed_s: f64,
    /// Time of the plan, s.
    pub total_s: f64,
    /// Lower bound on the time of every plan for the request, s.
    pub lower_bound_s: f64,
    made: Made,
    /// Whether all plans run the steps of an algorithm that was named.
    keeps_steps: bool,
}

/// The plan, or what makes it.
enum Made {
    Plan(Box<Plan>),
    Choice(Box<dyn Fn() -> Result<Choice> + Send + Sync>),
}

impl Better {
    /// The plan, which has passed `verify`.
    ///
    /// # Errors
    /// No error for a plan that fits into memory.
    pub fn plan(&self) -> Result<Plan> {
        match &self.made {
            Made::Plan(plan) => Ok(Plan::clone(plan)),
            Made::Choice(choice) => planned(choice()?, self.keeps_steps),
        }
    }
}

/// Who is told of better plans, each faster than the one before; from one thread at a time.
pub type Told = Arc<dyn Fn(Better) + Send + Sync>;

/// [`plan`](crate::plan) that tells of every better plan as soon as it is found, the last one included.
///
/// `warm_start`: of an unequal All-to-All, a plan whose circuits and paths the search begins with, in place of circuits
/// made for the matrix; only the shares of paths are found anew. It needs a small part of the time.
///
/// # Errors
/// The errors of [`plan`](crate::plan); a plan to begin with that is for another collective, other GPUs or ports, or a
/// request that has no use for it.
pub fn plan_as_found(request: &Request, warm_start: Option<&Plan>, told: Option<Told>) -> Result<Plan> {
    let began = Instant::now();
    let mut request = request.clone();
    request.options.until = request.options.budget.and_then(|budget| began.checked_add(budget));
    request.options.warm_start = warm_start.map(|plan| warm_start::given(plan, &request)).transpose()?.map(Arc::new);
    request = with_whole_blocks(request)?;
    if tiers::serves(&request) {
        let plan = tiers::best(&request)?;
        if let Some(told) = told {
            let (elapsed_s, total_s, lower_bound_s) =
                (began.elapsed().as_secs_f64(), plan.total_s(), plan.bound.seconds);
            let made = Made::Plan(Box::new(plan.clone()));
            told(Better { elapsed_s, total_s, lower_bound_s, made, keeps_steps: false });
        }
        return Ok(plan);
    }
    let Some(told) = told else { return best(&Prepared::new(&request)?) };
    let known = Arc::new(OnceLock::new());
    let last_s = Arc::new(Mutex::new(f64::INFINITY));
    let tell = {
        let (known, last_s) = (known.clone(), last_s.clone());
        move |total_s: f64, made: Made| {
            *last_s.lock().unwrap_or_else(PoisonError::into_inner) = total_s;
            let (lower_bound_s, keeps_steps) = known.get().copied().unwrap_or_default();
            told(Better { elapsed_s: began.elapsed().as_secs_f64(), total_s, lower_bound_s, made, keeps_steps });
        }
    };
    // A request for circuits that never change also tries plans with changes, then drops them; those are not reported.
    if request.never_changes().is_none() {
        let told = tell.clone();
        let listener = Listener::new(move |better| told(better.total_s, Made::Choice(better.choice)));
        request.options.listener = Some(listener);
    }
    let prepared = Prepared::new(&request)?;
    let bound = prepared.bound_at(&prepared.own_numbers()?, true);
    known.get_or_init(|| (bound.seconds, prepared.keeps_steps()));
    let plan = best(&prepared)?;
    let last_s = *last_s.lock().unwrap_or_else(PoisonError::into_inner);
    if planners::is_better(plan.total_s(), last_s) {
        tell(plan.total_s(), Made::Plan(Box::new(plan.clone())));
    }
    Ok(plan)
}

/// The request with the blocks of a matrix whole, where a planner composes its plan of them.
///
/// # Errors
/// An unknown planner.
pub(crate) fn with_whole_blocks(request: Request) -> Result<Request> {
    match &request.workload {
        Workload::Matrix(blocks) if serves_by_blocks(&request)? => {
            Ok(Request { workload: Workload::Matrix(blocks.unsplit()), ..request })
        }
        _ => Ok(request),
    }
}

/// Whether the plan of a matrix comes from a planner that composes it of blocks, so that nothing needs its matchings.
///
/// # Errors
/// An unknown planner.
fn serves_by_blocks(request: &Request) -> Result<bool> {
    let composes = request.planners()?.iter().any(|planner| planner.capabilities().chooses_algorithm);
    Ok(composes && planners::unequal_at_any_time(&request.fabric, request.settings, &request.options))
}

/// The plan of the best choice.
fn best(prepared: &Prepared) -> Result<Plan> {
    let at = prepared.own_numbers()?;
    let choice = match &prepared.request().options.whole_fabric {
        Some(whole) => forwarding::best(prepared, whole, &at)?,
        None => prepared.best_at(&at)?,
    };
    planned(choice, prepared.keeps_steps())
}
