//! Equality of circuits: groups, topologies and sets of ports by number, so that they compare at once.

use std::collections::BTreeMap;

use model::{Plan, Rank, Topology, TrainingPlan};

/// The circuits of a port of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Circuits {
    /// Circuits of a topology of a group on a set of ports.
    Group { group: usize, topology: usize, ports: usize },
    /// Circuits of the messages of which this rank is an end, on a set of ports.
    Message { to: Option<Rank>, from: Option<Rank>, ports: usize },
    /// Circuits of the resting topology, whichever that is.
    Resting,
}

/// The topologies of a plan, by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanTopologies {
    pub(super) first: usize,
    pub(super) last: usize,
    /// The resting topology of its group, where it has one.
    pub(super) initial: Option<usize>,
}

/// All groups, topologies and sets of ports of an iteration.
pub(super) struct Catalogue<'a> {
    topologies: Vec<&'a Topology>,
    plans: Vec<PlanTopologies>,
    /// For each topology that messages go over: its number, and the groups of its axis by rank.
    message_topologies: Vec<(usize, Vec<usize>)>,
    groups: Vec<Vec<Rank>>,
    group_numbers: BTreeMap<Vec<Rank>, usize>,
    ports: BTreeMap<&'a [u32], usize>,
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(training: &'a TrainingPlan) -> Self {
        let (mut topologies, mut plans) = (Vec::new(), Vec::new());
        for plan in &training.plans {
            plans.push(PlanTopologies::of(plan, &mut topologies));
        }
        let (mut groups, mut group_numbers, mut ports) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for (event, planned) in training.events.iter().enumerate() {
            interruption::check();
            let next = ports.len();
            ports.entry(planned.ports.as_slice()).or_insert(next);
            for group in training.workload.groups_of(event) {
                group_numbers.entry(group.clone()).or_insert_with(|| {
                    groups.push(group);
                    groups.len() - 1
                });
            }
        }
        let mut message_topologies = Vec::with_capacity(training.topologies.len());
        for stated in &training.topologies {
            let number = number_of(&stated.topology, &mut topologies);
            let all = || vec![(0..training.workload.ranks).collect()];
            let of_axis = stated.axis.map_or_else(all, |axis| training.workload.axis_groups(axis));
            let mut by_rank = vec![0; training.workload.ranks as usize];
            for group in of_axis {
                let index = *group_numbers.entry(group.clone()).or_insert_with(|| {
                    groups.push(group.clone());
                    groups.len() - 1
                });
                group.iter().for_each(|&rank| by_rank[rank as usize] = index);
            }
            message_topologies.push((number, by_rank));
        }
        Self { topologies, plans, message_topologies, groups, group_numbers, ports }
    }

    pub(super) fn topology(&self, number: usize) -> &'a Topology {
        self.topologies[number]
    }

    pub(super) fn plan(&self, plan: usize) -> PlanTopologies {
        self.plans[plan]
    }

    /// For a topology that messages go over: its number, and the group of a rank that has it.
    pub(super) fn message_topology(&self, topology: usize, rank: Rank) -> (usize, usize) {
        let (number, by_rank) = &self.message_topologies[topology];
        (*number, by_rank[rank as usize])
    }

    pub(super) fn group(&self, number: usize) -> &[Rank] {
        &self.groups[number]
    }

    /// Number of a group of a collective.
    pub(super) fn group_number(&self, group: &[Rank]) -> usize {
        self.group_numbers[group]
    }

    /// Number of the ports of an event.
    pub(super) fn ports_number(&self, ports: &[u32]) -> usize {
        self.ports[ports]
    }
}

impl PlanTopologies {
    fn of<'a>(plan: &'a Plan, known: &mut Vec<&'a Topology>) -> Self {
        let mut number = |topology: &'a Topology| number_of(topology, known);
        let used: Vec<usize> = plan.steps.iter().map(|step| number(&plan.topologies[step.topology])).collect();
        let initial = plan.fabric.initial.given().map(&mut number);
        Self { first: used[0], last: used[used.len() - 1], initial }
    }
}

/// Number of a topology, which is added where none has its circuits.
fn number_of<'a>(topology: &'a Topology, known: &mut Vec<&'a Topology>) -> usize {
    let same = |other: &&Topology| other.ranks() == topology.ranks() && other.same_links(topology);
    known.iter().position(same).unwrap_or_else(|| {
        known.push(topology);
        known.len() - 1
    })
}
