//! A planner's answer, and the plan made of it.

use model::{Bound, Initial, Overlap, Plan, PlanParts, PlanStep, Result, Routes, StepCost, Topology, sum_seconds};
use profile::Point;
use rayon::prelude::*;

use crate::Problem;

/// Which candidate serves which step.
#[derive(Clone)]
pub struct Choice {
    /// Name of the planner.
    pub planner: &'static str,
    /// The problem that it is an answer to: the one given, or one with steps split by the planner.
    pub problem: Problem,
    /// Candidate of every step.
    pub candidates: Vec<usize>,
    /// Completion time, s.
    pub total_s: f64,
    /// A bound on the class of schedules that the planner chooses from, where it knows one.
    pub class_bound: Option<Bound>,
}

impl Choice {
    /// A planner's own sequence of candidates, priced: every step's cost and every change, the first one from
    /// the problem's start.
    ///
    /// # Errors
    /// When some transfer of a step has no path on its candidate.
    pub fn priced(planner: &'static str, problem: Problem, candidates: Vec<usize>) -> Result<Self> {
        let steps = candidates.iter().enumerate();
        let steps_s = steps.map(|(step, &candidate)| Ok(problem.step_cost(step, candidate)?.0.total_s()));
        let steps_s: Vec<f64> = steps_s.collect::<Result<_>>()?;
        let charges = problem.charges_of(&candidates, &steps_s);
        let terms = charges.into_iter().zip(steps_s).flat_map(|(charge_s, step_s)| [charge_s, step_s]);
        let total_s = sum_seconds(terms);
        Ok(Self { planner, problem, candidates, total_s, class_bound: None })
    }

    /// Number of changes of topology, those that are hidden included.
    pub fn reconfigurations(&self) -> usize {
        let before = self.problem.start.into_iter().chain(self.candidates.iter().copied());
        let after = before.clone().skip(1);
        before.zip(after).filter(|(from, to)| from != to).count()
    }

    /// The largest bound that holds: for every algorithm, and for the planner's class of schedules, else for the steps that
    /// the choice runs.
    pub fn bound(&self) -> Bound {
        let problem = &self.problem;
        let of_class = self.class_bound.clone().unwrap_or_else(|| {
            let schedule = problem.schedule();
            bounds::given_schedule(schedule, &problem.fabric, problem.settings, problem.size_bytes).bound()
        });
        let of_all = problem.any_algorithm_bound();
        if of_class.seconds > of_all.seconds { of_class } else { of_all }
    }

    /// The plan: routes, the four terms of every step, and the bound.
    ///
    /// # Errors
    /// When a step has no route on its topology, which a choice with a finite time never has.
    pub fn into_plan(self) -> Result<Plan> {
        let bound = self.bound();
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
        let mut in_force = problem.start;
        let mut steps: Vec<PlanStep> = Vec::with_capacity(candidates.len());
        let routed = candidates.par_iter().enumerate().map(|(index, &candidate)| {
            let (cost, hop_limit, _) = problem.step_cost(index, candidate)?;
            Ok((problem.routes(index, candidate, hop_limit)?, cost))
        });
        let routed: Vec<((Routes, Point), StepCost)> = routed.collect::<Result<_>>()?;
        for ((index, &candidate), ((routes, point), packets)) in candidates.iter().enumerate().zip(routed) {
            let step = problem.schedule().steps()[index].clone();
            let transfer_bytes = problem.transfer_bytes(index);
            let cost = match problem.settings.overlap {
                // Routes may be shorter than the limit that they keep.
                Overlap::Additive => StepCost::on_point(
                    &problem.fabric,
                    problem.settings.propagation,
                    transfer_bytes,
                    point.hops,
                    point.load,
                ),
                Overlap::Pipelined => {
                    StepCost::pipelined(&problem.fabric, point.hops, packets.propagation_s + packets.transmission_s)
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
        })
    }
}
