//! Purposes of the ports of ranks: groups, topologies and sets of ports by number, so that purposes compare at once.

use std::collections::BTreeMap;

use model::{Plan, Rank, Topology, TrainingPlan, sum_seconds};

/// The purpose of a port of a rank. Both ends of a circuit have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Nothing; the port is dark.
    None,
    /// The topology of a group, on a set of ports.
    Group {
        /// Number of the group.
        group: usize,
        /// Number of the topology.
        topology: usize,
        /// Number of the set of ports.
        ports: usize,
    },
    /// Messages over circuits of their own, on a set of ports.
    Message {
        /// The receiver of this rank's message.
        to: Option<Rank>,
        /// The sender of the message that this rank receives.
        from: Option<Rank>,
        /// Number of the set of ports.
        ports: usize,
    },
}

/// The topologies of a plan in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlanCourse {
    /// Number of the topology of the first step.
    pub(super) first: usize,
    /// Number of every further topology, its first step, and how long before the end of the plan it has to begin being
    /// set, s.
    pub(super) later: Vec<(usize, usize, f64)>,
    /// Number of the topology that the group rests in, where there is one.
    pub(super) resting: Option<usize>,
}

impl PlanCourse {
    /// Number of the topology of the last step.
    pub(super) fn last(&self) -> usize {
        self.later.last().map_or(self.first, |(topology, ..)| *topology)
    }
}

/// All groups, topologies and sets of ports of an iteration.
pub(super) struct Catalogue<'a> {
    /// Topologies by number.
    pub(super) topologies: Vec<&'a Topology>,
    /// The courses of the iteration's plans.
    pub(super) plans: Vec<PlanCourse>,
    /// Ranks of every group.
    pub(super) groups: Vec<Vec<Rank>>,
    /// Sets of ports by number, each ascending.
    pub(super) ports: Vec<&'a [u32]>,
    /// By topology that messages go over: its number, and the number of the group of every rank.
    pub(super) message_topologies: Vec<(usize, Vec<usize>)>,
    group_numbers: BTreeMap<Vec<Rank>, usize>,
    ports_numbers: BTreeMap<&'a [u32], usize>,
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(training: &'a TrainingPlan) -> Self {
        let mut topologies = Vec::new();
        let plans = training.plans.iter().map(|plan| course_of(plan, &mut topologies)).collect();
        let mut made = Self {
            topologies,
            plans,
            groups: Vec::new(),
            ports: Vec::new(),
            message_topologies: Vec::new(),
            group_numbers: BTreeMap::new(),
            ports_numbers: BTreeMap::new(),
        };
        for (event, planned) in training.events.iter().enumerate() {
            interruption::check();
            made.ports_numbers.entry(&planned.ports).or_insert_with(|| {
                made.ports.push(&planned.ports);
                made.ports.len() - 1
            });
            training.workload.groups_of(event).into_iter().for_each(|group| {
                made.number_group(group);
            });
        }
        for stated in &training.topologies {
            let number = number_of(&stated.topology, &mut made.topologies);
            let all = || vec![(0..training.workload.ranks).collect()];
            let mut by_rank = vec![0; training.workload.ranks as usize];
            for group in stated.axis.map_or_else(all, |axis| training.workload.axis_groups(axis)) {
                let index = made.number_group(group.clone());
                group.iter().for_each(|&rank| by_rank[rank as usize] = index);
            }
            made.message_topologies.push((number, by_rank));
        }
        made
    }

    fn number_group(&mut self, group: Vec<Rank>) -> usize {
        *self.group_numbers.entry(group).or_insert_with_key(|group| {
            self.groups.push(group.clone());
            self.groups.len() - 1
        })
    }

    /// Number of a group of a collective.
    pub(super) fn group_number(&self, group: &[Rank]) -> usize {
        self.group_numbers[group]
    }

    /// Number of the ports of an event.
    pub(super) fn ports_number(&self, ports: &[u32]) -> usize {
        self.ports_numbers[ports]
    }
}

fn course_of<'a>(plan: &'a Plan, known: &mut Vec<&'a Topology>) -> PlanCourse {
    let used: Vec<usize> = plan.steps.iter().map(|step| number_of(&plan.topologies[step.topology], known)).collect();
    let times_s: Vec<f64> = plan.steps.iter().map(|step| step.cost.total_s()).collect();
    let changed = (1..used.len()).filter(|&step| used[step] != used[step - 1]);
    let later = changed.map(|step| (used[step], step, sum_seconds(times_s[step..].iter().copied()))).collect();
    let resting = plan.fabric.initial.given().map(|topology| number_of(topology, known));
    PlanCourse { first: used[0], later, resting }
}

/// Number of a topology, which is added where none has its circuits.
fn number_of<'a>(topology: &'a Topology, known: &mut Vec<&'a Topology>) -> usize {
    let same = |other: &&Topology| other.ranks() == topology.ranks() && other.same_links(topology);
    known.iter().position(same).unwrap_or_else(|| {
        known.push(topology);
        known.len() - 1
    })
}
