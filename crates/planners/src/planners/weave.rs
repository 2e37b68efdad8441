//! Algorithm and topologies chosen together.
//!
//! The papers' planners are given an algorithm. This one composes its own of phases (the crate `weave`), and takes for
//! each step of it the best of the phases' topologies. Whoever plans with it lets the others plan their algorithms too,
//! and keeps the best of all: it is never slower than any of them.

use model::{ChargeKind, Result};

use crate::{Capabilities, Choice, Planner, Problem, composed};

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
            charges: &ChargeKind::ALL,
            chooses_algorithm: true,
            takes_budget: true,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let given = problem.schedule();
        let (fabric, settings, size_bytes) = (&problem.fabric, problem.settings, problem.size_bytes);
        let libraries = &problem.cache.libraries;
        let pieces = given.chunks().as_pieces();
        let compositions = match pieces {
            Some(pieces) => weave::unequal_compositions(libraries, pieces, fabric, settings, size_bytes)?,
            None => weave::compositions(libraries, given.chunks(), fabric, settings, size_bytes)?,
        };
        let mut best: Option<Choice> = None;
        let limit_of = |best: &Option<Choice>| best.as_ref().map_or(limit_s, |choice| choice.total_s.min(limit_s));
        let consider = |best: &mut Option<Choice>, composition| -> Result<()> {
            let found = composed::best_sequence(self.name(), problem, composition, limit_of(best))?;
            if let Some(found) = found.filter(|found| best.as_ref().is_none_or(|best| found.total_s < best.total_s)) {
                *best = Some(found);
            }
            Ok(())
        };
        for composition in compositions {
            consider(&mut best, composition)?;
        }
        if pieces.is_some() {
            return Ok(best);
        }
        for topology in weave::staying(libraries, given.collective(), fabric, settings) {
            let Some((_, chunked)) = composed::chunked(problem, &topology, limit_of(&best)) else { continue };
            if let Some(composition) = chunked.compose(QUICK_WORK)? {
                consider(&mut best, composition)?;
            }
        }
        Ok(best)
    }
}

/// Work on chunks over one topology, of which others and whole compositions are tried too.
const QUICK_WORK: u64 = 1 << 18;
