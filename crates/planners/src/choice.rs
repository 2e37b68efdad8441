//! A planner's answer, and the plan made of it.

use fronts::Point;
use interruption::Interruptible;
use model::{
    Bound, CostSettings, Fabric, Initial, Overlap, Plan, PlanParts, PlanStep, Result, Routes, Routing, StepCost,
    Topology, sum_seconds,
};
use rayon::prelude::*;

use crate::{ClassBound, Problem, given_routes};

/// The candidate that serves each step.
#[derive(Clone)]
pub struct Choice {
    /// Name of the planner.
    pub planner: &'static str,
    /// The problem that the choice solves: the one given, or one with steps split by the planner.
    pub problem: Problem,
    /// Candidate of every step.
    pub candidates: Vec<usize>,
    /// Completion time, s.
    pub total_s: f64,
    /// A bound on the class of schedules that the planner chooses from, where it knows one.
    pub class_bound: Option<ClassBound>,
}

impl Choice {
    /// A planner's own sequence of candidates, priced: every step's cost and every change, the first one from
    /// the problem's start.
    ///
    /// # Errors
    /// When some transfer of a step has no path on its candidate.
    pub fn priced(planner: &'static str, problem: Problem, candidates: Vec<usize>) -> Result<Self> {
        let total_s = problem.total_s(&candidates)?;
        Ok(Self { planner, problem, candidates, total_s, class_bound: None })
    }

    /// The same choice with the time that its problem says, where what chose it counted in another way.
    ///
    /// # Errors
    /// As [`Choice::priced`].
    pub(crate) fn priced_anew(self) -> Result<Self> {
        let class_bound = self.class_bound;
        Ok(Self { class_bound, ..Self::priced(self.planner, self.problem, self.candidates)? })
    }

    /// This sequence of topologies on a fabric that differs only in its start, priced from there.
    ///
    /// # Errors
    /// The errors of [`Problem::new`].
    pub fn started_on(&self, fabric: &Fabric) -> Result<Self> {
        self.under(fabric, self.problem.settings)
    }

    /// This sequence of topologies with every transfer on the paths of this routing.
    ///
    /// # Errors
    /// The errors of [`Problem::new`].
    pub fn routed(&self, routing: Routing) -> Result<Self> {
        self.under(&self.problem.fabric, CostSettings { routing, ..self.problem.settings })
    }

    /// This sequence of topologies on a fabric of as many GPUs under other settings.
    fn under(&self, fabric: &Fabric, settings: CostSettings) -> Result<Self> {
        let problem = &self.problem;
        let mut used = self.candidates.clone();
        used.sort_unstable();
        used.dedup();
        let topologies = used.iter().map(|&candidate| problem.table.candidate(candidate).clone()).collect();
        let schedule = problem.schedule().clone();
        let started = Problem { fabric: fabric.clone(), ..problem.clone() };
        let mut own = started.with(schedule, settings, topologies)?;
        given_routes::carry_over(&mut own, &problem.table, &used);
        let place = |candidate: &usize| used.partition_point(|other| other < candidate);
        let candidates = self.candidates.iter().map(place).collect();
        let class_bound = self.class_bound.clone();
        Ok(Self { class_bound, ..Self::priced(self.planner, own, candidates)? })
    }

    /// This sequence of topologies on a fabric that differs only in the charges of changes of topology.
    ///
    /// # Errors
    /// When some transfer of a step has no path on its candidate.
    pub fn charged_as(&self, fabric: &Fabric) -> Result<Self> {
        let problem = Problem { fabric: fabric.clone(), ..self.problem.clone() };
        let class_bound = self.class_bound.as_ref().map(|_| ClassBound::any_algorithm(&problem));
        Ok(Self { class_bound, ..Self::priced(self.planner, problem, self.candidates.clone())? })
    }

    /// Whether circuits stay as they are from the start on; a start without circuits is set up once.
    pub fn never_changes(&self) -> bool {
        let is_dark = |candidate: usize| self.problem.table.candidate(candidate).links().is_empty();
        self.problem.changes_of(&self.candidates).all(|(from, _)| Some(from) == self.problem.start && is_dark(from))
    }

    /// Seconds that [`Choice::started_on`] takes, where the choice is from a free start.
    pub fn seconds_started_on(&self, fabric: &Fabric) -> f64 {
        let [first, last] =
            [0, self.candidates.len() - 1].map(|step| self.problem.table.candidate(self.candidates[step]));
        let Some(start) = fabric.initial.before_first(last) else { return self.total_s };
        let change = fabric.reconfiguration.between(start, first, fabric.shape.ports());
        self.total_s + fabric.reconfiguration.charge_s(change, 0, 0.0)
    }

    /// The terms, each added up over the steps.
    ///
    /// # Errors
    /// When some transfer of a step has no path on its candidate, which a choice with a finite time never has.
    pub fn cost(&self) -> Result<StepCost> {
        Ok(StepCost::sum(self.problem.costs(&self.candidates)?.iter()))
    }

    /// Number of changes of topology, those that are hidden included.
    pub fn reconfigurations(&self) -> usize {
        self.problem.changes_of(&self.candidates).count()
    }

    /// The bound for every algorithm of the collective, and the one for the class of schedules that the planner chooses
    /// from, else for the steps that the choice runs; the second only where it is the larger.
    pub fn bounds(&self) -> (Bound, Option<Bound>) {
        let problem = &self.problem;
        let any = problem.any_algorithm_bound();
        let narrow = match &self.class_bound {
            Some(ClassBound::AnyAlgorithm) => return (any, None),
            Some(ClassBound::Stated(bound)) => bound.clone(),
            None => {
                let (schedule, fabric) = (problem.schedule(), &problem.fabric);
                let statement = bounds::given_schedule(schedule, fabric, problem.settings, problem.size_bytes);
                Bound { class: bounds::class_of_steps(&bounds::steps_of_plan(schedule), fabric), ..statement.bound() }
            }
        };
        let is_larger = narrow.seconds > any.seconds;
        (any, is_larger.then_some(narrow))
    }

    /// The larger of [`Choice::bounds`].
    pub fn bound(&self) -> Bound {
        let (any, narrow) = self.bounds();
        narrow.unwrap_or(any)
    }

    /// The plan: routes, the terms of every step, and the bounds. The one that it is compared with first is that
    /// for every algorithm, or, where `narrow_first`, the larger of [`Choice::bounds`].
    ///
    /// # Errors
    /// When a step has no route on its topology, which a choice with a finite time never has.
    pub fn into_plan(self, narrow_first: bool) -> Result<Plan> {
        let (bound, narrow_bound) = match self.bounds() {
            (_, Some(narrow)) if narrow_first => (narrow, None),
            bounds => bounds,
        };
        let Self { planner, problem, candidates, .. } = self;
        let table = &problem.table;
        let mut topologies: Vec<Topology> = Vec::new();
        let mut place: Vec<Option<usize>> = vec![None; table.candidates()];
        let mut use_topology = |candidate: usize| {
            *place[candidate].get_or_insert_with(|| {
                topologies.push(table.candidate(candidate).clone());
                topologies.len() - 1
            })
        };
        if let Some(start) = problem.start {
            use_topology(start);
        }
        let mut in_force = problem.before_first(&candidates);
        let mut steps: Vec<PlanStep> = Vec::with_capacity(candidates.len());
        let routed = candidates.par_iter().enumerate().interruptible().map(|(index, &candidate)| {
            let (cost, hop_limit, _) = problem.step_cost(index, candidate)?;
            Ok((problem.routes(index, candidate, hop_limit)?, cost))
        });
        let routed: Vec<((Routes, Point), StepCost)> = routed.collect::<Result<_>>()?;
        for ((index, &candidate), ((routes, point), packets)) in candidates.iter().enumerate().zip(routed) {
            interruption::check();
            let step = problem.schedule().steps()[index].clone();
            let transfer_bytes = problem.transfer_bytes(index);
            let cost = match problem.settings.overlap {
                // Routes may be shorter than the limit that they keep.
                Overlap::Additive => StepCost::on_point(
                    &problem.fabric,
                    table.candidate(candidate),
                    problem.hop_delays(index),
                    transfer_bytes,
                    point.hops,
                    point.load,
                ),
                Overlap::Pipelined => {
                    let carried_s = packets.propagation_s + packets.transmission_s;
                    StepCost::pipelined(&problem.fabric, table.candidate(candidate), point.hops, carried_s)
                }
            };
            let reconfigured = in_force.is_some_and(|before| before != candidate);
            in_force = Some(candidate);
            steps.push(PlanStep {
                step,
                topology: use_topology(candidate),
                reconfigured,
                transfer_bytes,
                hops: point.hops,
                load: point.load,
                electrical_load: 0.0,
                routes,
                cost,
            });
        }
        let steps_s: Vec<f64> = steps.iter().map(|step| step.cost.total_s()).collect();
        for (step, charge_s) in steps.iter_mut().zip(problem.charges_of(&candidates, &steps_s)) {
            step.cost.reconfiguration_s = charge_s;
        }
        let mut fabric = problem.fabric.clone();
        if let (Initial::Topology(_), Some(start)) = (&fabric.initial, problem.start) {
            // The candidate with the initial topology's circuits may go by another name; the fabric keeps its own.
            let name = fabric.initial_name().to_string();
            fabric.initial = Initial::Topology(table.candidate(start).clone().renamed(name));
        }
        let bound = not_above(bound, &steps, problem.settings.overlap);
        let narrow_bound = narrow_bound.map(|bound| not_above(bound, &steps, problem.settings.overlap));
        Plan::new(PlanParts {
            algorithm: problem.schedule().algorithm().to_string(),
            planner: planner.to_string(),
            size_bytes: problem.size_bytes,
            fabric,
            settings: problem.settings,
            chunks: problem.schedule().chunks().clone(),
            topologies,
            steps,
            bound,
            narrow_bound,
        })
    }
}

/// The bound of a plan of these steps, lowered to their time if it is above that time by rounding only. A larger excess
/// is a mistake, which is left for the plan's verifier to find.
fn not_above(bound: Bound, steps: &[PlanStep], overlap: Overlap) -> Bound {
    let total_s = sum_seconds(steps.iter().flat_map(|step| step.cost.terms()));
    let rounding_s = match overlap {
        Overlap::Additive => 1e-9 * total_s,
        // Packets are of whole bytes but for a millionth of one, and every hop takes whole femtoseconds.
        Overlap::Pipelined => 2e-6 * total_s + 1e-15 * steps.iter().map(|step| f64::from(step.hops) + 1.0).sum::<f64>(),
    };
    let is_rounding = bound.seconds <= total_s + rounding_s;
    Bound { seconds: if is_rounding { bound.seconds.min(total_s) } else { bound.seconds }, ..bound }
}
