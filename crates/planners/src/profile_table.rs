//! Profiles of every (step pattern, candidate topology) pair, computed when first needed and kept.
//!
//! Nothing here depends on α, β, δ, α_r or m.

use std::sync::OnceLock;

use model::{Error, Result, Routing, Schedule, Topology, Traffic};
use profile::{Estimate, Front, LoadBound, Network};
use rayon::prelude::*;

/// A schedule's distinct step patterns against candidate topologies.
pub struct ProfileTable {
    schedule: Schedule,
    routing: Routing,
    patterns: Vec<Traffic>,
    pattern_of_step: Vec<usize>,
    networks: Vec<Network>,
    estimated_hops: Vec<f64>,
    estimated_loads: Vec<f64>,
    estimate_exact: Vec<bool>,
    bounds: Vec<OnceLock<Option<LoadBound>>>,
    fronts: Vec<OnceLock<Option<Box<Front>>>>,
    changed_ports: OnceLock<Vec<u64>>,
}

/// Lower bounds on hops and load, by candidate; infinite where some transfer has no path.
#[derive(Debug, Clone, Copy)]
pub struct Estimates<'a> {
    /// Hops of the longest path, at least.
    pub hops: &'a [f64],
    /// Load of the busiest link, at least.
    pub loads: &'a [f64],
    /// Whether both are attained together.
    pub exact: &'a [bool],
}

impl ProfileTable {
    /// Prepares the candidates; O(1) per (pattern, candidate) pair, flows are left for later.
    ///
    /// # Errors
    /// No candidates, or one of another size than the schedule's.
    pub fn new(schedule: Schedule, candidates: &[Topology], routing: Routing) -> Result<Self> {
        if candidates.is_empty() {
            return Err(Error::value("candidates", "an empty list", "at least one topology"));
        }
        if let Some(other) = candidates.iter().find(|topology| topology.ranks() != schedule.ranks()) {
            return Err(Error::value(
                "candidates",
                format!("`{}` of {} GPUs", other.name(), other.ranks()),
                format!("topologies of {} GPUs", schedule.ranks()),
            ));
        }
        let mut patterns: Vec<Traffic> = Vec::new();
        let mut pattern_of_step = Vec::new();
        for step in schedule.steps() {
            let known = patterns.iter().position(|pattern| pattern == step.traffic());
            pattern_of_step.push(known.unwrap_or(patterns.len()));
            if known.is_none() {
                patterns.push(step.traffic().clone());
            }
        }
        let networks: Vec<Network> = candidates.iter().map(Network::new).collect();
        let pairs = patterns.len() * networks.len();
        let (mut estimated_hops, mut estimated_loads) = (vec![f64::INFINITY; pairs], vec![f64::INFINITY; pairs]);
        let mut estimate_exact = vec![true; pairs];
        let all = patterns.iter().flat_map(|pattern| networks.iter().map(move |network| (pattern, network)));
        for (pair, (pattern, network)) in all.enumerate() {
            if let Some(Estimate { hops, load, exact }) = network.estimate(pattern, routing) {
                estimated_hops[pair] = f64::from(hops);
                estimated_loads[pair] = load;
                estimate_exact[pair] = exact;
            }
        }
        let bounds = (0..pairs).map(|_| OnceLock::new()).collect();
        let fronts = (0..pairs).map(|_| OnceLock::new()).collect();
        Ok(Self {
            schedule,
            routing,
            patterns,
            pattern_of_step,
            networks,
            estimated_hops,
            estimated_loads,
            estimate_exact,
            bounds,
            fronts,
            changed_ports: OnceLock::new(),
        })
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// How traffic is routed.
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.pattern_of_step.len()
    }

    /// Number of candidates.
    pub fn candidates(&self) -> usize {
        self.networks.len()
    }

    /// The candidate of that index.
    pub fn candidate(&self, index: usize) -> &Topology {
        self.networks[index].topology()
    }

    /// The candidate of that index, prepared for routing.
    pub fn network(&self, index: usize) -> &Network {
        &self.networks[index]
    }

    /// The candidate with these links.
    pub fn position(&self, topology: &Topology) -> Option<usize> {
        self.networks.iter().position(|network| network.topology().same_links(topology))
    }

    /// Distinct step patterns, in the order of their first use.
    pub fn patterns(&self) -> &[Traffic] {
        &self.patterns
    }

    /// Index of a step's pattern.
    pub fn pattern_of_step(&self, step: usize) -> usize {
        self.pattern_of_step[step]
    }

    /// What is known without flows of one pattern on every candidate.
    pub fn estimates(&self, pattern: usize) -> Estimates<'_> {
        let row = pattern * self.networks.len()..(pattern + 1) * self.networks.len();
        Estimates {
            hops: &self.estimated_hops[row.clone()],
            loads: &self.estimated_loads[row.clone()],
            exact: &self.estimate_exact[row],
        }
    }

    /// The pair's front, computed on first use; `None` when some transfer has no path.
    pub fn front(&self, pattern: usize, candidate: usize) -> Option<&Front> {
        self.fronts[self.index(pattern, candidate)]
            .get_or_init(|| self.networks[candidate].front(&self.patterns[pattern], self.routing).map(Box::new))
            .as_deref()
    }

    /// A bound sharper than the pair's estimate, computed on first use; `None` where its front costs as little.
    pub fn load_bound(&self, pattern: usize, candidate: usize) -> Option<&LoadBound> {
        self.bounds[self.index(pattern, candidate)]
            .get_or_init(|| self.networks[candidate].load_bound(&self.patterns[pattern], self.routing))
            .as_ref()
    }

    /// Computes the bounds of these (pattern, candidate) pairs that are not known yet, side by side.
    pub fn compute_bounds(&self, pairs: impl Iterator<Item = (usize, usize)>) {
        let unknown = pairs.filter(|&(pattern, candidate)| self.bounds[self.index(pattern, candidate)].get().is_none());
        side_by_side(unknown.collect(), |(pattern, candidate)| {
            self.load_bound(pattern, candidate);
        });
    }

    /// Computes the fronts of these (pattern, candidate) pairs that are not known yet, side by side.
    pub fn compute_fronts(&self, pairs: impl Iterator<Item = (usize, usize)>) {
        let unknown = pairs.filter(|&(pattern, candidate)| self.fronts[self.index(pattern, candidate)].get().is_none());
        side_by_side(unknown.collect(), |(pattern, candidate)| {
            self.front(pattern, candidate);
        });
    }

    fn index(&self, pattern: usize, candidate: usize) -> usize {
        pattern * self.networks.len() + candidate
    }

    /// Ports that change between every two candidates, row-major `[from][to]`.
    pub fn changed_ports(&self) -> &[u64] {
        self.changed_ports.get_or_init(|| {
            let topologies: Vec<&Topology> = self.networks.iter().map(Network::topology).collect();
            let mut changed = vec![0; topologies.len() * topologies.len()];
            for (i, from) in topologies.iter().enumerate() {
                for (j, to) in topologies.iter().enumerate().skip(i + 1) {
                    let ports = from.changed_ports(to);
                    changed[i * topologies.len() + j] = ports;
                    changed[j * topologies.len() + i] = ports;
                }
            }
            changed
        })
    }
}

fn side_by_side(mut pairs: Vec<(usize, usize)>, compute: impl Fn((usize, usize)) + Send + Sync) {
    pairs.sort_unstable();
    pairs.dedup();
    // A single one is left to whoever asks for it.
    if pairs.len() > 1 {
        pairs.into_par_iter().for_each(compute);
    }
}
