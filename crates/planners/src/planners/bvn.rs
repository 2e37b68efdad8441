//! Reconfigure at every step to that step's own circuits: HARVEST's *BvN* baseline (§6.1).
//!
//! A step that needs more circuits at a GPU than there are ports is split into sub-steps that do not. Where
//! two steps in a row have the same circuits there is nothing to reconfigure.

use model::{Result, Schedule};

use crate::split::splits_steps;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, own_circuits};

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
        own_circuits::choose(self.name(), problem.schedule(), problem, limit_s)
    }
}
