//! Paths whose busiest edge carries little: circuits are routed again and again where the edges near the maximum cost
//! most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::Result;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::circuit::{Circuit, check_circuits};
use crate::grid::Side;

use super::cuts::{FibreBound, bound};
use super::servers::Servers;
use crate::cutoffs::fibres_router::{LONGEST, MOST_SEARCHES};

/// Passes without a lower maximum, or fewer edges that have it, after which some circuits are put anywhere.
const PATIENCE: u32 = 6;
/// Factor by which the cost of an edge grows with each circuit more, from `DEPTH` circuits below the maximum on.
const STEEPNESS: u64 = 12;
const DEPTH: u32 = 4;

/// Paths of circuits between servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibreRouting {
    /// The servers that each circuit passes, from source to destination.
    pub paths: Vec<Vec<u32>>,
    /// Circuits on the busiest edge, those already there among them: the fibres that an edge needs at one wavelength.
    pub fibres: u32,
    /// Lower bound on the fibres that any paths need.
    pub bound: FibreBound,
    /// Passes over the circuits.
    pub passes: u32,
}

/// Routes circuits between servers so that the busiest edge carries few (PCCL, algorithm 4, without its integer
/// program).
///
/// Each circuit takes the path whose edges cost least, where an edge's cost grows exponentially towards the maximum;
/// circuits on the busiest edges are routed again until nothing changes, then some at random, until the bound is
/// reached or the searches are used up. The same circuits and `seed` give the same paths.
///
/// # Errors
/// A circuit whose ends are no two servers; names `circuits`.
pub fn route(servers: &Servers, circuits: &[Circuit], seed: u64) -> Result<FibreRouting> {
    check_circuits(servers.grid(), circuits)?;
    let bound = bound(servers, circuits)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut state = State { servers, loads: servers.existing().to_vec(), paths: vec![Vec::new(); circuits.len()] };
    let mut order: Vec<usize> = (0..circuits.len()).collect();
    for &index in &order {
        interruption::check();
        let target = state.most().max(bound.circuits);
        state.spread(index, circuits[index], target);
    }
    let mut best = (state.height(), state.paths.clone());
    let (mut passes, mut since_best) = (0, 0);
    let most_passes = (MOST_SEARCHES / circuits.len().max(1)).max(1) as u32;
    while best.0.0 > bound.circuits && passes < most_passes {
        passes += 1;
        since_best += 1;
        if since_best > PATIENCE {
            since_best = 0;
            state.restore(&best.1);
            let lengths: Vec<u64> = (0..state.loads.len()).map(|_| rng.random_range(1..=LONGEST)).collect();
            let moved = (circuits.len() / 10).max(2);
            for _ in 0..moved {
                let index = rng.random_range(0..circuits.len());
                state.take(index);
                let path = state.cheapest(circuits[index], |edge| lengths[edge]);
                state.put(index, path);
            }
        }
        order.shuffle(&mut rng);
        let target = state.most() - 1;
        for &index in &order {
            interruption::check();
            state.take(index);
            state.spread(index, circuits[index], target);
        }
        let height = state.height();
        if height < best.0 {
            best = (height, state.paths.clone());
            since_best = 0;
        }
    }
    Ok(FibreRouting { paths: best.1, fibres: best.0.0, bound, passes })
}

struct State<'a> {
    servers: &'a Servers,
    loads: Vec<u32>,
    paths: Vec<Vec<u32>>,
}

impl State<'_> {
    fn most(&self) -> u32 {
        self.loads.iter().max().copied().unwrap_or(0)
    }

    /// The largest load, and how many edges have it.
    fn height(&self) -> (u32, usize) {
        let most = self.most();
        (most, self.loads.iter().filter(|&&load| load == most).count())
    }

    fn restore(&mut self, paths: &[Vec<u32>]) {
        self.loads = self.servers.existing().to_vec();
        self.paths = paths.to_vec();
        for index in 0..paths.len() {
            self.count(index, |load| *load += 1);
        }
    }

    fn count(&mut self, index: usize, change: impl Fn(&mut u32)) {
        for pair in self.paths[index].windows(2) {
            if let Some(side) = self.servers.grid().side_towards(pair[0], pair[1]) {
                change(&mut self.loads[self.servers.edge(pair[0], side)]);
            }
        }
    }

    fn take(&mut self, index: usize) {
        self.count(index, |load| *load -= 1);
        self.paths[index].clear();
    }

    /// Puts a circuit where edges that would carry more than the target cost most.
    fn spread(&mut self, index: usize, circuit: Circuit, target: u32) {
        // Edges far below the target all cost the same, and so do those beyond what fits 64 bits.
        let above = |edge: usize| (self.loads[edge] + 1 + DEPTH).saturating_sub(target).min(12);
        let path = self.cheapest(circuit, |edge| STEEPNESS.pow(above(edge)));
        self.put(index, path);
    }

    fn put(&mut self, index: usize, path: Vec<u32>) {
        self.paths[index] = path;
        self.count(index, |load| *load += 1);
    }

    fn cheapest(&self, circuit: Circuit, cost_of: impl Fn(usize) -> u64) -> Vec<u32> {
        let grid = self.servers.grid();
        let mut cost = vec![u64::MAX; grid.cells() as usize];
        let mut came_by = vec![Side::North; grid.cells() as usize];
        let mut queue = BinaryHeap::from([Reverse((0, circuit.source))]);
        cost[circuit.source as usize] = 0;
        while let Some(Reverse((here, server))) = queue.pop() {
            if server == circuit.destination {
                break;
            }
            if here > cost[server as usize] {
                continue;
            }
            for side in Side::ALL {
                let Some(other) = grid.beside(server, side) else { continue };
                let total = here + cost_of(self.servers.edge(server, side));
                if total < cost[other as usize] {
                    cost[other as usize] = total;
                    came_by[other as usize] = side;
                    queue.push(Reverse((total, other)));
                }
            }
        }
        let mut path = vec![circuit.destination];
        let mut server = circuit.destination;
        while server != circuit.source {
            let Some(before) = grid.beside(server, came_by[server as usize].opposite()) else { break };
            path.push(before);
            server = before;
        }
        path.reverse();
        path
    }
}
