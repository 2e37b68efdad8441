//! Capabilities of planners as data: code that runs planners asks for these and never for a planner's name.

use model::{ChargeKind, Collective, Routing, Schedule};

/// The capabilities of a planner. The default is a planner that chooses for the given schedule from the given
/// candidates, by the additive cost, with any routing, and has no other input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The only collective that it plans; `None` where it plans any.
    pub only: Option<Collective>,
    /// Chooses from the problem's candidates; other planners make their own topologies. True by default.
    pub takes_candidates: bool,
    /// The only routing that its paper has; `None` where it takes any.
    pub fixed_routing: Option<Routing>,
    /// Chooses by the simulated times of steps where the problem asks for them (`--overlap pipelined`).
    pub knows_overlap: bool,
    /// The kinds of charges for reconfigurations that it chooses by. Where they are charged otherwise it chooses by
    /// their delays and its choice is priced anew, or it refuses.
    pub charges: &'static [ChargeKind],
    /// Chooses by what topologies that form a cycle are charged (`--initial repeated`). Where it does not, it chooses
    /// from a free start and its choice is priced anew.
    pub closes_cycles: bool,
    /// Never changes circuits after the start: the baseline of what changing them gains.
    pub never_changes: bool,
    /// Serves the whole collective on one topology: it is the planner of a topology that is named by itself, and a
    /// comparison has a row for it on each of the problem's static topologies.
    pub keeps_one_topology: bool,
    /// Takes the problem's static topologies (`--topology`).
    pub takes_static_topologies: bool,
    /// Takes fabrics with fewer optical ports than its GPUs have (`--optical-ports`).
    pub takes_optical_ports: bool,
    /// Plans on topologies with other GPUs, which forward and have no data (`--others-forward`).
    pub others_forward: bool,
    /// Forwards blocks of an All-to-All, which may be cut into chunks (`--chunk-size`).
    pub forwards_blocks: bool,
    /// Takes a limit on its wall-clock time (`--budget`).
    pub takes_budget: bool,
    /// Chooses the algorithm too, so that it answers a collective once for all schedules, and keeps the
    /// best of all planners.
    pub chooses_algorithm: bool,
    /// May serve the collective by another algorithm than the schedule's.
    pub replaces_algorithm: bool,
    /// Does not run where it is not asked for by name: it is too slow, or another tries what it does.
    pub by_name_only: bool,
    /// Plans around what is broken: its plan for what works is moved and mended. A planner that proves its plan the best
    /// does not.
    pub around_faults: bool,
    /// Leaves problems of several ports to a solver that only Python has (`lightloom.exact_plan`).
    pub calls_solver: bool,
    /// The schedules for which its time is the least of linear costs.
    pub least_sum: LeastSum,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            only: None,
            takes_candidates: true,
            fixed_routing: None,
            knows_overlap: false,
            charges: &[ChargeKind::Constant, ChargeKind::ByTopologies],
            closes_cycles: false,
            never_changes: false,
            keeps_one_topology: false,
            takes_static_topologies: false,
            takes_optical_ports: false,
            others_forward: false,
            forwards_blocks: false,
            takes_budget: false,
            chooses_algorithm: false,
            replaces_algorithm: false,
            by_name_only: false,
            around_faults: true,
            calls_solver: false,
            least_sum: LeastSum::Never,
        }
    }
}

impl Capabilities {
    /// Whether many points of a sweep are read off few searches, millions a second; each is a search of its own
    /// elsewhere.
    pub fn is_fast(&self) -> bool {
        self.least_sum == LeastSum::Always && !self.calls_solver
    }
}

/// The schedules for which a planner takes the least of a set of sums that does not depend on the operating point, each
/// linear in α, δ, β·m and α_r. Asked where costs add up, nothing hides delays and blocks are not cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeastSum {
    /// For no schedule.
    Never,
    /// For schedules whose blocks are all of one size.
    EqualBlocks,
    /// For all schedules.
    Always,
}

impl LeastSum {
    /// Whether the planner takes the least of such sums for this schedule.
    pub fn holds_for(self, schedule: &Schedule) -> bool {
        match self {
            Self::Never => false,
            Self::EqualBlocks => schedule.chunks().as_pieces().is_none(),
            Self::Always => true,
        }
    }
}
