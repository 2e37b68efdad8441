//! PCCL: before each round keep the circuits in force, set up the round's own, or return to a standard
//! connected topology (algorithm 1), at the cost of one shortest path per transfer (algorithm 2).
//!
//! The paper solves an integer program. Its constraint (5) says that a round's own circuits can be entered
//! only before that round, and then be kept; so the optimum is a shortest path over (round, topology in
//! force), exact in O(rounds · topologies · standard topologies), for any reconfiguration delays.
//!
//! *Costs.* Eq. 1 charges a round α·dilation + β·congestion·w: α for every hop and nothing apart from that.
//! PCCL's α is therefore the fabric's hop delay, with no start-up; a fabric that has both is charged
//! both, the start-up once a round. The paper's r is the reconfiguration delay, also before the first
//! round when that leaves the initial topology. Where transfers of a round differ in size, congestion adds
//! their sizes, which algorithm 2 takes to be equal.
//!
//! *Ports.* A round in which a GPU has more peers than ports is split (§4.2). What an edge of a topology is
//! differs within the paper. Algorithm 2 and the evaluation (§5) give each the same bandwidth, whatever
//! the ports: `pccl` joins every pair by one circuit, in the rounds' own circuits as in the standard topologies. §4.2
//! divides a GPU's transmitters evenly over its peers: `pccl-parallel` does, so that a round with one
//! peer has all ports of a GPU, and it uses standard topologies as they are. On one port they are the same.

use model::{Error, Link, Result, Routing, Topology, sum_seconds};
use profile::Network;

use crate::{Change, Choice, Planner, Problem, Rates, split_steps};

/// One circuit for every pair that a round joins, as algorithm 2 counts.
pub static PCCL: Pccl = Pccl { circuits: Circuits::OnePerPair };

/// The ports divided evenly over a round's peers, as §4.2 does.
pub static PCCL_PARALLEL: Pccl = Pccl { circuits: Circuits::PortsDivided };

/// See the module.
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
                "before each round keep the topology, take the round's own circuits or a standard topology, \
                 one circuit per pair"
            }
            Circuits::PortsDivided => "as pccl, with the ports of a GPU divided evenly over a round's peers",
        }
    }

    fn source(&self) -> &'static str {
        match self.circuits {
            Circuits::OnePerPair => "PCCL, algorithms 1 and 2, §5",
            Circuits::PortsDivided => "PCCL, algorithms 1 and 2, §4.2",
        }
    }

    fn takes_static_topologies(&self) -> bool {
        true
    }

    fn fixed_routing(&self) -> Option<Routing> {
        Some(Routing::SinglePath)
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let (own, enterable) = self.own_problem(problem)?;
        let mut rounds = Rounds::new(&own, enterable);
        let path = rounds.cheapest_within(limit_s);
        Ok(path.map(|candidates| {
            let total_s = rounds.time_of(&candidates);
            Choice { planner: self.name(), problem: own.clone(), candidates, total_s, class_bound: None }
        }))
    }
}

impl Pccl {
    /// The problem with rounds split where they must be, on the topologies of algorithm 1; and for each round
    /// those that may be set up before it, ascending.
    fn own_problem(&self, problem: &Problem) -> Result<(Problem, Vec<Vec<usize>>)> {
        let ports = problem.fabric.shape.ports();
        let schedule = split_steps(problem.schedule(), ports)
            .map_err(|error| Error::refused("planner", self.name(), error.reason()))?;
        let table = &problem.table;
        let all: Vec<usize> = (0..table.candidates()).collect();
        let listed = if problem.static_candidates.is_empty() { &all } else { &problem.static_candidates };
        let mut topologies = Vec::new();
        let mut standard: Vec<usize> = Vec::new();
        // The initial topology first, which is what it is.
        let others = listed.iter().copied().filter(|&index| problem.start != Some(index));
        for index in problem.start.into_iter().chain(others) {
            let is_start = problem.start == Some(index);
            let topology = match self.circuits {
                Circuits::OnePerPair if !is_start => one_per_pair(table.candidate(index))?,
                _ => table.candidate(index).clone(),
            };
            if is_connected(table.network(index)) {
                standard.push(place(&mut topologies, topology));
            } else if is_start {
                topologies.push(topology);
            }
        }
        let mut enterable = Vec::with_capacity(schedule.steps().len());
        for (round, step) in schedule.steps().iter().enumerate() {
            let used = match self.circuits {
                Circuits::OnePerPair => step.traffic().degree(),
                Circuits::PortsDivided => ports,
            };
            let circuits = Topology::of_traffic(format!("matching-{}", round + 1), step.traffic(), used)
                .ok_or_else(|| Error::refused("planner", self.name(), format!("round {} joins nobody", round + 1)))?;
            let mut open = standard.clone();
            open.push(place(&mut topologies, circuits));
            open.sort_unstable();
            open.dedup();
            enterable.push(open);
        }
        let settings = model::CostSettings { routing: Routing::SinglePath, ..problem.settings };
        let own = Problem::new(schedule, problem.fabric.clone(), settings, problem.size_bytes, topologies)?;
        Ok((own, enterable))
    }
}

/// Index of the topology with these links, appended if there is none.
fn place(topologies: &mut Vec<Topology>, topology: Topology) -> usize {
    // Links of GPU 0, which every symmetry lists, tell most topologies apart at once.
    let first = |topology: &Topology| topology.links().iter().filter(|link| link.src == 0).copied().collect::<Vec<_>>();
    let (links, same) = (first(&topology), |known: &Topology| known.same_links(&topology));
    topologies.iter().position(|known| first(known) == links && same(known)).unwrap_or_else(|| {
        topologies.push(topology);
        topologies.len() - 1
    })
}

/// The topology with parallel circuits left out.
fn one_per_pair(topology: &Topology) -> Result<Topology> {
    let links = topology.links().iter().map(|link| Link { count: 1, ..*link });
    Topology::new(topology.name(), topology.symmetry().clone(), links)
}

/// Whether every GPU has a path to every other. If GPU 0 reaches all, so it does its translates, and going
/// on by the same translation they come back to it; GPUs of other orbits must reach some translate of it.
/// O(GPUs) once distances are known.
fn is_connected(network: &Network) -> bool {
    let topology = network.topology();
    let reaches = |src, dst| network.distance(src, dst).is_some();
    (0..topology.ranks()).all(|rank| reaches(0, rank))
        && topology.symmetry().representatives().into_iter().all(|rank| reaches(rank, 0))
}

/// The shortest path over (round, topology in force), on costs that are lower bounds until they are needed.
struct Rounds<'a> {
    problem: &'a Problem,
    enterable: Vec<Vec<usize>>,
    rates: Rates,
    change: Change,
    /// Row-major `[round][topology]`, and whether each is more than a lower bound.
    costs: Vec<f64>,
    exact: Vec<bool>,
}

impl<'a> Rounds<'a> {
    fn new(problem: &'a Problem, enterable: Vec<Vec<usize>>) -> Self {
        let table = &problem.table;
        let rates = problem.rates();
        let (mut costs, mut exact) = (Vec::new(), Vec::new());
        for round in 0..table.steps() {
            let known = table.estimates(table.pattern_of_step(round));
            let load_s = rates.load_s[round];
            let bounds = known.hops.iter().zip(known.loads);
            costs.extend(bounds.map(|(hops, load)| rates.startup_s + rates.hop_s * hops + load_s * load));
            exact.extend_from_slice(known.exact);
        }
        Self { problem, enterable, rates, change: problem.change(), costs, exact }
    }

    /// The topology of every round in the best sequence; `None` as soon as it is known to be above `limit_s`.
    /// Every round of a path is made exact before it is believed, and others were undercounted at most.
    fn cheapest_within(&mut self, limit_s: f64) -> Option<Vec<usize>> {
        let topologies = self.problem.table.candidates();
        loop {
            let (path, total_s) = self.shortest_path();
            if total_s > limit_s {
                return None;
            }
            let guessed: Vec<(usize, usize)> =
                path.iter().copied().enumerate().filter(|&(r, t)| !self.exact[r * topologies + t]).collect();
            if guessed.is_empty() {
                return Some(path);
            }
            let table = &self.problem.table;
            let pattern = |round| table.pattern_of_step(round);
            table.compute_fronts(guessed.iter().map(|&(round, topology)| (pattern(round), topology)));
            for (round, topology) in guessed {
                let index = round * topologies + topology;
                self.costs[index] = table.front(pattern(round), topology).map_or(f64::INFINITY, |front| {
                    let point = front.cheapest(self.rates.hop_s, self.rates.load_s[round]);
                    self.rates.of(round, point.hops, point.load)
                });
                self.exact[index] = true;
            }
        }
    }

    /// Ties go to staying, then to the earlier topology.
    fn shortest_path(&self) -> (Vec<usize>, f64) {
        let topologies = self.problem.table.candidates();
        let rounds = self.enterable.len();
        let mut before = vec![0; rounds * topologies];
        let mut value = vec![f64::INFINITY; topologies];
        if let Some(start) = self.problem.start {
            value[start] = 0.0;
        }
        for (round, enterable) in self.enterable.iter().enumerate() {
            let mut next: Vec<(f64, usize)> = value.iter().copied().zip(0..).collect();
            for &to in enterable {
                if round == 0 && self.problem.start.is_none() {
                    next[to].0 = 0.0;
                }
                for (from, so_far_s) in value.iter().enumerate().filter(|(_, so_far_s)| so_far_s.is_finite()) {
                    let arrival_s = so_far_s + self.change.between(topologies, from, to);
                    if arrival_s < next[to].0 {
                        next[to] = (arrival_s, from);
                    }
                }
            }
            for (topology, (arrival_s, from)) in next.into_iter().enumerate() {
                before[round * topologies + topology] = from;
                value[topology] = arrival_s + self.costs[round * topologies + topology];
            }
        }
        let mut topology = (1..topologies).fold(0, |best, other| if value[other] < value[best] { other } else { best });
        let total_s = value[topology];
        let mut path = vec![topology; rounds];
        for round in (1..rounds).rev() {
            topology = before[round * topologies + topology];
            path[round - 1] = topology;
        }
        (path, total_s)
    }

    /// Completion time of a sequence whose costs are exact, s.
    fn time_of(&self, path: &[usize]) -> f64 {
        let topologies = self.problem.table.candidates();
        let before = self.problem.start.into_iter().chain(path.iter().copied());
        let after = before.clone().skip(1);
        let changes = before.zip(after).map(|(from, to)| self.change.between(topologies, from, to));
        let rounds = path.iter().enumerate().map(|(round, &topology)| self.costs[round * topologies + topology]);
        sum_seconds(changes.chain(rounds))
    }
}
