//! Topologies and flows chosen together for All-to-All ("To reconfigure or not to reconfigure").
//!
//! The planner replaces the schedule by its own: rounds of whole blocks, forwarded hop by hop, on a sequence of
//! topologies (§3, §4; the crate `all_to_all`). Each round of h hops becomes h steps over single circuits, so the
//! plan costs R for every change of topology and T = α + δ + β·block for every hop of every round. Blocks of
//! different sizes are sent by the same strategies with ranks relabelled (§4.4).

use all_to_all::{Blocks, Prices, Strategy, best, best_for_blocks, schedule};
use model::{Collective, CostSettings, Error, Propagation, Result, Routing, StepCost};

use crate::{Choice, Planner, Problem};

/// See the module.
pub struct ReconfigureAllToAll;

impl Planner for ReconfigureAllToAll {
    fn name(&self) -> &'static str {
        "reconfigure-all-to-all"
    }

    fn summary(&self) -> &'static str {
        "All-to-All by rounds of whole blocks on shifted rings, circulant or generalised Kautz graphs and their \
         contractions, for the best number of topologies"
    }

    fn source(&self) -> &'static str {
        "To reconfigure or not to reconfigure §3, §4"
    }

    fn takes_candidates(&self) -> bool {
        false
    }

    fn fixed_routing(&self) -> Option<Routing> {
        Some(Routing::SinglePath)
    }

    fn choose_within(&self, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
        self.check(problem)?;
        let fabric = &problem.fabric;
        // One shortest path per transfer: the transfer's own circuit.
        let settings = CostSettings { routing: Routing::SinglePath, ..problem.settings };
        let strategy = self.strategy(problem, settings.propagation, limit_s)?;
        let Some(strategy) = strategy else { return Ok(None) };
        let (schedule, candidates) = schedule(&strategy, problem.schedule().chunks(), self.name())?;
        let topologies = strategy.stages.into_iter().map(|stage| stage.topology).collect();
        let own = Problem::new(schedule, fabric.clone(), settings, problem.size_bytes, topologies)?;
        let choice = Choice::priced(self.name(), own, candidates)?;
        Ok((choice.total_s <= limit_s).then_some(choice))
    }
}

impl ReconfigureAllToAll {
    /// # Errors
    /// Anything but a direct All-to-All.
    fn check(&self, problem: &Problem) -> Result<()> {
        let schedule = problem.schedule();
        let refuse = |reason: String| Err(Error::refused("planner", self.name(), reason));
        if schedule.collective() != Collective::AllToAll {
            return refuse(format!("it plans all-to-all, this is {}", schedule.collective().name()));
        }
        if schedule.algorithm() != "direct" {
            return refuse(format!(
                "it forwards whole blocks in rounds of its own and takes algorithm `direct`, this is `{}`",
                schedule.algorithm()
            ));
        }
        Ok(())
    }

    /// The best strategy for the blocks, unless it is known to cost more than `limit_s`.
    fn strategy(&self, problem: &Problem, propagation: Propagation, limit_s: f64) -> Result<Option<Strategy>> {
        let fabric = &problem.fabric;
        let hop_s = |bytes: f64| StepCost::on_point(fabric, propagation, bytes, 1, 1.0).total_s();
        let size = problem.size_bytes as f64;
        if let Some(pieces) = problem.schedule().chunks().as_pieces() {
            let gpus = fabric.shape.gpus() as usize;
            let mut matrix = vec![vec![0.0; gpus]; gpus];
            for piece in pieces {
                matrix[piece.src as usize][piece.dst as usize] += piece.share * size;
            }
            let blocks = Blocks { matrix: &matrix, hop_s: &hop_s };
            return best_for_blocks(&fabric.shape, &blocks, fabric.reconfiguration, &fabric.initial).map(Some);
        }
        let block_s = hop_s(size / f64::from(fabric.shape.gpus()));
        let prices = Prices { hop_s: block_s, reconfiguration: fabric.reconfiguration, initial: &fabric.initial };
        let strategy = best(&fabric.shape, &prices)?;
        // The price and the plan's sum of terms may differ in rounding.
        Ok((strategy.price_s(&prices) <= limit_s * (1.0 + 1e-9)).then_some(strategy))
    }
}
