//! Topologies without what is broken: circuits given up where ports fail, and ports that become free joined anew.

use std::collections::{BTreeMap, BTreeSet};

use model::{Link, Plan, Rank, Result, Routes, Shape, Topology, Translations, WorkingPorts};

use crate::Choice;

/// The end of the name of a topology without what is broken.
pub(crate) const MENDED: &str = ", mended";

/// Pairs of ranks that something goes between, by topology.
type Carrying = BTreeMap<usize, BTreeSet<(Rank, Rank)>>;

/// The topologies of a choice, by index among the candidates in use, without links that carry nothing in any step.
///
/// # Errors
/// A step without a route, which a choice with a finite time does not have.
pub(super) fn without_idle(choice: &Choice, used: &[usize]) -> Result<Vec<Topology>> {
    let shape = &choice.problem.fabric.shape;
    let mut carrying = Carrying::new();
    let mut seen = BTreeSet::new();
    for (step, &candidate) in choice.candidates.iter().enumerate() {
        interruption::check();
        let (_, hop_limit, _) = choice.problem.step_cost(step, candidate)?;
        if !seen.insert((choice.problem.table.pattern_of_step(step), candidate, hop_limit)) {
            continue;
        }
        let (routes, _) = choice.problem.routes(step, candidate, hop_limit)?;
        note(&routes, carrying.entry(candidate).or_default());
    }
    let trimmed =
        |candidate: &usize| trimmed(choice.problem.table.candidate(*candidate), shape, carrying.get(candidate));
    used.iter().map(trimmed).collect()
}

/// The topologies of a plan at these indices, without links that carry nothing in any step.
///
/// # Errors
/// None that topologies of a plan lead to.
pub(super) fn without_idle_of(plan: &Plan, used: &[usize]) -> Result<Vec<Topology>> {
    let mut carrying = Carrying::new();
    for step in &plan.steps {
        interruption::check();
        note(&step.routes, carrying.entry(step.topology).or_default());
    }
    let shape = &plan.fabric.shape;
    used.iter().map(|index| trimmed(&plan.topologies[*index], shape, carrying.get(index))).collect()
}

/// Adds the pairs that paths go between.
fn note(routes: &Routes, carrying: &mut BTreeSet<(Rank, Rank)>) {
    for element in routes.symmetry.elements() {
        for path in routes.arcs.iter().flat_map(|arc| &arc.paths) {
            let at = |node: Rank| routes.symmetry.apply(element, node);
            carrying.extend(path.nodes.windows(2).map(|hop| (at(hop[0]), at(hop[1]))));
        }
    }
}

fn trimmed(topology: &Topology, shape: &Shape, carrying: Option<&BTreeSet<(Rank, Rank)>>) -> Result<Topology> {
    let carries = |link: &Link| carrying.is_some_and(|links| links.contains(&(link.src, link.dst)));
    if topology.expanded().iter().all(carries) {
        return Ok(topology.clone());
    }
    shape.by_class(topology, |topology, _| {
        let left = topology.expanded().into_iter().filter(carries);
        Topology::new(topology.name(), Translations::trivial(topology.ranks()), left)
    })
}

/// The use of ports that are free once circuits are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freed {
    /// They stay dark, so that no circuit is new.
    Dark,
    /// They are joined where a circuit between them can be made.
    Joined,
    /// As joined; of those that cannot be joined, a transmitter and a receiver exchange ends with another circuit.
    Exchanged,
}

/// The topology on what works, in one of several ways: which circuits are given up differs with `way`. Itself where it
/// fits already. Where ports have different rates, those of each rate are joined anew among themselves.
///
/// # Errors
/// The errors of [`Topology::new`], none of which a topology has.
pub(crate) fn mended(topology: &Topology, shape: &Shape, way: usize, freed: Freed) -> Result<Topology> {
    if shape.check_faults(topology).is_ok() {
        return Ok(topology.clone());
    }
    shape.by_class(topology, |topology, shape| mended_of_alike(topology, shape, way, freed))
}

fn mended_of_alike(topology: &Topology, shape: &Shape, way: usize, freed: Freed) -> Result<Topology> {
    if shape.check_faults(topology).is_ok() {
        return Ok(topology.clone());
    }
    let mut circuits = Circuits::of(topology, shape);
    let mut way = way;
    for rank in 0..shape.gpus() {
        circuits.give_up(rank, true, &mut way);
        circuits.give_up(rank, false, &mut way);
    }
    if freed != Freed::Dark {
        circuits.join_free_ports();
    }
    if freed == Freed::Exchanged {
        circuits.exchange_ends();
    }
    let links = circuits.links.into_iter().map(|((src, dst), count)| Link { src, dst, count });
    Topology::new(format!("{}{MENDED}", topology.name()), Translations::trivial(topology.ranks()), links)
}

/// Circuits that can be made, and the ports that work for them.
struct Circuits<'a> {
    shape: &'a Shape,
    working: WorkingPorts,
    out: Vec<u32>,
    into: Vec<u32>,
    links: BTreeMap<(Rank, Rank), u32>,
}

impl<'a> Circuits<'a> {
    fn of(topology: &Topology, shape: &'a Shape) -> Self {
        let ranks = shape.gpus() as usize;
        let (out, into) = (vec![0; ranks], vec![0; ranks]);
        let mut circuits = Self { shape, working: WorkingPorts::of(shape), out, into, links: BTreeMap::new() };
        for link in topology.expanded().into_iter().filter(|link| shape.joins(link.src, link.dst)) {
            circuits.add((link.src, link.dst), link.count);
        }
        circuits
    }

    fn add(&mut self, (src, dst): (Rank, Rank), count: u32) {
        self.out[src as usize] += count;
        self.into[dst as usize] += count;
        *self.links.entry((src, dst)).or_insert(0) += count;
    }

    fn remove_one(&mut self, (src, dst): (Rank, Rank)) {
        self.out[src as usize] -= 1;
        self.into[dst as usize] -= 1;
        if let Some(count) = self.links.get_mut(&(src, dst)) {
            *count -= 1;
            if *count == 0 {
                self.links.remove(&(src, dst));
            }
        }
    }

    /// Gives up circuits out of or into a rank until it has a port for each; which of them is first says `way`, of
    /// which the rest is left for the next. Parallel circuits and those whose other end lacks a port too go first.
    fn give_up(&mut self, rank: Rank, outward: bool, way: &mut usize) {
        let at = rank as usize;
        loop {
            let (has, works) =
                if outward { (self.out[at], self.working.out[at]) } else { (self.into[at], self.working.into[at]) };
            if has <= works {
                return;
            }
            let is_own = |&&(src, dst): &&(Rank, Rank)| if outward { src == rank } else { dst == rank };
            let mut own: Vec<(Rank, Rank)> = self.links.keys().filter(is_own).copied().collect();
            own.sort_by_key(|&(src, dst)| {
                let other_lacks = match outward {
                    true => self.into[dst as usize] > self.working.into[dst as usize],
                    false => self.out[src as usize] > self.working.out[src as usize],
                };
                (!other_lacks, std::cmp::Reverse(self.links[&(src, dst)]), src, dst)
            });
            let chosen = own[*way % own.len()];
            *way /= own.len();
            self.remove_one(chosen);
        }
    }

    /// Joins transmitters and receivers that are free, each with the first that it can be joined with and has no
    /// circuit to yet, else with any.
    fn join_free_ports(&mut self) {
        for parallel in [false, true] {
            for src in 0..self.shape.gpus() {
                while self.out[src as usize] < self.working.out[src as usize] {
                    let fits = |&dst: &Rank| {
                        dst != src
                            && self.into[dst as usize] < self.working.into[dst as usize]
                            && self.shape.joins(src, dst)
                            && (parallel || !self.links.contains_key(&(src, dst)))
                    };
                    let Some(dst) = (0..self.shape.gpus()).find(fits) else { break };
                    self.add((src, dst), 1);
                }
            }
        }
    }

    /// For each transmitter and receiver that are free still, a circuit between other ranks is given up where both of
    /// its ends can be joined with them.
    fn exchange_ends(&mut self) {
        let (out, into) = (self.working.out.clone(), self.working.into.clone());
        let is_free = |has: &[u32], works: &[u32], rank: Rank| has[rank as usize] < works[rank as usize];
        for src in 0..self.shape.gpus() {
            let Some(dst) = (0..self.shape.gpus()).find(|&dst| is_free(&self.into, &into, dst)) else { return };
            if !is_free(&self.out, &out, src) {
                continue;
            }
            let fits = |&&(from, to): &&(Rank, Rank)| {
                let is_new = |link: (Rank, Rank)| !self.links.contains_key(&link) && self.shape.joins(link.0, link.1);
                src != to && from != dst && is_new((src, to)) && is_new((from, dst))
            };
            if let Some(&(from, to)) = self.links.keys().find(fits) {
                self.remove_one((from, to));
                self.add((src, to), 1);
                self.add((from, dst), 1);
            }
        }
    }
}
