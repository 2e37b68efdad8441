//! Algorithm and topologies chosen together.
//!
//! The papers' planners are given an algorithm. This one composes its own of phases (the crate `weave`), and takes for
//! each step of it the best of the phases' topologies. Whoever plans with it lets the others plan their algorithms too,
//! and keeps the best of all: it is never slower than any of them.

use model::{ChargeKind, CostSettings, Error, Initial, Result, Routing, Topology};
use topologies::candidates;

use crate::state_search::StateSearch;
use crate::{Capabilities, Choice, Planner, Problem};

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
        if given.chunks().as_pieces().is_some() {
            return Err(Error::refused("planner", self.name(), "it composes for blocks of one size"));
        }
        let (settings, size_bytes) = (problem.settings, problem.size_bytes);
        let composed =
            weave::compositions(&problem.cache.libraries, given.collective(), &problem.fabric, settings, size_bytes)?;
        let mut best: Option<Choice> = None;
        for composition in composed {
            let limit_s = best.as_ref().map_or(limit_s, |choice| choice.total_s.min(limit_s));
            let fabric = &problem.fabric;
            // The start is a candidate of every composition.
            let start = match &fabric.initial {
                Initial::Topology(start) => Some(start),
                Initial::Free => None,
            };
            let routing = match problem.settings.routing {
                Routing::ConcurrentFlow if composition.topologies.iter().chain(start).any(needs_large_program) => {
                    Routing::EqualSplit
                }
                routing => routing,
            };
            let settings = CostSettings { routing, ..problem.settings };
            let mut candidates = composition.topologies;
            if fabric.reconfiguration.runs_in_background() {
                let ports = fabric.shape.ports();
                let dark = candidates.iter().map(|full| candidates::one_port_dark(full, ports));
                let dark: Vec<Vec<Topology>> = dark.collect::<Result<_>>()?;
                candidates.extend(dark.into_iter().flatten());
            }
            let own = problem.with(composition.schedule, settings, candidates)?;
            let mut search = StateSearch::new(&own.table);
            let Some(total_s) = search.run(&own.rates(), &own.charges(), own.start, limit_s)? else { continue };
            let candidates = search.path().to_vec();
            if best.as_ref().is_none_or(|choice| total_s < choice.total_s) {
                let class_bound = Some(problem.any_algorithm_bound());
                best = Some(Choice { planner: self.name(), problem: own, candidates, total_s, class_bound });
            }
        }
        Ok(best)
    }
}

/// Commodities up to which the concurrent flow of all pairs on a graph of little symmetry is solved.
const MOST_COMMODITIES: u32 = 256;

/// Whether the concurrent flow of all pairs on a topology would be a large program; splitting evenly is as good where it is
/// meant for small buffers. Circulants have one circuit of each port for all ranks.
fn needs_large_program(topology: &Topology) -> bool {
    let (ranks, symmetry) = (topology.ranks(), topology.symmetry());
    !symmetry.is_transitive() && ranks * (ranks - 1) / symmetry.order() > MOST_COMMODITIES
}
