//! Plans for the distinct communications of a workload, by the ports that they have, and the topologies that they begin
//! and end with.

mod messages;
mod room;
mod unequal;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interruption::Interruptible;
use model::{Fabric, Plan, Result, Shape, Topology};
use planners::Cache;
use rayon::prelude::*;

use crate::cutoffs::library::{MOST_OF_LARGE, MOST_RANKS_OF_MATRIX};
pub(crate) use crate::entry::{Entry, TopologyId};
use crate::group_plans::{Asked, GroupPlans, Manner, is_large};
use crate::jobs::{Family, Kind, Message};
use crate::layer::Layer;
use crate::variants::{renumbered, reversed};

/// The ranks that a topology connects: a group, or pairs of ranks.
#[derive(Debug, Clone, PartialEq)]
enum Circuits {
    /// A group.
    Group(Topology),
    /// All ports of each pair of places.
    Messages(Vec<(u32, u32)>),
}

/// Delays, as multiples of the fabric's own, at which plans are looked for: others than its own find plans that change
/// more or less often, which suit other neighbours.
const DELAYS: [f64; 5] = [0.25, 0.5, TIES, 2.0, 4.0];

/// The fabric's own delay but for the last bit: of plans that take as long, rounding chooses another one. Where blocks
/// differ, no two plans take as long.
const TIES: f64 = 1.0 - f64::EPSILON / 2.0;

/// Largest factor over the best time of a plan that counts as nearly the best.
const NEARLY: f64 = 1.02;

/// A delay at which no plan changes that need not, s.
const PROHIBITIVE_S: f64 = 1e4;

/// The library.
pub(crate) struct Library<'a> {
    pub(crate) group_plans: GroupPlans<'a>,
    families: &'a [Family],
    kinds: &'a [Kind],
    layer: Option<Arc<Layer>>,
    /// Most topologies of a family on as many ports.
    most_topologies: usize,
    circuits: Vec<Circuits>,
    pub(crate) plans: Vec<Plan>,
    /// By family and ports: topologies that plans begin or end with.
    topologies: BTreeMap<(usize, u32), Vec<TopologyId>>,
    /// By kind and ports.
    entries: BTreeMap<(usize, u32), Vec<Entry>>,
}

/// A kind on some ports, and how it is planned.
struct Wish {
    kind: usize,
    ports: u32,
    manner: Manner,
}

impl<'a> Library<'a> {
    pub(crate) fn new(
        fabric: &'a Fabric,
        delay_s: f64,
        families: &'a [Family],
        kinds: &'a [Kind],
        most: usize,
        same_bits: bool,
        cache: Arc<Cache>,
    ) -> Self {
        Self {
            group_plans: GroupPlans::new(fabric, delay_s, same_bits, cache),
            families,
            kinds,
            layer: None,
            most_topologies: most,
            circuits: Vec::new(),
            plans: Vec::new(),
            topologies: BTreeMap::new(),
            entries: BTreeMap::new(),
        }
    }

    /// A library of given entries, by kind and ports.
    #[cfg(test)]
    pub(crate) fn of_entries(
        fabric: &'a Fabric,
        delay_s: f64,
        families: &'a [Family],
        kinds: &'a [Kind],
        entries: BTreeMap<(usize, u32), Vec<Entry>>,
    ) -> Self {
        Self { entries, ..Self::new(fabric, delay_s, families, kinds, 0, false, Arc::default()) }
    }

    /// The ways to carry out a kind on some ports; none before [`Library::stock`].
    pub(crate) fn entries(&self, kind: usize, ports: u32) -> &[Entry] {
        self.entries.get(&(kind, ports)).map_or(&[], Vec::as_slice)
    }

    /// The topologies of a family on some ports that entries begin or end with.
    pub(crate) fn topologies(&self, family: usize, ports: u32) -> Vec<TopologyId> {
        let mut all: Vec<TopologyId> = (0..self.kinds.len())
            .filter(|&kind| self.kinds[kind].family == family)
            .flat_map(|kind| self.entries(kind, ports))
            .flat_map(|entry| [entry.first, entry.last])
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A group's topology; `None` for circuits of messages.
    pub(crate) fn group_topology(&self, id: TopologyId) -> Option<&Topology> {
        match &self.circuits[id.0 as usize] {
            Circuits::Group(topology) => Some(topology),
            Circuits::Messages(_) => None,
        }
    }

    /// A topology's name.
    pub(crate) fn name(&self, id: TopologyId) -> String {
        match &self.circuits[id.0 as usize] {
            Circuits::Group(topology) => topology.name().to_string(),
            Circuits::Messages(_) => "circuits of the messages".into(),
        }
    }

    /// A named topology of a family's groups on some ports.
    ///
    /// # Errors
    /// An unknown name, or one that the groups cannot have on the ports.
    pub(crate) fn named(&mut self, family: usize, ports: u32, name: &str) -> Result<TopologyId> {
        let shape = Shape::new(self.families[family].size, &[self.families[family].size], ports)?;
        let topology = topologies::build(name, &shape)?;
        self.check_room(family, ports, [&topology])?;
        Ok(self.id(Circuits::Group(topology)))
    }

    /// Finds plans for all kinds of a family on some ports: from a free start, and from and on each topology that a
    /// plan of theirs begins or ends with, until there is nothing new. `progress` is told how many of them are found.
    ///
    /// # Errors
    /// A collective that no planner serves.
    pub(crate) fn stock(
        &mut self,
        family: usize,
        ports: u32,
        given: &[TopologyId],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<()> {
        let kinds: Vec<usize> = (0..self.kinds.len()).filter(|&kind| self.kinds[kind].family == family).collect();
        let size = self.families[family].size;
        let is_unequal = kinds.iter().any(|&kind| self.kinds[kind].matrix.is_some());
        let large = is_large(size, ports) || (is_unequal && size > MOST_RANKS_OF_MATRIX);
        let most = if large { self.most_topologies.min(MOST_OF_LARGE) } else { self.most_topologies };
        let delays = if large || self.group_plans.delay_s == 0.0 { &[][..] } else { &DELAYS };
        let manner = |delay_s: f64| Manner { start: None, delay_s, planner: None, on: None };
        self.fulfil(kinds.iter().map(|&kind| Wish { kind, ports, manner: manner(0.0) }).collect(), progress)?;
        let own_s = self.group_plans.delay_s;
        self.fulfil(kinds.iter().map(|&kind| Wish { kind, ports, manner: manner(own_s) }).collect(), progress)?;
        // Where a plan that keeps its topology is nearly the best of all, those that change are of next to no use.
        let changing: Vec<usize> = kinds.iter().copied().filter(|&kind| !self.is_best_kept(kind, ports)).collect();
        let has_ties: Vec<bool> = self.kinds.iter().map(|kind| kind.matrix.is_none()).collect();
        let others = changing.iter().flat_map(|&kind| delays.iter().map(move |&factor| (kind, factor)));
        let others = others.filter(|&(kind, factor)| factor != TIES || has_ties[kind]);
        let others = others.map(|(kind, factor)| (kind, factor * own_s));
        self.fulfil(others.map(|(kind, delay_s)| Wish { kind, ports, manner: manner(delay_s) }).collect(), progress)?;
        let mut done = 0;
        let of_all = self.for_all_matrices(&kinds, ports);
        let kept: Vec<TopologyId> = kinds
            .iter()
            .flat_map(|&kind| self.entries(kind, ports))
            .filter(|entry| entry.keeps)
            .map(|entry| entry.first)
            .collect();
        let known = self.topologies.entry((family, ports)).or_default();
        // Where few are tried, those that some plan keeps come first: others join nobody for long.
        if self.families.len() > 1 {
            known.sort_by_key(|id| !kept.contains(id));
        }
        for &id in of_all.iter().chain(given).rev() {
            known.retain(|known| *known != id);
            known.insert(0, id);
        }
        loop {
            let known = self.topologies.get(&(family, ports)).cloned().unwrap_or_default();
            let new: Vec<TopologyId> = known.iter().copied().take(most).skip(done).collect();
            if new.is_empty() {
                break;
            }
            done += new.len();
            let mut wishes = Vec::new();
            for id in new {
                let Circuits::Group(topology) = &self.circuits[id.0 as usize] else { continue };
                for &kind in &kinds {
                    let delays_s = [PROHIBITIVE_S, own_s, TIES * own_s];
                    let count = match (changing.contains(&kind), &self.kinds[kind].matrix) {
                        (false, _) => 1,
                        (true, Some(_)) => 2,
                        (true, None) => 3,
                    };
                    for &delay_s in &delays_s[..count] {
                        let manner = Manner { start: Some(topology.clone()), delay_s, planner: None, on: None };
                        wishes.push(Wish { kind, ports, manner });
                    }
                }
            }
            self.fulfil(wishes, progress)?;
        }
        self.add_messages(&kinds, family, ports);
        for kind in kinds {
            self.prune(kind, ports);
        }
        Ok(())
    }

    /// Whether some plan of a kind keeps its topology and takes next to no longer than the fastest would if changes
    /// took no time.
    fn is_best_kept(&self, kind: usize, ports: u32) -> bool {
        let without_changes_s = |entry: &Entry| {
            let steps = &self.plans[entry.plan?].steps;
            Some(steps.iter().map(|step| step.cost.total_s() - step.cost.reconfiguration_s).sum::<f64>())
        };
        let entries = self.entries(kind, ports);
        let least_s = entries.iter().filter_map(without_changes_s).fold(f64::INFINITY, f64::min);
        entries.iter().any(|entry| entry.keeps && entry.duration_s <= NEARLY * least_s)
    }

    /// The best plan of a kind by a planner, from a topology or on that topology only.
    ///
    /// # Errors
    /// The errors of the planner.
    pub(crate) fn by_planner(
        &mut self,
        kind: usize,
        ports: u32,
        planner: &'static str,
        start: Option<TopologyId>,
        on: Option<TopologyId>,
    ) -> Result<Option<Entry>> {
        let group = |id: Option<TopologyId>| match id.map(|id| &self.circuits[id.0 as usize]) {
            Some(Circuits::Group(topology)) => Some(topology.clone()),
            _ => None,
        };
        let manner =
            Manner { start: group(start), delay_s: self.group_plans.delay_s, planner: Some(planner), on: group(on) };
        let wish = Wish { kind, ports, manner };
        let Some(plan) = self.planned(&wish)? else { return Ok(None) };
        Ok(Some(self.add(kind, ports, plan)))
    }

    fn id(&mut self, circuits: Circuits) -> TopologyId {
        let same = |known: &Circuits| match (known, &circuits) {
            (Circuits::Group(known), Circuits::Group(new)) => known.ranks() == new.ranks() && known.same_links(new),
            (known, new) => known == new,
        };
        let found = self.circuits.iter().position(same);
        TopologyId(found.unwrap_or_else(|| {
            self.circuits.push(circuits);
            self.circuits.len() - 1
        }) as u32)
    }

    fn fulfil(&mut self, wishes: Vec<Wish>, progress: &(dyn Fn(&str) + Sync)) -> Result<()> {
        let done = AtomicUsize::new(0);
        let plan = |wish: &Wish| {
            let plan = self.planned(wish);
            progress(&format!("{} of {}", done.fetch_add(1, Ordering::Relaxed) + 1, wishes.len()));
            plan
        };
        let found: Vec<Result<Option<Plan>>> = wishes.par_iter().interruptible().map(plan).collect();
        for (wish, plan) in wishes.into_iter().zip(found) {
            // From a given topology, or at another delay, a refusal is no news.
            let own = wish.manner.start.is_none() && wish.manner.delay_s == self.group_plans.delay_s;
            let plan = if own { plan? } else { plan.ok().flatten() };
            let Some(plan) = plan else { continue };
            let mut found = vec![(wish.kind, plan)];
            if let Some(kind) = self.mirror_of(wish.kind) {
                found.extend(
                    reversed(&found[0].1)
                        .and_then(|variant| self.group_plans.of_variant(&found[0].1, variant))
                        .map(|plan| (kind, plan)),
                );
            }
            for (kind, plan) in found {
                let variant = renumbered(&plan).filter(|(_, topologies)| {
                    let ends = [topologies.first(), topologies.last()];
                    ends.into_iter().flatten().all(|end| self.is_known(&wish, end))
                });
                let family = self.kinds[kind].family;
                let has_room = |plan: &Plan| self.check_room(family, wish.ports, &plan.topologies).is_ok();
                let variant = variant.and_then(|variant| self.group_plans.of_variant(&plan, variant).ok());
                let variant = variant.filter(has_room);
                if !has_room(&plan) {
                    continue;
                }
                self.enter(kind, wish.ports, plan);
                if let Some(plan) = variant {
                    self.enter(kind, wish.ports, plan);
                }
            }
        }
        Ok(())
    }

    /// Whether plans for what is wished begin or end with a topology already.
    fn is_known(&self, wish: &Wish, topology: &Topology) -> bool {
        let known = self.topologies.get(&(self.kinds[wish.kind].family, wish.ports));
        let same = |id: &TopologyId| self.group_topology(*id).is_some_and(|known| known.same_links(topology));
        known.is_some_and(|known| known.iter().any(same))
    }

    /// Makes a plan an entry of a kind, and what it begins and ends with topologies of the family.
    fn enter(&mut self, kind: usize, ports: u32, plan: Plan) {
        let entry = self.add(kind, ports, plan);
        self.entries.entry((kind, ports)).or_default().push(entry);
        let known = self.topologies.entry((self.kinds[kind].family, ports)).or_default();
        for id in [entry.first, entry.last] {
            if !known.contains(&id) {
                known.push(id);
            }
        }
    }

    /// The kind whose plans are those of a kind backwards, if it is there.
    fn mirror_of(&self, kind: usize) -> Option<usize> {
        let mirror = self.kinds[kind].mirrored()?;
        self.kinds.iter().position(|known| *known == mirror)
    }

    /// A plan's entry; the plan is kept unless it is known.
    fn add(&mut self, kind: usize, ports: u32, plan: Plan) -> Entry {
        let topology = |index: usize| plan.topologies[plan.steps[index].topology].clone();
        let (first, last) = (topology(0), topology(plan.steps.len() - 1));
        let (first, last) = (self.id(Circuits::Group(first)), self.id(Circuits::Group(last)));
        let (duration_s, keeps) = (plan.total_s(), plan.reconfigurations() == 0);
        let like = |entry: &&Entry| {
            (entry.first, entry.last, entry.keeps) == (first, last, keeps)
                && entry.plan.is_some_and(|known| self.plans[known].steps == plan.steps)
        };
        if let Some(known) = self.entries(kind, ports).iter().find(like) {
            return *known;
        }
        self.plans.push(plan);
        Entry { plan: Some(self.plans.len() - 1), duration_s, first, last, direct: false, keeps, through: false }
    }

    fn planned(&self, wish: &Wish) -> Result<Option<Plan>> {
        let Some(asked) = self.asked(&self.kinds[wish.kind], wish.ports) else { return Ok(None) };
        let plan = self.group_plans.plan(&asked, &wish.manner)?;
        self.check_room(self.kinds[wish.kind].family, wish.ports, &plan.topologies)?;
        Ok(Some(plan))
    }

    /// The task of planners for a kind; `None` for messages.
    fn asked(&self, kind: &Kind, ports: u32) -> Option<Asked> {
        let Message::Collective(collective) = kind.message else { return None };
        let ranks = self.families[kind.family].size;
        let layer = self.layer.as_ref().and_then(|layer| layer.of_family(kind.family, ports));
        Some(Asked { collective, size_bytes: kind.size_bytes, matrix: kind.matrix.clone(), ranks, ports, layer })
    }

    /// The least time of a kind by the bound for any algorithm, on all ports of the fabric.
    ///
    /// # Errors
    /// As [`Shape::new`].
    pub(crate) fn bound_s(&self, kind: &Kind) -> Result<f64> {
        let ports = self.group_plans.fabric.shape.ports();
        self.asked(kind, ports).map_or(Ok(self.direct_s(kind, ports)), |asked| self.group_plans.bound_s(&asked))
    }

    /// Keeps the fastest entries of each first and last topology, and drops those that a change before and after
    /// another one undercut.
    fn prune(&mut self, kind: usize, ports: u32) {
        let Some(entries) = self.entries.get_mut(&(kind, ports)) else { return };
        entries.sort_by(|a, b| {
            a.duration_s.total_cmp(&b.duration_s).then(a.first.cmp(&b.first)).then(a.last.cmp(&b.last))
        });
        let most_s = entries.first().map_or(0.0, |best| best.duration_s + 2.0 * self.group_plans.delay_s);
        let mut kept: Vec<Entry> = Vec::new();
        for entry in entries.iter() {
            let like =
                |known: &Entry| (known.first, known.last) == (entry.first, entry.last) && (known.keeps || !entry.keeps);
            if !kept.iter().any(like) && (entry.keeps || entry.duration_s <= most_s) {
                kept.push(*entry);
            }
        }
        *entries = kept;
    }
}
