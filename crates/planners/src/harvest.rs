//! HARVEST: when and how to reconfigure for a given schedule (algorithm 1, eq. 4–8, theorem 1).
//!
//! Algorithm 1 is a dynamic program over intervals of steps in O(s⁴) calls of its subproblem. With a
//! fixed candidate set its optimum is the shortest path of [`search`], which also covers a
//! given start topology (where the literal algorithm would have to treat its first interval apart) and
//! delays that depend on the ports that change. For cyclic recursive doubling on one port the subproblem
//! has a closed form (eq. 8) over all topologies, which needs no profiles at all.

use model::Result;

use crate::{Choice, Planner, Problem, RecursiveDoubling, search};

/// See the module.
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

    fn choose(&self, problem: &Problem) -> Result<Choice> {
        let (candidates, total_s) = match RecursiveDoubling::of(problem) {
            Some(form) => form.best(problem),
            None => search(&problem.table, &problem.rates(), &problem.change(), problem.start)?,
        };
        Ok(Choice { planner: self.name(), problem: problem.clone(), candidates, total_s })
    }
}
