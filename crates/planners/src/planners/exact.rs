//! The best sequence of all topologies there are, for one port and few GPUs.
//!
//! With one port a topology is a set of chains and cycles of circuits. Closing the chains takes no circuit away, and a
//! path that was there is still the only one, so that permutations suffice: n! of them, in which a GPU that is its own
//! image is dark. The optimum over all sequences is a shortest path over (step, permutation), and over the topology
//! before the first step, too, where it is no permutation. It is what HARVEST's eq. 4 asks for, by trying everything:
//! the reference that other planners and bounds are held against.

mod permutations;

use interruption::Interruptible;
use model::{Bound, ChargeKind, Error, Initial, Result, Schedule, Topology, Traffic};
use rayon::prelude::*;

use crate::shortest_path::{Before, ShortestPath};
use crate::{Capabilities, Change, Choice, ClassBound, LeastSum, Planner, Problem, StateSearch};

use crate::cutoffs::planners_exact::MOST_PAIRS;
pub(crate) use permutations::NAME as TOPOLOGY_NAME;
use permutations::{Circuits, MOST_GPUS, all_permutations};

/// The planner `exact`: every topology of one port, by exhaustion.
pub struct Exact;

impl Planner for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn summary(&self) -> &'static str {
        "the proven optimum over all topologies, where it is asked for by name: one port and up to 9 GPUs by trying all, \
         several ports by a mixed-integer program"
    }

    fn source(&self) -> &'static str {
        "HARVEST eq. 4 by exhaustion, appendix A"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            takes_candidates: false,
            charges: &[ChargeKind::Constant],
            closes_cycles: true,
            by_name_only: true,
            least_sum: LeastSum::Always,
            takes_budget: true,
            calls_solver: true,
            around_faults: false,
            ..Capabilities::default()
        }
    }

    /// O(patterns · transfers · n · n! + steps · n!), on all cores.
    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let change_s = self.check(problem)?;
        let schedule = problem.schedule();
        let gpus = schedule.ranks() as usize;
        let mut tried = all_permutations(gpus);
        let permutations = tried.len();
        if schedule.steps().len() > MOST_PAIRS / permutations {
            let accepts = format!("at most {} steps for {gpus} GPUs", MOST_PAIRS / permutations);
            return Err(Error::value("schedule", format!("{} steps", schedule.steps().len()), accepts));
        }
        let start = match &problem.fabric.initial {
            Initial::Free => Before::Nothing,
            Initial::Topology(initial) => Before::Candidate(place(&mut tried, Circuits::of(initial))),
            Initial::Repeated => Before::Last,
        };
        let costs = costs(problem, &tried);
        let mut search = ShortestPath::default();
        let total_s = search.run(&costs, tried.len(), &Change::Constant(change_s).into(), start);
        if total_s.is_infinite() {
            return Err(Error::infeasible("planner", "no topology of one port joins the transfers of some step"));
        }
        if total_s > limit_s {
            return Ok(None);
        }
        let choice = self.choice(problem, &tried, search.path())?;
        let class = format!(
            "{} unchanged, every topology of one port in each (all {permutations} permutations tried), any \
             reconfigurations",
            bounds::steps_of_algorithm(schedule)
        );
        // The plan adds up the same terms as the search, in another order.
        let class_bound = Some(ClassBound::Stated(Bound { seconds: choice.total_s, class }));
        Ok(Some(Choice { class_bound, ..choice }))
    }
}

impl Exact {
    /// The best sequence of the problem's candidates, which a solver has chosen from all topologies of several ports,
    /// and what it has proved: `bound`, or the plan's time where the solver's tolerance puts it above that.
    ///
    /// # Errors
    /// Candidates that do not serve every step.
    pub fn on_candidates(&self, problem: &Problem, bound: Bound) -> Result<Choice> {
        let mut search = StateSearch::new(&problem.table);
        let found_s = search.run(&problem.rates(), &problem.charges(), problem.before(), f64::INFINITY)?;
        found_s.ok_or_else(|| Error::infeasible("planner", "no candidates serve every step in finite time"))?;
        let choice = Choice::priced(self.name(), problem.clone(), search.path().to_vec())?;
        let class_bound = Some(ClassBound::Stated(Bound { seconds: bound.seconds.min(choice.total_s), ..bound }));
        Ok(Choice { class_bound, ..choice })
    }

    /// The charge of every change, where it takes the problem.
    fn check(&self, problem: &Problem) -> Result<f64> {
        let shape = &problem.fabric.shape;
        if shape.ports() != 1 {
            let reason = "it takes one port here; `lightloom plan` and `lightloom.exact_plan` take several";
            return Err(Error::refused("ports", self.name(), reason));
        }
        if shape.gpus() > MOST_GPUS {
            let accepts =
                format!("at most {MOST_GPUS} with planner {} and one port: it tries all n! topologies", self.name());
            return Err(Error::value("gpus", shape.gpus(), accepts));
        }
        if problem.settings.overlap != model::Overlap::Additive {
            return Err(Error::refused("overlap", self.name(), "it supports only overlap additive"));
        }
        constant_change_s(problem)
    }

    /// The sequence as a choice among the topologies that it uses.
    fn choice(&self, problem: &Problem, tried: &[Circuits], path: &[usize]) -> Result<Choice> {
        let gpus = problem.schedule().ranks();
        let mut used = path.to_vec();
        used.sort_unstable();
        used.dedup();
        let topologies: Result<Vec<Topology>> = used.iter().map(|&index| tried[index].topology(gpus)).collect();
        let schedule: Schedule = problem.schedule().clone();
        let own = problem.with(schedule, problem.settings, topologies?)?;
        let candidates = path.iter().filter_map(|index| used.binary_search(index).ok()).collect();
        Choice::priced(self.name(), own, candidates)
    }
}

/// The charge of every change, for planners that prove optima.
///
/// # Errors
/// Changes that are not all charged the same, or an optical layer that limits topologies.
pub fn constant_change_s(problem: &Problem) -> Result<f64> {
    if problem.fabric.optics.is_some() {
        let reason = "it proves optima over all topologies of this many ports; leave the optical layer out";
        return Err(Error::refused("optics", Exact.name(), reason));
    }
    if problem.fabric.shape.positions().is_some() {
        let reason = "it proves optima where all hops take as long; leave the positions out";
        return Err(Error::refused("positions", Exact.name(), reason));
    }
    if problem.fabric.shape.pairs().is_some() {
        let reason = "it proves optima where all circuits are alike; leave the rates of pairs out";
        return Err(Error::refused("pair_rates", Exact.name(), reason));
    }
    let policy = &problem.fabric.reconfiguration;
    policy.constant_s().ok_or_else(|| match policy.charge_kind() {
        ChargeKind::Overlapping => {
            Error::refused("fabric", Exact.name(), "it proves optima where nothing of a reconfiguration is hidden")
        }
        _ => {
            let reason = "it takes one delay for every change; all pairs of topologies are too many for one each";
            Error::refused("reconfiguration_delay", Exact.name(), reason)
        }
    })
}

/// Where `circuits` are among those tried; they are added where they are not.
fn place(tried: &mut Vec<Circuits>, circuits: Circuits) -> usize {
    tried.iter().position(|other| *other == circuits).unwrap_or_else(|| {
        tried.push(circuits);
        tried.len() - 1
    })
}

/// Seconds of every step on every one of `tried`, row-major `[step][tried]`.
fn costs(problem: &Problem, tried: &[Circuits]) -> Vec<f64> {
    let (rates, table) = (problem.rates(), &problem.table);
    let reaches: Vec<Vec<(u8, f64)>> = table
        .patterns()
        .map(|pattern: &Traffic| {
            let arcs = pattern.expanded();
            tried
                .par_iter()
                .interruptible()
                .map(|circuits| circuits.carry(&arcs).unwrap_or((0, f64::INFINITY)))
                .collect()
        })
        .collect();
    let mut costs = vec![0.0; table.steps() * tried.len()];
    for (step, row) in costs.chunks_mut(tried.len()).enumerate() {
        let reach = &reaches[table.pattern_of_step(step)];
        row.par_iter_mut().zip(reach).enumerate().for_each(|(index, (cost, &(hops, load)))| {
            *cost = if load.is_finite() { rates.of(step, index, u32::from(hops), load) } else { f64::INFINITY };
        });
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Link, Translations};

    #[test]
    fn a_start_that_is_no_permutation_is_tried_too() {
        let chain = Topology::new("chain", Translations::trivial(3), [Link { src: 0, dst: 1, count: 1 }]).unwrap();
        let mut tried = all_permutations(3);
        assert_eq!(place(&mut tried, Circuits::of(&chain)), 6);
        let pair = Topology::new(
            "pair",
            Translations::trivial(3),
            [(0, 1), (1, 0)].map(|(src, dst)| Link { src, dst, count: 1 }),
        );
        assert!(place(&mut tried, Circuits::of(&pair.unwrap())) < 6);
    }
}
