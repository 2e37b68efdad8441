//! FAST as the all-to-all paper's baseline (§5.1): the matchings of the matrix's Birkhoff–von Neumann decomposition,
//! as many at a time as there are ports, each flow on circuits of its own.

use model::{Collective, Result, Schedule};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::join::{join_steps, joins_steps};
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, bvn};

/// FAST: the matchings of the matrix, one after the other.
pub struct Fast;

impl Planner for Fast {
    fn name(&self) -> &'static str {
        "fast"
    }

    fn summary(&self) -> &'static str {
        "All-to-All by the matchings of its BvN decomposition, one for each port at a time"
    }

    fn source(&self) -> &'static str {
        "FAST, as To reconfigure or not to reconfigure §5.1 has it"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            only: Some(Collective::AllToAll),
            takes_candidates: false,
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn changes_steps(&self, schedule: &Schedule, ports: u32) -> bool {
        ForwardedBlocks::serves(schedule) && joins_steps(schedule, ports as usize)
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        ForwardedBlocks::of(problem, self.name())?;
        let joined = join_steps(problem.schedule(), problem.fabric.shape.ports() as usize)?;
        bvn::choose(self.name(), &joined, problem, limit_s)
    }
}
