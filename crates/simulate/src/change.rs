//! The time of a change of topology, from the fabric and the circuits before and after it.

use std::collections::BTreeMap;

use model::{Plan, Rank, Result, Topology, Translations};

use crate::clock::femtoseconds;

/// A change of topology before a step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Change {
    /// Whether any circuit changes.
    pub(crate) is_one: bool,
    /// Until the new circuits are up, less the window of computation before the step.
    pub(crate) delay_fs: u64,
    /// Whether the ports of the change carry nothing during the step before, so that they change then.
    pub(crate) in_background: bool,
}

impl Change {
    /// The change from `before` to the topology of step `index`; none where the first topology is free.
    ///
    /// # Errors
    /// A delay that femtoseconds cannot count.
    pub(crate) fn new(plan: &Plan, index: usize, before: Option<&Topology>) -> Result<Self> {
        let now = &plan.topologies[plan.steps[index].topology];
        let policy = &plan.fabric.reconfiguration;
        let Some(before) = before.filter(|before| !before.same_links(now)) else { return Ok(Self::default()) };
        let change = policy.between(before, now, plan.fabric.shape.ports());
        let delay_fs = femtoseconds("reconfiguration_delay", policy.charge_s(change, index, 0.0))?;
        Ok(Self { is_one: true, delay_fs, in_background: change.in_background })
    }

    /// The part of `dark_fs` that is left when all GPUs are ready for the step, `ran_fs` after the circuits of the step
    /// before were up.
    pub(crate) fn left_of_fs(&self, dark_fs: u64, ran_fs: u64) -> u64 {
        if self.in_background { dark_fs.saturating_sub(ran_fs) } else { dark_fs }
    }

    /// The time for which a step waits that every GPU is ready for `ran_fs` after the circuits of the step before were
    /// up.
    pub(crate) fn left_fs(&self, ran_fs: u64) -> u64 {
        self.left_of_fs(self.delay_fs, ran_fs)
    }
}

/// The circuits of a link of a step after a change.
#[derive(Debug, Default)]
pub(crate) struct LinkChange {
    /// Circuits that were up before and stay.
    pub(crate) kept: usize,
    /// Until each of the others is up, as [`Change::delay_fs`].
    pub(crate) set_up_fs: Vec<u64>,
}

/// The change of every link of step `index`, one per orbit of `group`, after `before`: by its ends.
///
/// # Errors
/// A delay that femtoseconds cannot count.
pub(crate) fn by_link(
    plan: &Plan,
    index: usize,
    before: &Topology,
    group: &Translations,
) -> Result<BTreeMap<(Rank, Rank), LinkChange>> {
    let now = &plan.topologies[plan.steps[index].topology];
    let links = plan.fabric.reconfiguration.by_link((before, now), index, plan.fabric.shape.ports(), group);
    let one = |(ends, link): ((Rank, Rank), model::LinkChange)| {
        let set_up_fs = link.set_up_s.iter().map(|&delay_s| femtoseconds("reconfiguration_delay", delay_s));
        Ok((ends, LinkChange { kept: link.kept as usize, set_up_fs: set_up_fs.collect::<Result<_>>()? }))
    };
    links.into_iter().map(one).collect()
}

/// The topology in force before the plan, if there is one; where the plan is repeated, that of its last step.
pub(crate) fn initial(plan: &Plan) -> Option<&Topology> {
    plan.before_first().map(|index| &plan.topologies[index])
}
