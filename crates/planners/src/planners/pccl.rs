//! PCCL: before each step keep the circuits in force, set up the step's own, or return to a standard
//! connected topology (algorithm 1), at the cost of one shortest path per transfer (algorithm 2).
//!
//! The paper solves an integer program. Its constraint (5) says that a step's own circuits can be entered
//! only before that step, and then be kept; so the optimum is a shortest path over (step, topology in
//! force), exact in O(steps · topologies · standard topologies), for any reconfiguration delays.
//!
//! *Costs.* Eq. 1 charges a step α·dilation + β·congestion·w: α for every hop and nothing apart from that.
//! PCCL's α is therefore the fabric's hop delay, with no startup; a fabric that has both is charged
//! both, the startup once a step. The paper's r is the reconfiguration delay, also before the first
//! step when that leaves the initial topology. Where transfers of a step differ in size, congestion adds
//! their sizes, which algorithm 2 takes to be equal.
//!
//! *Ports.* A step in which a GPU has more peers than ports is split (§4.2). The meaning of an edge of a topology
//! differs within the paper. Algorithm 2 and the evaluation (§5) give each the same bandwidth, with any number of
//! ports: `pccl` joins every pair by one circuit, in the steps' own circuits as in the standard topologies. §4.2
//! divides a GPU's transmitters evenly over its peers: `pccl-parallel` does, so that a step with one peer has all ports
//! of a GPU, and it uses standard topologies as they are. On one port they are the same.

mod step_search;

use std::collections::BTreeMap;
use std::sync::Arc;

use fronts::RoutingNetwork;
use model::{CostSettings, Error, Link, Result, Routing, Schedule, Topology};

use crate::split::splits_steps;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, ProfileTable, split_steps};
use step_search::{Entries, StepSearch};

/// One circuit for every pair that a step joins, as algorithm 2 counts.
pub static PCCL: Pccl = Pccl { circuits: Circuits::OnePerPair };

/// The ports divided evenly over a step's peers, as §4.2 does.
pub static PCCL_PARALLEL: Pccl = Pccl { circuits: Circuits::PortsDivided };

/// PCCL's planner, with one circuit for each pair or with parallel circuits.
pub struct Pccl {
    circuits: Circuits,
}

#[derive(Clone, Copy, PartialEq)]
enum Circuits {
    OnePerPair,
    PortsDivided,
}

impl Planner for Pccl {
    fn name(&self) -> &'static str {
        match self.circuits {
            Circuits::OnePerPair => "pccl",
            Circuits::PortsDivided => "pccl-parallel",
        }
    }

    fn summary(&self) -> &'static str {
        match self.circuits {
            Circuits::OnePerPair => {
                "before each step keep the topology, take the step's own circuits or a standard topology, \
                 one circuit per pair"
            }
            Circuits::PortsDivided => "as pccl, with the ports of a GPU divided evenly over a step's peers",
        }
    }

    fn source(&self) -> &'static str {
        match self.circuits {
            Circuits::OnePerPair => "PCCL, algorithms 1 and 2, §5",
            Circuits::PortsDivided => "PCCL, algorithms 1 and 2, §4.2",
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            fixed_routing: Some(Routing::SinglePath),
            takes_static_topologies: true,
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn changes_steps(&self, schedule: &Schedule, ports: u32) -> bool {
        splits_steps(schedule, ports)
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let (own, entries) = self.own_problem(problem)?;
        let found = StepSearch::new(&own, &entries).cheapest_within(limit_s);
        Ok(found.map(|(candidates, total_s)| Choice {
            planner: self.name(),
            problem: own,
            candidates,
            total_s,
            class_bound: None,
        }))
    }
}

impl Pccl {
    /// The problem with steps split where they must be, on the topologies of algorithm 1; and which of those
    /// may be set up before each step. Candidates that are used as they are stay prepared.
    fn own_problem(&self, problem: &Problem) -> Result<(Problem, Entries)> {
        let ports = problem.fabric.shape.ports();
        let schedule = split_steps(problem.schedule(), ports)
            .map_err(|error| Error::refused("planner", self.name(), error.reason()))?;
        let table = &problem.table;
        let listed = problem.allowed();
        let mut topologies = Distinct::default();
        let mut standard: Vec<usize> = Vec::new();
        // The initial topology first, as it was given.
        let others = listed.iter().copied().filter(|&index| problem.start != Some(index));
        for index in problem.start.into_iter().chain(others) {
            let is_start = problem.start == Some(index);
            let is_thinned = self.circuits == Circuits::OnePerPair && !is_start;
            if is_connected(table.network(index)) {
                standard.push(match is_thinned && has_parallel_circuits(table.candidate(index)) {
                    true => topologies.place(one_per_pair(table.candidate(index))?),
                    false => topologies.place_prepared(table.network(index)),
                });
            } else if is_start {
                topologies.place_prepared(table.network(index));
            }
        }
        let patterns = table.patterns_of(&schedule);
        let mut own_circuits = Vec::with_capacity(patterns.first_steps.len());
        for &step in &patterns.first_steps {
            interruption::check();
            let traffic = schedule.steps()[step].traffic();
            let used = match self.circuits {
                Circuits::OnePerPair => traffic.degree(),
                Circuits::PortsDivided => ports,
            };
            let circuits = Topology::of_traffic(format!("matching-{}", step + 1), traffic, used)
                .ok_or_else(|| Error::refused("planner", self.name(), format!("step {} has no transfer", step + 1)))?;
            own_circuits.push(topologies.place(circuits));
        }
        let own_circuits = patterns.of_step.iter().map(|&pattern| own_circuits[pattern]).collect();
        let limits = problem.cache.limits(&problem.fabric)?;
        let table = ProfileTable::on_networks(schedule, patterns, topologies.networks, Routing::SinglePath, limits);
        let own = Problem {
            table: Arc::new(table),
            fabric: problem.fabric.clone(),
            settings: CostSettings { routing: Routing::SinglePath, ..problem.settings },
            size_bytes: problem.size_bytes,
            static_candidates: Vec::new(),
            start: problem.start.map(|_| 0),
            options: problem.options.clone(),
            quick_flows: false,
            shared: Arc::default(),
            cache: problem.cache.clone(),
        };
        Ok((own, Entries { standard, own_circuits }))
    }
}

/// Topologies of different links, prepared.
#[derive(Default)]
struct Distinct {
    networks: Vec<Arc<RoutingNetwork>>,
    /// By the links of GPU 0, which every symmetry lists; they tell most topologies apart at once.
    alike: BTreeMap<Vec<Link>, Vec<usize>>,
}

impl Distinct {
    /// Index of the topology with these links, appended if missing.
    fn place(&mut self, topology: Topology) -> usize {
        self.known(&topology).unwrap_or_else(|| self.append(Arc::new(RoutingNetwork::of(topology))))
    }

    /// [`Distinct::place`] of a topology that is prepared for routing.
    fn place_prepared(&mut self, network: &Arc<RoutingNetwork>) -> usize {
        self.known(network.topology()).unwrap_or_else(|| self.append(network.clone()))
    }

    fn known(&self, topology: &Topology) -> Option<usize> {
        let alike = self.alike.get(first_links(topology))?;
        alike.iter().copied().find(|&index| self.networks[index].topology().same_links(topology))
    }

    fn append(&mut self, network: Arc<RoutingNetwork>) -> usize {
        let index = self.networks.len();
        self.alike.entry(first_links(network.topology()).to_vec()).or_default().push(index);
        self.networks.push(network);
        index
    }
}

/// Links of GPU 0.
fn first_links(topology: &Topology) -> &[Link] {
    let links = topology.links();
    &links[..links.partition_point(|link| link.src == 0)]
}

fn has_parallel_circuits(topology: &Topology) -> bool {
    topology.links().iter().any(|link| link.count > 1)
}

/// The topology with parallel circuits left out.
fn one_per_pair(topology: &Topology) -> Result<Topology> {
    let links = topology.links().iter().map(|link| Link { count: 1, ..*link });
    Topology::new(topology.name(), topology.symmetry().clone(), links)
}

/// Whether every GPU has a path to every other. If GPU 0 reaches all, so it does its translates, and going
/// on by the same translation they come back to it; GPUs of other orbits must reach some translate of it.
/// O(GPUs) once distances are known.
fn is_connected(network: &RoutingNetwork) -> bool {
    let topology = network.topology();
    let reaches = |src, dst| network.distance(src, dst).is_some();
    (0..topology.ranks()).all(|rank| reaches(0, rank))
        && topology.symmetry().representatives().into_iter().all(|rank| reaches(rank, 0))
}
