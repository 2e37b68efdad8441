//! A plan that has passed the verifier, and what C sees of it, each part made when it is first asked for.

use std::ffi::CString;
use std::sync::OnceLock;

use model::{Error, Link, Plan, PlanStep, Result, SentPath, SentTransfer};

/// A plan that nothing changes any more. For use by all threads.
pub struct LightloomPlan {
    plan: Plan,
    texts: Texts,
    topologies: Vec<OnceLock<Vec<Link>>>,
    transfers: Vec<OnceLock<Result<Vec<SentTransfer>>>>,
    paths: Vec<OnceLock<Result<Vec<SentPath>>>>,
}

/// The plan's texts as C has them.
pub struct Texts {
    /// Name of the collective.
    pub collective: CString,
    /// Name of the algorithm.
    pub algorithm: CString,
    /// Name of the planner.
    pub planner: CString,
    /// The class of schedules that is bounded.
    pub bound_class: CString,
    /// Names of the topologies.
    pub topologies: Vec<CString>,
}

impl LightloomPlan {
    /// A plan that the core made, which the verifier has passed.
    pub fn made(plan: Plan) -> Self {
        let texts = Texts {
            collective: c_text(plan.collective().name()),
            algorithm: c_text(&plan.algorithm),
            planner: c_text(&plan.planner),
            bound_class: c_text(&plan.bound.class),
            topologies: plan.topologies.iter().map(|topology| c_text(topology.name())).collect(),
        };
        Self {
            topologies: empty(plan.topologies.len()),
            transfers: empty(plan.steps.len()),
            paths: empty(plan.steps.len()),
            texts,
            plan,
        }
    }

    /// A plan from a file, judged.
    ///
    /// # Errors
    /// Text that is no plan, and what the verifier has against it.
    pub fn read(json: &str) -> Result<Self> {
        let plan = formats::plan_from_json(json)?;
        match lightloom::verify_plan(&plan).first_failure() {
            None => Ok(Self::made(plan)),
            Some(check) => {
                Err(Error::malformed("plan", format!("the plan fails the check `{}`: {}", check.name, check.detail)))
            }
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan's texts.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The step.
    ///
    /// # Errors
    /// The plan has no such step.
    pub fn step(&self, step: u32) -> Result<&PlanStep> {
        Ok(&self.plan.steps[index_of("step", u64::from(step), self.plan.steps.len())?])
    }

    /// The circuits of a topology, by source and destination.
    ///
    /// # Errors
    /// The plan has no such topology.
    pub fn circuits(&self, topology: u32) -> Result<&[Link]> {
        let index = index_of("topology", u64::from(topology), self.topologies.len())?;
        Ok(self.topologies[index].get_or_init(|| {
            let mut all = self.plan.topologies[index].expanded();
            all.sort_unstable();
            all
        }))
    }

    /// The transfers of a step, by source and destination.
    ///
    /// # Errors
    /// The plan has no such step, or it has too many chunks.
    pub fn transfers(&self, step: u32) -> Result<&[SentTransfer]> {
        let index = index_of("step", u64::from(step), self.transfers.len())?;
        let made = self.transfers[index].get_or_init(|| model::transfers_of(&self.plan, &self.plan.steps[index]));
        made.as_deref().map_err(Clone::clone)
    }

    /// The paths of a step, by source and destination.
    ///
    /// # Errors
    /// The plan has no such step, or its paths are too many.
    pub fn paths(&self, step: u32) -> Result<&[SentPath]> {
        let index = index_of("step", u64::from(step), self.paths.len())?;
        let made = self.paths[index].get_or_init(|| model::paths_of(&self.plan.steps[index]));
        made.as_deref().map_err(Clone::clone)
    }
}

/// # Errors
/// The index is too large.
pub fn index_of(field: &str, index: u64, count: usize) -> Result<usize> {
    let found = usize::try_from(index).ok().filter(|index| *index < count);
    found.ok_or_else(|| Error::value(field, index, format!("0 to {}", count.saturating_sub(1))))
}

/// The text as C has it, which a zero would end.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn empty<T>(count: usize) -> Vec<OnceLock<T>> {
    std::iter::repeat_with(OnceLock::new).take(count).collect()
}

/// The item of that index.
///
/// # Errors
/// The index is too large.
pub fn item<'a, T>(field: &str, items: &'a [T], index: u64) -> Result<&'a T> {
    Ok(&items[index_of(field, index, items.len())?])
}
