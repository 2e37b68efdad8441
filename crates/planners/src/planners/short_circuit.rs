//! Short-circuiting rings: recursive doubling on a static ring until a threshold, then every step on its
//! own circuits, or the Ring algorithm on the ring where no threshold beats that (§3). For any number of GPUs.
//!
//! Steps i = 0 … s−1 of the ReduceScatter send m/2^(i+1) over the distance 2^i. On the ring they take 2^i hops and
//! load a link 2^i times, on their own circuits one and one, after a reconfiguration (eq. 1 and 4):
//!
//! Σ_{i<T} (α + δ·2^i + β·m/2) + Σ_{i≥T} (α_r + α + δ + β·m/2^(i+1))   against   (n−1)·(α + δ + β·m/n)
//!
//! Where n is no power of two, s = ⌈log₂ n⌉ and step i sends the ⌈(n−2^i)/2^(i+1)⌉ blocks m/n whose owners are an odd
//! multiple of 2^i ahead, to the rank 2^i ahead (`bruck-doubling`). That is a matching, too, and (n−1)/n of the buffer
//! in all. Folding n − 2^(s−1) ranks into the others has as many steps, and sends the whole buffer in one of them.
//!
//! The AllGather is the mirror image with a threshold of its own, the number of steps before it returns to
//! the ring (eq. 5), and the AllReduce is both. The best thresholds are taken, which are what the paper's
//! figures show, not the smallest that beat Ring. A reconfiguration is charged where circuits change: the return
//! to the ring counts, and the AllGather of an AllReduce may start on the circuits that the ReduceScatter
//! ended on. Since such an AllGather costs as much as the ReduceScatter with the same threshold, recursive
//! doubling in one half and Ring in the other is never the best.
//!
//! The ring is the initial topology where that is one, or a one-way ring of all ports.

use model::{
    Collective, CostSettings, Error, Fabric, Initial, Result, Routing, Schedule, StepCost, Topology, sum_seconds,
};

use crate::{Capabilities, Choice, LeastSum, Planner, Problem, ties};

/// The planner of Short-circuiting rings: the best pair of thresholds.
pub struct ShortCircuit;

/// The thresholds of a problem and what they give. O(s³) after the profiles of s + 1 topologies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Steps that the ReduceScatter stays on the ring, before it reconfigures at each; its T.
    pub reduce_scatter: Option<usize>,
    /// Steps at each of which the AllGather has its own circuits, before it stays on the ring.
    pub all_gather: Option<usize>,
    /// Recursive doubling with these thresholds, s.
    pub recursive_doubling_s: f64,
    /// The Ring algorithm on the static ring, s.
    pub ring_s: f64,
}

impl Thresholds {
    /// The best thresholds for recursive doubling on the ring of the start, else on the one-way ring, whether or not
    /// Ring is better. Ties go to the longer stay on the ring.
    ///
    /// # Errors
    /// A schedule that is not recursive doubling.
    pub fn of(problem: &Problem) -> Result<Self> {
        let ring = rings(&problem.fabric)?.swap_remove(0);
        Ok(Doubling::new(problem, ring)?.best()?.0)
    }
}

impl Planner for ShortCircuit {
    fn name(&self) -> &'static str {
        "short-circuit"
    }

    fn summary(&self) -> &'static str {
        "recursive doubling on the ring until a threshold, then each step's own circuits; Ring where that is better"
    }

    fn source(&self) -> &'static str {
        "Short-circuiting rings §3, eq. 4 and 5"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            takes_candidates: false,
            fixed_routing: Some(Routing::SinglePath),
            replaces_algorithm: true,
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let mut best: Option<Choice> = None;
        for ring in rings(&problem.fabric)? {
            let choice = Doubling::new(problem, ring)?.choice()?;
            if best.as_ref().is_none_or(|best| !ties::within(best.total_s, choice.total_s)) {
                best = Some(choice);
            }
        }
        Ok(best.filter(|choice| choice.total_s <= limit_s))
    }
}

/// Recursive doubling with the ring, which is candidate 0, and every step's own circuits.
struct Doubling {
    problem: Problem,
    /// Candidate of each step's own circuits.
    own: Vec<usize>,
}

impl Doubling {
    fn new(given: &Problem, ring: Topology) -> Result<Self> {
        let schedule = given.schedule();
        if !is_doubling(schedule) {
            let reason = "it takes recursive doubling (bruck-doubling for any number of GPUs): distances 1, 2, 4, … with \
                          the data halved at each (ReduceScatter), the same in reverse (AllGather), or both (AllReduce)";
            return Err(Error::refused("planner", ShortCircuit.name(), reason));
        }
        let ports = given.fabric.shape.ports();
        let mut topologies = vec![ring];
        let mut own = Vec::with_capacity(schedule.steps().len());
        for (index, step) in schedule.steps().iter().enumerate() {
            let circuits =
                Topology::of_traffic(format!("matching-{}", index + 1), step.traffic(), ports).ok_or_else(|| {
                    Error::refused("planner", ShortCircuit.name(), format!("step {} is empty", index + 1))
                })?;
            let known = topologies.iter().position(|topology| topology.same_links(&circuits));
            own.push(known.unwrap_or(topologies.len()));
            if known.is_none() {
                topologies.push(circuits);
            }
        }
        let problem = given.with(schedule.clone(), settings(given), topologies)?;
        Ok(Self { problem, own })
    }

    /// Recursive doubling by the best thresholds, or Ring where that is as fast.
    fn choice(self) -> Result<Choice> {
        let planner = ShortCircuit.name();
        let (best, candidates) = self.best()?;
        if best.recursive_doubling_s < best.ring_s {
            let total_s = best.recursive_doubling_s;
            return Ok(Choice { planner, problem: self.problem, candidates, total_s, class_bound: None });
        }
        if best.ring_s.is_infinite()
            && let Some(refusal) = self.problem.table.refusal(0)
        {
            return Err(refusal.clone());
        }
        let problem = self.ring_problem()?;
        let candidates = vec![0; problem.table.steps()];
        Ok(Choice { planner, problem, candidates, total_s: best.ring_s, class_bound: None })
    }

    /// The best thresholds with the candidate of every step.
    fn best(&self) -> Result<(Thresholds, Vec<usize>)> {
        let steps = self.own.len();
        let (reducing, gathering) = match self.problem.schedule().collective() {
            Collective::ReduceScatter => (steps, 0),
            Collective::AllGather => (0, steps),
            _ => (steps / 2, steps / 2),
        };
        // A topology that the optical layer cannot hold is never taken.
        let cost = |step, candidate| match self.problem.table.refusal(candidate) {
            Some(_) => Ok(f64::INFINITY),
            None => self.problem.step_cost(step, candidate).map(|(cost, ..)| cost.total_s()),
        };
        let on_ring = (0..steps).map(|step| cost(step, 0)).collect::<Result<Vec<f64>>>()?;
        let on_own = (0..steps).map(|step| cost(step, self.own[step])).collect::<Result<Vec<f64>>>()?;
        let change = self.problem.change();
        let topologies = self.problem.table.candidates();
        let mut best = (f64::INFINITY, 0, 0);
        for stay in (0..=reducing).rev() {
            for leave in 0..=gathering {
                interruption::check();
                let is_own = |step: usize| (stay..reducing + leave).contains(&step);
                let mut in_force = self.problem.start;
                let total_s = sum_seconds((0..steps).flat_map(|step| {
                    let (candidate, step_s) =
                        if is_own(step) { (self.own[step], on_own[step]) } else { (0, on_ring[step]) };
                    let before = in_force.replace(candidate).unwrap_or(candidate);
                    [change.between(topologies, before, candidate), step_s]
                }));
                if total_s < best.0 {
                    best = (total_s, stay, leave);
                }
            }
        }
        let (recursive_doubling_s, stay, leave) = best;
        let is_own = |step: &usize| (stay..reducing + leave).contains(step);
        let candidates = (0..steps).map(|step| if is_own(&step) { self.own[step] } else { 0 }).collect();
        let thresholds = Thresholds {
            reduce_scatter: (reducing > 0).then_some(stay),
            all_gather: (gathering > 0).then_some(leave),
            recursive_doubling_s,
            ring_s: self.ring_s(),
        };
        Ok((thresholds, candidates))
    }

    /// Eq. 3: n − 1 steps of m/n over one hop in each half, on the static ring.
    fn ring_s(&self) -> f64 {
        let problem = &self.problem;
        if problem.table.refusal(0).is_some() {
            return f64::INFINITY;
        }
        let ranks = problem.schedule().ranks();
        let halves = if problem.schedule().collective() == Collective::AllReduce { 2 } else { 1 };
        let ring = problem.table.candidate(0);
        let circuits = ring.links().iter().filter(|link| link.src == 0 && link.dst == 1).map(|link| link.count);
        let load = 1.0 / f64::from(circuits.sum::<u32>());
        let block = problem.size_bytes as f64 / f64::from(ranks);
        let delays = problem.settings.propagation.of_step(problem.fabric.shape.ports(), || 1.0);
        let step = StepCost::on_point(&problem.fabric, ring, delays, block, 1, load).total_s();
        let first = problem.start.map(|start| problem.change().between(problem.table.candidates(), start, 0));
        let steps = std::iter::repeat_n(step, halves * (ranks as usize - 1));
        sum_seconds(first.into_iter().chain(steps))
    }

    /// The Ring algorithm for the same collective, with the ring as candidate 0.
    fn ring_problem(&self) -> Result<Problem> {
        let shape = &self.problem.fabric.shape;
        let collective = self.problem.schedule().collective();
        let options = collectives::Options::default();
        let schedule = collectives::find("ring")?.build(collective, shape, &options)?;
        let ring = self.problem.table.candidate(0).clone();
        self.problem.with(schedule, self.problem.settings, vec![ring])
    }
}

/// The paper routes along the ring: one shortest path.
fn settings(problem: &Problem) -> CostSettings {
    CostSettings { routing: Routing::SinglePath, ..problem.settings }
}

/// The initial topology if it is a ring of neighbours, and the one-way ring.
fn rings(fabric: &Fabric) -> Result<Vec<Topology>> {
    let one_way = topologies::build("ring:one-way", &fabric.shape)?;
    let Initial::Topology(initial) = &fabric.initial else { return Ok(vec![one_way]) };
    if one_way.same_links(initial) {
        return Ok(vec![initial.clone()]);
    }
    let two_way = topologies::build("ring", &fabric.shape)?;
    let given = two_way.same_links(initial).then(|| initial.clone());
    Ok(given.into_iter().chain([one_way]).collect())
}

/// Whether every step is a matching of ranks 2^i apart on the ring, with the data of recursive doubling for any number
/// of ranks. The open direction admits the variant whose partners differ in one bit.
fn is_doubling(schedule: &Schedule) -> bool {
    let ranks = schedule.ranks();
    let rising = std::iter::successors(Some(1u32), |distance| distance.checked_mul(2));
    let rising: Vec<u32> = rising.take_while(|distance| *distance < ranks).collect();
    let falling = rising.iter().rev().copied();
    let distances: Vec<u32> = match schedule.collective() {
        Collective::ReduceScatter => rising,
        Collective::AllGather => falling.collect(),
        Collective::AllReduce => rising.iter().copied().chain(falling).collect(),
        _ => return false,
    };
    let steps = schedule.steps();
    steps.len() == distances.len()
        && steps.iter().zip(distances).all(|(step, distance)| {
            let traffic = step.traffic();
            let blocks = (ranks - distance).div_ceil(2 * distance);
            let share = f64::from(blocks) / f64::from(ranks);
            (step.share() - share).abs() <= 1e-9 * share
                && traffic.degree() == 1
                && traffic.arcs().iter().all(|arc| {
                    let apart = arc.src.abs_diff(arc.dst);
                    arc.weight == 1.0 && apart.min(ranks - apart) == distance.min(ranks - distance)
                })
        })
}
