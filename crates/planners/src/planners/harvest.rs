//! HARVEST: when and how to reconfigure for a given schedule (algorithm 1, eq. 4–8, theorem 1).
//!
//! Algorithm 1 is a dynamic program over intervals of steps in O(s⁴) calls of its subproblem. With a
//! fixed candidate set its optimum is the shortest path of [`StateSearch`], which also covers a
//! given start topology (where the literal algorithm would have to treat its first interval apart) and
//! delays that depend on the ports that change. For cyclic recursive doubling on one port the subproblem
//! has a closed form (eq. 8) over all topologies, which needs no profiles at all.

use model::{ChargeKind, Overlap, Result};

use crate::pipeline::best_sequence;
use crate::{Capabilities, Choice, LeastSum, Planner, Problem, Promise, RecursiveDoubling, StateSearch};

/// HARVEST's planner: a shortest path over (step, topology).
pub struct Harvest;

impl Planner for Harvest {
    fn name(&self) -> &'static str {
        "harvest"
    }

    fn summary(&self) -> &'static str {
        "the best topology sequence from the candidates, reconfiguring where it pays"
    }

    fn source(&self) -> &'static str {
        "HARVEST, algorithm 1, eq. 4-8"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            knows_overlap: true,
            charges: ChargeKind::ALL,
            closes_cycles: true,
            others_forward: true,
            least_sum: LeastSum::Always,
            ..Capabilities::default()
        }
    }

    fn promise(&self, problem: &Problem) -> Option<Promise> {
        if problem.settings.overlap == Overlap::Pipelined || RecursiveDoubling::of(problem).is_some() {
            return None;
        }
        Some(StateSearch::new(&problem.table).promise(&problem.rates(), &problem.charges(), problem.before()))
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        let choice = |candidates, total_s| Choice {
            planner: self.name(),
            problem: problem.clone(),
            candidates,
            total_s,
            class_bound: None,
        };
        if problem.settings.overlap == Overlap::Pipelined {
            let best = best_sequence(problem, limit_s)?;
            return Ok(best.map(|(candidates, total_s)| choice(candidates, total_s)));
        }
        if let Some(form) = RecursiveDoubling::of(problem) {
            let (candidates, total_s) = form.best(problem);
            return Ok((total_s <= limit_s).then(|| choice(candidates, total_s)));
        }
        let mut search = StateSearch::new(&problem.table);
        let total_s = search.run(&problem.rates(), &problem.charges(), problem.before(), limit_s)?;
        Ok(total_s.map(|total_s| choice(search.path().to_vec(), total_s)))
    }
}
