//! What a change of topology takes, from the fabric and the circuits before and after it.

use model::{Fabric, Initial, Plan, Result, Topology};

use crate::clock::femtoseconds;

/// A change of topology before a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Change {
    /// Whether any circuit changes.
    pub(crate) is_one: bool,
    /// Until the new circuits are up, less the window of computation before the step.
    pub(crate) delay_fs: u64,
    /// Whether its ports carry nothing during the step before, so that they turn then.
    pub(crate) in_background: bool,
}

impl Change {
    /// From `before` to the topology of step `index`; none where the first topology is free.
    ///
    /// # Errors
    /// A delay that femtoseconds cannot count.
    pub(crate) fn new(plan: &Plan, index: usize, before: Option<&Topology>) -> Result<Self> {
        let now = &plan.topologies[plan.steps[index].topology];
        let fabric: &Fabric = &plan.fabric;
        let Some(before) = before.filter(|before| !before.same_links(now)) else { return Ok(Self::default()) };
        let turn = fabric.turn(before, now);
        let delay_s = fabric.charge_s(turn, index, 0.0);
        let delay_fs = femtoseconds("reconfiguration_delay", delay_s)?;
        Ok(Self { is_one: true, delay_fs, in_background: turn.in_background })
    }

    /// How long the step waits that everybody is ready for `ran_fs` after the circuits of the step before were up.
    pub(crate) fn left_fs(&self, ran_fs: u64) -> u64 {
        if self.in_background { self.delay_fs.saturating_sub(ran_fs) } else { self.delay_fs }
    }
}

/// The topology in force before the plan, if there is one.
pub(crate) fn initial(plan: &Plan) -> Option<&Topology> {
    match &plan.fabric.initial {
        Initial::Free => None,
        Initial::Topology(topology) => Some(topology),
    }
}
