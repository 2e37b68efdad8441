//! Collectives in chunks over one topology that stays.
//!
//! On fabrics that cannot reconfigure, or where it does not pay, the topology is given and the algorithm is what is
//! looked for: rounds in which every circuit carries a chunk (`compositions::synthesis`), as TACOS synthesizes them by
//! a greedy matching at random (Won et al., TACOS: Topology-Aware Collective Algorithm Synthesizer, MICRO 2024).
//! `weave` tries the same on the start and on topologies of small diameter, among much else.

use model::{ChargeKind, Collective, Error, Result, Routing, Topology};

pub(crate) use crate::cutoffs::planners_synthesize::MOST_WORK;
use crate::{Capabilities, Choice, Planner, Problem, composition_cost};

/// The planner `synthesize`: chunks over the best of the static topologies.
pub struct Synthesize;

impl Planner for Synthesize {
    fn name(&self) -> &'static str {
        "synthesize"
    }

    fn summary(&self) -> &'static str {
        "AllGather, ReduceScatter and AllReduce in chunks over one topology throughout, every circuit carrying one \
        chunk \
         in every round: over the initial topology, the one named, or the best of a list"
    }

    fn source(&self) -> &'static str {
        "Lightloom; greedy rounds as in TACOS (Won et al., MICRO 2024)"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            // Every transfer has a circuit of its own.
            fixed_routing: Some(Routing::SinglePath),
            charges: ChargeKind::ALL,
            closes_cycles: true,
            takes_static_topologies: true,
            // `weave` has it among its compositions.
            by_name_only: true,
            replaces_algorithm: true,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let given = problem.schedule();
        composition_cost::check_blocks(self.name(), given)?;
        if given.collective() == Collective::AllToAll || given.collective().has_root() {
            let reason = "it synthesizes all-gather, reduce-scatter and all-reduce";
            return Err(Error::refused("planner", self.name(), reason));
        }
        let topologies = topologies(problem);
        let known =
            topologies.iter().filter_map(|topology| composition_cost::chunked(problem, topology, f64::INFINITY));
        let mut promises: Vec<(f64, compositions::Chunked)> = known.collect();
        if promises.is_empty() {
            let reason = "no topology joins all GPUs with circuits that are few enough to fill with chunks";
            return Err(Error::infeasible("topology", reason));
        }
        promises.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Option<Choice> = None;
        for (least_s, chunked) in promises {
            let enough_s = best.as_ref().map_or(limit_s, |choice| choice.total_s.min(limit_s));
            if !crate::ties::within(least_s, enough_s) {
                break;
            }
            let Some(composition) = chunked.compose(MOST_WORK)? else { continue };
            let found = composition_cost::staying(self.name(), problem, composition)?;
            if found.total_s <= enough_s {
                best = Some(found);
            }
        }
        Ok(best)
    }
}

/// The topologies that the request names for static plans, else all candidates; the start first.
fn topologies(problem: &Problem) -> Vec<Topology> {
    let allowed = problem.allowed();
    let listed = allowed.iter().map(|&candidate| problem.table.candidate(candidate));
    let start = problem.fabric.initial.given();
    let others = listed.filter(|topology| start.is_none_or(|start| !start.same_links(topology)));
    start.into_iter().chain(others).filter(|topology| !topology.links().is_empty()).cloned().collect()
}
