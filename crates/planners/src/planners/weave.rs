//! Algorithm and topologies chosen together.
//!
//! The papers' planners are given an algorithm. This one composes its own of phases (the crate `compositions`), and
//! takes for each step of it the best of the phases' topologies. A request for it lets the others plan their algorithms
//! too, and keeps the best of all: it is never slower than any of them.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use compositions::{Better, Given, Pursuit};
use model::{ChargeKind, CostSettings, Error, Fabric, Initial, Overlap, Piece, Result};

use crate::best_composition::Composing;
use crate::cutoffs::weave::ENOUGH;
use crate::{Capabilities, Choice, ClassBound, Planner, PlannerOptions, Problem, composition_cost, following_blocks};

/// The planner `weave`: composed algorithms and the best of the other planners.
pub struct Weave;

impl Planner for Weave {
    fn name(&self) -> &'static str {
        "weave"
    }

    fn summary(&self) -> &'static str {
        "algorithm and topologies together: collectives composed of phases, or the best that any other planner finds"
    }

    fn source(&self) -> &'static str {
        "Lightloom; named as future work in HARVEST's conclusion"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            takes_candidates: false,
            charges: ChargeKind::ALL,
            closes_cycles: true,
            chooses_algorithm: true,
            takes_budget: true,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let mut composing = Composing::new(self.name(), problem, &[], limit_s);
        try_all(&mut composing, problem)?;
        composing.found()
    }
}

/// Whether an unequal All-to-All among many GPUs that takes this long is as near to the bound for any algorithm as is
/// worth a look.
fn is_enough(problem: &Problem, seconds: f64) -> bool {
    is_any_time(problem) && seconds <= ENOUGH * problem.any_algorithm_bound().seconds
}

/// Whether the problem is an unequal All-to-All that is planned by what is sure to be quick
/// ([`compositions::serves_at_any_time`]), or begins with given topologies.
pub fn is_any_time(problem: &Problem) -> bool {
    problem.schedule().chunks().as_pieces().is_some()
        && unequal_at_any_time(&problem.fabric, problem.settings, &problem.options)
}

/// [`is_any_time`] for every unequal All-to-All on a fabric.
pub fn unequal_at_any_time(fabric: &Fabric, settings: CostSettings, options: &PlannerOptions) -> bool {
    options.warm_start.is_some() || compositions::serves_at_any_time(fabric, settings)
}

/// Tries everything that is composed for a problem.
fn try_all(composing: &mut Composing<'_>, problem: &Problem) -> Result<()> {
    let given = problem.schedule();
    let fabric = &problem.fabric.with_likely_hops();
    let (settings, size_bytes) = (problem.settings, problem.size_bytes);
    let libraries = &problem.cache.libraries;
    let pieces = given.chunks().as_pieces();
    if let Some(pieces) = pieces {
        wait(composing, problem, pieces, problem.options.warm_start.as_deref())?;
        let is_over = until(problem).is_some_and(|until| Instant::now() >= until);
        let is_left = problem.options.warm_start.is_some() || is_over;
        if (is_left && composing.has_any()) || is_enough(problem, composing.limit_s()) {
            return Ok(());
        }
    }
    let compositions = match pieces {
        Some(pieces) => {
            let limit_s = composing.limit_s();
            compositions::unequal_compositions(libraries, pieces, fabric, settings, size_bytes, limit_s)?
        }
        None => compositions::compositions(libraries, given.chunks(), fabric, settings, size_bytes)?,
    };
    compositions.into_iter().try_for_each(|composition| composing.consider(composition))?;
    if let Some(root) = given.chunks().root() {
        return following_blocks::consider(composing, problem, root);
    }
    if let (Some(pieces), Some(_), Some(best)) = (pieces, until(problem), composing.topologies()) {
        wait(composing, problem, pieces, Some(&Given { topologies: best, paths: Vec::new() }))?;
    }
    if pieces.is_none() { composing.fill_staying() } else { Ok(()) }
}

/// When the search for an unequal All-to-All among many GPUs ends, where it has a budget.
fn until(problem: &Problem) -> Option<Instant> {
    let PlannerOptions { budget, until, .. } = problem.options;
    let budget = budget.filter(|_| is_any_time(problem))?;
    until.or_else(|| Instant::now().checked_add(budget))
}

/// Tries compositions whose bytes wait between steps: those that are found for the matrix, or with topologies that are
/// given. Whoever listens is told of them. Where the search counts otherwise than plans do, all that it found faster on
/// the way are tried.
fn wait(composing: &mut Composing<'_>, problem: &Problem, pieces: &[Piece], from: Option<&Given>) -> Result<()> {
    let passed = Mutex::new(Vec::new());
    let tell = |better: Better| {
        if !is_counted(problem) {
            passed.lock().unwrap_or_else(PoisonError::into_inner).extend((better.composition)().ok());
        }
        tell(problem, better);
    };
    let is_heard = problem.options.listener.is_some() || !is_counted(problem);
    let told = is_heard.then_some(&tell as &(dyn Fn(Better) + Sync));
    let pursuit = Pursuit { until: until(problem), from, told };
    let (fabric, settings) = (&problem.fabric, problem.settings);
    let limit_s = composing.limit_s();
    let found = compositions::unequal_waiting(pieces, fabric, settings, problem.size_bytes, limit_s, pursuit)?;
    let passed = passed.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.into_iter().chain(passed).try_for_each(|composition| composing.consider(composition))
}

/// Whether the search for unequal All-to-Alls counts time as the problem does.
fn is_counted(problem: &Problem) -> bool {
    let policy = &problem.fabric.reconfiguration;
    problem.settings.overlap == Overlap::Additive
        && policy.delay().constant_s().is_some()
        && !policy.runs_in_background()
}

/// Tells of a composition. Where the search counts as plans do, its choice is made only if it is asked for.
fn tell(problem: &Problem, better: Better) {
    let Some(listener) = &problem.options.listener else { return };
    let (mut own, seconds) = (problem.clone(), better.seconds);
    // A listener may keep the choice that it is told, so the choice must not hold the listener.
    own.options.listener = None;
    let choice = move || {
        let found = composition_cost::best_sequence(Weave.name(), &own, (better.composition)()?, f64::INFINITY)?;
        found.ok_or_else(|| Error::infeasible("planner", "the routes are not for the topologies"))
    };
    if is_counted(problem) {
        listener.tell(seconds, || choice);
    } else if let Ok(found) = choice() {
        listener.tell(found.total_s, || move || Ok(found.clone()));
    }
}

/// The best that is composed for the topologies that fabrics of few GPUs start on, run from the free start of the
/// problem; `None` above `limit_s`. So any plan that such a start leads to is reached from other starts after one
/// change.
///
/// # Errors
/// The errors of [`Weave`].
pub fn from_known_starts(problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
    let starts = problem.cache.known_starts(&problem.fabric)?;
    if starts.is_empty() {
        return Ok(None);
    }
    let name = Weave.name();
    let mut composing = Composing::new(name, problem, &starts, limit_s);
    try_all(&mut composing, problem)?;
    let mut best = composing.best();
    let chunks = problem.schedule().chunks();
    let (libraries, settings, size_bytes) = (&problem.cache.libraries, problem.settings, problem.size_bytes);
    for start in &starts {
        let fabric = Fabric { initial: Initial::Topology(start.clone()), ..problem.fabric.clone() };
        let started = Problem { fabric: fabric.clone(), ..problem.clone() };
        let enough_s = best.as_ref().map_or(limit_s, |best| best.total_s);
        let mut composing = Composing::new(name, &started, &[], enough_s);
        let compositions = match chunks.as_pieces() {
            Some(pieces) => compositions::unequal_on_start(libraries, pieces, &fabric, settings, size_bytes)?,
            None => compositions::on_start(libraries, chunks, &fabric, settings, size_bytes)?,
        };
        compositions.into_iter().try_for_each(|composition| composing.consider(composition))?;
        if chunks.as_pieces().is_none() {
            composing.fill(start)?;
        }
        if let Some(found) = composing.best() {
            let found = found.started_on(&problem.fabric)?;
            // The bound of its class is that from the start.
            best = Some(Choice { class_bound: Some(ClassBound::any_algorithm(problem)), ..found });
        }
    }
    Ok(best)
}
