//! Reconfigure at every step to that step's own circuits: HARVEST's *BvN* baseline (§6.1).
//!
//! A step that needs more circuits at a GPU than there are ports is split into sub-steps that do not. Where
//! two steps in a row have the same circuits there is nothing to reconfigure.

use model::{Error, Result, Schedule, Topology, counted};

use crate::split::splits_steps;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, split_steps};

/// HARVEST's baseline *BvN*: every step on its own circuits.
pub struct Bvn;

impl Planner for Bvn {
    fn name(&self) -> &'static str {
        "bvn"
    }

    fn summary(&self) -> &'static str {
        "reconfigure before every step to its own circuits; steps with more peers than ports are split"
    }

    fn source(&self) -> &'static str {
        "HARVEST §6.1, BvN baseline"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { takes_candidates: false, least_sum: LeastSum::Always, ..Capabilities::default() }
    }

    fn changes_steps(&self, schedule: &Schedule, ports: u32) -> bool {
        splits_steps(schedule, ports)
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        choose(self.name(), problem.schedule(), problem, limit_s)
    }
}

/// Every step of `schedule` on its own circuits, on the problem's fabric and for its size, unless that costs more than
/// `limit_s`.
pub(crate) fn choose(
    planner: &'static str,
    schedule: &Schedule,
    problem: &Problem,
    limit_s: f64,
) -> Result<Option<Choice>> {
    let ports = problem.fabric.shape.ports();
    let schedule = split_steps(schedule, ports)?;
    let mut matchings: Vec<Topology> = Vec::new();
    let mut candidates = Vec::new();
    for (index, step) in schedule.steps().iter().enumerate() {
        let name = format!("matching-{}", index + 1);
        let matching = Topology::of_traffic(name, step.traffic(), ports).ok_or_else(|| {
            Error::refused("planner", planner, format!("step {} needs more than {}", index + 1, counted(ports, "port")))
        })?;
        let known = matchings.iter().position(|other| other.same_links(&matching));
        candidates.push(known.unwrap_or(matchings.len()));
        if known.is_none() {
            matchings.push(matching);
        }
    }
    let own = Problem::new(schedule, problem.fabric.clone(), problem.settings, problem.size_bytes, matchings)?;
    let choice = Choice::priced(planner, own, candidates)?;
    Ok((choice.total_s <= limit_s).then_some(choice))
}
