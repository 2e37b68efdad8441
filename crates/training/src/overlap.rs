//! Communications that overlap: ports by lane, and by communication where there are few; plans follow each other along
//! the ports.

use interruption::Interruptible;
use rayon::prelude::*;

use crate::context::Context;
use crate::cutoffs::overlap::{MOST_DESCENTS, MOST_SIDES, MOST_TRIED, MOST_WORK};
use crate::jobs::Task;
use crate::library::Entry;
use crate::timeline::{Timeline, Use};

/// By node: the ports of a communication; `None` for computations.
pub(crate) type Allotment = Vec<Option<(u32, u32)>>;

/// Number of times that plans are chosen again by the timeline that the last choice led to.
const ROUNDS: usize = 3;

/// Uses and what they lead to.
pub(crate) type Timed = (Vec<Option<Use>>, Timeline);

/// The best timeline over the ports that communications are given: those of a lane change together, from the best of
/// the given allotments. Where there are few, each changes by itself too, from several of the best and of those that
/// spread communications over the ports; then every two at once. Ends early at a time that nothing is below.
pub(crate) fn search(context: &Context<'_>, starts: &[Allotment], least_s: f64) -> Option<Timed> {
    let lanes = context.jobs.lanes();
    let few = context.jobs.are_few();
    let mut starts = starts.to_vec();
    if few {
        starts.extend(spread(context, &lanes.concat()));
        starts.extend(sides(context, &lanes));
        starts.sort();
        starts.dedup();
    }
    let mut evaluated: Vec<(Allotment, Option<Timed>)> =
        starts.par_iter().interruptible().map(|start| (start.clone(), evaluate(context, start))).collect();
    evaluated.retain(|(_, timed)| timed.is_some());
    evaluated.sort_by(|a, b| total_s(&a.1).total_cmp(&total_s(&b.1)));
    evaluated.truncate(if few { MOST_DESCENTS } else { 1 });
    let mut left = most_tried(context).saturating_sub(starts.len());
    let alone: Vec<Vec<usize>> = lanes.iter().flatten().map(|&node| vec![node]).collect();
    let mut found: Vec<Descent<'_, '_>> = Vec::new();
    for (best, timed) in evaluated {
        let mut descent = Descent { context, least_s, left, best, timed };
        descent.by(&lanes, 1);
        if few {
            descent.by(&alone, 1);
        }
        left = descent.left;
        found.push(descent);
    }
    let mut descent = found.into_iter().min_by(|a, b| total_s(&a.timed).total_cmp(&total_s(&b.timed)))?;
    descent.left = left;
    loop {
        let before_s = total_s(&descent.timed);
        if !few {
            return descent.timed;
        }
        for (sets, at_once) in [(&alone, 2), (&lanes, 1), (&alone, 1)] {
            descent.by(sets, at_once);
        }
        if !descent.goes_on(before_s) {
            return descent.timed;
        }
    }
}

/// Allotments that give the communications ports in turn: every range of their families, or every k-th.
fn spread(context: &Context<'_>, nodes: &[usize]) -> Vec<Allotment> {
    let mut all = Vec::new();
    for stride in 0..=2usize {
        for first in 0..2 * context.ports() as usize {
            let mut allotment: Allotment = vec![None; context.jobs.jobs.len()];
            for (place, &node) in nodes.iter().enumerate() {
                let ranges = context.jobs.family_of(node).map(|family| context.ranges(family)).unwrap_or_default();
                allotment[node] = ranges.get((first + place * stride) % ranges.len().max(1)).copied();
            }
            all.push(allotment);
        }
    }
    all
}

/// Allotments that cut the ports in two: each lane has those on one side, in every way. Only the first lanes are told
/// apart where there are many.
fn sides(context: &Context<'_>, lanes: &[Vec<usize>]) -> Vec<Allotment> {
    let ports = context.ports();
    let ways = (1..ports).flat_map(|cut| (0..1u32 << lanes.len().min(MOST_SIDES)).map(move |above| (cut, above)));
    let allotment = |(cut, above): (u32, u32)| {
        let mut allotment: Allotment = vec![None; context.jobs.jobs.len()];
        for (place, lane) in lanes.iter().enumerate() {
            let is_above = place < MOST_SIDES && above >> place & 1 == 1;
            let side = if is_above { (cut, ports) } else { (0, cut) };
            lane.iter().for_each(|&node| allotment[node] = Some(side));
        }
        allotment
    };
    ways.map(allotment).collect()
}

/// The best timeline over the plans and ports of each communication, from those of a small iteration; of others what
/// was given.
pub(crate) fn one_by_one(context: &Context<'_>, mut best: Timed, least_s: f64) -> Timed {
    let nodes: Vec<usize> = context.jobs.lanes().concat();
    let mut left = most_tried(context);
    loop {
        let before_s = best.1.total_s;
        for &node in nodes.iter().filter(|_| context.jobs.are_few()) {
            let Task::Communicate { kind, .. } = context.jobs.jobs[node].task else { continue };
            let ranges = context.ranges(context.jobs.kinds[kind].family);
            let uses = ranges.into_iter().flat_map(|ports| {
                let entries = context.library.entries(kind, ports).iter().filter(|entry| !entry.through);
                entries.map(move |entry| Use { ports, entry: *entry, returns: None })
            });
            let others: Vec<Use> = uses.filter(|used| Some(*used) != best.0[node]).take(left).collect();
            left -= others.len();
            let timed = |used: &Use| {
                let mut uses = best.0.clone();
                uses[node] = Some(*used);
                let timeline = context.timeline(&uses)?;
                Some((uses, timeline))
            };
            let found: Vec<Option<Timed>> = others.par_iter().interruptible().map(timed).collect();
            for found in found.into_iter().flatten() {
                if found.1.total_s < best.1.total_s * (1.0 - 1e-9) {
                    best = found;
                }
            }
        }
        if left == 0 || best.1.total_s <= least_s || best.1.total_s >= before_s * (1.0 - 1e-9) {
            return best;
        }
    }
}

/// The number of choices that may be tried.
fn most_tried(context: &Context<'_>) -> usize {
    let one = context.jobs.jobs.len() * (context.jobs.classes * context.ports() as usize + 16) * 4 * ROUNDS;
    (MOST_WORK / one.max(1)).clamp(4, MOST_TRIED)
}

/// The best allotment so far.
struct Descent<'a, 'b> {
    context: &'a Context<'b>,
    least_s: f64,
    /// The number of choices that may still be tried.
    left: usize,
    best: Allotment,
    timed: Option<Timed>,
}

impl Descent<'_, '_> {
    /// Gives other ports to the communications of a set, or of two sets at once, as long as that is faster.
    fn by(&mut self, sets: &[Vec<usize>], at_once: usize) {
        loop {
            let before_s = total_s(&self.timed);
            for first in 0..sets.len() {
                let others = if at_once == 1 { first..first + 1 } else { first + 1..sets.len() };
                for second in others {
                    self.try_others(&sets[first], &sets[second]);
                }
            }
            if !self.goes_on(before_s) {
                return;
            }
        }
    }

    fn goes_on(&self, before_s: f64) -> bool {
        let now_s = total_s(&self.timed);
        self.left > 0 && now_s > self.least_s && now_s < before_s * (1.0 - 1e-6)
    }

    fn try_others(&mut self, first: &[usize], second: &[usize]) {
        if total_s(&self.timed) <= self.least_s {
            return;
        }
        let others = |set: &[usize]| -> Vec<(u32, u32)> {
            let ranges = self.context.jobs.family_of(set[0]).map(|family| self.context.ranges(family));
            ranges.into_iter().flatten().filter(|range| self.best[set[0]] != Some(*range)).collect()
        };
        let (of_first, of_second) = (others(first), others(second));
        let given = |ports: &[(&[usize], (u32, u32))]| {
            let mut allotment = self.best.clone();
            for (set, range) in ports {
                set.iter().for_each(|&node| allotment[node] = Some(*range));
            }
            allotment
        };
        let allotments: Vec<Allotment> = if first == second {
            of_first.iter().take(self.left).map(|&range| given(&[(first, range)])).collect()
        } else {
            let pairs = of_first.iter().flat_map(|&a| of_second.iter().map(move |&b| (a, b)));
            pairs.take(self.left).map(|(a, b)| given(&[(first, a), (second, b)])).collect()
        };
        self.left -= allotments.len();
        let found: Vec<Option<Timed>> = allotments.par_iter().map(|other| evaluate(self.context, other)).collect();
        for (other, found) in allotments.into_iter().zip(found) {
            if total_s(&found) < total_s(&self.timed) * (1.0 - 1e-9) {
                (self.best, self.timed) = (other, found);
            }
        }
    }
}

fn total_s(timed: &Option<Timed>) -> f64 {
    timed.as_ref().map_or(f64::INFINITY, |(_, timeline)| timeline.total_s)
}

/// The best timeline found for an allotment; `None` where the ports of some communication do not serve it.
fn evaluate(context: &Context<'_>, allotment: &Allotment) -> Option<Timed> {
    let mut uses: Vec<Option<Use>> = Vec::with_capacity(context.jobs.jobs.len());
    for (job, ports) in context.jobs.jobs.iter().zip(allotment) {
        let Task::Communicate { kind, .. } = job.task else {
            uses.push(None);
            continue;
        };
        let ports = (*ports)?;
        let entries = context.library.entries(kind, ports);
        let entry = entries.iter().find(|entry| !entry.through)?;
        uses.push(Some(Use { ports, entry: *entry, returns: None }));
    }
    let mut best: Option<Timed> = None;
    for _ in 0..ROUNDS {
        let Some(timeline) = context.timeline(&uses) else { break };
        let next = chained(context, &uses, &timeline);
        let better = best.as_ref().is_none_or(|(_, known)| timeline.total_s < known.total_s);
        let settled = next == uses;
        if better {
            best = Some((uses, timeline));
        }
        if settled {
            break;
        }
        uses = next;
    }
    best
}

/// The uses with the best entries along each chain of communications that have the same ports of the same groups one
/// after the other, by the idle times of a timeline.
fn chained(context: &Context<'_>, uses: &[Option<Use>], timeline: &Timeline) -> Vec<Option<Use>> {
    let ports = context.ports() as usize;
    let mut last: Vec<Option<usize>> = vec![None; context.jobs.classes * ports];
    let mut follows: Vec<Option<usize>> = vec![None; uses.len()];
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut chain_of: Vec<usize> = vec![usize::MAX; uses.len()];
    for &node in &timeline.order {
        let (Some(used), job) = (&uses[node], &context.jobs.jobs[node]) else { continue };
        let range = used.ports.0 as usize..used.ports.1 as usize;
        let places = job.classes.iter().flat_map(|class| range.clone().map(move |port| class * ports + port));
        let users: Vec<Option<usize>> = places.clone().map(|place| last[place]).collect();
        let before = users[0].filter(|&before| {
            users.iter().all(|user| *user == users[0])
                && uses[before].is_some_and(|other| other.ports == used.ports)
                && same_groups(&context.jobs.jobs[before].task, &job.task)
                && context.jobs.jobs[before].classes == job.classes
        });
        follows[node] = before;
        chain_of[node] = before.map_or(chains.len(), |before| chain_of[before]);
        if before.is_none() {
            chains.push(Vec::new());
        }
        chains[chain_of[node]].push(node);
        for place in places {
            last[place] = Some(node);
        }
    }
    let mut next = uses.to_vec();
    for chain in chains {
        interruption::check();
        // A chain may fork: what follows the same node twice starts again.
        for (node, entry) in best_along(context, uses, timeline, &chain) {
            if let Some(used) = &mut next[node] {
                used.entry = entry;
            }
        }
    }
    next
}

fn same_groups(a: &Task, b: &Task) -> bool {
    match (a, b) {
        (Task::Communicate { groups: a, .. }, Task::Communicate { groups: b, .. }) => a == b,
        _ => false,
    }
}

/// The entries of least time along a chain, what is not hidden of the changes between them included.
fn best_along(
    context: &Context<'_>,
    uses: &[Option<Use>],
    timeline: &Timeline,
    chain: &[usize],
) -> Vec<(usize, Entry)> {
    let mut reached: Vec<Vec<(f64, Entry, usize)>> = Vec::with_capacity(chain.len());
    for (place, &node) in chain.iter().enumerate() {
        let (Some(used), Task::Communicate { kind, .. }) = (&uses[node], &context.jobs.jobs[node].task) else { break };
        let entries = context.library.entries(*kind, used.ports);
        let idle_s = place.checked_sub(1).map(|before| {
            let event = &timeline.events[node];
            event.start_s - event.exposed_s - timeline.events[chain[before]].end_s
        });
        let change_s = idle_s.map_or(0.0, |idle_s| (context.delay_s() - idle_s).max(0.0));
        let from = |entry: &Entry| -> (f64, usize) {
            let Some(before) = place.checked_sub(1).map(|before| &reached[before]) else { return (0.0, 0) };
            let cost = |(at, known): (usize, &(f64, Entry, usize))| {
                (known.0 + if known.1.last == entry.first { 0.0 } else { change_s }, at)
            };
            before.iter().enumerate().map(cost).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0))
        };
        let step = entries.iter().filter(|entry| !entry.through).map(|entry| {
            let (cost_s, at) = from(entry);
            (cost_s + entry.duration_s, *entry, at)
        });
        reached.push(step.collect());
    }
    let Some(mut at) = reached.last().and_then(|last| (0..last.len()).min_by(|&a, &b| last[a].0.total_cmp(&last[b].0)))
    else {
        return Vec::new();
    };
    let mut chosen = Vec::with_capacity(chain.len());
    for (place, step) in reached.iter().enumerate().rev() {
        let (_, entry, before) = step[at];
        chosen.push((chain[place], entry));
        at = before;
    }
    chosen
}
