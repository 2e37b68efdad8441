//! PCCL's rule: each collective by its own planner, from the topology in force and back; messages first, on circuits of
//! their own (PCCL §6).

use super::alone;
use super::policy::{Outcome, Policy};
use crate::context::Context;
use crate::jobs::{Kind, Message};
use crate::library::Entry;
use crate::timeline::Use;

pub(super) const POLICY: Policy = Policy {
    name: "pccl",
    title: "PCCL",
    summary: "PCCL's rule: its planner for each collective from the resting topology and back, messages first",
    can_be_chosen: true,
    plan,
};

fn plan(context: &mut Context<'_>, _: &[Outcome]) -> Option<Outcome> {
    let mut of_kind: Vec<Option<Use>> = Vec::new();
    for (kind, of) in context.jobs.kinds.iter().enumerate() {
        interruption::check();
        of_kind.push(best(context, kind, of));
    }
    let uses = context.by_kind(|kind, _| of_kind[kind])?;
    let timeline = context.timeline(&uses)?;
    Some(Outcome::new(&POLICY, uses, timeline, alone::note(context)))
}

fn best(context: &mut Context<'_>, kind: usize, of: &Kind) -> Option<Use> {
    let all = context.ports();
    if let Message::Send(_) = of.message {
        let direct: Vec<Entry> =
            context.library.entries(kind, (0, all)).iter().copied().filter(|entry| entry.direct).collect();
        return alone::best(context, kind, of, &direct);
    }
    let resting = context.resting[of.family];
    let own = context.resting_split.as_ref().map_or((0, 0), |split| split[of.family]);
    let mut found: Vec<Use> = Vec::new();
    if resting.is_some()
        && let Ok(Some(entry)) = context.library.by_planner(kind, own, "pccl", resting, None)
    {
        found.push(Use { ports: own, entry, returns: Some(resting) });
    }
    if (resting.is_none() || own != (0, all))
        && let Ok(Some(entry)) = context.library.by_planner(kind, (0, all), "pccl", None, None)
    {
        found.push(Use { ports: (0, all), entry, returns: alone::returns(context, of.family, (0, all)) });
    }
    let time_s = |used: &Use| used.entry.duration_s + alone::changes_s(context, used);
    found.into_iter().min_by(|a, b| time_s(a).total_cmp(&time_s(b)))
}
