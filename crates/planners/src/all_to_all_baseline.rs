//! The common part of the baselines of the all-to-all paper (§5.1): each takes a direct All-to-All and serves its
//! blocks in one way.

use model::{Collective, Result, Routing, Schedule};

use crate::forwarded_blocks::ForwardedBlocks;
use crate::join::joins_steps;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem};

/// One baseline, by what it does with the blocks.
pub(crate) struct AllToAllBaseline {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) source: &'static str,
    pub(crate) fixed_routing: Option<Routing>,
    pub(crate) least_sum: LeastSum,
    pub(crate) service: Service,
    /// The choice for the blocks, unless it costs more than this many seconds.
    pub(crate) choose: fn(&ForwardedBlocks<'_>, f64) -> Result<Option<Choice>>,
}

/// The way in which a baseline serves the blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Forwards them in rounds of its own, which replace the algorithm.
    Rounds,
    /// Joins as many steps as there are ports.
    StepsByPorts,
    /// Joins all steps.
    AllSteps,
}

impl Service {
    /// The number of consecutive steps of the schedule that it joins into one.
    pub(crate) fn together(self, schedule: &Schedule, ports: u32) -> usize {
        match self {
            Self::Rounds => 1,
            Self::StepsByPorts => ports as usize,
            Self::AllSteps => schedule.steps().len(),
        }
    }
}

impl Planner for AllToAllBaseline {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn source(&self) -> &'static str {
        self.source
    }

    fn capabilities(&self) -> Capabilities {
        let forwards = self.service == Service::Rounds;
        Capabilities {
            only: Some(Collective::AllToAll),
            takes_candidates: false,
            fixed_routing: self.fixed_routing,
            forwards_blocks: forwards,
            replaces_algorithm: forwards,
            least_sum: self.least_sum,
            ..Capabilities::default()
        }
    }

    fn changes_steps(&self, schedule: &Schedule, ports: u32) -> bool {
        ForwardedBlocks::serves(schedule) && joins_steps(schedule, self.service.together(schedule, ports))
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        (self.choose)(&ForwardedBlocks::of(problem, self.name)?, limit_s)
    }
}
