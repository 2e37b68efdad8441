//! Plans for the distinct communications of a workload, by the ports that they have, and the topologies that they begin
//! and end with.

mod messages;
mod room;
mod stock;
mod unequal;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{Fabric, Plan, Result, Shape, Topology};

pub(crate) use crate::entry::{Entry, TopologyId};
use crate::group_plans::{Asked, GroupPlans, Manner};
use crate::jobs::{Family, Kind, Message};
use crate::known_plans::KnownPlans;
use crate::layer::Layer;
use crate::ports::{Ports, alike, rates, width};

/// The ranks that a topology connects: a group, or pairs of ranks.
#[derive(Debug, Clone, PartialEq)]
enum Circuits {
    /// A group.
    Group(Topology),
    /// All ports of each pair of places.
    Messages(Vec<(u32, u32)>),
}

/// A delay at which no plan changes that need not, s.
const PROHIBITIVE_S: f64 = 1e4;

/// The library.
pub(crate) struct Library<'a> {
    pub(crate) group_plans: GroupPlans<'a>,
    families: &'a [Family],
    kinds: &'a [Kind],
    layer: Option<Arc<Layer>>,
    /// Most topologies of a family on alike ports.
    most_topologies: usize,
    circuits: Vec<Circuits>,
    pub(crate) plans: Vec<Plan>,
    /// By family and the first of alike ports: topologies that plans begin or end with.
    topologies: BTreeMap<(usize, Ports), Vec<TopologyId>>,
    /// By kind and the first of alike ports.
    entries: BTreeMap<(usize, Ports), Vec<Entry>>,
}

/// A kind on some ports, and how it is planned.
struct Wish {
    kind: usize,
    ports: Ports,
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
        known: Arc<KnownPlans>,
    ) -> Self {
        Self {
            group_plans: GroupPlans::new(fabric, delay_s, same_bits, known),
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
        entries: BTreeMap<(usize, Ports), Vec<Entry>>,
    ) -> Self {
        Self { entries, ..Self::new(fabric, delay_s, families, kinds, 0, false, Arc::default()) }
    }

    /// The ways to carry out a kind on some ports; none before [`Library::stock`].
    pub(crate) fn entries(&self, kind: usize, ports: Ports) -> &[Entry] {
        self.entries.get(&(kind, self.alike(ports))).map_or(&[], Vec::as_slice)
    }

    /// The topologies of a family on some ports that entries begin or end with.
    pub(crate) fn topologies(&self, family: usize, ports: Ports) -> Vec<TopologyId> {
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
    pub(crate) fn named(&mut self, family: usize, ports: Ports, name: &str) -> Result<TopologyId> {
        let (fabric, size) = (self.group_plans.fabric, self.families[family].size);
        let shape = Shape::new(size, &[size], width(ports))?.with_rates(rates(fabric, ports));
        let topology = planners::as_it_starts(topologies::build(name, &shape)?, &shape)?;
        self.check_room(family, ports, [&topology])?;
        Ok(self.id(Circuits::Group(topology)))
    }

    /// The best plan of a kind by a planner, from a topology or on that topology only.
    ///
    /// # Errors
    /// The errors of the planner.
    pub(crate) fn by_planner(
        &mut self,
        kind: usize,
        ports: Ports,
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
        let plan = self.group_plans.charged(&plan)?;
        Ok(Some(self.add(kind, ports, plan)))
    }

    /// The ports under which plans for some ports are kept.
    fn alike(&self, ports: Ports) -> Ports {
        alike(self.group_plans.fabric, ports)
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

    /// Makes a plan an entry of a kind, and what it begins and ends with topologies of the family.
    fn enter(&mut self, kind: usize, ports: Ports, plan: Plan) {
        let entry = self.add(kind, ports, plan);
        let ports = self.alike(ports);
        self.entries.entry((kind, ports)).or_default().push(entry);
        let known = self.topologies.entry((self.kinds[kind].family, ports)).or_default();
        for id in [entry.first, entry.last] {
            if !known.contains(&id) {
                known.push(id);
            }
        }
    }

    /// A plan's entry; the plan is kept unless it is known.
    fn add(&mut self, kind: usize, ports: Ports, plan: Plan) -> Entry {
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

    /// The plan of a wish, at the fabric's own delay or another one.
    fn planned(&self, wish: &Wish) -> Result<Option<Arc<Plan>>> {
        let Some(asked) = self.asked(&self.kinds[wish.kind], wish.ports) else { return Ok(None) };
        let plan = self.group_plans.plan(&asked, &wish.manner)?;
        self.check_room(self.kinds[wish.kind].family, wish.ports, &plan.topologies)?;
        Ok(Some(plan))
    }

    /// The task of planners for a kind; `None` for messages.
    fn asked(&self, kind: &Kind, ports: Ports) -> Option<Asked> {
        let Message::Collective(collective) = kind.message else { return None };
        let ranks = self.families[kind.family].size;
        let layer = self.layer.as_ref().and_then(|layer| layer.of_family(kind.family, width(ports)));
        Some(Asked { collective, size_bytes: kind.size_bytes, matrix: kind.matrix.clone(), ranks, ports, layer })
    }

    /// The least time of a kind by the bound for any algorithm, on all ports of the fabric.
    ///
    /// # Errors
    /// As [`Shape::new`].
    pub(crate) fn bound_s(&self, kind: &Kind) -> Result<f64> {
        let ports = (0, self.group_plans.fabric.shape.ports());
        self.asked(kind, ports).map_or(Ok(self.direct_s(kind, ports)), |asked| self.group_plans.bound_s(&asked))
    }
}
